/* Writes safetensors files whose tensors come in any order, and goes on where a run was killed. */
#include "llm/store/safetensors_write.h"

#include "base/journal.h"
#include "base/thread.h"
#include "llm/store/shard_plan.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define PATH_ROOM 4096
#define PUSH_STEP ((uint64_t)16 << 20)

struct shard_state {
    struct by_writer *writer; /* NULL: not begun, or done */
    uint64_t header, left;    /* bytes of the header, bytes of tensors that have not come */
    uint64_t pushed;   /* bytes of tensors that were there at the last by_safetensors_push() */
    bool done, is_old; /* whole and named; by an earlier run */
};

struct by_safetensors_writer {
    struct by_safetensors_plan plan;
    struct by_shard_plan shards;
    struct shard_state *states;
    struct by_journal *journal; /* numbers of shards that are done; NULL for a single file */
    char folder[PATH_ROOM];     /* where files grow */
    bool is_file;
    pthread_mutex_t lock;
    /* The thread that brings a whole shard to the disk, while others are written. */
    struct by_task ending;
    size_t ending_shard;
};

static int shard_path(const struct by_safetensors_writer *writer, size_t shard, char *path,
                      struct baryon_error *err)
{
    if (writer->is_file)
        snprintf(path, PATH_ROOM, "%s", writer->plan.path);
    else if (!by_join_path(path, PATH_ROOM, writer->folder, writer->shards.shards[shard].name))
        return by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    return 0;
}

/* A record is the number of a shard. */
static int read_records(struct by_safetensors_writer *writer, struct baryon_error *err)
{
    const uint8_t *bytes;
    char path[PATH_ROOM];
    uint64_t number;
    size_t size;
    for (;;) {
        if (by_journal_next(writer->journal, &bytes, &size, err))
            return -1;
        if (!bytes)
            return 0;
        if (size != sizeof number)
            continue;
        memcpy(&number, bytes, sizeof number);
        if (number >= writer->shards.shard_count)
            continue;
        struct shard_state *state = &writer->states[number];
        if (shard_path(writer, (size_t)number, path, err))
            return -1;
        state->done = state->is_old = by_file_size(path) == state->header + state->left;
    }
}

static int open_journal(struct by_safetensors_writer *writer, struct baryon_error *err)
{
    enum by_journal_found found;
    if (by_journal_open_in(&writer->journal, writer->folder, BY_PART_JOURNAL, writer->plan.key,
                           &found, err))
        return -1;
    if (found == BY_JOURNAL_BUSY) {
        by_fail(err, BARYON_ERR_USAGE, "another process writes to it");
        return by_err_hint(err, "wait for it, or choose another folder");
    }
    if (by_remove_stale(writer->folder, err))
        return -1;
    return found == BY_JOURNAL_SAME ? read_records(writer, err)
                                    : by_empty_folder(writer->folder, err);
}

static int open_part(struct by_safetensors_writer *writer, struct baryon_error *err)
{
    const char *path = writer->plan.path;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (by_file_exists(path) && !by_folder_is_empty(path)) {
        by_fail(err, BARYON_ERR_USAGE, "is there and not an empty folder, must be new or empty");
        return by_err_hint(err, "choose another name");
    }
    int size =
        snprintf(writer->folder, sizeof writer->folder, "%.*s" BY_PART_SUFFIX, (int)length, path);
    if (size < 0 || (size_t)size >= sizeof writer->folder - 80)
        return by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    return open_journal(writer, err);
}

static int size_shards(struct by_safetensors_writer *writer, struct baryon_error *err)
{
    writer->states = by_alloc_zero(writer->shards.shard_count, sizeof *writer->states, err);
    if (!writer->states)
        return -1;
    for (size_t i = 0; i < writer->shards.shard_count; i++) {
        struct by_str header;
        by_str_init(&header);
        int status = by_shard_header(&header, &writer->shards, i, &writer->plan, err);
        writer->states[i].header = header.size;
        writer->states[i].left = writer->shards.shards[i].bytes;
        by_str_release(&header);
        if (status)
            return -1;
    }
    return 0;
}

