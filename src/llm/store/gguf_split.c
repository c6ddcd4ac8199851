/* Divides tensors among GGUF files as llama-gguf-split does, and makes their headers. */
#include "llm/store/gguf_split.h"

#include "llm/store/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SPLIT_KEYS 3

/* --- Which tensor is in which file --- */

static int check_new_tensor(const struct by_new_tensor *tensor, uint64_t *bytes,
                            struct baryon_error *err)
{
    uint64_t elements = 1;
    char quoted[BY_QUOTE_MAX];
    by_quote(quoted, tensor->name);
    if (tensor->type->ggml < 0)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "tensor %s is %s, GGUF files have no such type",
                       quoted, tensor->type->name);
    if (tensor->rank > BY_GGUF_RANK_MAX || strlen(tensor->name) > BY_GGUF_NAME_MAX)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "tensor %s has %zu dimensions and a name of %zu bytes, GGUF files have at "
                       "most %d and %u",
                       quoted, tensor->rank, strlen(tensor->name), BY_GGUF_RANK_MAX,
                       BY_GGUF_NAME_MAX);
    uint64_t columns = tensor->rank ? tensor->dims[tensor->rank - 1] : 1;
    bool overflow = false;
    for (size_t i = 0; i < tensor->rank; i++)
        overflow |= __builtin_mul_overflow(elements, tensor->dims[i], &elements);
    if (overflow || columns % tensor->type->block ||
        !by_stored_bytes(tensor->type, elements, bytes))
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "tensor %s has rows of %" PRIu64 ", %s requires a multiple of %u", quoted,
                       columns, tensor->type->name, tensor->type->block);
    return 0;
}

