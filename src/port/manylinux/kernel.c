/* Calls of the kernel by their numbers, where the C library has no names for them. */
#include "port/manylinux/posix.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int memfd_create(const char *name, unsigned flags)
{
    return (int)syscall(SYS_memfd_create, name, flags);
}

ssize_t getrandom(void *out, size_t size, unsigned flags)
{
    return syscall(SYS_getrandom, out, size, flags);
}

ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, size_t size, unsigned flags)
{
    return syscall(SYS_copy_file_range, in, from, out, to, size, flags);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}
