/* Decodes protobuf bytes into structs by the tables of the schema. */
#include "base/str.h"
#include "onnx/wire_hash.h"

#include <string.h>

/* What one message has of each repeated field: items, and payload bytes of packed ones. */
struct tally {
    size_t items[BY_SCHEMA_FIELDS_MAX];
    size_t bytes[BY_SCHEMA_FIELDS_MAX];
    size_t seen[BY_SCHEMA_FIELDS_MAX];
};

/* The message being decoded. */
struct frame {
    struct by_wire_reader *reader;
    const struct by_schema *schema;
    const uint8_t *bytes, *end;
    char *out;
};

static enum by_wire_type scalar_wire_type(enum by_field_kind kind)
{
    switch (kind) {
    case BY_FIELD_INT:
    case BY_FIELD_INTS:
    case BY_FIELD_PACKED_VARINT:
        return BY_WIRE_VARINT;
    case BY_FIELD_FLOAT:
    case BY_FIELD_FLOATS:
    case BY_FIELD_PACKED_32:
        return BY_WIRE_32;
    case BY_FIELD_PACKED_64:
        return BY_WIRE_64;
    default:
        return BY_WIRE_BYTES;
    }
}

static bool is_number_list(enum by_field_kind kind)
{
    return kind == BY_FIELD_INTS || kind == BY_FIELD_FLOATS || kind >= BY_FIELD_PACKED_VARINT;
}

static bool is_repeated(enum by_field_kind kind)
{
    return kind >= BY_FIELD_INTS;
}

static int check_wire_type(const struct by_field *row, const struct by_wire_field *field,
                           struct baryon_error *err)
{
    static const char *const names[] = {"varint", "64-bit", "length-delimited", "", "", "32-bit"};
    enum by_wire_type want = scalar_wire_type((enum by_field_kind)row->kind);
    if (field->type == want)
        return 0;
    if (field->type == BY_WIRE_BYTES && is_number_list((enum by_field_kind)row->kind))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "wire type %d (%s), must be %d (%s)", (int)field->type,
            names[field->type], (int)want, names[want]);
    return by_err_hint(err, "the file is damaged, or not an ONNX model");
}

static size_t count_varints(const uint8_t *bytes, const uint8_t *end)
{
    size_t count = 0;
    for (const uint8_t *byte = bytes; byte < end; byte++)
        count += !(*byte & 0x80);
    return count;
}

/*
 * No number has more than 10 bytes or over 64 bits; the last byte of the run ends one.
 * A number of 10 bytes has 9 in a row that say that it goes on: looking at every ninth
 * byte finds one of them.
 */
static bool fits_64_bits(const uint8_t *bytes, const uint8_t *end)
{
    const size_t stride = 9;
    for (const uint8_t *at = bytes; (size_t)(end - at) > stride - 1;) {
        const uint8_t *first = at + stride - 1, *last = first;
        while (first > at && first[-1] & 0x80)
            first--;
        while (*last & 0x80)
            last++;
        size_t size = (size_t)(last - first);
        if (size > stride || (size == stride && *last > 1))
            return false;
        at = last + 1;
    }
    return true;
}

static int count_packed(const struct by_field *row, const struct by_wire_field *field,
                        size_t *count, struct baryon_error *err)
{
    size_t size = (size_t)(field->end - field->content);
    enum by_wire_type type = scalar_wire_type((enum by_field_kind)row->kind);
    if (type == BY_WIRE_VARINT) {
        *count = count_varints(field->content, field->end);
        if (size && field->end[-1] & 0x80)
            return by_fail(err, BARYON_ERR_INPUT, "the packed numbers end within a number");
        if (!fits_64_bits(field->content, field->end))
            return by_fail(err, BARYON_ERR_INPUT, "a packed number of more than 64 bits");
        return 0;
    }
    size_t width = type == BY_WIRE_32 ? 4 : 8;
    *count = size / width;
    if (size % width)
        return by_fail(err, BARYON_ERR_INPUT,
                       "%zu bytes of packed numbers, must be a multiple of %zu", size, width);
    return 0;
}

/* Adds the place to an error about a field, counted from 0 when it is repeated. */
static int at_field(const struct frame *frame, const struct by_field *row,
                    const struct by_wire_field *field, size_t index, struct baryon_error *err)
{
    by_err_offset(err, (uint64_t)(field->start - frame->reader->base));
    if (!row)
        return -1;
    if (is_repeated((enum by_field_kind)row->kind) && row->kind < BY_FIELD_PACKED_VARINT)
        return by_err_in(err, "%s[%zu]", row->name, index);
    return by_err_in(err, "%s", row->name);
}

