/*
 * The calls of POSIX and glibc that the code makes and Windows lacks, or has for paths in its code
 * page only. It is included before everything else in builds for Windows: the code stays as it is.
 *
 * Paths are UTF-8, with / or \, and may be longer than 260 characters. What a descriptor of a
 * folder is for (openat() and so on) works, since a handle of a folder has a path.
 */
#ifndef BY_PORT_POSIX_H
#define BY_PORT_POSIX_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <sal.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#undef PATH_MAX
#define PATH_MAX 4096

/* --- Files --- */

#define O_CLOEXEC   _O_NOINHERIT
#define O_NONBLOCK  0
#define O_NOCTTY    0
#define O_PATH      0
#define O_DIRECTORY 0x1000000
#define O_NOFOLLOW  0x2000000
#define O_TMPFILE   0x4000000

#define AT_FDCWD            (-100)
#define AT_SYMLINK_NOFOLLOW 0x100

#ifndef S_IFLNK
#define S_IFLNK  0xA000
#define S_IFSOCK 0xC000
#endif
#undef S_ISLNK
#define S_ISLNK(mode) (((mode)&S_IFMT) == S_IFLNK)

struct by_win_stat {
    uint64_t st_dev, st_ino;
    unsigned st_mode, st_nlink;
    int64_t st_size;
    struct timespec st_mtim;
};

#define st_mtime st_mtim.tv_sec
#define mode_t   unsigned
#undef stat
#undef fstat
#define stat  by_win_stat
#define lstat by_win_lstat
#define fstat by_win_fstat
int by_win_stat(const char *path, struct by_win_stat *out);
int by_win_lstat(const char *path, struct by_win_stat *out);
int by_win_fstat(int fd, struct by_win_stat *out);
int fstatat(int folder, const char *path, struct by_win_stat *out, int flags);
int faccessat(int folder, const char *path, int mode, int flags);

#define access by_win_access
#define open   by_win_open
#define read   by_win_read
#define write  by_win_write
#define mkdir  by_win_mkdir
#define rmdir  by_win_rmdir
#define unlink by_win_unlink
#define rename by_win_rename
#define fopen  by_win_fopen
#undef ftruncate
#define ftruncate by_win_ftruncate
int by_win_access(const char *path, int mode);
int by_win_open(const char *path, int flags, ...);
ssize_t by_win_read(int fd, void *to, size_t size);
ssize_t by_win_write(int fd, const void *from, size_t size);
int by_win_mkdir(const char *path, unsigned mode);
int by_win_rmdir(const char *path);
int by_win_unlink(const char *path);
int by_win_rename(const char *from, const char *to);
FILE *by_win_fopen(const char *path, const char *mode);
int by_win_ftruncate(int fd, int64_t size);
int openat(int folder, const char *path, int flags, ...);
int unlinkat(int folder, const char *path, int flags);
int renameat(int from_folder, const char *from, int to_folder, const char *to);
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
#define RENAME_NOREPLACE 1
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags);
ssize_t pread(int fd, void *to, size_t size, int64_t at);
ssize_t pwrite(int fd, const void *from, size_t size, int64_t at);
int fsync(int fd);
int fchmod(int fd, unsigned mode);
int mkostemp(char *path, int flags);
char *realpath(const char *path, char *buf);

#define FALLOC_FL_KEEP_SIZE   1
#define SYNC_FILE_RANGE_WRITE 2
int fallocate(int fd, int mode, int64_t at, int64_t size);
int posix_fallocate(int fd, int64_t at, int64_t size);
int sync_file_range(int fd, int64_t at, int64_t size, unsigned flags);
ssize_t copy_file_range(int in, int64_t *from, int out, int64_t *to, size_t size, unsigned flags);
ssize_t sendfile(int out, int in, int64_t *from, size_t size);

struct statvfs {
    uint64_t f_frsize, f_bavail;
};

int statvfs(const char *path, struct statvfs *out);
int fstatvfs(int fd, struct statvfs *out);

/* Held on a byte far past the end, so that nobody is kept from reading or writing. */
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
int flock(int fd, int what);

/* --- Folders --- */

enum { DT_UNKNOWN, DT_DIR = 4, DT_REG = 8, DT_LNK = 10 };

struct by_win_dirent {
    unsigned char d_type;
    char d_name[1024];
};

struct by_win_dir;
#define DIR      struct by_win_dir
#define dirent   by_win_dirent
#define opendir  by_win_opendir
#define readdir  by_win_readdir
#define closedir by_win_closedir
DIR *by_win_opendir(const char *path);
struct by_win_dirent *by_win_readdir(DIR *dir);
int by_win_closedir(DIR *dir);
int dirfd(DIR *dir);

/* --- Memory --- */

