/* Divides tensors among safetensors files and writes their headers and index as text. */
#include "llm/store/shard_plan.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 8

void by_shard_plan_release(struct by_shard_plan *shards)
{
    by_free(shards->shards);
    by_free(shards->order);
    by_free(shards->shard_of);
    by_free(shards->offset);
    by_free(shards->bytes);
    *shards = (struct by_shard_plan){0};
}

static int allocate_plan(struct by_shard_plan *shards, size_t count, struct baryon_error *err)
{
    *shards = (struct by_shard_plan){0};
    shards->shards = by_alloc_zero(count + 1, sizeof *shards->shards, err);
    shards->order = by_alloc(count, sizeof *shards->order, err);
    shards->shard_of = by_alloc(count, sizeof *shards->shard_of, err);
    shards->offset = by_alloc(count, sizeof *shards->offset, err);
    shards->bytes = by_alloc(count, sizeof *shards->bytes, err);
    return shards->shards && shards->order && shards->shard_of && shards->offset && shards->bytes
               ? 0
               : -1;
}

static int size_tensor(const struct by_new_tensor *tensor, uint64_t *bytes,
                       struct baryon_error *err)
{
    uint64_t elements = 1;
    bool overflow = tensor->rank > BY_STORED_RANK_MAX;
    for (size_t i = 0; !overflow && i < tensor->rank; i++)
        overflow = __builtin_mul_overflow(elements, tensor->dims[i], &elements);
    if (!overflow && tensor->type->safetensors && by_stored_bytes(tensor->type, elements, bytes))
        return 0;
    char quoted[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "tensor %s cannot be stored as %s in a safetensors file",
                   by_quote(quoted, tensor->name), tensor->type->name);
}

/* In the order given, a new file where one would become too large. */
static int divide_tensors(struct by_shard_plan *shards, const struct by_safetensors_plan *plan,
                          struct baryon_error *err)
{
    shards->shard_count = 1;
    for (size_t i = 0; i < plan->count; i++) {
        struct by_shard *shard = &shards->shards[shards->shard_count - 1];
        if (size_tensor(&plan->tensors[i], &shards->bytes[i], err))
            return -1;
        if (__builtin_add_overflow(shards->total, shards->bytes[i], &shards->total) ||
            shards->total > INT64_MAX)
            return by_fail(err, BARYON_ERR_INPUT, "tensors have more bytes than a disk can hold");
        if (plan->shard_bytes && shard->count &&
            shard->bytes + shards->bytes[i] > plan->shard_bytes)
            *(shard = &shards->shards[shards->shard_count++]) = (struct by_shard){.first = i};
        shards->order[i] = i;
        shards->shard_of[i] = shards->shard_count - 1;
        shard->bytes += shards->bytes[i];
        shard->count++;
    }
    return 0;
}

struct sorted {
    const struct by_new_tensor *tensor;
    size_t index;
};

