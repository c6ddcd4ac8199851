/* Writes GGUF files whose tensors come in any order, and goes on where a run was killed. */
#include "llm/store/gguf_write.h"

#include "base/journal.h"
#include "base/thread.h"
#include "llm/store/gguf_split.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_ROOM 4096
/* Tensors are recorded when so many bytes of them are new, or this share of all. */
#define RECORD_STEP  ((uint64_t)64 << 20)
#define RECORD_SHARE 16
#define COPY_STEP    ((size_t)8 << 20)

enum tensor_state {
    COMING,
    WHOLE,      /* all bytes are in the file */
    ON_ITS_WAY, /* to the disk */
    RECORDED,
    OLD, /* recorded by an earlier run */
};

struct by_gguf_writer {
    struct by_gguf_plan plan;
    struct by_gguf_split split;
    char target[PATH_ROOM], folder[PATH_ROOM]; /* where links lead to; where files grow */
    struct by_journal *journal;
    int *files;     /* descriptors; -1: not begun */
    uint64_t *left; /* each tensor: bytes that have not come */
    uint8_t *states;
    uint64_t fresh, step; /* bytes of whole tensors since the last record; for the next one */
    pthread_mutex_t lock;
    /* The thread that brings whole tensors to the disk and records them. */
    struct by_task recorder;
    bool has_recorded;
};

/* --- Places --- */

static int path_in(const struct by_gguf_writer *writer, const char *name, char path[PATH_ROOM],
                   struct baryon_error *err)
{
    return by_join_path(path, PATH_ROOM, writer->folder, name)
               ? 0
               : by_fail(err, BARYON_ERR_USAGE, "the path is too long");
}

/* Of a file while it grows, and of the whole one. */
static int paths_of(const struct by_gguf_writer *writer, size_t file, char growing[PATH_ROOM],
                    char whole[PATH_ROOM], struct baryon_error *err)
{
    return by_gguf_split_name(&writer->split, file, writer->target, whole, PATH_ROOM, err) ||
                   path_in(writer, by_basename(whole), growing, err)
               ? -1
               : 0;
}

/* A link stays, the file that it leads to is what is written. */
static int find_target(struct by_gguf_writer *writer, struct baryon_error *err)
{
    const char *path = writer->plan.path;
    struct stat status;
    if (by_writer_probe(path, writer->plan.flags, err))
        return -1;
    const bool link = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
    char *real = link ? realpath(path, NULL) : NULL;
    const int size = snprintf(writer->target, PATH_ROOM, "%s", real ? real : path);
    const int more = snprintf(writer->folder, PATH_ROOM, "%s" BY_PART_SUFFIX, writer->target);
    free(real);
    return size < PATH_ROOM && more < PATH_ROOM - 80
               ? 0
               : by_fail(err, BARYON_ERR_USAGE, "the path is too long");
}

/* --- What an earlier run left --- */

static bool file_is_there(const struct by_gguf_writer *writer, size_t file)
{
    char growing[PATH_ROOM], whole[PATH_ROOM];
    return !paths_of(writer, file, growing, whole, NULL) &&
           by_file_size(growing) == writer->split.files[file].size;
}

/* A record is numbers of tensors. */
static int read_tensor_records(struct by_gguf_writer *writer, struct baryon_error *err)
{
    const uint8_t *bytes;
    uint64_t number;
    size_t size;
    for (;;) {
        if (by_journal_next(writer->journal, &bytes, &size, err))
            return -1;
        if (!bytes)
            return 0;
        for (size_t at = 0; at + sizeof number <= size; at += sizeof number) {
            memcpy(&number, bytes + at, sizeof number);
            if (number < writer->plan.count &&
                file_is_there(writer, writer->split.file_of[number])) {
                writer->states[number] = OLD;
                writer->left[number] = 0;
            }
        }
    }
}

static int key_of_files(const struct by_gguf_writer *writer, struct by_hash128 *key,
                        struct baryon_error *err)
{
    struct by_hasher *hasher;
    if (by_hasher_open(&hasher, err))
        return -1;
    by_hasher_add(hasher, &writer->plan.key, sizeof writer->plan.key);
    for (size_t i = 0; i < writer->split.file_count; i++)
        by_hasher_add(hasher, writer->split.files[i].header.text,
                      writer->split.files[i].header.size);
    *key = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return 0;
}

