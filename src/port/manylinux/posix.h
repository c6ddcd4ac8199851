/*
 * The calls of Linux that the code makes and the C library of 2014 (glibc 2.17) has no names for.
 * It is included before everything else in builds for old systems: the code stays as it is. On a
 * kernel that lacks one too they fail with ENOSYS, for which callers have another way or a message.
 */
#ifndef BY_PORT_POSIX_H
#define BY_PORT_POSIX_H

#include "port/zig/processor.h"

#include <sys/mman.h>
#include <sys/types.h>

#define MFD_CLOEXEC   1U
#define GRND_NONBLOCK 1U

int memfd_create(const char *name, unsigned flags);
ssize_t getrandom(void *out, size_t size, unsigned flags);
ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, size_t size, unsigned flags);

#endif
