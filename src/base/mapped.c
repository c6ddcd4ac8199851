/* Maps or reads a whole file and notices when it changes meanwhile. */
#include "base/fault.h"
#include "base/file.h"
#include "base/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Up to this size a file is read ahead as a whole: most of it will be looked at. */
#define READ_AHEAD_MAX ((size_t)64 << 20)
#define AGAIN          "run again when no other program writes to it"

const char *by_file_kind(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a FIFO";
    case S_IFCHR:
        return "a character device";
    case S_IFBLK:
        return "a block device";
    case S_IFSOCK:
        return "a socket";
    case S_IFLNK:
        return "a symbolic link";
    default:
        return "a regular file";
    }
}

static int refuse_kind(mode_t mode, struct baryon_error *err)
{
    return by_fail(err, BARYON_ERR_INPUT, "is %s, must be a regular file", by_file_kind(mode));
}

/* What kept us from opening: the path that was given, or the system. */
static int refuse_open(const char *path, struct baryon_error *err)
{
    int saved = errno;
    struct stat st;
    if (saved != EIO && stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return refuse_kind(st.st_mode, err);
    bool system = saved == EIO || saved == EMFILE || saved == ENFILE;
    errno = saved;
    return by_fail_errno(err, system ? BARYON_ERR_IO : BARYON_ERR_INPUT, "cannot be opened");
}

/* O_NONBLOCK: a FIFO without a writer must not make us wait. */
static int open_regular(const char *path, struct stat *st, struct baryon_error *err)
{
    int fd = by_fault(BY_FAULT_IO) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return refuse_open(path, err);
    if (by_fault(BY_FAULT_IO) || fstat(fd, st))
        by_fail_errno(err, BARYON_ERR_IO, "cannot be examined");
    else if (!S_ISREG(st->st_mode))
        refuse_kind(st->st_mode, err);
    else
        return fd;
    close(fd);
    return -1;
}

static int changed_size(struct by_mapped *mapped, size_t now, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_CHANGED, "changed while it was in use (size %zu, was %zu)", now,
            mapped->size);
    return by_err_hint(err, AGAIN);
}

/* Fills the memory; what is added to the file meanwhile, by_mapped_check() finds. */
static int read_into(struct by_mapped *mapped, uint8_t *at, struct baryon_error *err)
{
    for (size_t done = 0; done < mapped->size;) {
        ssize_t got = by_fault(BY_FAULT_IO)
                          ? -1
                          : pread(mapped->fd, at + done, mapped->size - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return by_fail_errno(err, BARYON_ERR_IO, "cannot be read");
        if (got == 0)
            return changed_size(mapped, done, err);
        done += (size_t)got;
    }
    return 0;
}

/* Pages, as a mapping has them: arrays in it are aligned as they are in the file. */
static int copy_file(struct by_mapped *mapped, struct baryon_error *err)
{
    void *at = by_fault(BY_FAULT_ALLOC) ? MAP_FAILED
                                        : mmap(NULL, mapped->size, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return by_err_nomem(err, mapped->size);
    mapped->is_copy = true;
    mapped->bytes = at;
    return read_into(mapped, at, err);
}

static int map_descriptor(struct by_mapped *mapped, size_t read_most, struct baryon_error *err)
{
    static const uint8_t nothing[1];
    if ((uintmax_t)mapped->stat.st_size > PTRDIFF_MAX)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "is too large to be mapped (%ju bytes)",
                       (uintmax_t)mapped->stat.st_size);
    mapped->size = (size_t)mapped->stat.st_size;
    mapped->bytes = nothing;
    if (!mapped->size)
        return 0;
    if (mapped->size <= read_most)
        return copy_file(mapped, err);
    void *at = by_fault(BY_FAULT_IO)
                   ? MAP_FAILED
                   : mmap(NULL, mapped->size, PROT_READ, MAP_PRIVATE, mapped->fd, 0);
    if (at == MAP_FAILED)
        return by_fail_errno(err, BARYON_ERR_IO, "cannot be mapped (%zu bytes)", mapped->size);
    if (mapped->size <= READ_AHEAD_MAX)
        madvise(at, mapped->size, MADV_WILLNEED);
    mapped->bytes = at;
    return 0;
}

/* Fails with the descriptor closed and the struct safe to close again. */
static int map_or_close(struct by_mapped *mapped, const char *path, size_t read_most,
                        struct baryon_error *err)
{
    snprintf(mapped->path, sizeof mapped->path, "%s", path);
    if (map_descriptor(mapped, read_most, err) == 0)
        return 0;
    if (mapped->is_copy)
        munmap((void *)(uintptr_t)mapped->bytes, mapped->size);
    close(mapped->fd);
    *mapped = (struct by_mapped){.fd = -1};
    return by_err_file(err, path);
}

int by_mapped_read(struct by_mapped *mapped, const char *path, size_t most,
                   struct baryon_error *err)
{
    *mapped = (struct by_mapped){.fd = -1};
    mapped->fd = open_regular(path, &mapped->stat, err);
    if (mapped->fd < 0)
        return by_err_file(err, path);
    return map_or_close(mapped, path, most, err);
}

int by_mapped_open(struct by_mapped *mapped, const char *path, struct baryon_error *err)
{
    return by_mapped_read(mapped, path, 0, err);
}

int by_mapped_open_fd(struct by_mapped *mapped, int fd, const char *path, struct baryon_error *err)
{
    *mapped = (struct by_mapped){.fd = fd};
    if (by_fault(BY_FAULT_IO) || fstat(fd, &mapped->stat))
        by_fail_errno(err, BARYON_ERR_IO, "cannot be examined");
    else if (!S_ISREG(mapped->stat.st_mode))
        refuse_kind(mapped->stat.st_mode, err);
    else
        return map_or_close(mapped, path, 0, err);
    close(fd);
    *mapped = (struct by_mapped){.fd = -1};
    return by_err_file(err, path);
}

bool by_mapped_is(const struct by_mapped *mapped, const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 && there.st_dev == mapped->stat.st_dev &&
           there.st_ino == mapped->stat.st_ino;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

int by_mapped_check(const struct by_mapped *mapped, struct baryon_error *err)
{
    const struct stat *then = &mapped->stat;
    struct stat now;
    if (mapped->is_own)
        return 0;
    if (by_fault(BY_FAULT_IO) || fstat(mapped->fd, &now))
        by_fail_errno(err, BARYON_ERR_IO, "cannot be examined");
    else if (now.st_size != then->st_size)
        by_fail(err, BARYON_ERR_CHANGED, "changed while it was in use (size %jd, was %jd)",
                (intmax_t)now.st_size, (intmax_t)then->st_size);
    else if (!same_time(&now.st_mtim, &then->st_mtim) || now.st_dev != then->st_dev ||
             now.st_ino != then->st_ino)
        by_fail(err, BARYON_ERR_CHANGED, "changed while it was in use (written to)");
    else
        return 0;
    if (err && err->code == BARYON_ERR_CHANGED)
        by_err_hint(err, AGAIN);
    return by_err_file(err, mapped->path);
}

void by_mapped_need(const struct by_mapped *mapped, size_t offset, size_t size)
{
#ifdef MADV_POPULATE_READ
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), begin = offset / page * page;
    if (size && !mapped->is_copy)
        madvise((void *)(uintptr_t)(mapped->bytes + begin), offset + size - begin,
                MADV_POPULATE_READ);
#else
    (void)mapped, (void)offset, (void)size;
#endif
}

void by_mapped_done(const struct by_mapped *mapped, size_t offset, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), end = (offset + size) / page * page;
    size_t begin = (offset + page - 1) / page * page;
    if (begin < end && !mapped->is_copy)
        madvise((void *)(uintptr_t)(mapped->bytes + begin), end - begin, MADV_DONTNEED);
}