static int open_part_folder(struct by_gguf_writer *writer, struct baryon_error *err)
{
    enum by_journal_found found;
    struct by_hash128 key;
    if (key_of_files(writer, &key, err) ||
        by_journal_open_in(&writer->journal, writer->folder, BY_GGUF_JOURNAL, key, &found, err))
        return -1;
    if (found == BY_JOURNAL_BUSY) {
        by_fail(err, BARYON_ERR_USAGE, "another process writes to it");
        return by_err_hint(err, "wait for it, or choose another name");
    }
    return found == BY_JOURNAL_SAME ? read_tensor_records(writer, err)
                                    : by_empty_folder(writer->folder, err);
}

static int create_gguf(struct by_gguf_writer *writer, struct baryon_error *err)
{
    const size_t count = writer->plan.count + 1;
    if (by_gguf_split_make(&writer->split, &writer->plan, err) || find_target(writer, err))
        return -1;
    writer->files = by_alloc(writer->split.file_count, sizeof *writer->files, err);
    for (size_t i = 0; writer->files && i < writer->split.file_count; i++)
        writer->files[i] = -1;
    writer->left = writer->files ? by_alloc(count, sizeof *writer->left, err) : NULL;
    writer->states = writer->left ? by_alloc_zero(count, 1, err) : NULL;
    if (!writer->states)
        return -1;
    memcpy(writer->left, writer->split.bytes, count * sizeof *writer->left);
    const uint64_t share = writer->split.total / RECORD_SHARE;
    writer->step = share < RECORD_STEP ? share : RECORD_STEP;
    return open_part_folder(writer, err);
}

int by_gguf_create(struct by_gguf_writer **writer, const struct by_gguf_plan *plan,
                   struct baryon_error *err)
{
    struct by_gguf_writer *fresh = by_alloc_zero(1, sizeof *fresh, err);
    if (!fresh)
        return -1;
    fresh->plan = *plan;
    pthread_mutex_init(&fresh->lock, NULL);
    if (create_gguf(fresh, err)) {
        by_gguf_abort(fresh);
        return by_err_file(err, plan->path);
    }
    *writer = fresh;
    return 0;
}

const char *by_gguf_folder(const struct by_gguf_writer *writer)
{
    return writer->folder;
}

bool by_gguf_has(const struct by_gguf_writer *writer, size_t tensor)
{
    return writer->states[tensor] == OLD;
}

/* --- Records --- */

/* Of the tensors that are whole, those that are on their way from now on. */
static void send_whole(struct by_gguf_writer *writer)
{
    for (size_t i = 0; i < writer->plan.count; i++)
        if (writer->states[i] == WHOLE)
            writer->states[i] = ON_ITS_WAY;
    writer->fresh = 0;
}

static int sync_files(struct by_gguf_writer *writer, struct baryon_error *err)
{
    for (size_t i = 0; i < writer->split.file_count; i++) {
        pthread_mutex_lock(&writer->lock);
        const int fd = writer->files[i];
        pthread_mutex_unlock(&writer->lock);
        if (fd >= 0 && !(writer->plan.flags & BY_WRITER_NO_SYNC) &&
            by_grown_sync(fd, writer->plan.path, err))
            return -1;
    }
    return 0;
}

static int add_record(struct by_gguf_writer *writer, struct baryon_error *err)
{
    struct by_str record;
    by_str_init(&record);
    pthread_mutex_lock(&writer->lock);
    for (uint64_t i = 0; i < writer->plan.count; i++)
        if (writer->states[i] == ON_ITS_WAY)
            by_str_add(&record, &i, sizeof i);
    pthread_mutex_unlock(&writer->lock);
    int status = by_str_error(&record, err);
    if (!status && record.size)
        status = by_journal_add(writer->journal, record.text, record.size, err);
    by_str_release(&record);
    return status;
}

static int record_sent(struct by_gguf_writer *writer, struct baryon_error *err)
{
    if (sync_files(writer, err) || add_record(writer, err))
        return -1;
    pthread_mutex_lock(&writer->lock);
    for (size_t i = 0; i < writer->plan.count; i++)
        if (writer->states[i] == ON_ITS_WAY)
            writer->states[i] = RECORDED;
    pthread_mutex_unlock(&writer->lock);
    return 0;
}

