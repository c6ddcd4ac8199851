/* Writes a file under a temporary name and renames it once it is on the disk. */
#include "base/fault.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define BUFFER_SIZE ((size_t)256 << 10)
/* Ranges shorter than this go through the buffer: a call of their own costs more. */
#define COPY_MIN ((size_t)64 << 10)
/* At most so many bytes in one call of the kernel's copiers. */
#define COPY_STEP ((size_t)64 << 20)
/* Where a mapping has to be read, so much of it is resident at a time. */
#define MAPPED_STEP ((size_t)8 << 20)
/* Written back in steps, so that the last fsync has little left to do. */
#define WRITEBACK_STEP ((uint64_t)16 << 20)

/* What by_writer_probe() asks for: a disk that is full has not even this. */
#define PROBED 4096

struct by_writer {
    struct by_temp temp;
    int folder;
    unsigned flags;
    bool synced;      /* all bytes are on the disk */
    bool done;        /* committed */
    bool is_reserved; /* room after the end may have to be given back */
    char *path;       /* as the caller wrote it, for messages */
    char *target;     /* where links lead to, with its folder */
    uint8_t *buffer;
    size_t buffered;
    uint64_t written;  /* bytes in the file, without the buffer */
    uint64_t reserved; /* announced size, 0: none */
    uint64_t pushed;   /* writeback was started up to here */
};

static int fail_write(struct by_writer *writer, uint64_t more, struct baryon_error *err)
{
    uint64_t need = writer->written + writer->buffered + more;
    if (need < writer->reserved)
        need = writer->reserved;
    by_fail_errno(err, BARYON_ERR_IO, "cannot be written (%" PRIu64 " bytes needed)", need);
    return by_err_file(err, writer->path);
}

/* Where to write: through links, refusing what a rename must not replace. */
static int resolve_target(struct by_writer *writer, struct stat *old, struct baryon_error *err)
{
    bool exists = lstat(writer->path, old) == 0;
    if (!exists && (errno == ENAMETOOLONG || errno == ELOOP))
        return by_fail_errno(err, BARYON_ERR_IO, "cannot be written");
    if (exists && (writer->flags & BY_WRITER_EXCLUSIVE)) {
        by_fail(err, BARYON_ERR_USAGE, "exists already");
        return by_err_hint(err, "--force overwrites it");
    }
    if (exists && S_ISLNK(old->st_mode)) {
        char *real = by_fault(BY_FAULT_IO) ? NULL : realpath(writer->path, NULL);
        if (!real || stat(real, old)) {
            free(real);
            return by_fail_errno(err, BARYON_ERR_IO, "is a dangling symbolic link");
        }
        writer->target = by_strdup(real, err);
        free(real);
    } else {
        writer->target = by_strdup(writer->path, err);
    }
    if (!writer->target)
        return -1;
    if (exists && !S_ISREG(old->st_mode))
        return by_fail(err, BARYON_ERR_IO, "is %s, must be a regular file or a new name",
                       by_file_kind(old->st_mode));
    old->st_mode = exists ? old->st_mode & 0777 : 0;
    return 0;
}

static int open_folder(struct by_writer *writer, struct baryon_error *err)
{
    const char *base = by_basename(writer->target);
    size_t length = (size_t)(base - writer->target);
    char *folder = by_strdup(length ? writer->target : ".", err);
    if (!folder)
        return -1;
    if (length)
        folder[length] = '\0';
    writer->folder = by_fault(BY_FAULT_IO) ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (writer->folder < 0) {
        char quoted[BY_QUOTE_MAX];
        by_fail_errno(err, BARYON_ERR_IO, "folder %s cannot be opened", by_quote(quoted, folder));
    }
    by_free(folder);
    return writer->folder < 0 ? -1 : 0;
}

static int open_writer(struct by_writer *writer, const char *path, struct baryon_error *err)
{
    struct stat old;
    const char *base = by_basename(path);
    if (!*base)
        return by_fail(err, BARYON_ERR_USAGE,
                       "is not a file name, must end with the name of a file");
    writer->path = by_strdup(path, err);
    writer->buffer = writer->path ? by_alloc(BUFFER_SIZE, 1, err) : NULL;
    if (!writer->buffer || resolve_target(writer, &old, err) || open_folder(writer, err) ||
        by_temp_open(&writer->temp, writer->folder, by_basename(writer->target), err))
        return -1;
    if (old.st_mode && fchmod(writer->temp.fd, old.st_mode))
        return by_fail_errno(err, BARYON_ERR_IO, "permissions cannot be set");
    return 0;
}