void by_mapped_close(struct by_mapped *mapped)
{
    if (!mapped->bytes)
        return;
    if (mapped->size)
        munmap((void *)(uintptr_t)mapped->bytes, mapped->size);
    close(mapped->fd);
    *mapped = (struct by_mapped){.fd = -1};
}

static int refuse_size(size_t limit, struct baryon_error *err)
{
    return by_fail(err, BARYON_ERR_INPUT,
                   "is larger than %zu bytes, the limit for a file of this kind", limit);
}

/* Reads to the end whatever fstat said: files in /proc have size 0, others may grow. */
static int read_all(int fd, size_t guess, size_t limit, char **bytes, size_t *size,
                    struct baryon_error *err)
{
    size_t cap = guess + 2, used = 0;
    char *buffer = by_alloc(cap, 1, err);
    while (buffer) {
        ssize_t got = by_fault(BY_FAULT_IO) ? -1 : read(fd, buffer + used, cap - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            by_fail_errno(err, BARYON_ERR_IO, "cannot be read");
            break;
        }
        used += (size_t)got;
        if (used > limit) {
            refuse_size(limit, err);
            break;
        }
        if (got == 0) {
            buffer[used] = '\0';
            *bytes = buffer;
            *size = used;
            return 0;
        }
        if (used + 1 < cap)
            continue;
        cap = cap < limit / 2 ? cap * 2 : limit + 2;
        char *grown = by_realloc(buffer, cap, 1, err);
        if (!grown)
            break;
        buffer = grown;
    }
    by_free(buffer);
    return -1;
}

int by_read_file(const char *path, size_t limit, char **bytes, size_t *size,
                 struct baryon_error *err)
{
    struct stat st;
    if (limit > PTRDIFF_MAX - 2)
        limit = PTRDIFF_MAX - 2;
    int fd = open_regular(path, &st, err);
    if (fd < 0)
        return by_err_file(err, path);
    int status = (uintmax_t)st.st_size > limit
                     ? refuse_size(limit, err)
                     : read_all(fd, (size_t)st.st_size, limit, bytes, size, err);
    close(fd);
    return status ? by_err_file(err, path) : 0;
}
