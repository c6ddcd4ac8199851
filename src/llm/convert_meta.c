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
