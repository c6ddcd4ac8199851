/* Writes what stands in front of the tensors of a GGUF file. */
#include "llm/convert_head.h"

#include <string.h>

static void put_number(struct by_str *out, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    by_str_add(out, bytes, size);
}

static void put_float(struct by_str *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(out, bits, 4);
}

static void put_bytes(struct by_str *out, const char *bytes, size_t size)
{
    put_number(out, size, 8);
    by_str_add(out, bytes, size);
}

static void put_items(struct by_str *out, const struct by_meta_value *value)
{
    put_number(out, value->item, 4);
    put_number(out, value->count, 8);
    for (size_t i = 0; i < value->count; i++) {
        const struct by_meta_text *text = value->items;
        if (value->item == BY_META_STRING)
            put_bytes(out, text[i].bytes, text[i].size);
        else if (value->item == BY_META_F32)
            put_float(out, ((const float *)value->items)[i]);
        else
            put_number(out, (uint32_t)((const int32_t *)value->items)[i], 4);
    }
}

static void put_value(struct by_str *out, const struct by_meta_value *value)
{
    put_bytes(out, value->key, strlen(value->key));
    put_number(out, value->kind, 4);
    switch (value->kind) {
    case BY_META_STRING:
        put_bytes(out, value->text.bytes, value->text.size);
        break;
    case BY_META_ARRAY:
        put_items(out, value);
        break;
    case BY_META_F32:
        put_float(out, (float)value->real);
        break;
    case BY_META_BOOL:
        put_number(out, value->integer != 0, 1);
        break;
    default:
        put_number(out, (uint64_t)value->integer, 4);
        break;
    }
}

static uint64_t padded(uint64_t size)
{
    return (size + BY_GGUF_ALIGNMENT - 1) / BY_GGUF_ALIGNMENT * BY_GGUF_ALIGNMENT;
}

/* Dimensions are listed innermost first. */
static void put_tensor(struct by_str *out, const struct by_made_tensor *made, uint64_t offset)
{
    put_bytes(out, made->name, strlen(made->name));
    put_number(out, made->rank, 4);
    for (size_t i = made->rank; i-- > 0;)
        put_number(out, made->dims[i], 8);
    put_number(out, (uint64_t)made->type->number, 4);
    put_number(out, offset, 8);
}

void by_gguf_put_head(struct by_str *out, const struct by_meta *meta,
                      const struct by_made_list *tensors)
{
    uint64_t offset = 0;
    by_str_puts(out, "GGUF");
    put_number(out, 3, 4);
    put_number(out, tensors->count, 8);
    put_number(out, meta->count, 8);
    for (size_t i = 0; i < meta->count; i++)
        put_value(out, &meta->at[i]);
    for (size_t i = 0; i < tensors->count; i++) {
        put_tensor(out, &tensors->at[i], offset);
        offset += padded(by_made_bytes(&tensors->at[i]));
    }
    while (out->size % BY_GGUF_ALIGNMENT && !out->failed)
        put_number(out, 0, 1);
}