int by_writer_open(struct by_writer **writer, const char *path, unsigned flags,
                   struct baryon_error *err)
{
    struct by_writer *fresh = by_alloc_zero(1, sizeof *fresh, err);
    if (!fresh)
        return -1;
    fresh->flags = flags;
    fresh->folder = fresh->temp.fd = fresh->temp.slot = -1;
    if (open_writer(fresh, path, err)) {
        by_writer_abort(fresh);
        return by_err_file(err, path);
    }
    *writer = fresh;
    return 0;
}

static void start_writeback(struct by_writer *writer)
{
    if ((writer->flags & BY_WRITER_NO_SYNC) || writer->written - writer->pushed < WRITEBACK_STEP)
        return;
    /* Only a hint: the fsync at the end is what counts. */
    sync_file_range(writer->temp.fd, (off_t)writer->pushed,
                    (off_t)(writer->written - writer->pushed), SYNC_FILE_RANGE_WRITE);
    writer->pushed = writer->written;
}

int by_writer_share(const struct by_writer *writer)
{
    return writer->flags & BY_WRITER_NO_SYNC ? -1 : dup(writer->temp.fd);
}

void by_push_file(int fd)
{
    if (fd < 0)
        return;
    sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    close(fd);
}

static int write_out(struct by_writer *writer, const uint8_t *bytes, size_t size,
                     struct baryon_error *err)
{
    while (size) {
        size_t step = size < COPY_STEP ? size : COPY_STEP;
        ssize_t put = by_fault(BY_FAULT_IO) ? -1 : write(writer->temp.fd, bytes, step);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return fail_write(writer, size, err);
        bytes += put;
        size -= (size_t)put;
        writer->written += (size_t)put;
        start_writeback(writer);
    }
    return 0;
}

static int flush_writer(struct by_writer *writer, struct baryon_error *err)
{
    size_t size = writer->buffered;
    writer->buffered = 0;
    return write_out(writer, writer->buffer, size, err);
}

static int fail_synced(struct baryon_error *err)
{
    return by_fail(err, BARYON_ERR_INTERNAL, "bytes written to an output that is already synced");
}

int by_writer_add(struct by_writer *writer, const void *bytes, size_t size,
                  struct baryon_error *err)
{
    if (writer->synced)
        return fail_synced(err);
    if (size > BUFFER_SIZE - writer->buffered && flush_writer(writer, err))
        return -1;
    if (size >= BUFFER_SIZE)
        return write_out(writer, bytes, size, err);
    if (size)
        memcpy(writer->buffer + writer->buffered, bytes, size);
    writer->buffered += size;
    return 0;
}

int by_writer_pad(struct by_writer *writer, size_t align, struct baryon_error *err)
{
    static const uint8_t zeros[4096];
    uint64_t past = align ? by_writer_size(writer) % align : 0;
    for (size_t left = past ? align - (size_t)past : 0; left;) {
        size_t step = left < sizeof zeros ? left : sizeof zeros;
        if (by_writer_add(writer, zeros, step, err))
            return -1;
        left -= step;
    }
    return 0;
}

uint64_t by_writer_size(const struct by_writer *writer)
{
    return writer->written + writer->buffered;
}

/* One step of a kernel copier at the end of our file; *from moves on. */
typedef ssize_t copy_fn(int out, int in, off_t *from, size_t size);

static ssize_t copy_by_range(int out, int in, off_t *from, size_t size)
{
    return copy_file_range(in, from, out, NULL, size, 0);
}

static ssize_t copy_by_sendfile(int out, int in, off_t *from, size_t size)
{
    return sendfile(out, in, from, size);
}

/* What a copier says when it cannot do it here, not that the disk is bad. */
static bool is_unable(int code)
{
    return code == EXDEV || code == EINVAL || code == ENOSYS || code == EOPNOTSUPP ||
           code == EPERM || code == EBADF || code == ETXTBSY;
}

/* 0: all of it; 1: this copier cannot, *from says how far it came; -1: failed. */
static int copy_inside_kernel(struct by_writer *writer, const struct by_mapped *mapped,
                              copy_fn *copy, size_t *offset, size_t end, struct baryon_error *err)
{
    while (*offset < end) {
        size_t step = end - *offset < COPY_STEP ? end - *offset : COPY_STEP;
        off_t from = (off_t)*offset;
        ssize_t done = by_fault(BY_FAULT_IO) ? -1 : copy(writer->temp.fd, mapped->fd, &from, step);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return is_unable(errno) ? 1 : fail_write(writer, end - *offset, err);
        if (done == 0)
            return 1;
        *offset += (size_t)done;
        writer->written += (size_t)done;
        start_writeback(writer);
    }
    return 0;
}

