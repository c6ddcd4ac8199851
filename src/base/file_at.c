/* Reads and writes bytes at an offset of an open file. */
#include "base/fault.h"
#include "base/file.h"

#include <errno.h>
#include <unistd.h>

/* What one call moved; 0: it is to be asked again, -1: it failed. */
static ssize_t moved(ssize_t done)
{
    if (done < 0 && errno == EINTR)
        return 0;
    if (done == 0)
        errno = EIO;
    return done > 0 ? done : -1;
}

int by_read_at(int fd, void *to, size_t size, uint64_t at)
{
    uint8_t *bytes = to;
    for (size_t done = 0; done < size;) {
        const ssize_t more = moved(
            by_fault(BY_FAULT_IO) ? -1 : pread(fd, bytes + done, size - done, (off_t)(at + done)));
        if (more < 0)
            return -1;
        done += (size_t)more;
    }
    return 0;
}

int by_write_at(int fd, const void *from, size_t size, uint64_t at)
{
    const uint8_t *bytes = from;
    for (size_t done = 0; done < size;) {
        const ssize_t more = moved(
            by_fault(BY_FAULT_IO) ? -1 : pwrite(fd, bytes + done, size - done, (off_t)(at + done)));
        if (more < 0)
            return -1;
        done += (size_t)more;
    }
    return 0;
}
