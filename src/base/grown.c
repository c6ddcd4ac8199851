/* Files that grow under their own names. */
#include "base/fault.h"
#include "base/file.h"
#include "base/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Where the file system cannot set room aside, the free space has to do. */
static bool has_room(int fd, uint64_t size)
{
    struct statvfs fs;
    if (fstatvfs(fd, &fs))
        return true;
    errno = ENOSPC;
    return size / fs.f_frsize <= fs.f_bavail;
}

int by_set_room_aside(int fd, uint64_t size, bool *is_aside)
{
    *is_aside = false;
    if (size > INT64_MAX) {
        errno = EFBIG;
        return -1;
    }
    const int failed =
        by_fault(BY_FAULT_IO) ? -1 : fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size);
    if (failed && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINTR))
        return has_room(fd, size) ? 0 : -1;
    *is_aside = !failed;
    return failed;
}

static int size_file(int fd, uint64_t size, bool keep, struct baryon_error *err)
{
    struct stat status;
    bool is_aside;
    if (fstat(fd, &status))
        return by_fail_errno(err, BARYON_ERR_IO, "cannot be opened");
    if (!S_ISREG(status.st_mode))
        return by_fail(err, BARYON_ERR_IO, "is %s, must be a regular file or a new name",
                       by_file_kind(status.st_mode));
    const bool fits = keep && (uint64_t)status.st_size == size;
    /* What does not fit goes first, so that nothing of it is left in the new bytes. */
    if ((!fits && (by_fault(BY_FAULT_IO) || ftruncate(fd, 0))) ||
        by_set_room_aside(fd, size, &is_aside) ||
        (!fits && (by_fault(BY_FAULT_IO) || ftruncate(fd, (off_t)size)))) {
        by_fail_errno(err, BARYON_ERR_IO, "cannot be written (%" PRIu64 " bytes needed)", size);
        /* Room that a full disk gave in part is given back. */
        if (!fits && ftruncate(fd, 0))
            return -1;
        return -1;
    }
    return 0;
}

int by_grown_open(int *fd, const char *path, uint64_t size, bool keep, struct baryon_error *err)
{
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    *fd = by_fault(BY_FAULT_IO) ? -1 : open(path, flags, 0666);
    if (*fd < 0) {
        by_fail_errno(err, BARYON_ERR_IO, "cannot be opened");
        return by_err_file(err, path);
    }
    if (!size_file(*fd, size, keep, err))
        return 0;
    close(*fd);
    *fd = -1;
    return by_err_file(err, path);
}

int by_grown_sync(int fd, const char *path, struct baryon_error *err)
{
    if (!by_fault(BY_FAULT_IO) && fsync(fd) == 0)
        return 0;
    by_fail_errno(err, BARYON_ERR_IO, "cannot be written to the disk");
    return by_err_file(err, path);
}