static int record_whole(void *context, struct baryon_error *err)
{
    struct by_gguf_writer *writer = context;
    const int status = record_sent(writer, err);
    pthread_mutex_lock(&writer->lock);
    writer->has_recorded = true;
    pthread_mutex_unlock(&writer->lock);
    return status;
}

/* With the lock. While one record is on its way, the next waits for more tensors. */
static int start_record(struct by_gguf_writer *writer, struct baryon_error *err)
{
    if (writer->fresh < writer->step || (writer->recorder.started && !writer->has_recorded))
        return 0;
    if (by_task_wait(&writer->recorder, err))
        return -1;
    send_whole(writer);
    writer->has_recorded = false;
    return by_task_start(&writer->recorder, record_whole, writer, "recorder", err);
}

/* --- Bytes --- */

/* With the lock. The header is written again: what a lost disk cache left of it is not known. */
static int begin_file(struct by_gguf_writer *writer, size_t file, struct baryon_error *err)
{
    const struct by_gguf_file *planned = &writer->split.files[file];
    char growing[PATH_ROOM], whole[PATH_ROOM];
    if (writer->files[file] >= 0)
        return 0;
    if (paths_of(writer, file, growing, whole, err) ||
        by_grown_open(&writer->files[file], growing, planned->size, true, err))
        return -1;
    if (!by_write_at(writer->files[file], planned->header.text, planned->header.size, 0))
        return 0;
    by_fail_errno(err, BARYON_ERR_IO, "cannot be written");
    return by_err_file(err, growing);
}

static int begin_range(struct by_gguf_writer *writer, size_t tensor, uint64_t at, uint64_t size,
                       struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (at > writer->split.bytes[tensor] || size > writer->split.bytes[tensor] - at)
        return by_fail(err, BARYON_ERR_INTERNAL, "bytes written past the end of tensor %s",
                       by_quote(quoted, writer->plan.tensors[tensor].name));
    pthread_mutex_lock(&writer->lock);
    const int status = begin_file(writer, writer->split.file_of[tensor], err);
    pthread_mutex_unlock(&writer->lock);
    return status;
}

static int count_put(struct by_gguf_writer *writer, size_t tensor, uint64_t size,
                     struct baryon_error *err)
{
    int status = 0;
    pthread_mutex_lock(&writer->lock);
    if (size > writer->left[tensor]) {
        status = by_fail(err, BARYON_ERR_INTERNAL, "bytes of a tensor were put twice");
    } else if (!(writer->left[tensor] -= size) && writer->states[tensor] == COMING) {
        writer->states[tensor] = WHOLE;
        writer->fresh += writer->split.bytes[tensor];
        status = start_record(writer, err);
    }
    pthread_mutex_unlock(&writer->lock);
    return status;
}

static int put_at(struct by_gguf_writer *writer, size_t tensor, uint64_t at, const void *bytes,
                  size_t size, struct baryon_error *err)
{
    const int fd = writer->files[writer->split.file_of[tensor]];
    if (!by_write_at(fd, bytes, size, writer->split.place[tensor] + at))
        return 0;
    by_fail_errno(err, BARYON_ERR_IO, "cannot be written");
    return by_err_file(err, writer->plan.path);
}

int by_gguf_add(struct by_gguf_writer *writer, size_t tensor, uint64_t at, const void *bytes,
                size_t size, struct baryon_error *err)
{
    return begin_range(writer, tensor, at, size, err) ||
                   put_at(writer, tensor, at, bytes, size, err) ||
                   count_put(writer, tensor, size, err)
               ? -1
               : 0;
}

int by_gguf_copy(struct by_gguf_writer *writer, size_t tensor,
                 const struct by_checkpoint *checkpoint, const struct by_stored_tensor *source,
                 struct baryon_error *err)
{
    const struct by_mapped *mapped = &checkpoint->files[source->file].mapped;
    const uint8_t *bytes = by_checkpoint_bytes(checkpoint, source);
    if (begin_range(writer, tensor, 0, source->bytes, err) || by_mapped_check(mapped, err))
        return -1;
    for (uint64_t at = 0; at < source->bytes; at += COPY_STEP) {
        const uint64_t left = source->bytes - at;
        const size_t step = left < COPY_STEP ? (size_t)left : COPY_STEP;
        if (put_at(writer, tensor, at, bytes + at, step, err))
            return -1;
        by_checkpoint_done(checkpoint, source, at, step);
    }
    return count_put(writer, tensor, source->bytes, err);
}

