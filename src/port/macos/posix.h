/*
 * The calls of Linux and glibc that the code makes and macOS lacks, or has by another name. It is
 * included before everything else in builds for macOS: the code stays as it is.
 */
#ifndef BY_PORT_POSIX_H
#define BY_PORT_POSIX_H

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <xlocale.h>

#undef DOMAIN /* of <math.h>, by whose name the tables of operators call theirs */

/* --- Files --- */

#define st_mtim st_mtimespec

/* A folder is opened for reading; a file without a name gets one that is removed at once. */
#define O_PATH    0
#define O_TMPFILE 0

#define RENAME_NOREPLACE 1
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags);

#define FALLOC_FL_KEEP_SIZE   1
#define SYNC_FILE_RANGE_WRITE 2
int fallocate(int fd, int mode, off_t at, off_t size);
int posix_fallocate(int fd, off_t at, off_t size);
int sync_file_range(int fd, off_t at, off_t size, unsigned flags);

/* The kernel copies nothing here: it fails with ENOSYS, and the caller writes. */
ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, size_t size, unsigned flags);

/* --- Machine: nobody can be bound to processors --- */

typedef struct {
    unsigned bits;
} cpu_set_t;

#define CPU_SETSIZE            32
#define CPU_ZERO(set)          ((set)->bits = 0)
#define CPU_SET(cpu, set)      ((set)->bits |= 1u << (cpu))
#define CPU_ISSET(cpu, set)    ((set)->bits >> (cpu)&1)
#define CPU_ALLOC_SIZE(count)  (sizeof(cpu_set_t) + (count)*0)
#define CPU_COUNT_S(size, set) __builtin_popcount((set)->bits)
int sched_getaffinity(int pid, size_t size, cpu_set_t *set);

#define GRND_NONBLOCK 1
ssize_t getrandom(void *to, size_t size, unsigned flags);

/* --- Libraries --- */

#define RTLD_DI_LINKMAP 2

struct link_map {
    const char *l_name;
};

int dlinfo(void *handle, int what, void *out);

/* --- Environment, texts, numbers --- */

char *secure_getenv(const char *name);
char *strerror_l(int code, locale_t locale);
#define exp10(x) __exp10(x)

/* --- Names that differ --- */

#define BY_ORT_STEM "libonnxruntime."
#define BY_OPS_NAME "libbaryon_ops.dylib"
#define BY_BLAS_NAMES                                                                              \
    "libopenblas.dylib", "/System/Library/Frameworks/Accelerate.framework/Accelerate"
#define BY_MPI_LIBRARY_END ".dylib"

#endif
