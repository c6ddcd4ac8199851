/* Writes tensors while others are computed. */
#include "llm/output.h"

#include "base/str.h"

#include <string.h>

int by_llm_output_declare(struct by_llm_output *output, struct by_arena *arena, const char *layer,
                          const char *suffix, int64_t elem, size_t rank, const uint64_t *dims,
                          struct baryon_error *err)
{
    struct by_new_tensor *tensor = &output->tensors[output->count++];
    struct by_str name;
    by_str_init(&name);
    by_str_printf(&name, suffix ? "%s.%s" : "%s", layer, suffix);
    *tensor =
        (struct by_new_tensor){.name = by_arena_text(arena, by_str_text(&name), name.size, err),
                               .type = by_stored_type_by_elem((enum by_elem)elem),
                               .rank = rank};
    by_str_release(&name);
    if (rank)
        memcpy(tensor->dims, dims, rank * sizeof *dims);
    return tensor->name ? 0 : -1;
}

int by_llm_output_open(struct by_llm_output *output, const char *path, uint64_t shard_bytes,
                       struct by_hash128 key, struct baryon_error *err)
{
    const struct by_safetensors_plan plan = {.path = path,
                                             .tensors = output->tensors,
                                             .count = output->count,
                                             .shard_bytes = shard_bytes,
                                             .keep_order = true,
                                             .key = key};
    return by_safetensors_create(&output->writer, &plan, err);
}

/* --- Memory --- */

/* Small blocks are quick to get, and of large ones none lies idle. */
#define ROOM_LEAST ((size_t)1 << 20)
#define ROOM_MOST  ((size_t)32 << 20)

uint8_t *by_llm_output_room(struct by_llm_output *output, size_t size, struct baryon_error *err)
{
    for (size_t i = 0; i < BY_LLM_FIELDS_MAX; i++) {
        struct by_llm_room *room = &output->rooms[i];
        if (!room->bytes || size > room->size || size < room->size / 4)
            continue;
        uint8_t *bytes = room->bytes;
        room->bytes = NULL;
        memset(bytes, 0, size);
        return bytes;
    }
    uint8_t *bytes = by_alloc_zero(size, 1, err);
    if (bytes)
        by_spread(bytes, size);
    return bytes;
}

static void keep_room(struct by_llm_output *output, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; size >= ROOM_LEAST && size <= ROOM_MOST && i < BY_LLM_FIELDS_MAX; i++)
        if (!output->rooms[i].bytes) {
            output->rooms[i] = (struct by_llm_room){bytes, size};
            return;
        }
    by_free(bytes);
}

/* --- The thread --- */

static void bundle_free(struct by_llm_bundle *bundle)
{
    for (size_t i = 0; i < bundle->count; i++)
        by_free(bundle->bytes[i]);
    bundle->count = 0;
}

static int write_bundle(void *context, struct baryon_error *err)
{
    struct by_llm_output *output = context;
    const struct by_llm_bundle *bundle = &output->bundle;
    int status = 0;
    for (size_t i = 0; i < bundle->count && status == 0; i++)
        if (bundle->bytes[i])
            status = by_safetensors_put(output->writer, bundle->first + i, bundle->at,
                                        bundle->bytes[i], bundle->sizes[i], err);
    if (bundle->copied)
        status = by_safetensors_copy(output->writer, bundle->first, bundle->checkpoint,
                                     bundle->copied, err);
    by_safetensors_push(output->writer);
    return status;
}

int by_llm_output_wait(struct by_llm_output *output, struct baryon_error *err)
{
    const int status = by_task_wait(&output->task, err);
    for (size_t i = 0; i < output->bundle.count; i++)
        keep_room(output, output->bundle.bytes[i], output->bundle.sizes[i]);
    output->bundle.count = 0;
    return status;
}

int by_llm_output_put(struct by_llm_output *output, const struct by_llm_bundle *bundle,
                      struct baryon_error *err)
{
    struct by_llm_bundle own = *bundle;
    if (by_llm_output_wait(output, err)) {
        bundle_free(&own);
        return -1;
    }
    output->bundle = own;
    if (!by_task_start(&output->task, write_bundle, output, "writer", err))
        return 0;
    bundle_free(&output->bundle);
    return -1;
}

int by_llm_output_copy(struct by_llm_output *output, size_t tensor,
                       const struct by_checkpoint *checkpoint,
                       const struct by_stored_tensor *stored, struct baryon_error *err)
{
    const struct by_llm_bundle bundle = {
        .first = tensor, .checkpoint = checkpoint, .copied = stored};
    return by_llm_output_put(output, &bundle, err);
}

void by_llm_output_close(struct by_llm_output *output)
{
    by_llm_output_wait(output, NULL);
    for (size_t i = 0; i < BY_LLM_FIELDS_MAX; i++)
        by_free(output->rooms[i].bytes);
    by_safetensors_abort(output->writer);
    output->writer = NULL;
}

/* --- What the bytes depend on --- */

int by_llm_output_key(const struct by_checkpoint *checkpoint, const char *options,
                      struct by_hash128 *key, struct baryon_error *err)
{
    struct by_hasher *hasher;
    if (by_hasher_open(&hasher, err))
        return -1;
    by_hasher_text(hasher, baryon_version());
    by_hasher_text(hasher, options);
    for (size_t i = 0; i < checkpoint->file_count; i++) {
        const struct stat *stat = &checkpoint->files[i].mapped.stat;
        by_hasher_text(hasher, checkpoint->files[i].name);
        by_hasher_number(hasher, (uint64_t)stat->st_size);
        by_hasher_number(hasher, (uint64_t)stat->st_mtim.tv_sec);
        by_hasher_number(hasher, (uint64_t)stat->st_mtim.tv_nsec);
    }
    *key = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return 0;
}