/* --- The end --- */

static int check_whole(const struct by_gguf_writer *writer, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < writer->plan.count; i++)
        if (writer->left[i])
            return by_fail(err, BARYON_ERR_INTERNAL, "tensor %s lacks bytes",
                           by_quote(quoted, writer->plan.tensors[i].name));
    return 0;
}

/* Permissions are those of the file that is replaced. */
static int end_file(struct by_gguf_writer *writer, size_t file, struct baryon_error *err)
{
    char growing[PATH_ROOM], whole[PATH_ROOM];
    struct stat old;
    if (begin_file(writer, file, err) || paths_of(writer, file, growing, whole, err))
        return -1;
    const int fd = writer->files[file];
    int status = 0;
    if (lstat(whole, &old) == 0 && S_ISREG(old.st_mode) && fchmod(fd, old.st_mode & 0777)) {
        by_fail_errno(err, BARYON_ERR_IO, "permissions cannot be set");
        status = by_err_file(err, whole);
    }
    if (!status && !(writer->plan.flags & BY_WRITER_NO_SYNC))
        status = by_grown_sync(fd, growing, err);
    writer->files[file] = -1;
    if (close(fd) && !status) {
        by_fail_errno(err, BARYON_ERR_IO, "cannot be written");
        status = by_err_file(err, growing);
    }
    return status;
}

/* Nobody reads an old first part beside new others: it goes before them, the new one comes last. */
static int name_files(const struct by_gguf_writer *writer, struct baryon_error *err)
{
    char growing[PATH_ROOM], whole[PATH_ROOM];
    const size_t count = writer->split.file_count;
    if (count > 1 && (paths_of(writer, 0, growing, whole, err) || by_remove_file(whole, err)))
        return -1;
    for (size_t i = count; i-- > 0;)
        if (paths_of(writer, i, growing, whole, err) || by_rename_folder(growing, whole, err))
            return -1;
    return 0;
}

/* After the journal's name is gone another process may have begun there: the folder is its. */
static int remove_part_folder(struct by_gguf_writer *writer, struct baryon_error *err)
{
    char layers[PATH_ROOM];
    if (path_in(writer, BY_LAYER_JOURNAL, layers, err) || by_remove_file(layers, err) ||
        by_empty_folder(writer->folder, err))
        return -1;
    const int status = by_journal_remove(writer->journal, err);
    writer->journal = NULL;
    return status ? -1 : by_remove_empty_folder(writer->folder, err);
}

int by_gguf_finish(struct by_gguf_writer *writer, struct baryon_error *err)
{
    if (by_task_wait(&writer->recorder, err) || check_whole(writer, err))
        return -1;
    for (size_t i = 0; i < writer->split.file_count; i++)
        if (end_file(writer, i, err))
            return -1;
    return name_files(writer, err) || remove_part_folder(writer, err) ? -1 : 0;
}

/* Whether a later run gains from what is there. */
static bool is_worth_keeping(const struct by_gguf_writer *writer)
{
    char layers[PATH_ROOM];
    for (size_t i = 0; i < writer->plan.count; i++)
        if (writer->states[i] >= RECORDED)
            return true;
    return !path_in(writer, BY_LAYER_JOURNAL, layers, NULL) && by_file_exists(layers);
}

/* After an error: what is whole is recorded, if the disk lets it. */
static void leave_part_folder(struct by_gguf_writer *writer)
{
    if (!by_task_wait(&writer->recorder, NULL)) {
        send_whole(writer);
        record_sent(writer, NULL);
    }
    if (!is_worth_keeping(writer))
        remove_part_folder(writer, NULL);
}

void by_gguf_abort(struct by_gguf_writer *writer)
{
    if (!writer)
        return;
    if (writer->journal)
        leave_part_folder(writer);
    for (size_t i = 0; writer->files && i < writer->split.file_count; i++)
        if (writer->files[i] >= 0)
            close(writer->files[i]);
    by_journal_close(writer->journal);
    by_gguf_split_release(&writer->split);
    by_free(writer->files);
    by_free(writer->left);
    by_free(writer->states);
    pthread_mutex_destroy(&writer->lock);
    by_free(writer);
}
