/* Metadata of a GGUF file as src/llm/family has it. */
#include "llm/convert_meta.h"

#include <string.h>

static const void *copy_items(const struct by_gguf_value *value, struct by_arena *arena,
                              enum by_meta_kind *item, struct baryon_error *err)
{
    struct by_gguf_walk walk;
    struct by_gguf_value one;
    size_t count = (size_t)value->array.count, i = 0;
    bool texts = value->array.type == BY_GGUF_STRING, floats = value->array.type == BY_GGUF_F32;
    size_t size = texts ? sizeof(struct by_meta_text) : sizeof(int32_t);
    void *items = by_arena_alloc(arena, count, size, err);
    *item = texts ? BY_META_STRING : floats ? BY_META_F32 : BY_META_I32;
    by_gguf_walk(&walk, value);
    while (items && i < count && by_gguf_next(&walk, &one)) {
        if (texts)
            ((struct by_meta_text *)items)[i] = (struct by_meta_text){one.text.text, one.text.size};
        else if (floats)
            ((float *)items)[i] = (float)one.f;
        else
            ((int32_t *)items)[i] = (int32_t)(one.type == BY_GGUF_I32 ? one.i : (int64_t)one.u);
        i++;
    }
    return items;
}

static int meta_of_array(struct by_meta *meta, const struct by_gguf_pair *pair,
                         struct baryon_error *err)
{
    enum by_meta_kind item;
    switch (pair->value.array.type) {
    case BY_GGUF_STRING:
    case BY_GGUF_F32:
    case BY_GGUF_I32:
    case BY_GGUF_U32: {
        const void *items = copy_items(&pair->value, meta->arena, &item, err);
        if (!items)
            return -1;
        by_meta_set_array(meta, pair->key, item, items, (size_t)pair->value.array.count);
        return 0;
    }
    default: /* nothing that is read here is of another type */
        return 0;
    }
}

int by_meta_of_gguf(struct by_meta *meta, const struct by_gguf *gguf, struct baryon_error *err)
{
    for (size_t i = 0; i < gguf->count; i++) {
        const struct by_gguf_pair *pair = &gguf->pairs[i];
        const struct by_gguf_value *value = &pair->value;
        const char *text;
        switch (value->type) {
        case BY_GGUF_ARRAY:
            if (meta_of_array(meta, pair, err))
                return -1;
            break;
        case BY_GGUF_STRING:
            text = by_arena_text(meta->arena, value->text.text, value->text.size, err);
            if (!text)
                return -1;
            by_meta_set_text(meta, pair->key, text);
            break;
        case BY_GGUF_F32:
        case BY_GGUF_F64:
            by_meta_set_f32(meta, pair->key, value->f);
            break;
        case BY_GGUF_BOOL:
            by_meta_set_bool(meta, pair->key, value->u != 0);
            break;
        default:
            by_meta_set_u32(meta, pair->key, value->u);
            break;
        }
    }
    return by_meta_error(meta, err);
}

static int put_items(struct by_gguf_build *build, const struct by_meta_value *value,
                     struct baryon_error *err)
{
    struct by_str items = {0};
    for (size_t i = 0; i < value->count; i++) {
        struct by_gguf_value one = {.type = (enum by_gguf_type)value->item};
        if (value->item == BY_META_STRING) {
            const struct by_meta_text *text = (const struct by_meta_text *)value->items + i;
            one.text = (struct by_gguf_text){text->bytes, text->size};
        } else if (value->item == BY_META_F32) {
            one.f = (double)((const float *)value->items)[i];
        } else if (value->item == BY_META_U8) {
            one.u = ((const uint8_t *)value->items)[i];
        } else {
            one.i = ((const int32_t *)value->items)[i];
        }
        by_gguf_encode(&items, &one);
    }
    int status = by_str_error(&items, err);
    if (!status)
        status = by_gguf_put_array(build, value->key, (enum by_gguf_type)value->item, value->count,
                                   &items, err);
    by_str_release(&items);
    return status;
}

static int put_value(struct by_gguf_build *build, const struct by_meta_value *value,
                     struct baryon_error *err)
{
    switch (value->kind) {
    case BY_META_STRING:
        return by_gguf_put_text(build, value->key, value->text.bytes, value->text.size, err);
    case BY_META_ARRAY:
        return put_items(build, value, err);
    case BY_META_F32:
        return by_gguf_put_f32(build, value->key, (float)value->real, err);
    case BY_META_BOOL:
        return by_gguf_put_bool(build, value->key, value->integer != 0, err);
    default:
        return by_gguf_put_u32(build, value->key, (uint32_t)value->integer, err);
    }
}

int by_gguf_of_meta(struct by_gguf_build *build, const struct by_meta *meta,
                    struct baryon_error *err)
{
    for (size_t i = 0; i < meta->count; i++)
        if (put_value(build, &meta->at[i], err))
            return -1;
    return 0;
}
