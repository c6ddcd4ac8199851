/* Writes a GGUF file whose tensors come in any order. */
#include "llm/store/gguf_write.h"

#include <inttypes.h>
#include <string.h>

struct by_gguf_writer {
    struct by_gguf_plan plan;
    struct by_writer *file;
    uint64_t *place, *bytes; /* each tensor: offset in the file, size */
};

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

static uint64_t alignment_of(const struct by_gguf_plan *plan)
{
    for (size_t i = 0; i < plan->pair_count; i++)
        if (!strcmp(plan->pairs[i].key, "general.alignment") &&
            plan->pairs[i].value.type == BY_GGUF_U32 && plan->pairs[i].value.u)
            return plan->pairs[i].value.u;
    return BY_GGUF_ALIGNMENT;
}

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

static void add_tensor(struct by_str *header, const struct by_new_tensor *tensor, uint64_t offset)
{
    add_text(header, tensor->name);
    add_number(header, BY_GGUF_U32, tensor->rank);
    for (size_t i = tensor->rank; i-- > 0;)
        add_number(header, BY_GGUF_U64, tensor->dims[i]);
    add_number(header, BY_GGUF_U32, (uint64_t)tensor->type->ggml);
    add_number(header, BY_GGUF_U64, offset);
}

/* Fills place and bytes; the file's size. */
static int make_header(struct by_gguf_writer *writer, struct by_str *header, uint64_t *size,
                       struct baryon_error *err)
{
    const struct by_gguf_plan *plan = &writer->plan;
    uint64_t alignment = alignment_of(plan), offset = 0;
    by_str_add(header, "GGUF", 4);
    add_number(header, BY_GGUF_U32, plan->version ? plan->version : 3);
    add_number(header, BY_GGUF_U64, plan->count);
    add_number(header, BY_GGUF_U64, plan->pair_count);
    for (size_t i = 0; i < plan->pair_count; i++) {
        add_text(header, plan->pairs[i].key);
        add_number(header, BY_GGUF_U32, plan->pairs[i].value.type);
        by_gguf_encode(header, &plan->pairs[i].value);
    }
    for (size_t i = 0; i < plan->count; i++) {
        if (check_new_tensor(&plan->tensors[i], &writer->bytes[i], err))
            return -1;
        add_tensor(header, &plan->tensors[i], offset);
        writer->place[i] = offset;
        if (writer->bytes[i] > INT64_MAX - alignment - offset)
            return by_fail(err, BARYON_ERR_INPUT, "tensors have more bytes than a disk can hold");
        offset = (offset + writer->bytes[i] + alignment - 1) / alignment * alignment;
    }
    while (!header->failed && header->size % alignment)
        by_str_add(header, "", 1);
    for (size_t i = 0; i < plan->count; i++)
        writer->place[i] += header->size;
    *size = header->size + offset;
    return by_str_error(header, err);
}

static int create_gguf(struct by_gguf_writer *writer, struct baryon_error *err)
{
    struct by_str header;
    uint64_t size = 0;
    size_t count = writer->plan.count;
    writer->place = by_alloc_zero(count, sizeof *writer->place, err);
    writer->bytes = writer->place ? by_alloc_zero(count, sizeof *writer->bytes, err) : NULL;
    if (!writer->bytes)
        return -1;
    by_str_init(&header);
    int status = make_header(writer, &header, &size, err);
    if (!status)
        status = by_writer_open(&writer->file, writer->plan.path, writer->plan.flags, err);
    if (!status)
        status = by_writer_add(writer->file, by_str_text(&header), header.size, err);
    by_str_release(&header);
    return status ? -1 : by_writer_extend(writer->file, size, err);
}

int by_gguf_create(struct by_gguf_writer **writer, const struct by_gguf_plan *plan,
                   struct baryon_error *err)
{
    struct by_gguf_writer *fresh = by_alloc_zero(1, sizeof *fresh, err);
    if (!fresh)
        return -1;
    fresh->plan = *plan;
    if (create_gguf(fresh, err)) {
        by_gguf_abort(fresh);
        return by_err_file(err, plan->path);
    }
    *writer = fresh;
    return 0;
}

static int check_range(const struct by_gguf_writer *writer, size_t tensor, uint64_t at,
                       uint64_t size, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (at <= writer->bytes[tensor] && size <= writer->bytes[tensor] - at)
        return 0;
    return by_fail(err, BARYON_ERR_INTERNAL, "bytes written past the end of tensor %s",
                   by_quote(quoted, writer->plan.tensors[tensor].name));
}

int by_gguf_add(struct by_gguf_writer *writer, size_t tensor, uint64_t at, const void *bytes,
                size_t size, struct baryon_error *err)
{
    return check_range(writer, tensor, at, size, err)
               ? -1
               : by_writer_put(writer->file, writer->place[tensor] + at, bytes, size, err);
}

int by_gguf_copy(struct by_gguf_writer *writer, size_t tensor,
                 const struct by_checkpoint *checkpoint, const struct by_stored_tensor *source,
                 struct baryon_error *err)
{
    return check_range(writer, tensor, 0, source->bytes, err)
               ? -1
               : by_writer_put_mapped(writer->file, writer->place[tensor],
                                      &checkpoint->files[source->file].mapped,
                                      (size_t)source->offset, (size_t)source->bytes, err);
}

int by_gguf_finish(struct by_gguf_writer *writer, struct baryon_error *err)
{
    return by_writer_commit(writer->file, err);
}

void by_gguf_abort(struct by_gguf_writer *writer)
{
    if (!writer)
        return;
    by_writer_abort(writer->file);
    by_free(writer->place);
    by_free(writer->bytes);
    by_free(writer);
}
