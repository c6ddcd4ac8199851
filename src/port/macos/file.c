/* Renaming without replacing, room on the disk, and what the kernel does not copy. */
#include "port/macos/posix.h"

#include <errno.h>
#include <sys/sendfile.h>

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return renameatx_np(from_folder, from, to_folder, to,
                        flags & RENAME_NOREPLACE ? RENAME_EXCL : 0);
}

/* It counts from the end of what the file has. */
int fallocate(int fd, int mode, off_t at, off_t size)
{
    struct stat st;
    (void)mode;
    if (fstat(fd, &st))
        return -1;
    const off_t more = at + size - st.st_size;
    fstore_t room = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = more};
    return more <= 0 || fcntl(fd, F_PREALLOCATE, &room) != -1 ? 0 : -1;
}

int posix_fallocate(int fd, off_t at, off_t size)
{
    struct stat st;
    if (fallocate(fd, 0, at, size) || fstat(fd, &st))
        return errno;
    return st.st_size >= at + size || !ftruncate(fd, at + size) ? 0 : errno;
}

/* Asks for what the system does in its own time. */
int sync_file_range(int fd, off_t at, off_t size, unsigned flags)
{
    (void)fd, (void)at, (void)size, (void)flags;
    return 0;
}

ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, size_t size, unsigned flags)
{
    (void)in, (void)from, (void)out, (void)to, (void)size, (void)flags;
    errno = ENOSYS;
    return -1;
}

ssize_t sendfile(int out, int in, off_t *from, size_t size)
{
    (void)out, (void)in, (void)from, (void)size;
    errno = ENOSYS;
    return -1;
}
