/* Appends records to a checkpoint file and reads back those that are whole. */
#include "base/journal.h"

#include "base/fault.h"
#include "base/file.h"
#include "base/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Others remove the file, or its folder, so often between two steps of opening it. */
#define TRIES 100

static const char magic[8] = {'b', 'a', 'r', 'y', 'o', 'n', 'J', 1};

struct head {
    char magic[sizeof magic];
    struct by_hash128 key, check; /* check: of the key */
};

/* Before each record. */
struct mark {
    uint64_t size;
    struct by_hash128 check;
};

struct by_journal {
    int fd;
    char *path;
    struct by_hash128 key;
    uint64_t size;  /* of the file */
    uint64_t at;    /* after the last record that was read or added */
    uint64_t count; /* of those */
    bool reads;     /* there may be more */
    uint8_t *bytes;
};

/* --- Bytes of the file --- */

static int fail(const struct by_journal *journal, const char *what, struct baryon_error *err)
{
    by_fail_errno(err, BARYON_ERR_IO, "the checkpoint cannot be %s", what);
    return by_err_file(err, journal->path);
}

static int put_journal_bytes(struct by_journal *journal, const void *from, size_t size,
                             struct baryon_error *err)
{
    if (by_write_at(journal->fd, from, size, journal->at) < 0)
        return fail(journal, "written", err);
    journal->at += size;
    return 0;
}

/* The bytes are there, going by the file's size. */
static int get(const struct by_journal *journal, uint64_t at, void *to, size_t size,
               struct baryon_error *err)
{
    return by_read_at(journal->fd, to, size, at) < 0 ? fail(journal, "read", err) : 0;
}

static int cut(struct by_journal *journal, uint64_t size, struct baryon_error *err)
{
    journal->reads = false;
    journal->size = size;
    errno = EIO;
    if (by_fault(BY_FAULT_IO) || ftruncate(journal->fd, (off_t)size))
        return fail(journal, "truncated", err);
    return 0;
}

/* --- Opening --- */

static struct by_hash128 check_key(struct by_hash128 key)
{
    return by_hash128(&key, sizeof key);
}

static int begin_journal(struct by_journal *journal, struct baryon_error *err)
{
    struct head head = {.key = journal->key, .check = check_key(journal->key)};
    memcpy(head.magic, magic, sizeof magic);
    journal->at = 0;
    return cut(journal, 0, err) < 0 ? -1 : put_journal_bytes(journal, &head, sizeof head, err);
}

static int refuse_foreign_file(const struct by_journal *journal, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_USAGE,
            "the file exists and is not a checkpoint, a checkpoint does not overwrite it");
    by_err_hint(err, "rename the file, or the output");
    return by_err_file(err, journal->path);
}

static int look_at_journal_head(struct by_journal *journal, enum by_journal_found *found,
                                struct baryon_error *err)
{
    struct head head = {0};
    const size_t there = journal->size < sizeof head ? (size_t)journal->size : sizeof head;
    *found = BY_JOURNAL_NEW;
    if (!there)
        return begin_journal(journal, err);
    if (get(journal, 0, &head, there, err) < 0)
        return -1;
    if (memcmp(head.magic, magic, there < sizeof magic ? there : sizeof magic))
        return refuse_foreign_file(journal, err);
    *found = BY_JOURNAL_OTHER;
    if (there < sizeof head || !by_hash128_equal(head.check, check_key(head.key)) ||
        !by_hash128_equal(head.key, journal->key))
        return begin_journal(journal, err);
    *found = BY_JOURNAL_SAME;
    journal->at = sizeof head;
    journal->reads = true;
    return 0;
}

static int open_file(struct by_journal *journal)
{
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    errno = EIO;
    journal->fd = by_fault(BY_FAULT_IO) ? -1 : open(journal->path, flags, 0666);
    return journal->fd;
}

/* Only a regular file, or none. */
static int look_at_file(struct by_journal *journal, struct stat *status, struct baryon_error *err)
{
    if (journal->fd < 0 || fstat(journal->fd, status))
        return fail(journal, "opened", err);
    if (!S_ISREG(status->st_mode)) {
        by_fail(err, BARYON_ERR_IO, "is %s, a checkpoint must be a regular file",
                by_file_kind(status->st_mode));
        return by_err_file(err, journal->path);
    }
    journal->size = (uint64_t)status->st_size;
    return 0;
}

/* False where its last owner removed the file before it was locked here. */
static bool has_its_name(const struct by_journal *journal, const struct stat *opened)
{
    struct stat named;
    return lstat(journal->path, &named) == 0 && named.st_dev == opened->st_dev &&
           named.st_ino == opened->st_ino;
}