static int tally_field(const struct by_field *row, const struct by_wire_field *field,
                       struct tally *tally, size_t i, struct baryon_error *err)
{
    if (check_wire_type(row, field, err))
        return -1;
    if (!is_repeated((enum by_field_kind)row->kind)) {
        if (tally->seen[i]++)
            return by_fail(err, BARYON_ERR_INPUT, "given twice, must appear once");
        return 0;
    }
    size_t items = 1;
    if (field->type == BY_WIRE_BYTES && is_number_list((enum by_field_kind)row->kind) &&
        count_packed(row, field, &items, err))
        return -1;
    tally->seen[i]++;
    tally->items[i] += items;
    tally->bytes[i] += (size_t)(field->end - field->content);
    return 0;
}

static int take_tally(const struct frame *frame, struct tally *tally, struct baryon_error *err)
{
    for (const uint8_t *at = frame->bytes; at < frame->end;) {
        struct by_wire_field field;
        const struct by_field *row = NULL;
        bool ok = by_wire_next(&at, frame->end, &field, err) == 0;
        if (field.number)
            row = by_schema_field(frame->schema, field.number);
        size_t i = row ? (size_t)(row - frame->schema->fields) : 0;
        if (ok && row)
            ok = tally_field(row, &field, tally, i, err) == 0;
        if (!ok)
            return at_field(frame, row, &field, row ? tally->seen[i] : 0, err);
    }
    return 0;
}

static int reserve_lists(const struct frame *frame, const struct tally *tally,
                         struct baryon_error *err)
{
    static const size_t sizes[] = {
        [BY_FIELD_INTS] = sizeof(int64_t), [BY_FIELD_FLOATS] = sizeof(float),
        [BY_FIELD_NAMES] = sizeof(char *), [BY_FIELD_SPANS] = sizeof(struct by_span),
        [BY_FIELD_MSGS] = sizeof(void *),
    };
    for (size_t i = 0; i < frame->schema->count; i++) {
        const struct by_field *row = &frame->schema->fields[i];
        if (!tally->items[i] || row->kind < BY_FIELD_INTS || row->kind > BY_FIELD_MSGS)
            continue;
        if (by_list_reserve(frame->reader->arena, frame->out + row->offset, tally->items[i],
                            sizes[row->kind], err))
            return -1;
    }
    return 0;
}

static int read_text(const struct by_wire_field *field, struct by_span *out,
                     struct baryon_error *err)
{
    *out = (struct by_span){field->content, (size_t)(field->end - field->content)};
    if (by_utf8_valid(out->data, out->size))
        return 0;
    char quoted[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_INPUT, "text %s is not valid UTF-8",
                   by_quote_bytes(quoted, out->data, out->size));
}

static int read_name(const struct frame *frame, const struct by_wire_field *field, const char **out,
                     struct baryon_error *err)
{
    struct by_span text;
    char quoted[BY_QUOTE_MAX];
    if (read_text(field, &text, err))
        return -1;
    if (text.size > BY_WIRE_NAME_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "name %s of %zu bytes, must be at most %d",
                       by_quote_bytes(quoted, text.data, text.size), text.size, BY_WIRE_NAME_MAX);
    if (memchr(text.data, 0, text.size))
        return by_fail(err, BARYON_ERR_INPUT, "name %s contains a NUL byte",
                       by_quote_bytes(quoted, text.data, text.size));
    *out = by_intern(frame->reader->names, text.data, text.size, err);
    return *out ? 0 : -1;
}

static void *read_message(const struct frame *frame, const struct by_field *row,
                          const struct by_wire_field *field, struct baryon_error *err)
{
    struct by_wire_reader *reader = frame->reader;
    if (++reader->parts > BY_WIRE_PARTS_MAX) {
        by_fail(err, BARYON_ERR_INPUT, "more than %u messages in the file, the limit",
                BY_WIRE_PARTS_MAX);
        return NULL;
    }
    void *child = by_arena_alloc(reader->arena, 1, row->child->size, err);
    if (!child)
        return NULL;
    return by_wire_decode(reader, row->child, field->content, (size_t)(field->end - field->content),
                          child, err)
               ? NULL
               : child;
}

static int read_ints(const struct by_wire_field *field, struct by_ints *list,
                     struct baryon_error *err)
{
    if (field->type == BY_WIRE_VARINT) {
        list->at[list->count++] = (int64_t)field->value;
        return 0;
    }
    for (const uint8_t *at = field->content; at < field->end;) {
        uint64_t value;
        size_t used = by_varint_read(at, (size_t)(field->end - at), &value);
        if (!used)
            return by_fail(err, BARYON_ERR_INPUT, "a packed number of more than 64 bits");
        list->at[list->count++] = (int64_t)value;
        at += used;
    }
    return 0;
}