static uint64_t padded(uint64_t size, uint64_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

/* A new file where one would become too large, as llama-gguf-split --split-max-size counts. */
static int divide_tensors(struct by_gguf_split *split, const struct by_gguf_plan *plan,
                          struct baryon_error *err)
{
    uint64_t held = 0;
    split->file_count = 1;
    for (size_t i = 0; i < plan->count; i++) {
        struct by_gguf_file *file = &split->files[split->file_count - 1];
        if (check_new_tensor(&plan->tensors[i], &split->bytes[i], err))
            return -1;
        if (split->bytes[i] > INT64_MAX / 2 - split->total)
            return by_fail(err, BARYON_ERR_INPUT, "tensors have more bytes than a disk can hold");
        const uint64_t more = padded(split->bytes[i], BY_GGUF_ALIGNMENT);
        if (plan->shard_bytes && file->count && held + more > plan->shard_bytes) {
            *(file = &split->files[split->file_count++]) = (struct by_gguf_file){.first = i};
            held = 0;
        }
        held += more;
        split->total += split->bytes[i];
        split->file_of[i] = split->file_count - 1;
        file->count++;
    }
    if (split->file_count > BY_GGUF_PARTS_MAX)
        return by_fail(err, BARYON_ERR_USAGE,
                       "%zu parts of at most %" PRIu64 " bytes, a GGUF file has at most %u",
                       split->file_count, plan->shard_bytes, BY_GGUF_PARTS_MAX);
    return 0;
}

int by_gguf_split_name(const struct by_gguf_split *split, size_t file, const char *output,
                       char *buf, size_t size, struct baryon_error *err)
{
    const size_t stem = strlen(output) - (by_has_suffix(output, ".gguf") ? strlen(".gguf") : 0);
    const bool fits = split->file_count > 1
                          ? by_gguf_part_name(buf, size, output, stem, (unsigned)file + 1,
                                              (unsigned)split->file_count)
                          : (size_t)snprintf(buf, size, "%s", output) < size;
    return fits ? 0 : by_fail(err, BARYON_ERR_USAGE, "the path is too long");
}

/* --- Headers --- */

static void add_number(struct by_str *out, enum by_gguf_type type, uint64_t number)
{
    struct by_gguf_value value = {.type = type, .u = number};
    by_gguf_encode(out, &value);
}

static void add_text(struct by_str *out, const char *text)
{
    struct by_gguf_value value = {.type = BY_GGUF_STRING, .text = {text, strlen(text)}};
    by_gguf_encode(out, &value);
}

static void add_key_value(struct by_str *header, const char *key, const struct by_gguf_value *value)
{
    add_text(header, key);
    add_number(header, BY_GGUF_U32, value->type);
    by_gguf_encode(header, value);
}

static void add_split_keys(struct by_str *header, const struct by_gguf_split *split, size_t file,
                           size_t tensors)
{
    const struct by_gguf_value no = {.type = BY_GGUF_U16, .u = file},
                               count = {.type = BY_GGUF_U16, .u = split->file_count},
                               all = {.type = BY_GGUF_I32, .u = tensors};
    add_key_value(header, "split.no", &no);
    add_key_value(header, "split.tensors.count", &all);
    add_key_value(header, "split.count", &count);
}

/* A source in parts has keys of its own division. */
static bool is_split_key(const char *key)
{
    return !strncmp(key, "split.", strlen("split."));
}

/* Metadata is in the first file alone. */
static void add_metadata(struct by_str *header, const struct by_gguf_split *split, size_t file,
                         const struct by_gguf_plan *plan)
{
    const bool parts = split->file_count > 1;
    size_t count = parts ? SPLIT_KEYS : 0;
    for (size_t i = 0; !file && i < plan->pair_count; i++)
        count += !is_split_key(plan->pairs[i].key);
    add_number(header, BY_GGUF_U64, count);
    for (size_t i = 0; !file && i < plan->pair_count; i++)
        if (!is_split_key(plan->pairs[i].key))
            add_key_value(header, plan->pairs[i].key, &plan->pairs[i].value);
    if (parts)
        add_split_keys(header, split, file, plan->count);
}

static uint64_t alignment_of(const struct by_gguf_plan *plan, size_t file)
{
    for (size_t i = 0; !file && i < plan->pair_count; i++)
        if (!strcmp(plan->pairs[i].key, "general.alignment") &&
            plan->pairs[i].value.type == BY_GGUF_U32 && plan->pairs[i].value.u)
            return plan->pairs[i].value.u;
    return BY_GGUF_ALIGNMENT;
}

static void add_tensor(struct by_str *header, const struct by_new_tensor *tensor, uint64_t offset)
{
    add_text(header, tensor->name);
    add_number(header, BY_GGUF_U32, tensor->rank);
    for (size_t i = tensor->rank; i-- > 0;)
        add_number(header, BY_GGUF_U64, tensor->dims[i]);
    add_number(header, BY_GGUF_U32, (uint64_t)tensor->type->ggml);
    add_number(header, BY_GGUF_U64, offset);
}

static int make_header(struct by_gguf_split *split, size_t index, const struct by_gguf_plan *plan,
                       struct baryon_error *err)
{
    struct by_gguf_file *file = &split->files[index];
    struct by_str *header = &file->header;
    const uint64_t alignment = alignment_of(plan, index);
    uint64_t offset = 0;
    by_str_add(header, "GGUF", 4);
    add_number(header, BY_GGUF_U32, plan->version ? plan->version : 3);
    add_number(header, BY_GGUF_U64, file->count);
    add_metadata(header, split, index, plan);
    for (size_t i = file->first; i < file->first + file->count; i++) {
        add_tensor(header, &plan->tensors[i], offset);
        split->place[i] = offset;
        offset = padded(offset + split->bytes[i], alignment);
    }
    while (!header->failed && header->size % alignment)
        by_str_add(header, "", 1);
    for (size_t i = file->first; i < file->first + file->count; i++)
        split->place[i] += header->size;
    file->size = header->size + offset;
    return by_str_error(header, err);
}

/* --- All --- */

static int allocate_split(struct by_gguf_split *split, size_t count, struct baryon_error *err)
{
    *split = (struct by_gguf_split){0};
    split->files = by_alloc_zero(count + 1, sizeof *split->files, err);
    split->file_of = by_alloc_zero(count + 1, sizeof *split->file_of, err);
    split->place = by_alloc_zero(count + 1, sizeof *split->place, err);
    split->bytes = by_alloc_zero(count + 1, sizeof *split->bytes, err);
    return split->files && split->file_of && split->place && split->bytes ? 0 : -1;
}

int by_gguf_split_make(struct by_gguf_split *split, const struct by_gguf_plan *plan,
                       struct baryon_error *err)
{
    int status = allocate_split(split, plan->count, err) || divide_tensors(split, plan, err);
    for (size_t i = 0; !status && i < split->file_count; i++)
        status = make_header(split, i, plan, err);
    if (status)
        by_gguf_split_release(split);
    return status ? -1 : 0;
}

void by_gguf_split_release(struct by_gguf_split *split)
{
    for (size_t i = 0; split->files && i < split->file_count; i++)
        by_str_release(&split->files[i].header);
    by_free(split->files);
    by_free(split->file_of);
    by_free(split->place);
    by_free(split->bytes);
    *split = (struct by_gguf_split){0};
}
