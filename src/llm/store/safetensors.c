/* Reads the header of a safetensors file and checks that its tensors fill the file. */
#include "llm/store/internal.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_BYTES 8

/* What ends up under such a name now and then. */
struct other_kind {
    const char *magic, *what;
};

static const struct other_kind other_kinds[] = {
    {"version https://git-lfs", "is a Git LFS pointer, must be the file it stands for"},
    {"PK\x03\x04", "is a zip archive (PyTorch's own format), must be safetensors"},
    {"<!DOCTYPE", "is a web page, must be safetensors"},
    {"<html", "is a web page, must be safetensors"},
};

static int refuse_other(const struct by_mapped *mapped, struct baryon_error *err)
{
    for (size_t i = 0; i < sizeof other_kinds / sizeof *other_kinds; i++) {
        size_t length = strlen(other_kinds[i].magic);
        if (mapped->size >= length && !memcmp(mapped->bytes, other_kinds[i].magic, length))
            return by_fail(err, BARYON_ERR_INPUT, "%s", other_kinds[i].what);
    }
    return 0;
}

/* The text of the header. */
static int find_header(const struct by_mapped *mapped, size_t *size, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    uint64_t length = 0;
    if (refuse_other(mapped, err))
        return -1;
    if (mapped->size < LENGTH_BYTES)
        return by_fail(err, BARYON_ERR_INPUT,
                       "has %zu bytes, a safetensors file begins with a length of 8", mapped->size);
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        length |= (uint64_t)mapped->bytes[i] << (8 * i);
    if (length > BY_SAFETENSORS_HEADER_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "header of %" PRIu64 " bytes, must have at most %u",
                       length, BY_SAFETENSORS_HEADER_MAX);
    if (length > mapped->size - LENGTH_BYTES)
        return by_fail(err, BARYON_ERR_INPUT,
                       "header of %" PRIu64 " bytes, only %zu follow its length", length,
                       mapped->size - LENGTH_BYTES);
    *size = (size_t)length;
    const uint8_t *text = mapped->bytes + LENGTH_BYTES;
    if (*size && *text == '{')
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "header begins with %s, must begin with '{'",
            *size ? by_quote_bytes(quoted, text, 1) : "nothing");
    return by_err_offset(err, LENGTH_BYTES);
}

/* A number without sign, fraction or exponent. */
static bool node_uint(const struct by_doc_node *node, uint64_t *value)
{
    int64_t number;
    if (!node || node->kind != BY_DOC_SCALAR || node->quoted ||
        !by_parse_i64(node->text, &number) || number < 0)
        return false;
    *value = (uint64_t)number;
    return true;
}

static const char *node_text(const struct by_doc_node *node)
{
    switch (node->kind) {
    case BY_DOC_LIST:
        return "a list";
    case BY_DOC_MAP:
        return "an object";
    default:
        return node->text;
    }
}

static int read_dtype(struct by_stored_tensor *tensor, const struct by_doc_node *node,
                      struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!node || node->kind != BY_DOC_SCALAR || !node->quoted)
        return by_fail(err, BARYON_ERR_INPUT, "dtype is %s, must be a text",
                       node ? "no text" : "missing");
    tensor->type = by_stored_type_by_name(node->text);
    if (tensor->type && tensor->type->safetensors)
        return 0;
    by_fail(err, BARYON_ERR_UNSUPPORTED, "dtype %s is not known", by_quote(quoted, node->text));
    return by_err_hint(err, "known ones are F32, F16, BF16, F8_E4M3, I8, U8 and the like");
}

static int read_shape(struct by_stored_tensor *tensor, const struct by_doc_node *node,
                      struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!node || node->kind != BY_DOC_LIST)
        return by_fail(err, BARYON_ERR_INPUT, "shape is %s, must be a list of integers",
                       node ? "no list" : "missing");
    if (node->count > BY_STORED_RANK_MAX)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "shape has %zu dimensions, must have at most %d", node->count,
                       BY_STORED_RANK_MAX);
    tensor->rank = node->count;
    for (size_t i = 0; i < node->count; i++)
        if (!node_uint(node->items[i], &tensor->dims[i]))
            return by_fail(err, BARYON_ERR_INPUT,
                           "shape has a dimension %s, must be an integer from 0",
                           by_quote(quoted, node_text(node->items[i])));
    return 0;
}

