/*
 * The record of a group of files that are being replaced: where each old file waits, and which
 * new file belongs where.
 *
 * It is a list of texts that each end with NUL: a title; for each part its folder ("" for the
 * record's own), its name, the old file's temporary name, device and inode of the new file; a
 * hash of all of that. A record without its hash was never finished, so nothing had moved yet.
 */
#include "base/fault.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/map.h"
#include "base/str.h"
#include "base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TITLE       "baryon files in replacement 1"
#define RECORD_MAX  ((size_t)1 << 20)
#define PART_FIELDS 4
#define HASH_TEXT   ((size_t)17) /* with its NUL */

void by_temp_aside_name(char name[BY_TEMP_NAME_MAX], const char *base, const char *last)
{
    snprintf(name, BY_TEMP_NAME_MAX, ".baryon-%016" PRIx64 "-%08" PRIx32,
             by_hash(base, strlen(base), 0), (uint32_t)by_hash(last, strlen(last), 1));
}

/* --- Writing --- */

static void put_text(struct by_str *out, const char *text)
{
    by_str_add(out, text, strlen(text) + 1);
}

static bool same_folder(int a, int b)
{
    struct stat one, other;
    return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static int put_folder(struct by_str *out, int folder, int own)
{
    char path[4096] = "";
    if (!same_folder(folder, own) && !by_path_of_folder(folder, path, sizeof path))
        return -1;
    put_text(out, path);
    return 0;
}

static void put_identity(struct by_str *out, int fd)
{
    char text[48];
    struct stat st = {0};
    fstat(fd, &st);
    snprintf(text, sizeof text, "%ju %ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    put_text(out, text);
}

static int compose(struct by_str *out, const struct by_temp_part *parts, size_t count)
{
    char hash[24];
    put_text(out, TITLE);
    for (size_t i = 0; i < count; i++) {
        if (put_folder(out, parts[i].temp->folder, parts[count - 1].temp->folder))
            return -1;
        put_text(out, parts[i].base);
        put_text(out, parts[i].aside);
        put_identity(out, parts[i].temp->fd);
    }
    snprintf(hash, sizeof hash, "%016" PRIx64, by_hash(out->text, out->size, 0));
    put_text(out, hash);
    return out->failed ? -1 : 0;
}

static int write_synced(int folder, const char *name, const struct by_str *text)
{
    int fd = by_fault(BY_FAULT_IO)
                 ? -1
                 : openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    bool failed = by_fault(BY_FAULT_IO) || by_write_at(fd, text->text, text->size, 0) || fsync(fd);
    failed |= close(fd) != 0;
    if (failed || (fsync(folder) && errno != EINVAL)) {
        const int saved = errno;
        unlinkat(folder, name, 0);
        errno = saved;
        return -1;
    }
    return 0;
}

int by_temp_record_write(const struct by_temp_part *parts, size_t count)
{
    const struct by_temp_part *last = &parts[count - 1];
    char name[BY_TEMP_NAME_MAX];
    struct by_str text;
    by_str_init(&text);
    by_temp_name(name, last->base, BY_TEMP_RECORD);
    errno = ENOMEM;
    const int status =
        compose(&text, parts, count) ? -1 : write_synced(last->temp->folder, name, &text);
    const int saved = errno;
    by_str_release(&text);
    errno = saved;
    return status;
}

void by_temp_record_remove(int folder, const char *base)
{
    char name[BY_TEMP_NAME_MAX];
    by_temp_name(name, base, BY_TEMP_RECORD);
    unlinkat(folder, name, 0);
}

/* --- Reading --- */

struct recorded_part {
    const char *folder, *base, *aside, *identity;
};

struct record {
    char *bytes;
    const char *at, *end; /* what is still to be read */
};

static const char *next_text(struct record *record)
{
    const char *text = record->at;
    const char *nul = memchr(text, '\0', (size_t)(record->end - text));
    record->at = nul ? nul + 1 : record->end;
    return nul ? text : NULL;
}

static bool is_whole(const char *bytes, size_t size)
{
    char hash[24];
    if (size <= HASH_TEXT || bytes[size - 1] || bytes[size - HASH_TEXT - 1])
        return false;
    snprintf(hash, sizeof hash, "%016" PRIx64, by_hash(bytes, size - HASH_TEXT, 0));
    return !strcmp(hash, bytes + size - HASH_TEXT);
}

enum record_state { RECORD_NONE, RECORD_TORN, RECORD_WHOLE };

static enum record_state read_record(struct record *record, int fd)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > RECORD_MAX)
        return RECORD_NONE;
    const size_t size = (size_t)st.st_size;
    record->bytes = by_alloc(size + 1, 1, NULL);
    if (!record->bytes || by_read_at(fd, record->bytes, size, 0))
        return RECORD_NONE;
    if (!is_whole(record->bytes, size))
        return RECORD_TORN;
    record->at = record->bytes;
    record->end = record->bytes + size - HASH_TEXT;
    return strcmp(next_text(record), TITLE) ? RECORD_TORN : RECORD_WHOLE;
}