static int create(struct by_safetensors_writer *writer, struct baryon_error *err)
{
    if (writer->is_file)
        writer->plan.shard_bytes = 0;
    if (by_shard_plan_make(&writer->shards, &writer->plan, err) || size_shards(writer, err))
        return -1;
    if (!writer->is_file)
        return open_part(writer, err);
    if (!by_folder_of(writer->plan.path, writer->folder, sizeof writer->folder))
        return by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    return by_writer_probe(writer->plan.path, writer->plan.flags, err);
}

int by_safetensors_create(struct by_safetensors_writer **writer,
                          const struct by_safetensors_plan *plan, struct baryon_error *err)
{
    struct by_safetensors_writer *fresh = by_alloc_zero(1, sizeof *fresh, err);
    if (!fresh)
        return -1;
    pthread_mutex_init(&fresh->lock, NULL);
    fresh->plan = *plan;
    fresh->is_file = by_has_suffix(plan->path, ".safetensors");
    if (create(fresh, err)) {
        by_safetensors_abort(fresh);
        return by_err_file(err, plan->path);
    }
    *writer = fresh;
    return 0;
}

const char *by_safetensors_folder(const struct by_safetensors_writer *writer)
{
    return writer->folder;
}

bool by_safetensors_has(const struct by_safetensors_writer *writer, size_t tensor)
{
    return writer->states[writer->shards.shard_of[tensor]].is_old;
}

/* With the lock. */
static int begin_shard(struct by_safetensors_writer *writer, size_t shard, struct baryon_error *err)
{
    struct shard_state *state = &writer->states[shard];
    char path[PATH_ROOM];
    struct by_str header;
    if (state->writer)
        return 0;
    if (shard_path(writer, shard, path, err) ||
        by_writer_open(&state->writer, path, writer->plan.flags, err))
        return -1;
    by_str_init(&header);
    int status = by_shard_header(&header, &writer->shards, shard, &writer->plan, err);
    if (!status)
        status = by_writer_add(state->writer, by_str_text(&header), header.size, err);
    by_str_release(&header);
    uint64_t size = state->header + writer->shards.shards[shard].bytes;
    return status ? -1 : by_writer_extend(state->writer, size, err);
}

static int locked_begin(struct by_safetensors_writer *writer, size_t shard,
                        struct baryon_error *err)
{
    pthread_mutex_lock(&writer->lock);
    int status = begin_shard(writer, shard, err);
    pthread_mutex_unlock(&writer->lock);
    return status;
}

static int commit_shard(void *context, struct baryon_error *err)
{
    struct by_safetensors_writer *writer = context;
    struct shard_state *state = &writer->states[writer->ending_shard];
    uint64_t number = writer->ending_shard;
    if (by_writer_commit(state->writer, err))
        return -1;
    by_writer_abort(state->writer);
    state->writer = NULL;
    return writer->journal ? by_journal_add(writer->journal, &number, sizeof number, err) : 0;
}

/* With the lock; nothing is put into the shard any more. */
static int end_shard(struct by_safetensors_writer *writer, size_t shard, struct baryon_error *err)
{
    if (begin_shard(writer, shard, err) || by_task_wait(&writer->ending, err))
        return -1;
    writer->states[shard].done = true;
    writer->ending_shard = shard;
    return by_task_start(&writer->ending, commit_shard, writer, "end of a file", err);
}

static int count_bytes(struct by_safetensors_writer *writer, size_t shard, uint64_t size,
                       struct baryon_error *err)
{
    struct shard_state *state = &writer->states[shard];
    pthread_mutex_lock(&writer->lock);
    state->left -= size;
    int status = size && !state->left ? end_shard(writer, shard, err) : 0;
    pthread_mutex_unlock(&writer->lock);
    return status;
}

/* Where the bytes go; refuses what is more than there is room for. */
static int find_place(struct by_safetensors_writer *writer, size_t tensor, uint64_t at,
                      uint64_t size, uint64_t *place, struct baryon_error *err)
{
    size_t shard = writer->shards.shard_of[tensor];
    const struct shard_state *state = &writer->states[shard];
    char quoted[BY_QUOTE_MAX];
    if (at > writer->shards.bytes[tensor] || size > writer->shards.bytes[tensor] - at ||
        state->done)
        return by_fail(err, BARYON_ERR_INTERNAL, "bytes written past the end of tensor %s",
                       by_quote(quoted, writer->plan.tensors[tensor].name));
    *place = state->header + writer->shards.offset[tensor] + at;
    return locked_begin(writer, shard, err);
}