/* Tensor->offset counts from the first tensor's place until all are there. */
static int read_offsets(struct by_stored_tensor *tensor, const struct by_doc_node *node,
                        uint64_t room, struct baryon_error *err)
{
    uint64_t begin, end;
    if (!node || node->kind != BY_DOC_LIST || node->count != 2 ||
        !node_uint(node->items[0], &begin) || !node_uint(node->items[1], &end))
        return by_fail(err, BARYON_ERR_INPUT, "data_offsets %s, must be two integers from 0",
                       node ? "has something else" : "is missing");
    if (begin > end)
        return by_fail(err, BARYON_ERR_INPUT,
                       "data_offsets begin at %" PRIu64 " and end at %" PRIu64
                       ", must not end before they begin",
                       begin, end);
    if (end > room)
        return by_fail(err, BARYON_ERR_INPUT,
                       "data_offsets end at %" PRIu64 ", the file has %" PRIu64
                       " bytes after its header",
                       end, room);
    if (by_stored_size(tensor, err))
        return -1;
    if (end - begin != tensor->bytes) {
        char shape[256];
        return by_fail(err, BARYON_ERR_INPUT,
                       "data_offsets span %" PRIu64 " bytes, %s %s requires %" PRIu64, end - begin,
                       tensor->type->name, by_stored_shape(tensor, shape, sizeof shape),
                       tensor->bytes);
    }
    tensor->offset = begin;
    return 0;
}

static int read_entry(struct by_stored_tensor *tensor, const struct by_doc_node *node,
                      uint64_t room, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (node->kind != BY_DOC_MAP)
        return by_fail(err, BARYON_ERR_INPUT, "is no object, must have dtype, shape, data_offsets");
    for (size_t i = 0; i < node->count; i++)
        if (!by_has_word("dtype shape data_offsets", node->pairs[i].key))
            return by_fail(err, BARYON_ERR_INPUT,
                           "key %s is not known, must be dtype, shape or data_offsets",
                           by_quote(quoted, node->pairs[i].key));
    if (read_dtype(tensor, by_doc_get(node, "dtype"), err) ||
        read_shape(tensor, by_doc_get(node, "shape"), err))
        return -1;
    return read_offsets(tensor, by_doc_get(node, "data_offsets"), room, err);
}

static int read_notes(struct by_checkpoint *checkpoint, struct by_stored_file *file,
                      const struct by_doc_node *node, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (node->kind != BY_DOC_MAP)
        return by_fail(err, BARYON_ERR_INPUT, "__metadata__ is no object, must map texts to texts");
    file->notes = by_arena_alloc(&checkpoint->arena, node->count, sizeof *file->notes, err);
    if (!file->notes)
        return -1;
    for (size_t i = 0; i < node->count; i++) {
        const struct by_doc_pair *pair = &node->pairs[i];
        if (pair->value->kind != BY_DOC_SCALAR || !pair->value->quoted)
            return by_fail(err, BARYON_ERR_INPUT, "__metadata__ has no text for %s, must have one",
                           by_quote(quoted, pair->key));
        struct by_stored_note note = {
            by_arena_text(&checkpoint->arena, pair->key, strlen(pair->key), err),
            by_arena_text(&checkpoint->arena, pair->value->text, strlen(pair->value->text), err)};
        if (!note.key || !note.value)
            return -1;
        file->notes[file->note_count++] = note;
    }
    return 0;
}

static int add_entry(struct by_checkpoint *checkpoint, size_t file, struct by_stored_list *list,
                     const struct by_doc_pair *pair, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_stored_file *stored = &checkpoint->files[file];
    struct by_stored_tensor tensor = {.file = file};
    if (read_entry(&tensor, pair->value, stored->mapped.size - stored->data, err))
        return by_err_in(err, "tensor %s", by_quote(quoted, pair->key));
    tensor.name = by_arena_text(&checkpoint->arena, pair->key, strlen(pair->key), err);
    if (!tensor.name || by_list_reserve(&checkpoint->arena, list, 1, sizeof *list->at, err))
        return -1;
    list->at[list->count++] = tensor;
    return 0;
}