static void read_floats(const struct by_wire_field *field, struct by_floats *list)
{
    size_t size = (size_t)(field->end - field->content);
    if (size)
        memcpy(list->at + list->count, field->content, size);
    list->count += size / sizeof *list->at;
}

/* The usual case is one packed run: a view. Anything else is joined to one run in the arena. */
static int read_packed(const struct frame *frame, const struct by_wire_field *field,
                       const struct tally *tally, size_t i, struct by_span *out,
                       struct baryon_error *err)
{
    size_t size = (size_t)(field->end - field->content);
    if (tally->seen[i] == 1) {
        *out = (struct by_span){field->content, size};
        return 0;
    }
    uint8_t *joined = (uint8_t *)out->data;
    if (!joined) {
        joined = by_arena_alloc(frame->reader->arena, tally->bytes[i], 1, err);
        if (!joined)
            return -1;
        out->data = joined;
    }
    if (size)
        memcpy(joined + out->size, field->content, size);
    out->size += size;
    return 0;
}

/* Index the next item of a repeated field gets, for messages. */
static size_t next_index(const struct by_field *row, const void *member)
{
    if (row->kind < BY_FIELD_INTS || row->kind > BY_FIELD_MSGS)
        return 0;
    struct by_list list;
    memcpy(&list, member, sizeof list);
    return list.count;
}

static int read_member(const struct frame *frame, const struct by_field *row,
                       const struct by_wire_field *field, const struct tally *tally, void *member,
                       struct baryon_error *err)
{
    size_t i = (size_t)(row - frame->schema->fields);
    switch ((enum by_field_kind)row->kind) {
    case BY_FIELD_INT:
        *(int64_t *)member = (int64_t)field->value;
        return 0;
    case BY_FIELD_FLOAT:
        memcpy(member, field->content, sizeof(float));
        return 0;
    case BY_FIELD_NAME:
        return read_name(frame, field, member, err);
    case BY_FIELD_TEXT:
        return read_text(field, member, err);
    case BY_FIELD_BYTES:
        *(struct by_span *)member =
            (struct by_span){field->content, (size_t)(field->end - field->content)};
        return 0;
    case BY_FIELD_MSG:
        return (*(void **)member = read_message(frame, row, field, err)) ? 0 : -1;
    case BY_FIELD_INTS:
        return read_ints(field, member, err);
    case BY_FIELD_FLOATS:
        read_floats(field, member);
        return 0;
    case BY_FIELD_NAMES: {
        struct by_names *list = member;
        if (read_name(frame, field, &list->at[list->count], err))
            return -1;
        list->count++;
        return 0;
    }
    case BY_FIELD_SPANS: {
        struct by_spans *list = member;
        list->at[list->count++] =
            (struct by_span){field->content, (size_t)(field->end - field->content)};
        return 0;
    }
    case BY_FIELD_MSGS: {
        struct by_ptrs *list = member;
        if (!(list->at[list->count] = read_message(frame, row, field, err)))
            return -1;
        list->count++;
        return 0;
    }
    case BY_FIELD_PACKED_VARINT:
    case BY_FIELD_PACKED_32:
    case BY_FIELD_PACKED_64:
        return read_packed(frame, field, tally, i, member, err);
    }
    return 0;
}

static int read_fields(const struct frame *frame, const struct tally *tally,
                       struct baryon_error *err)
{
    struct by_msg *head = (struct by_msg *)frame->out;
    for (const uint8_t *at = frame->bytes; at < frame->end;) {
        struct by_wire_field field;
        if (by_wire_next(&at, frame->end, &field, err))
            return -1;
        const struct by_field *row = by_schema_field(frame->schema, field.number);
        if (!row)
            continue;
        head->has |= 1u << (row - frame->schema->fields);
        void *member = frame->out + row->offset;
        if (read_member(frame, row, &field, tally, member, err))
            return at_field(frame, row, &field, next_index(row, member), err);
    }
    return 0;
}

int by_wire_decode(struct by_wire_reader *reader, const struct by_schema *schema,
                   const uint8_t *bytes, size_t size, void *out, struct baryon_error *err)
{
    struct by_msg *head = out;
    struct frame frame = {reader, schema, bytes, bytes + size, out};
    struct tally tally = {0};
    if (reader->depth >= BY_WIRE_DEPTH_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "messages nested deeper than %d levels, the limit",
                       BY_WIRE_DEPTH_MAX);
    reader->depth++;
    if (take_tally(&frame, &tally, err) || reserve_lists(&frame, &tally, err) ||
        read_fields(&frame, &tally, err))
        return -1;
    reader->depth--;
    head->src = bytes;
    head->src_size = size;
    head->now = head->hash = by_wire_hash(schema, out);
    return 0;
}
