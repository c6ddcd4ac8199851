/* Calls of the kernel by their numbers, where the C library has no names for them. */
#include "port/musllinux/posix.h"

#include <sys/syscall.h>
#include <unistd.h>

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}
