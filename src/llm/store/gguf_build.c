/* Puts GGUF metadata together and encodes its values. */
#include "llm/store/gguf_write.h"

#include <string.h>

static int copy_value(struct by_gguf_build *build, struct by_gguf_value *value,
                      struct baryon_error *err)
{
    if (value->type == BY_GGUF_STRING)
        value->text.text = by_arena_text(build->arena, value->text.text, value->text.size, err);
    else if (value->type == BY_GGUF_ARRAY)
        value->array.bytes = (const uint8_t *)by_arena_text(build->arena, value->array.bytes,
                                                            value->array.size, err);
    else
        return 0;
    return (value->type == BY_GGUF_STRING ? (const void *)value->text.text
                                          : (const void *)value->array.bytes)
               ? 0
               : -1;
}

int by_gguf_put(struct by_gguf_build *build, const char *key, const struct by_gguf_value *value,
                struct baryon_error *err)
{
    struct by_gguf_pair pair = {NULL, *value};
    if (copy_value(build, &pair.value, err))
        return -1;
    for (size_t i = 0; i < build->count; i++)
        if (!strcmp(build->at[i].key, key)) {
            build->at[i].value = pair.value;
            return 0;
        }
    pair.key = by_arena_text(build->arena, key, strlen(key), err);
    struct by_list list = {build->at, build->count, build->cap};
    if (!pair.key || by_list_reserve(build->arena, &list, 1, sizeof *build->at, err))
        return -1;
    build->at = list.at;
    build->cap = list.cap;
    build->at[build->count++] = pair;
    return 0;
}

int by_gguf_put_text(struct by_gguf_build *build, const char *key, const char *text, size_t size,
                     struct baryon_error *err)
{
    struct by_gguf_value value = {.type = BY_GGUF_STRING, .text = {text, size}};
    return by_gguf_put(build, key, &value, err);
}

int by_gguf_put_u32(struct by_gguf_build *build, const char *key, uint32_t value,
                    struct baryon_error *err)
{
    struct by_gguf_value number = {.type = BY_GGUF_U32, .u = value};
    return by_gguf_put(build, key, &number, err);
}

int by_gguf_put_f32(struct by_gguf_build *build, const char *key, float value,
                    struct baryon_error *err)
{
    struct by_gguf_value number = {.type = BY_GGUF_F32, .f = value};
    return by_gguf_put(build, key, &number, err);
}

int by_gguf_put_bool(struct by_gguf_build *build, const char *key, bool value,
                     struct baryon_error *err)
{
    struct by_gguf_value number = {.type = BY_GGUF_BOOL, .u = value};
    return by_gguf_put(build, key, &number, err);
}

int by_gguf_put_array(struct by_gguf_build *build, const char *key, enum by_gguf_type type,
                      uint64_t count, const struct by_str *elements, struct baryon_error *err)
{
    struct by_gguf_value value = {
        .type = BY_GGUF_ARRAY,
        .array = {type, count, (const uint8_t *)by_str_text(elements), elements->size}};
    return by_str_error(elements, err) ? -1 : by_gguf_put(build, key, &value, err);
}

static void add_number(struct by_str *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)(value >> (8 * i));
        by_str_add(out, &byte, 1);
    }
}

static void add_float(struct by_str *out, double value, bool is_double)
{
    float number = (float)value;
    uint64_t bits = 0;
    uint32_t low;
    if (is_double) {
        memcpy(&bits, &value, sizeof bits);
        add_number(out, bits, 8);
        return;
    }
    memcpy(&low, &number, sizeof low);
    add_number(out, low, 4);
}

void by_gguf_encode(struct by_str *out, const struct by_gguf_value *value)
{
    static const uint8_t widths[BY_GGUF_TYPE_COUNT] = {
        [BY_GGUF_U8] = 1,   [BY_GGUF_I8] = 1,  [BY_GGUF_U16] = 2,
        [BY_GGUF_I16] = 2,  [BY_GGUF_U32] = 4, [BY_GGUF_I32] = 4,
        [BY_GGUF_BOOL] = 1, [BY_GGUF_U64] = 8, [BY_GGUF_I64] = 8,
    };
    switch (value->type) {
    case BY_GGUF_STRING:
        add_number(out, value->text.size, 8);
        by_str_add(out, value->text.text, value->text.size);
        break;
    case BY_GGUF_ARRAY:
        add_number(out, value->array.type, 4);
        add_number(out, value->array.count, 8);
        by_str_add(out, value->array.bytes, value->array.size);
        break;
    case BY_GGUF_F32:
    case BY_GGUF_F64:
        add_float(out, value->f, value->type == BY_GGUF_F64);
        break;
    default:
        add_number(out, value->u, widths[value->type]);
    }
}
