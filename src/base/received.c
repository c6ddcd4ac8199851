/* Makes files in memory that other libraries write. */
#include "base/fault.h"
#include "base/file.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int by_received_open(struct by_received *file, const char *name, struct baryon_error *err)
{
    file->fd = by_fault(BY_FAULT_IO) ? -1 : memfd_create(name, MFD_CLOEXEC);
    if (file->fd < 0) {
        by_fail_errno(err, BARYON_ERR_IO, "cannot be created in memory");
        return by_err_file(err, name);
    }
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    return 0;
}

int by_received_map(struct by_received *file, struct by_mapped *mapped, const char *name,
                    struct baryon_error *err)
{
    const int fd = file->fd;
    file->fd = -1;
    return mapped ? by_mapped_open_fd(mapped, fd, name, err) : close(fd);
}