static int copy_from_mapping(struct by_writer *writer, const struct by_mapped *mapped,
                             size_t offset, size_t end, struct baryon_error *err)
{
    /* The kernel's copiers may have stopped because the file is shorter now. */
    if (by_mapped_check(mapped, err))
        return -1;
    while (offset < end) {
        size_t step = end - offset < MAPPED_STEP ? end - offset : MAPPED_STEP;
        if (write_out(writer, mapped->bytes + offset, step, err))
            return -1;
        by_mapped_done(mapped, offset, step);
        offset += step;
    }
    return 0;
}

int by_writer_add_mapped(struct by_writer *writer, const struct by_mapped *mapped, size_t offset,
                         size_t size, struct baryon_error *err)
{
    if (offset > mapped->size || size > mapped->size - offset)
        return by_fail(err, BARYON_ERR_INTERNAL, "range %zu+%zu is outside of a file of %zu bytes",
                       offset, size, mapped->size);
    if (writer->synced)
        return fail_synced(err);
    if (size < COPY_MIN)
        return by_writer_add(writer, mapped->bytes + offset, size, err);
    if (flush_writer(writer, err))
        return -1;
    size_t end = offset + size;
    int status = copy_inside_kernel(writer, mapped, copy_by_range, &offset, end, err);
    if (status > 0)
        status = copy_inside_kernel(writer, mapped, copy_by_sendfile, &offset, end, err);
    if (status > 0)
        status = copy_from_mapping(writer, mapped, offset, end, err);
    return status;
}

int by_writer_extend(struct by_writer *writer, uint64_t size, struct baryon_error *err)
{
    if (by_writer_reserve(writer, size, err) || flush_writer(writer, err))
        return -1;
    if (by_fault(BY_FAULT_IO) || ftruncate(writer->temp.fd, (off_t)size))
        return fail_write(writer, 0, err);
    writer->written = size;
    return 0;
}

int by_writer_put(struct by_writer *writer, uint64_t at, const void *bytes, size_t size,
                  struct baryon_error *err)
{
    if (at > writer->written || size > writer->written - at)
        return by_fail(err, BARYON_ERR_INTERNAL, "%zu bytes written past the end of an output",
                       size);
    return by_write_at(writer->temp.fd, bytes, size, at) ? fail_write(writer, 0, err) : 0;
}

/* What the kernel could not copy comes through memory. */
static int put_from_mapping(struct by_writer *writer, uint64_t at, const struct by_mapped *mapped,
                            size_t offset, size_t end, struct baryon_error *err)
{
    if (by_mapped_check(mapped, err))
        return -1;
    while (offset < end) {
        size_t step = end - offset < MAPPED_STEP ? end - offset : MAPPED_STEP;
        if (by_writer_put(writer, at, mapped->bytes + offset, step, err))
            return -1;
        by_mapped_done(mapped, offset, step);
        offset += step;
        at += step;
    }
    return 0;
}

int by_writer_put_mapped(struct by_writer *writer, uint64_t at, const struct by_mapped *mapped,
                         size_t offset, size_t size, struct baryon_error *err)
{
    size_t end = offset + size;
    if (offset > mapped->size || size > mapped->size - offset || at > writer->written ||
        size > writer->written - at)
        return by_fail(err, BARYON_ERR_INTERNAL, "%zu bytes written past the end of a file", size);
    while (size >= COPY_MIN && offset < end) {
        size_t step = end - offset < COPY_STEP ? end - offset : COPY_STEP;
        off_t from = (off_t)offset, to = (off_t)at;
        ssize_t done = by_fault(BY_FAULT_IO)
                           ? -1
                           : copy_file_range(mapped->fd, &from, writer->temp.fd, &to, step, 0);
        if (done < 0 && errno != EINTR && !is_unable(errno))
            return fail_write(writer, 0, err);
        if (done == 0 || (done < 0 && errno != EINTR))
            break;
        offset += done > 0 ? (size_t)done : 0;
        at += done > 0 ? (uint64_t)done : 0;
    }
    return offset < end ? put_from_mapping(writer, at, mapped, offset, end, err) : 0;
}

int by_writer_reserve(struct by_writer *writer, uint64_t size, struct baryon_error *err)
{
    if (size <= by_writer_size(writer))
        return 0;
    writer->reserved = size;
    if (by_set_room_aside(writer->temp.fd, size, &writer->is_reserved))
        return fail_write(writer, 0, err);
    return 0;
}