static int compare_sorted(const void *left, const void *right)
{
    const struct by_new_tensor *a = ((const struct sorted *)left)->tensor;
    const struct by_new_tensor *b = ((const struct sorted *)right)->tensor;
    if (a->type != b->type) /* rows of one table */
        return a->type < b->type ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int sort_shard(struct by_shard_plan *shards, const struct by_shard *shard,
                      const struct by_safetensors_plan *plan, struct baryon_error *err)
{
    struct sorted *sorted = by_alloc(shard->count, sizeof *sorted, err);
    if (!sorted)
        return -1;
    for (size_t i = 0; i < shard->count; i++)
        sorted[i] = (struct sorted){&plan->tensors[shard->first + i], shard->first + i};
    if (!plan->keep_order)
        qsort(sorted, shard->count, sizeof *sorted, compare_sorted);
    uint64_t offset = 0;
    for (size_t i = 0; i < shard->count; i++) {
        size_t tensor = sorted[i].index;
        shards->order[shard->first + i] = tensor;
        shards->offset[tensor] = offset;
        offset += shards->bytes[tensor];
    }
    by_free(sorted);
    return 0;
}

static void name_shards(struct by_shard_plan *shards)
{
    for (size_t i = 0; i < shards->shard_count; i++) {
        struct by_shard *shard = &shards->shards[i];
        if (shards->shard_count == 1)
            snprintf(shard->name, sizeof shard->name, "model.safetensors");
        else
            snprintf(shard->name, sizeof shard->name, "model-%05zu-of-%05zu.safetensors", i + 1,
                     shards->shard_count);
    }
}

int by_shard_plan_make(struct by_shard_plan *shards, const struct by_safetensors_plan *plan,
                       struct baryon_error *err)
{
    int status = allocate_plan(shards, plan->count, err);
    if (!status)
        status = divide_tensors(shards, plan, err);
    for (size_t i = 0; !status && i < shards->shard_count; i++)
        status = sort_shard(shards, &shards->shards[i], plan, err);
    if (status)
        by_shard_plan_release(shards);
    else
        name_shards(shards);
    return status;
}

static void header_entry(struct by_json *json, const struct by_new_tensor *tensor, uint64_t begin,
                         uint64_t end)
{
    by_json_open(json, tensor->name, '{');
    by_json_text(json, "dtype", tensor->type->name);
    by_json_open(json, "shape", '[');
    for (size_t i = 0; i < tensor->rank; i++)
        by_json_int(json, NULL, (int64_t)tensor->dims[i]);
    by_json_close(json, ']');
    by_json_open(json, "data_offsets", '[');
    by_json_int(json, NULL, (int64_t)begin);
    by_json_int(json, NULL, (int64_t)end);
    by_json_close(json, ']');
    by_json_close(json, '}');
}

int by_shard_header(struct by_str *header, const struct by_shard_plan *shards, size_t shard,
                    const struct by_safetensors_plan *plan, struct baryon_error *err)
{
    const struct by_shard *file = &shards->shards[shard];
    struct by_json json;
    by_str_add(header, "\0\0\0\0\0\0\0\0", ALIGNMENT);
    by_json_init(&json, header, true);
    by_json_open(&json, NULL, '{');
    if (plan->note_count) {
        by_json_open(&json, "__metadata__", '{');
        for (size_t i = 0; i < plan->note_count; i++)
            by_json_text(&json, plan->notes[i].key, plan->notes[i].value);
        by_json_close(&json, '}');
    }
    for (size_t i = 0; i < file->count; i++) {
        size_t tensor = shards->order[file->first + i];
        header_entry(&json, &plan->tensors[tensor], shards->offset[tensor],
                     shards->offset[tensor] + shards->bytes[tensor]);
    }
    by_json_close(&json, '}');
    while (header->size % ALIGNMENT)
        by_str_add(header, " ", 1);
    if (by_str_error(header, err))
        return -1;
    for (unsigned i = 0; i < ALIGNMENT; i++)
        header->text[i] = (char)((uint64_t)(header->size - ALIGNMENT) >> (8 * i));
    return 0;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const struct sorted *)left)->tensor->name,
                  ((const struct sorted *)right)->tensor->name);
}

int by_shard_index(struct by_str *index, const struct by_shard_plan *shards,
                   const struct by_safetensors_plan *plan, struct baryon_error *err)
{
    struct by_json json;
    struct sorted *sorted = by_alloc(plan->count, sizeof *sorted, err);
    if (!sorted)
        return -1;
    for (size_t i = 0; i < plan->count; i++)
        sorted[i] = (struct sorted){&plan->tensors[i], i};
    qsort(sorted, plan->count, sizeof *sorted, compare_names);
    by_json_init(&json, index, false);
    by_json_open(&json, NULL, '{');
    by_json_open(&json, "metadata", '{');
    by_json_int(&json, "total_size", (int64_t)shards->total);
    by_json_close(&json, '}');
    by_json_open(&json, "weight_map", '{');
    for (size_t i = 0; i < plan->count; i++)
        by_json_text(&json, sorted[i].tensor->name,
                     shards->shards[shards->shard_of[sorted[i].index]].name);
    by_json_close(&json, '}');
    by_json_close(&json, '}');
    by_str_puts(index, "\n");
    by_free(sorted);
    return by_str_error(index, err);
}
