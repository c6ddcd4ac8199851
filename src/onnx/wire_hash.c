/* Hashes the content of a message to find out whether it has changed. */
#include "onnx/wire_hash.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

static uint64_t mix_span(uint64_t hash, struct by_span span)
{
    return mix(mix(hash, (uint64_t)(uintptr_t)span.data), span.size);
}

static uint64_t mix_array(uint64_t hash, const void *items, size_t count, size_t size)
{
    return count ? mix(hash, by_hash(items, count * size, count)) : mix(hash, 0);
}

static uint64_t mix_messages(uint64_t hash, const struct by_ptrs *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i])
            hash = mix(hash, ((const struct by_msg *)list->at[i])->now);
    return mix(hash, 1);
}

static uint64_t mix_field(uint64_t hash, enum by_field_kind kind, const void *member)
{
    uint64_t word = 0;
    switch (kind) {
    case BY_FIELD_INT:
        memcpy(&word, member, sizeof(int64_t));
        return mix(hash, word);
    case BY_FIELD_FLOAT:
        memcpy(&word, member, sizeof(float));
        return mix(hash, word);
    case BY_FIELD_NAME:
        return mix(hash, (uint64_t)(uintptr_t) * (const char *const *)member);
    case BY_FIELD_TEXT:
    case BY_FIELD_BYTES:
    case BY_FIELD_PACKED_VARINT:
    case BY_FIELD_PACKED_32:
    case BY_FIELD_PACKED_64:
        return mix_span(hash, *(const struct by_span *)member);
    case BY_FIELD_MSG: {
        const struct by_msg *child = *(void *const *)member;
        return mix(hash, child ? child->now : 0);
    }
    case BY_FIELD_INTS: {
        const struct by_ints *list = member;
        return mix_array(hash, list->at, list->count, sizeof *list->at);
    }
    case BY_FIELD_FLOATS: {
        const struct by_floats *list = member;
        return mix_array(hash, list->at, list->count, sizeof *list->at);
    }
    case BY_FIELD_NAMES: {
        const struct by_names *list = member;
        return mix_array(hash, list->at, list->count, sizeof *list->at);
    }
    case BY_FIELD_SPANS: {
        const struct by_spans *list = member;
        return mix_array(hash, list->at, list->count, sizeof *list->at);
    }
    case BY_FIELD_MSGS:
        return mix_messages(hash, member);
    }
    return hash;
}

uint64_t by_wire_hash(const struct by_schema *schema, const void *msg)
{
    const struct by_msg *head = msg;
    uint64_t hash = mix(head->has + 0x51ed270b7f4a7c15u, schema->count);
    for (size_t i = 0; i < schema->count; i++)
        hash = mix_field(hash, (enum by_field_kind)schema->fields[i].kind,
                         by_field_at(msg, &schema->fields[i]));
    /* 0 stands for "not hashed". */
    return hash ? hash : 1;
}
