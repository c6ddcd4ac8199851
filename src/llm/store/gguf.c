/* Reads the header of a GGUF file: metadata, and where its tensors are. */
#include "llm/store/gguf_read.h"
#include "llm/store/internal.h"

#include "base/str.h"

#include <inttypes.h>
#include <string.h>

/* What a pair and a tensor take at least. */
#define PAIR_BYTES_MIN   13
#define TENSOR_BYTES_MIN 24

struct header {
    struct by_gguf_reader reader;
    struct by_checkpoint *checkpoint;
    struct by_gguf *gguf;
    size_t file;
    uint64_t tensors, pairs;
};

struct pair_list {
    struct by_gguf_pair *at;
    size_t count, cap;
};

static int check_version(uint64_t version, struct baryon_error *err)
{
    if (version == 2 || version == 3)
        return 0;
    if (version && (version & 0xffff) == 0) {
        by_fail(err, BARYON_ERR_UNSUPPORTED, "is big-endian, must be little-endian");
        return by_err_hint(err, "convert it with gguf-py's gguf_convert_endian");
    }
    by_fail(err, version ? BARYON_ERR_UNSUPPORTED : BARYON_ERR_INPUT,
            "GGUF version %" PRIu64 ", must be 2 or 3", version);
    return version == 1 ? by_err_hint(err, "convert the model again with a newer llama.cpp") : -1;
}

/* Magic, version and both counts, which the bytes after them have to justify. */
static int read_counts(struct header *header, struct baryon_error *err)
{
    struct by_gguf_reader *reader = &header->reader;
    char quoted[BY_QUOTE_MAX];
    uint64_t version;
    size_t magic = by_gguf_left(reader) < 4 ? by_gguf_left(reader) : 4;
    if (magic < 4 || memcmp(reader->at, "GGUF", 4) != 0)
        return by_fail(err, BARYON_ERR_INPUT, "begins with %s, a GGUF file begins with 'GGUF'",
                       magic ? by_quote_bytes(quoted, reader->at, magic) : "nothing");
    reader->at += 4;
    if (by_gguf_number(reader, 4, &version, err) || check_version(version, err) ||
        by_gguf_number(reader, 8, &header->tensors, err) ||
        by_gguf_number(reader, 8, &header->pairs, err))
        return -1;
    header->gguf->version = (uint32_t)version;
    if (header->tensors > by_gguf_left(reader) / TENSOR_BYTES_MIN)
        return by_fail(err, BARYON_ERR_INPUT,
                       "claims %" PRIu64 " tensors, the file has only %zu more bytes",
                       header->tensors, by_gguf_left(reader));
    if (header->pairs > by_gguf_left(reader) / PAIR_BYTES_MIN)
        return by_fail(err, BARYON_ERR_INPUT,
                       "claims %" PRIu64 " pairs of metadata, the file has only %zu more bytes",
                       header->pairs, by_gguf_left(reader));
    return 0;
}

/* A key or a tensor's name as a text of our own. */
static int read_name(struct header *header, const char *what, size_t most, const char **name,
                     struct baryon_error *err)
{
    struct by_gguf_text text;
    char quoted[BY_QUOTE_MAX];
    const uint8_t *begin = header->reader.at;
    if (by_gguf_string(&header->reader, &text, err))
        return -1;
    if (!text.size || text.size > most)
        by_fail(err, BARYON_ERR_INPUT, "%s of %zu bytes, must have 1 to %zu", what, text.size,
                most);
    else if (!by_utf8_valid(text.text, text.size) || memchr(text.text, '\0', text.size))
        by_fail(err, BARYON_ERR_INPUT, "%s %s is not UTF-8 text, must be", what,
                by_quote_bytes(quoted, text.text, text.size));
    else {
        *name = by_arena_text(&header->checkpoint->arena, text.text, text.size, err);
        return *name ? 0 : -1;
    }
    header->reader.at = begin;
    return -1;
}

static int read_pair(struct header *header, struct by_gguf_pair *pair, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (read_name(header, "key", BY_GGUF_KEY_MAX, &pair->key, err))
        return -1;
    if (by_gguf_value(&header->reader, &pair->value, err))
        return by_err_in(err, "key %s", by_quote(quoted, pair->key));
    return 0;
}

static int read_pairs(struct header *header, struct baryon_error *err)
{
    struct by_gguf *gguf = header->gguf;
    struct pair_list list = {0};
    char quoted[BY_QUOTE_MAX];
    for (uint64_t i = 0; i < header->pairs; i++) {
        if (by_list_reserve(&header->checkpoint->arena, &list, 1, sizeof *list.at, err) ||
            read_pair(header, &list.at[list.count], err))
            return -1;
        list.count++;
    }
    gguf->pairs = list.at;
    gguf->count = list.count;
    for (size_t i = 0; i < gguf->count; i++) {
        if (by_map_get(&gguf->by_key, gguf->pairs[i].key))
            return by_fail(err, BARYON_ERR_INPUT, "key %s is there twice, must be once",
                           by_quote(quoted, gguf->pairs[i].key));
        if (by_map_put(&gguf->by_key, gguf->pairs[i].key, &gguf->pairs[i], err))
            return -1;
    }
    return 0;
}

static int read_alignment(struct by_gguf *gguf, struct baryon_error *err)
{
    gguf->alignment = BY_GGUF_ALIGNMENT;
    const struct by_gguf_value *value = by_gguf_get(gguf, "general.alignment");
    if (!value)
        return 0;
    if (value->type != BY_GGUF_U32)
        return by_fail(err, BARYON_ERR_INPUT, "general.alignment is %s, must be u32",
                       by_gguf_type_name(value->type));
    if (!value->u || (value->u & (value->u - 1)) || value->u > BY_GGUF_ALIGNMENT_MAX)
        return by_fail(err, BARYON_ERR_INPUT,
                       "general.alignment is %" PRIu64 ", must be a power of two up to %u",
                       value->u, BY_GGUF_ALIGNMENT_MAX);
    gguf->alignment = value->u;
    return 0;
}