static enum record_state open_record(struct record *record, int folder, const char *name)
{
    *record = (struct record){0};
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return RECORD_NONE;
    const enum record_state state = read_record(record, fd);
    close(fd);
    return state;
}

static bool next_part(struct record *record, struct recorded_part *part)
{
    const char **fields[PART_FIELDS] = {&part->folder, &part->base, &part->aside, &part->identity};
    for (size_t i = 0; i < PART_FIELDS; i++)
        if (record->at == record->end || !(*fields[i] = next_text(record)))
            return false;
    return !strchr(part->base, '/') && !strncmp(part->aside, ".baryon-", 8) &&
           !strchr(part->aside, '/');
}

/* --- Settling --- */

static int folder_of_part(const struct recorded_part *part, int own)
{
    return openat(own, *part->folder ? part->folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool is_new(int folder, const struct recorded_part *part)
{
    char text[48];
    struct stat st;
    if (fstatat(folder, part->base, &st, AT_SYMLINK_NOFOLLOW))
        return false;
    snprintf(text, sizeof text, "%ju %ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    return !strcmp(text, part->identity);
}

/*
 * The new file of a group that was finished stays; else what was there before comes back. A record
 * may lie in a folder that came from elsewhere, so it cannot name files to remove in other folders
 * but temporary ones.
 */
static int settle_part(const struct recorded_part *part, int own, bool finished)
{
    struct stat st;
    int status = 0;
    const int folder = folder_of_part(part, own);
    if (folder < 0)
        return errno == ENOENT ? 0 : -1;
    const bool has_old = fstatat(folder, part->aside, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (has_old && finished)
        unlinkat(folder, part->aside, 0);
    else if (has_old)
        status = by_fault(BY_FAULT_IO) ? -1 : renameat(folder, part->aside, folder, part->base);
    else if (!finished && !*part->folder && is_new(folder, part))
        unlinkat(folder, part->base, 0);
    close(folder);
    return status;
}

/* The last file got its name after all others. */
static bool is_finished(struct record record, int own)
{
    struct recorded_part part, last = {0};
    while (next_part(&record, &part))
        last = part;
    return last.base && is_new(own, &last);
}

int by_temp_record_settle(int folder, const char *base)
{
    char name[BY_TEMP_NAME_MAX];
    struct record record;
    struct recorded_part part;
    int status = 0;
    by_temp_name(name, base, BY_TEMP_RECORD);
    const enum record_state state = open_record(&record, folder, name);
    if (state == RECORD_WHOLE) {
        const bool finished = is_finished(record, folder);
        while (status == 0 && next_part(&record, &part))
            status = settle_part(&part, folder, finished);
    }
    by_free(record.bytes);
    if (state != RECORD_NONE && status == 0)
        by_temp_record_remove(folder, base);
    return status;
}