static int compare_places(const void *left, const void *right)
{
    const struct by_stored_tensor *a = left, *b = right;
    uint64_t end_a = a->offset + a->bytes, end_b = b->offset + b->bytes;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (end_a != end_b)
        return end_a < end_b ? -1 : 1;
    return strcmp(a->name, b->name);
}

void by_stored_sort(struct by_stored_list *list, size_t first)
{
    if (list->count > first)
        qsort(list->at + first, list->count - first, sizeof *list->at, compare_places);
}

static int refuse_gap(const struct by_stored_tensor *tensor, const struct by_stored_tensor *before,
                      uint64_t end, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], other[BY_QUOTE_MAX];
    if (tensor->offset < end)
        by_fail(err, BARYON_ERR_INPUT,
                "data_offsets begin at %" PRIu64 ", before those of tensor %s end (%" PRIu64
                "), must not overlap",
                tensor->offset, by_quote(other, before->name), end);
    else
        by_fail(err, BARYON_ERR_INPUT,
                "data_offsets begin at %" PRIu64 ", the bytes from %" PRIu64
                " on belong to no tensor, must not leave a hole",
                tensor->offset, end);
    return by_err_in(err, "tensor %s", by_quote(quoted, tensor->name));
}

/* Every byte after the header belongs to one tensor. */
static int check_places(struct by_stored_list *list, size_t first, uint64_t room,
                        struct baryon_error *err)
{
    uint64_t end = 0;
    by_stored_sort(list, first);
    for (size_t i = first; i < list->count; i++) {
        const struct by_stored_tensor *tensor = &list->at[i];
        if (tensor->offset != end)
            return refuse_gap(tensor, i > first ? tensor - 1 : NULL, end, err);
        end += tensor->bytes;
    }
    if (end == room)
        return 0;
    return by_fail(err, BARYON_ERR_INPUT,
                   "tensors end at byte %" PRIu64 " of %" PRIu64
                   " after the header, must fill the file",
                   end, room);
}

static int read_header(struct by_checkpoint *checkpoint, size_t file, struct by_stored_list *list,
                       const struct by_doc_node *root, struct baryon_error *err)
{
    struct by_stored_file *stored = &checkpoint->files[file];
    size_t first = list->count;
    for (size_t i = 0; i < root->count; i++) {
        const struct by_doc_pair *pair = &root->pairs[i];
        int status = strcmp(pair->key, "__metadata__") != 0
                         ? add_entry(checkpoint, file, list, pair, err)
                         : read_notes(checkpoint, stored, pair->value, err);
        if (status)
            return -1;
    }
    if (check_places(list, first, stored->mapped.size - stored->data, err))
        return -1;
    for (size_t i = first; i < list->count; i++)
        list->at[i].offset += stored->data;
    return 0;
}

int by_safetensors_header(struct by_checkpoint *checkpoint, size_t file,
                          struct by_stored_list *list, struct baryon_error *err)
{
    struct by_stored_file *stored = &checkpoint->files[file];
    struct by_doc_node *root;
    struct by_arena scratch;
    size_t size;
    if (find_header(&stored->mapped, &size, err))
        return by_err_file(err, stored->path);
    /* A value takes at least two bytes, a tensor eight values and far more bytes than that. */
    struct by_doc_limits limits = {BY_SAFETENSORS_HEADER_MAX, size / 2};
    stored->data = LENGTH_BYTES + size;
    by_arena_init(&scratch, 0);
    int status = by_json_parse_within(&scratch, (const char *)stored->mapped.bytes + LENGTH_BYTES,
                                      size, stored->path, limits, &root, err);
    if (status)
        by_err_in(err, "header");
    else
        status = read_header(checkpoint, file, list, root, err);
    by_arena_release(&scratch);
    return status ? by_err_file(err, stored->path) : 0;
}