static int read_dims(struct header *header, struct by_stored_tensor *tensor,
                     struct baryon_error *err)
{
    uint64_t rank, dim;
    if (by_gguf_number(&header->reader, 4, &rank, err))
        return -1;
    if (rank > BY_GGUF_RANK_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "has %" PRIu64 " dimensions, must have at most %d",
                       rank, BY_GGUF_RANK_MAX);
    tensor->rank = (size_t)rank;
    for (size_t i = 0; i < tensor->rank; i++) {
        if (by_gguf_number(&header->reader, 8, &dim, err))
            return -1;
        if (dim > INT64_MAX)
            return by_fail(err, BARYON_ERR_INPUT, "has a dimension %" PRId64 ", must be from 0",
                           (int64_t)dim);
        tensor->dims[tensor->rank - 1 - i] = dim;
    }
    return 0;
}

static int read_tensor_type(struct header *header, struct by_stored_tensor *tensor,
                            struct baryon_error *err)
{
    uint64_t number;
    if (by_gguf_number(&header->reader, 4, &number, err))
        return -1;
    tensor->type = by_stored_type_by_ggml((uint32_t)number);
    if (!tensor->type)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "type %" PRIu64 " is not known", number);
    if (by_stored_columns(tensor) % tensor->type->block)
        return by_fail(err, BARYON_ERR_INPUT,
                       "rows of %" PRIu64 " elements, %s requires a multiple of %u",
                       by_stored_columns(tensor), tensor->type->name, tensor->type->block);
    return by_stored_size(tensor, err);
}

static int read_offset(struct header *header, struct by_stored_tensor *tensor,
                       struct baryon_error *err)
{
    if (by_gguf_number(&header->reader, 8, &tensor->offset, err))
        return -1;
    if (tensor->offset % header->gguf->alignment)
        return by_fail(err, BARYON_ERR_INPUT,
                       "begins at byte %" PRIu64 " of the data, must be a multiple of %" PRIu64,
                       tensor->offset, header->gguf->alignment);
    return 0;
}

static int read_tensors(struct header *header, struct by_stored_list *list,
                        struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (uint64_t i = 0; i < header->tensors; i++) {
        struct by_stored_tensor tensor = {.file = header->file};
        if (read_name(header, "tensor name", BY_GGUF_NAME_MAX, &tensor.name, err))
            return -1;
        if (read_dims(header, &tensor, err) || read_tensor_type(header, &tensor, err) ||
            read_offset(header, &tensor, err))
            return by_err_in(err, "tensor %s", by_quote(quoted, tensor.name));
        if (by_list_reserve(&header->checkpoint->arena, list, 1, sizeof *list->at, err))
            return -1;
        list->at[list->count++] = tensor;
    }
    return 0;
}

/* Offsets count from the data until here, from the begin of the file then. */
static int place_tensors(struct header *header, struct by_stored_list *list, size_t first,
                         struct baryon_error *err)
{
    struct by_stored_file *file = &header->checkpoint->files[header->file];
    uint64_t size = file->mapped.size, end = 0, alignment = header->gguf->alignment;
    uint64_t used = (uint64_t)(header->reader.at - file->mapped.bytes);
    char quoted[BY_QUOTE_MAX];
    file->data = (used + alignment - 1) / alignment * alignment;
    /* The padding may be missing where there are no data. */
    file->data = file->data < size ? file->data : size;
    uint64_t room = size - file->data;
    by_stored_sort(list, first);
    for (size_t i = first; i < list->count; i++) {
        struct by_stored_tensor *tensor = &list->at[i];
        by_quote(quoted, tensor->name);
        if (tensor->offset > room || tensor->bytes > room - tensor->offset) {
            by_fail(err, BARYON_ERR_INPUT,
                    "%" PRIu64 " bytes at byte %" PRIu64 " of the data, which has only %" PRIu64,
                    tensor->bytes, tensor->offset, room);
            return by_err_in(err, "tensor %s", quoted);
        }
        if (tensor->offset < end) {
            by_fail(err, BARYON_ERR_INPUT,
                    "begins at byte %" PRIu64 " of the data, before '%.80s' ends (%" PRIu64
                    "), must not overlap",
                    tensor->offset, list->at[i - 1].name, end);
            return by_err_in(err, "tensor %s", quoted);
        }
        end = tensor->offset + tensor->bytes;
    }
    for (size_t i = first; i < list->count; i++)
        list->at[i].offset += file->data;
    return 0;
}

int by_gguf_header(struct by_checkpoint *checkpoint, size_t number, struct by_gguf *gguf,
                   struct by_stored_list *list, struct baryon_error *err)
{
    const struct by_stored_file *file = &checkpoint->files[number];
    const size_t first = list->count;
    struct header header = {
        .reader = {file->mapped.bytes, file->mapped.bytes + file->mapped.size},
        .checkpoint = checkpoint,
        .gguf = gguf,
        .file = number,
    };
    if (read_counts(&header, err) || read_pairs(&header, err) || read_alignment(header.gguf, err) ||
        read_tensors(&header, list, err)) {
        by_err_file(err, file->path);
        return by_err_offset(err, (uint64_t)(header.reader.at - file->mapped.bytes));
    }
    return place_tensors(&header, list, first, err) ? by_err_file(err, file->path) : 0;
}