#define PROT_READ     1
#define PROT_WRITE    2
#define MAP_SHARED    1
#define MAP_PRIVATE   2
#define MAP_ANONYMOUS 32
#define MAP_NORESERVE 0
#define MAP_FAILED    ((void *)-1)
#define MADV_WILLNEED 3
#define MADV_DONTNEED 4
void *mmap(void *at, size_t size, int protection, int flags, int fd, int64_t offset);
int munmap(void *at, size_t size);
int madvise(void *at, size_t size, int advice);

enum { _SC_PAGESIZE = 30, _SC_NPROCESSORS_ONLN = 84, _SC_PHYS_PAGES = 85 };
long sysconf(int name);

/* What the process may still take: of the machine and of the job that it is in. */
struct rlimit {
    uint64_t rlim_cur;
};

#define RLIM_INFINITY UINT64_MAX
#define RLIMIT_AS     9
int getrlimit(int what, struct rlimit *out);

struct rusage {
    uint64_t ru_maxrss; /* KiB */
};

#define RUSAGE_SELF 0
int getrusage(int who, struct rusage *out);

#define GRND_NONBLOCK 1
ssize_t getrandom(void *to, size_t size, unsigned flags);

/* --- Processors --- */

typedef struct {
    unsigned long long bits[128];
} cpu_set_t;

#define CPU_SETSIZE            8192
#define CPU_ZERO(set)          memset(set, 0, sizeof *(set))
#define CPU_SET(cpu, set)      ((set)->bits[(cpu) / 64] |= 1ull << (cpu) % 64)
#define CPU_ISSET(cpu, set)    ((set)->bits[(cpu) / 64] >> (cpu) % 64 & 1)
#define CPU_ALLOC_SIZE(count)  (sizeof(cpu_set_t) + (count)*0)
#define CPU_COUNT_S(size, set) by_win_cpu_count(set)
int by_win_cpu_count(const cpu_set_t *set);
int sched_getaffinity(int pid, size_t size, cpu_set_t *set);

/* --- Libraries --- */

#define RTLD_LAZY       1
#define RTLD_NOW        2
#define RTLD_NOLOAD     4
#define RTLD_GLOBAL     0
#define RTLD_LOCAL      0
#define RTLD_NODELETE   4096
#define RTLD_DI_LINKMAP 2

struct link_map {
    char *l_name;
};

/* A name without a folder is searched beside this code, beside the program and in the system's
 * folder, never in the current one. */
void *dlopen(const char *path, int flags);
void *dlsym(void *handle, const char *name);
int dlclose(void *handle);
char *dlerror(void);
int dlinfo(void *handle, int what, void *out);

/* --- Signals: events of the console, and a file that vanished while it was mapped --- */

#define SIGHUP      1
#define SIGBUS      7
#define SIGKILL     9
#define SIGPIPE     13
#define SIGXFSZ     25
#define SIG_SETMASK 2
#define SA_RESTART  0
typedef uint64_t by_win_sigset;
#define sigset_t by_win_sigset

struct sigaction {
    void (*sa_handler)(int);
    int sa_flags;
    by_win_sigset sa_mask;
};

#undef pthread_sigmask
#define raise           by_win_raise
#define pthread_sigmask by_win_sigmask
int by_win_raise(int number);
int by_win_sigmask(int how, const by_win_sigset *set, by_win_sigset *before);
int sigaction(int number, const struct sigaction *action, struct sigaction *before);
int sigemptyset(by_win_sigset *set);
int sigfillset(by_win_sigset *set);
int sigaddset(by_win_sigset *set, int number);
int sigdelset(by_win_sigset *set, int number);

/* --- Terminal --- */

struct winsize {
    unsigned short ws_row, ws_col;
};

#define F_GETFD    1
#define TIOCGWINSZ 1
#define isatty     by_win_isatty
int by_win_isatty(int fd);
int ioctl(int fd, int what, struct winsize *out);
int fcntl(int fd, int what);

/* --- Environment --- */

#define getenv        by_win_getenv
#define secure_getenv by_win_getenv
char *by_win_getenv(const char *name);
int setenv(const char *name, const char *value, int replace);
int unsetenv(const char *name);
int gethostname(char *name, size_t size);

/* --- Texts --- */

typedef int locale_t;
#define LC_ALL_MASK 1
locale_t newlocale(int mask, const char *name, locale_t base);
locale_t uselocale(locale_t locale);
double strtod_l(const char *text, char **end, locale_t locale);
char *strerror_l(int code, locale_t locale);
char *strcasestr(const char *text, const char *part);
char *strsep(char **rest, const char *between);
void *memmem(const void *bytes, size_t size, const void *part, size_t part_size);

/* --- Names that differ --- */

#define BY_ORT_STEM        "onnxruntime.dll"
#define BY_OPS_NAME        "baryon_ops.dll"
#define BY_BLAS_NAMES      "libopenblas.dll", "libscipy_openblas.dll", "openblas.dll", "libcblas.dll"
#define BY_MPI_LIBRARY_END ".dll"
#define BY_PATH_SEPARATOR  ";"
#define BY_PYTHON_NAMES    "python.exe", "py.exe"

#endif
