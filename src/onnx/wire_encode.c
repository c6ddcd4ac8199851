/* Encodes structs as protobuf and copies the bytes of unchanged messages. */
#include "onnx/wire_hash.h"

#include "base/str.h"

#include <string.h>

/* Writes tags and numbers through a small buffer, everything else as it lies. */
struct encoder {
    by_wire_sink *sink;
    void *context;
};

bool by_wire_unchanged(const struct by_msg *msg)
{
    return msg->src && msg->now == msg->hash;
}

static bool has_bit(const struct by_schema *schema, const void *msg, const struct by_field *row)
{
    const struct by_msg *head = msg;
    return head->has >> (row - schema->fields) & 1;
}

/* A number is there when it is not 0, or was there as 0. */
static bool int_is_set(const struct by_schema *schema, const void *msg, const struct by_field *row)
{
    return *(const int64_t *)by_field_at(msg, row) || has_bit(schema, msg, row);
}

static bool float_is_set(const struct by_schema *schema, const void *msg,
                         const struct by_field *row)
{
    uint32_t bits;
    memcpy(&bits, by_field_at(msg, row), sizeof bits);
    return bits || has_bit(schema, msg, row);
}

static uint64_t tag_of(const struct by_field *row, enum by_wire_type type)
{
    return (uint64_t)row->number << 3 | type;
}

static uint64_t tag_size(const struct by_field *row)
{
    return by_varint_size(tag_of(row, BY_WIRE_BYTES));
}

static uint64_t delimited_size(uint64_t size)
{
    return by_varint_size(size) + size;
}

static uint64_t ints_payload(const struct by_ints *list)
{
    uint64_t size = 0;
    for (size_t i = 0; i < list->count; i++)
        size += by_varint_size((uint64_t)list->at[i]);
    return size;
}

static uint64_t names_size(uint64_t tag, const struct by_names *list)
{
    uint64_t size = 0;
    for (size_t i = 0; i < list->count; i++)
        size += tag + delimited_size(strlen(list->at[i]));
    return size;
}

static uint64_t spans_size(uint64_t tag, const struct by_spans *list)
{
    uint64_t size = 0;
    for (size_t i = 0; i < list->count; i++)
        size += tag + delimited_size(list->at[i].size);
    return size;
}

static uint64_t messages_size(uint64_t tag, const struct by_ptrs *list)
{
    uint64_t size = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i])
            size += tag + delimited_size(((const struct by_msg *)list->at[i])->encoded);
    return size;
}

static uint64_t field_size(const struct by_schema *schema, const void *msg,
                           const struct by_field *row)
{
    const void *member = by_field_at(msg, row);
    uint64_t tag = tag_size(row);
    switch ((enum by_field_kind)row->kind) {
    case BY_FIELD_INT:
        return int_is_set(schema, msg, row)
                   ? tag + by_varint_size((uint64_t) * (const int64_t *)member)
                   : 0;
    case BY_FIELD_FLOAT:
        return float_is_set(schema, msg, row) ? tag + 4 : 0;
    case BY_FIELD_NAME: {
        const char *name = *(const char *const *)member;
        return name ? tag + delimited_size(strlen(name)) : 0;
    }
    case BY_FIELD_TEXT:
    case BY_FIELD_BYTES:
    case BY_FIELD_PACKED_VARINT:
    case BY_FIELD_PACKED_32:
    case BY_FIELD_PACKED_64: {
        const struct by_span *span = member;
        return span->data ? tag + delimited_size(span->size) : 0;
    }
    case BY_FIELD_MSG: {
        const struct by_msg *child = *(void *const *)member;
        return child ? tag + delimited_size(child->encoded) : 0;
    }
    case BY_FIELD_INTS: {
        const struct by_ints *list = member;
        uint64_t payload = ints_payload(list);
        if (!list->count)
            return 0;
        return row->packed ? tag + delimited_size(payload) : tag * list->count + payload;
    }
    case BY_FIELD_FLOATS: {
        const struct by_floats *list = member;
        if (!list->count)
            return 0;
        return row->packed ? tag + delimited_size(list->count * 4) : (tag + 4) * list->count;
    }
    case BY_FIELD_NAMES:
        return names_size(tag, member);
    case BY_FIELD_SPANS:
        return spans_size(tag, member);
    case BY_FIELD_MSGS:
        return messages_size(tag, member);
    }
    return 0;
}