int by_safetensors_put(struct by_safetensors_writer *writer, size_t tensor, uint64_t at,
                       const void *bytes, size_t size, struct baryon_error *err)
{
    size_t shard = writer->shards.shard_of[tensor];
    uint64_t place;
    if (find_place(writer, tensor, at, size, &place, err) ||
        by_writer_put(writer->states[shard].writer, place, bytes, size, err))
        return -1;
    return count_bytes(writer, shard, size, err);
}

int by_safetensors_copy(struct by_safetensors_writer *writer, size_t tensor,
                        const struct by_checkpoint *checkpoint,
                        const struct by_stored_tensor *source, struct baryon_error *err)
{
    size_t shard = writer->shards.shard_of[tensor];
    uint64_t place;
    if (find_place(writer, tensor, 0, source->bytes, &place, err) ||
        by_writer_put_mapped(writer->states[shard].writer, place,
                             &checkpoint->files[source->file].mapped, (size_t)source->offset,
                             (size_t)source->bytes, err))
        return -1;
    return count_bytes(writer, shard, source->bytes, err);
}

/* A shard of which much was put since the last time; -1: none. */
static int share_shard(struct by_safetensors_writer *writer)
{
    for (size_t i = 0; i < writer->shards.shard_count; i++) {
        struct shard_state *state = &writer->states[i];
        const uint64_t put = writer->shards.shards[i].bytes - state->left;
        /* Of one that is done the writer belongs to the task that ends it. */
        if (state->done || !state->writer || put - state->pushed < PUSH_STEP)
            continue;
        state->pushed = put;
        return by_writer_share(state->writer);
    }
    return -1;
}

void by_safetensors_push(struct by_safetensors_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    const int fd = share_shard(writer);
    pthread_mutex_unlock(&writer->lock);
    by_push_file(fd); /* may take its time */
}

static int finish_shards(struct by_safetensors_writer *writer, struct baryon_error *err)
{
    for (size_t i = 0; i < writer->shards.shard_count; i++) {
        struct shard_state *state = &writer->states[i];
        if (!state->done && state->left)
            return by_fail(err, BARYON_ERR_INTERNAL, "%s lacks bytes of tensors",
                           writer->shards.shards[i].name);
        if (!state->done && end_shard(writer, i, err))
            return -1;
    }
    return by_task_wait(&writer->ending, err);
}

static int write_index(struct by_safetensors_writer *writer, struct baryon_error *err)
{
    char path[PATH_ROOM];
    struct by_str index;
    by_str_init(&index);
    int status = by_shard_index(&index, &writer->shards, &writer->plan, err);
    if (!by_join_path(path, sizeof path, writer->folder, "model.safetensors.index.json"))
        status = by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    if (!status)
        status = by_write_file(path, by_str_text(&index), index.size, writer->plan.flags, err);
    by_str_release(&index);
    return status;
}

/* Locked until it has no name: a process that waits for the lock does not go on in the result. */
static int name_folder(struct by_safetensors_writer *writer, struct baryon_error *err)
{
    char path[PATH_ROOM];
    int status = by_remove_stale(writer->folder, err) ||
                 by_rename_folder(writer->folder, writer->plan.path, err);
    if (!status && by_join_path(path, sizeof path, writer->plan.path, BY_PART_JOURNAL))
        status = by_remove_file(path, err);
    by_journal_close(writer->journal);
    writer->journal = NULL;
    return status ? -1 : 0;
}

int by_safetensors_finish(struct by_safetensors_writer *writer, struct baryon_error *err)
{
    if (finish_shards(writer, err))
        return -1;
    if (writer->is_file)
        return 0;
    if (writer->shards.shard_count > 1 && write_index(writer, err))
        return -1;
    return name_folder(writer, err);
}

void by_safetensors_abort(struct by_safetensors_writer *writer)
{
    if (!writer)
        return;
    by_task_wait(&writer->ending, NULL);
    for (size_t i = 0; writer->states && i < writer->shards.shard_count; i++)
        by_writer_abort(writer->states[i].writer);
    by_journal_close(writer->journal);
    by_free(writer->states);
    by_shard_plan_release(&writer->shards);
    pthread_mutex_destroy(&writer->lock);
    by_free(writer);
}
