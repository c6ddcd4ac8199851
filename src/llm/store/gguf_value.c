/* Reads typed values of GGUF metadata and finds them by key. */
#include "llm/store/gguf_read.h"

#include <inttypes.h>
#include <string.h>

struct type_row {
    const char *name;
    unsigned bytes; /* 0: text and array */
    bool is_signed, is_float;
};

static const struct type_row value_types[BY_GGUF_TYPE_COUNT] = {
    [BY_GGUF_U8] = {"u8", 1, false, false},         [BY_GGUF_I8] = {"i8", 1, true, false},
    [BY_GGUF_U16] = {"u16", 2, false, false},       [BY_GGUF_I16] = {"i16", 2, true, false},
    [BY_GGUF_U32] = {"u32", 4, false, false},       [BY_GGUF_I32] = {"i32", 4, true, false},
    [BY_GGUF_F32] = {"f32", 4, true, true},         [BY_GGUF_BOOL] = {"bool", 1, false, false},
    [BY_GGUF_STRING] = {"string", 0, false, false}, [BY_GGUF_ARRAY] = {"array", 0, false, false},
    [BY_GGUF_U64] = {"u64", 8, false, false},       [BY_GGUF_I64] = {"i64", 8, true, false},
    [BY_GGUF_F64] = {"f64", 8, true, true},
};

const char *by_gguf_type_name(enum by_gguf_type type)
{
    return (unsigned)type < BY_GGUF_TYPE_COUNT ? value_types[type].name : "unknown";
}

size_t by_gguf_left(const struct by_gguf_reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

int by_gguf_number(struct by_gguf_reader *reader, unsigned bytes, uint64_t *value,
                   struct baryon_error *err)
{
    if (by_gguf_left(reader) < bytes)
        return by_fail(err, BARYON_ERR_INPUT, "the file ends, %u more bytes are needed here",
                       bytes);
    *value = 0;
    for (unsigned i = 0; i < bytes; i++)
        *value |= (uint64_t)reader->at[i] << (8 * i);
    reader->at += bytes;
    return 0;
}

int by_gguf_string(struct by_gguf_reader *reader, struct by_gguf_text *text,
                   struct baryon_error *err)
{
    uint64_t size;
    if (by_gguf_number(reader, 8, &size, err))
        return -1;
    if (size > by_gguf_left(reader)) {
        reader->at -= 8;
        return by_fail(err, BARYON_ERR_INPUT, "string of %" PRIu64 " bytes, only %zu follow", size,
                       by_gguf_left(reader) - 8);
    }
    *text = (struct by_gguf_text){(const char *)reader->at, (size_t)size};
    reader->at += size;
    return 0;
}

static int read_type(struct by_gguf_reader *reader, enum by_gguf_type *type,
                     struct baryon_error *err)
{
    uint64_t number;
    if (by_gguf_number(reader, 4, &number, err))
        return -1;
    if (number >= BY_GGUF_TYPE_COUNT) {
        reader->at -= 4;
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "value type %" PRIu64 " is not known, must be below %d", number,
                       BY_GGUF_TYPE_COUNT);
    }
    *type = (enum by_gguf_type)number;
    return 0;
}

static int skip_array(struct by_gguf_reader *reader, struct by_gguf_value *value, unsigned depth,
                      struct baryon_error *err);

static int skip_elements(struct by_gguf_reader *reader, enum by_gguf_type type, uint64_t count,
                         unsigned depth, struct baryon_error *err)
{
    struct by_gguf_value inner;
    struct by_gguf_text text;
    if (type != BY_GGUF_ARRAY && type != BY_GGUF_STRING) {
        reader->at += count * value_types[type].bytes;
        return 0;
    }
    for (uint64_t i = 0; i < count; i++)
        if (type == BY_GGUF_STRING ? by_gguf_string(reader, &text, err)
                                   : skip_array(reader, &inner, depth + 1, err))
            return -1;
    return 0;
}