static uint64_t unknown_size(const struct by_schema *schema, const struct by_msg *msg)
{
    uint64_t size = 0;
    struct by_wire_field field;
    if (!msg->src)
        return 0;
    const uint8_t *end = msg->src + msg->src_size;
    for (const uint8_t *at = msg->src; at < end;) {
        if (by_wire_next(&at, end, &field, NULL))
            break;
        if (!by_schema_field(schema, field.number))
            size += (uint64_t)(field.end - field.start);
    }
    return size;
}

static void measure_children(const struct by_schema *schema, void *msg)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct by_field *row = &schema->fields[i];
        if (row->kind == BY_FIELD_MSG) {
            void *child = *(void **)by_field_of(msg, row);
            if (child)
                by_wire_measure(row->child, child);
        } else if (row->kind == BY_FIELD_MSGS) {
            const struct by_ptrs *list = by_field_of(msg, row);
            for (size_t k = 0; k < list->count; k++)
                if (list->at[k])
                    by_wire_measure(row->child, list->at[k]);
        }
    }
}

uint64_t by_wire_measure(const struct by_schema *schema, void *msg)
{
    struct by_msg *head = msg;
    measure_children(schema, msg);
    head->now = by_wire_hash(schema, msg);
    if (by_wire_unchanged(head))
        return head->encoded = head->src_size;
    head->encoded = unknown_size(schema, head);
    for (size_t i = 0; i < schema->count; i++)
        head->encoded += field_size(schema, msg, &schema->fields[i]);
    return head->encoded;
}

static int put_encoded_bytes(const struct encoder *encoder, const void *bytes, size_t size,
                             struct baryon_error *err)
{
    return size ? encoder->sink(encoder->context, bytes, size, err) : 0;
}

/* Tag and a varint: the value of a number or the length of what follows. */
static int put_head(const struct encoder *encoder, const struct by_field *row,
                    enum by_wire_type type, uint64_t value, struct baryon_error *err)
{
    uint8_t bytes[20];
    size_t size = by_varint_write(bytes, tag_of(row, type));
    size += by_varint_write(bytes + size, value);
    return put_encoded_bytes(encoder, bytes, size, err);
}

static int put_delimited(const struct encoder *encoder, const struct by_field *row,
                         const void *bytes, size_t size, struct baryon_error *err)
{
    if (put_head(encoder, row, BY_WIRE_BYTES, size, err))
        return -1;
    return put_encoded_bytes(encoder, bytes, size, err);
}

static int put_ints(const struct encoder *encoder, const struct by_field *row,
                    const struct by_ints *list, struct baryon_error *err)
{
    if (list->count && row->packed &&
        put_head(encoder, row, BY_WIRE_BYTES, ints_payload(list), err))
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        uint8_t bytes[20];
        size_t size = row->packed ? 0 : by_varint_write(bytes, tag_of(row, BY_WIRE_VARINT));
        size += by_varint_write(bytes + size, (uint64_t)list->at[i]);
        if (put_encoded_bytes(encoder, bytes, size, err))
            return -1;
    }
    return 0;
}

static int put_floats(const struct encoder *encoder, const struct by_field *row,
                      const struct by_floats *list, struct baryon_error *err)
{
    if (list->count && row->packed)
        return put_delimited(encoder, row, list->at, list->count * sizeof *list->at, err);
    for (size_t i = 0; i < list->count; i++) {
        uint8_t bytes[14];
        size_t size = by_varint_write(bytes, tag_of(row, BY_WIRE_32));
        memcpy(bytes + size, &list->at[i], 4);
        if (put_encoded_bytes(encoder, bytes, size + 4, err))
            return -1;
    }
    return 0;
}

static int put_child(const struct encoder *encoder, const struct by_field *row, const void *child,
                     struct baryon_error *err)
{
    if (!child)
        return 0;
    const struct by_msg *head = child;
    if (put_head(encoder, row, BY_WIRE_BYTES, head->encoded, err))
        return -1;
    return by_wire_encode(row->child, child, encoder->sink, encoder->context, err);
}