/* Everything on disk, and every error that the system kept back is heard of. */
int by_writer_sync(struct by_writer *writer, struct baryon_error *err)
{
    int fd = writer->temp.fd;
    if (writer->synced)
        return 0;
    if (flush_writer(writer, err))
        return -1;
    if (writer->is_reserved && writer->reserved > writer->written &&
        (by_fault(BY_FAULT_IO) || ftruncate(fd, (off_t)writer->written)))
        return fail_write(writer, 0, err);
    if (!(writer->flags & BY_WRITER_NO_SYNC) && (by_fault(BY_FAULT_IO) || fsync(fd)))
        return fail_write(writer, 0, err);
    /* Closing a copy tells what close() would, and keeps the lock until the rename. */
    int copy = by_fault(BY_FAULT_IO) ? -1 : dup(fd);
    int failed = copy < 0 || close(copy);
    if (failed || by_fault(BY_FAULT_IO))
        return fail_write(writer, 0, err);
    writer->synced = true;
    return 0;
}

static int fail_rename(struct by_writer *writer, struct baryon_error *err)
{
    if (errno == EEXIST) {
        by_fail(err, BARYON_ERR_USAGE, "exists already");
        by_err_hint(err, "--force overwrites it");
    } else {
        by_fail_errno(err, BARYON_ERR_IO, "cannot be renamed to its final name");
    }
    return by_err_file(err, writer->path);
}

/* The new name is on the disk, too. */
static int finish_writer(struct by_writer *writer, struct baryon_error *err)
{
    writer->done = true;
    by_temp_close(&writer->temp);
    if (writer->flags & BY_WRITER_NO_SYNC)
        return 0;
    /* EINVAL: a file system that has no need of it. */
    if (by_fault(BY_FAULT_IO) || (fsync(writer->folder) && errno != EINVAL)) {
        by_fail_errno(err, BARYON_ERR_IO, "is written, but its folder cannot be synced");
        return by_err_file(err, writer->path);
    }
    return 0;
}

int by_writer_commit(struct by_writer *writer, struct baryon_error *err)
{
    if (writer->done)
        return 0;
    if (by_writer_sync(writer, err))
        return -1;
    if (by_temp_rename(&writer->temp, by_basename(writer->target),
                       writer->flags & BY_WRITER_EXCLUSIVE))
        return fail_rename(writer, err);
    return finish_writer(writer, err);
}

static int rename_all(struct by_writer *const *writers, size_t count, bool keep_last,
                      struct baryon_error *err)
{
    struct by_temp_part *parts = by_alloc_zero(count, sizeof *parts, err);
    if (!parts)
        return -1;
    for (size_t i = 0; i < count; i++) {
        parts[i].temp = &writers[i]->temp;
        parts[i].base = by_basename(writers[i]->target);
    }
    size_t done =
        by_temp_rename_all(parts, count, writers[0]->flags & BY_WRITER_EXCLUSIVE, keep_last);
    if (done < count)
        fail_rename(writers[done], err);
    by_free(parts);
    return done < count ? -1 : 0;
}

int by_writer_commit_all(struct by_writer *const *writers, size_t count, bool keep_last,
                         struct baryon_error *err)
{
    int status = 0;
    for (size_t i = 0; i < count; i++)
        if (by_writer_sync(writers[i], err))
            return -1;
    if (count == 1)
        return by_writer_commit(writers[0], err);
    if (rename_all(writers, count, keep_last, err))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (finish_writer(writers[i], status ? NULL : err))
            status = -1;
    return status;
}

void by_recover_file(const char *path)
{
    char folder[4096];
    const int fd = by_folder_of(path, folder, sizeof folder)
                       ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                       : -1;
    if (fd < 0)
        return;
    by_temp_recover(fd, by_basename(path));
    close(fd);
}

void by_writer_abort(struct by_writer *writer)
{
    if (!writer)
        return;
    by_temp_close(&writer->temp);
    if (writer->folder >= 0)
        close(writer->folder);
    by_free(writer->buffer);
    by_free(writer->target);
    by_free(writer->path);
    by_free(writer);
}

int by_writer_probe(const char *path, unsigned flags, struct baryon_error *err)
{
    struct by_writer *writer;
    if (by_writer_open(&writer, path, flags | BY_WRITER_NO_SYNC, err) < 0)
        return by_err_file(err, path);
    const int status = by_writer_reserve(writer, PROBED, err);
    by_writer_abort(writer);
    return status;
}

int by_write_file(const char *path, const void *bytes, size_t size, unsigned flags,
                  struct baryon_error *err)
{
    struct by_writer *writer;
    if (by_writer_open(&writer, path, flags, err))
        return -1;
    int status = by_writer_add(writer, bytes, size, err);
    if (status == 0)
        status = by_writer_commit(writer, err);
    by_writer_abort(writer);
    return status;
}