/* An array's elements stay where they are. */
static int skip_array(struct by_gguf_reader *reader, struct by_gguf_value *value, unsigned depth,
                      struct baryon_error *err)
{
    enum by_gguf_type type;
    uint64_t count;
    if (depth > BY_GGUF_DEPTH_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "arrays in arrays over %d deep, the limit",
                       BY_GGUF_DEPTH_MAX);
    if (read_type(reader, &type, err) || by_gguf_number(reader, 8, &count, err))
        return -1;
    unsigned least = value_types[type].bytes;
    if (!least)
        least = type == BY_GGUF_STRING ? 8 : 12;
    if (count > by_gguf_left(reader) / least) {
        reader->at -= 8;
        return by_fail(err, BARYON_ERR_INPUT,
                       "array of %" PRIu64 " values of type %s, only %zu bytes follow", count,
                       by_gguf_type_name(type), by_gguf_left(reader) - 8);
    }
    value->type = BY_GGUF_ARRAY;
    value->array.type = type;
    value->array.count = count;
    value->array.bytes = reader->at;
    if (skip_elements(reader, type, count, depth, err))
        return -1;
    value->array.size = (size_t)(reader->at - value->array.bytes);
    return 0;
}

static void set_number(struct by_gguf_value *value, uint64_t bits)
{
    const struct type_row *row = &value_types[value->type];
    unsigned unused = 64 - 8 * row->bytes;
    if (!row->is_float && row->is_signed)
        value->i = (int64_t)(bits << unused) >> unused;
    else if (!row->is_float)
        value->u = bits;
    else if (row->bytes == 8)
        memcpy(&value->f, &bits, sizeof value->f);
    else {
        uint32_t low = (uint32_t)bits;
        float number;
        memcpy(&number, &low, sizeof number);
        value->f = number;
    }
}

int by_gguf_value(struct by_gguf_reader *reader, struct by_gguf_value *value,
                  struct baryon_error *err)
{
    uint64_t bits;
    if (read_type(reader, &value->type, err))
        return -1;
    if (value->type == BY_GGUF_STRING)
        return by_gguf_string(reader, &value->text, err);
    if (value->type == BY_GGUF_ARRAY)
        return skip_array(reader, value, 1, err);
    if (by_gguf_number(reader, value_types[value->type].bytes, &bits, err))
        return -1;
    if (value->type == BY_GGUF_BOOL && bits > 1) {
        reader->at--;
        return by_fail(err, BARYON_ERR_INPUT, "bool is %" PRIu64 ", must be 0 or 1", bits);
    }
    set_number(value, bits);
    return 0;
}

const struct by_gguf_value *by_gguf_get(const struct by_gguf *gguf, const char *key)
{
    const struct by_gguf_pair *pair = by_map_get(&gguf->by_key, key);
    return pair ? &pair->value : NULL;
}

bool by_gguf_text(const struct by_gguf *gguf, const char *key, struct by_gguf_text *text)
{
    const struct by_gguf_value *value = by_gguf_get(gguf, key);
    if (!value || value->type != BY_GGUF_STRING)
        return false;
    *text = value->text;
    return true;
}

bool by_gguf_uint(const struct by_gguf *gguf, const char *key, uint64_t *value)
{
    const struct by_gguf_value *found = by_gguf_get(gguf, key);
    if (!found || found->type == BY_GGUF_STRING || found->type == BY_GGUF_ARRAY ||
        found->type == BY_GGUF_BOOL || value_types[found->type].is_float ||
        (value_types[found->type].is_signed && found->i < 0))
        return false;
    *value = found->u;
    return true;
}

bool by_gguf_float(const struct by_gguf *gguf, const char *key, double *value)
{
    const struct by_gguf_value *found = by_gguf_get(gguf, key);
    if (!found || !value_types[found->type].is_float)
        return false;
    *value = found->f;
    return true;
}

void by_gguf_walk(struct by_gguf_walk *walk, const struct by_gguf_value *array)
{
    *walk = (struct by_gguf_walk){array->array.bytes, array->array.count, array->array.type,
                                  array->array.bytes + array->array.size};
}

/* The array was checked when it was read: nothing here can fail. */
bool by_gguf_next(struct by_gguf_walk *walk, struct by_gguf_value *value)
{
    struct by_gguf_reader reader = {.at = walk->at, .end = walk->end};
    uint64_t bits;
    int status = 0;
    if (!walk->left)
        return false;
    value->type = walk->type;
    if (walk->type == BY_GGUF_STRING)
        status = by_gguf_string(&reader, &value->text, NULL);
    else if (walk->type == BY_GGUF_ARRAY)
        status = skip_array(&reader, value, 1, NULL);
    else if ((status = by_gguf_number(&reader, value_types[walk->type].bytes, &bits, NULL)) == 0)
        set_number(value, bits);
    walk->at = reader.at;
    walk->left--;
    return status == 0;
}