static int put_lists(const struct encoder *encoder, const struct by_field *row, const void *member,
                     struct baryon_error *err)
{
    const struct by_names *names = member;
    const struct by_spans *spans = member;
    const struct by_ptrs *children = member;
    switch (row->kind) {
    case BY_FIELD_NAMES:
        for (size_t i = 0; i < names->count; i++)
            if (put_delimited(encoder, row, names->at[i], strlen(names->at[i]), err))
                return -1;
        return 0;
    case BY_FIELD_SPANS:
        for (size_t i = 0; i < spans->count; i++)
            if (put_delimited(encoder, row, spans->at[i].data, spans->at[i].size, err))
                return -1;
        return 0;
    default:
        for (size_t i = 0; i < children->count; i++)
            if (put_child(encoder, row, children->at[i], err))
                return -1;
        return 0;
    }
}

static int put_field(const struct encoder *encoder, const struct by_schema *schema, const void *msg,
                     const struct by_field *row, struct baryon_error *err)
{
    const void *member = by_field_at(msg, row);
    switch ((enum by_field_kind)row->kind) {
    case BY_FIELD_INT:
        if (!int_is_set(schema, msg, row))
            return 0;
        return put_head(encoder, row, BY_WIRE_VARINT, (uint64_t) * (const int64_t *)member, err);
    case BY_FIELD_FLOAT:
        if (!float_is_set(schema, msg, row))
            return 0;
        return put_floats(encoder, row, &(struct by_floats){(float *)by_field_at(msg, row), 1, 1},
                          err);
    case BY_FIELD_NAME: {
        const char *name = *(const char *const *)member;
        return name ? put_delimited(encoder, row, name, strlen(name), err) : 0;
    }
    case BY_FIELD_TEXT:
    case BY_FIELD_BYTES:
    case BY_FIELD_PACKED_VARINT:
    case BY_FIELD_PACKED_32:
    case BY_FIELD_PACKED_64: {
        const struct by_span *span = member;
        return span->data ? put_delimited(encoder, row, span->data, span->size, err) : 0;
    }
    case BY_FIELD_MSG:
        return put_child(encoder, row, *(void *const *)member, err);
    case BY_FIELD_INTS:
        return put_ints(encoder, row, member, err);
    case BY_FIELD_FLOATS:
        return put_floats(encoder, row, member, err);
    case BY_FIELD_NAMES:
    case BY_FIELD_SPANS:
    case BY_FIELD_MSGS:
        return put_lists(encoder, row, member, err);
    }
    return 0;
}

/* Follows the order in which the message was read; `done` gets the rows written. */
static int replay(const struct encoder *encoder, const struct by_schema *schema, const void *msg,
                  uint32_t *done, struct baryon_error *err)
{
    const struct by_msg *head = msg;
    if (!head->src)
        return 0;
    const uint8_t *end = head->src + head->src_size;
    for (const uint8_t *at = head->src; at < end;) {
        struct by_wire_field field;
        if (by_wire_next(&at, end, &field, err))
            return -1;
        const struct by_field *row = by_schema_field(schema, field.number);
        if (!row) {
            if (put_encoded_bytes(encoder, field.start, (size_t)(field.end - field.start), err))
                return -1;
            continue;
        }
        uint32_t bit = 1u << (row - schema->fields);
        if (!(*done & bit) && put_field(encoder, schema, msg, row, err))
            return -1;
        *done |= bit;
    }
    return 0;
}

int by_wire_encode(const struct by_schema *schema, const void *msg, by_wire_sink *sink,
                   void *context, struct baryon_error *err)
{
    const struct encoder encoder = {sink, context};
    const struct by_msg *head = msg;
    uint32_t done = 0;
    if (by_wire_unchanged(head))
        return put_encoded_bytes(&encoder, head->src, head->src_size, err);
    if (replay(&encoder, schema, msg, &done, err))
        return -1;
    for (size_t i = 0; i < schema->count; i++)
        if (!(done >> i & 1) && put_field(&encoder, schema, msg, &schema->fields[i], err))
            return -1;
    return 0;
}

int by_wire_to_text(void *context, const uint8_t *bytes, size_t size, struct baryon_error *err)
{
    struct by_str *out = context;
    by_str_add(out, bytes, size);
    return by_str_error(out, err);
}