static int lock_file(struct by_journal *journal, const char *folder, bool *busy,
                     struct baryon_error *err)
{
    struct stat status;
    for (int tries = 0; tries < TRIES; tries++) {
        if (folder && by_make_folders(folder, err))
            return -1;
        if (open_file(journal) < 0 && errno == ENOENT && folder)
            continue;
        if (look_at_file(journal, &status, err))
            return -1;
        *busy = flock(journal->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        /* Some file systems number a file anew each time: the last one is taken. */
        if (*busy || has_its_name(journal, &status) || tries + 1 == TRIES)
            return 0;
        close(journal->fd);
        journal->fd = -1;
    }
    errno = ENOENT;
    return fail(journal, "opened", err);
}

static int open_journal(struct by_journal **out, const char *path, const char *folder,
                        struct by_hash128 key, enum by_journal_found *found,
                        struct baryon_error *err)
{
    bool busy = false;
    *out = NULL;
    struct by_journal *journal = by_alloc_zero(1, sizeof *journal, err);
    if (!journal)
        return -1;
    journal->fd = -1;
    journal->key = key;
    journal->path = by_strdup(path, err);
    int status = journal->path ? lock_file(journal, folder, &busy, err) : -1;
    if (status == 0 && !busy)
        status = look_at_journal_head(journal, found, err);
    if (status == 0 && !busy) {
        *out = journal;
        return 0;
    }
    if (busy)
        *found = BY_JOURNAL_BUSY;
    by_journal_close(journal);
    return status;
}

int by_journal_open(struct by_journal **out, const char *path, struct by_hash128 key,
                    enum by_journal_found *found, struct baryon_error *err)
{
    return open_journal(out, path, NULL, key, found, err);
}

int by_journal_open_in(struct by_journal **out, const char *folder, const char *name,
                       struct by_hash128 key, enum by_journal_found *found,
                       struct baryon_error *err)
{
    char path[4096];
    if (!by_join_path(path, sizeof path, folder, name))
        return by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    return open_journal(out, path, folder, key, found, err);
}

void by_journal_close(struct by_journal *journal)
{
    if (!journal)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    by_free(journal->bytes);
    by_free(journal->path);
    by_free(journal);
}

int by_journal_remove(struct by_journal *journal, struct baryon_error *err)
{
    const int status = by_remove_file(journal->path, err);
    by_journal_close(journal);
    return status;
}

/* --- Records --- */

static int hash_of_record(const struct by_journal *journal, const void *bytes, size_t size,
                          struct by_hash128 *out, struct baryon_error *err)
{
    struct by_hasher *hasher;
    if (by_hasher_open(&hasher, err) < 0)
        return -1;
    by_hasher_add(hasher, &journal->key, sizeof journal->key);
    by_hasher_number(hasher, journal->count);
    by_hasher_number(hasher, size);
    by_hasher_add(hasher, bytes, size);
    *out = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return 0;
}

static int read_record(struct by_journal *journal, struct mark *mark, bool *whole,
                       struct baryon_error *err)
{
    struct by_hash128 found;
    const uint64_t left = journal->size - journal->at;
    *whole = false;
    if (left < sizeof *mark)
        return 0;
    if (get(journal, journal->at, mark, sizeof *mark, err) < 0)
        return -1;
    if (mark->size > left - sizeof *mark)
        return 0;
    by_free(journal->bytes);
    journal->bytes = by_alloc((size_t)mark->size, 1, err);
    if (!journal->bytes ||
        get(journal, journal->at + sizeof *mark, journal->bytes, (size_t)mark->size, err) < 0 ||
        hash_of_record(journal, journal->bytes, (size_t)mark->size, &found, err) < 0)
        return -1;
    *whole = by_hash128_equal(found, mark->check);
    return 0;
}

int by_journal_next(struct by_journal *journal, const uint8_t **bytes, size_t *size,
                    struct baryon_error *err)
{
    struct mark mark;
    bool whole = false;
    *bytes = NULL;
    if (!journal->reads)
        return 0;
    if (read_record(journal, &mark, &whole, err) < 0)
        return -1;
    journal->reads = whole;
    if (!whole)
        return 0;
    journal->at += sizeof mark + mark.size;
    journal->count++;
    *bytes = journal->bytes;
    *size = (size_t)mark.size;
    return 0;
}

void by_journal_stop(struct by_journal *journal)
{
    journal->reads = false;
}

int by_journal_add(struct by_journal *journal, const void *bytes, size_t size,
                   struct baryon_error *err)
{
    struct mark mark = {.size = size};
    if (hash_of_record(journal, bytes, size, &mark.check, err) < 0 ||
        (journal->size > journal->at && cut(journal, journal->at, err) < 0) ||
        put_journal_bytes(journal, &mark, sizeof mark, err) < 0 ||
        put_journal_bytes(journal, bytes, size, err) < 0)
        return -1;
    journal->size = journal->at;
    journal->count++;
    return 0;
}
