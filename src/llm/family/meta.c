/* A list of GGUF's keys and values. */
#include "llm/family/meta.h"

#include <string.h>

void by_gguf_meta_init(struct by_gguf_meta *meta, struct by_arena *arena)
{
    *meta = (struct by_gguf_meta){.arena = arena};
}

static struct by_gguf_value *meta_find(const struct by_gguf_meta *meta, const char *key)
{
    for (size_t i = 0; i < meta->count; i++)
        if (!strcmp(meta->at[i].key, key))
            return &meta->at[i];
    return NULL;
}

static void meta_set(struct by_gguf_meta *meta, const char *key, struct by_gguf_value value)
{
    struct by_gguf_value *old = meta_find(meta, key);
    struct by_list any = {meta->at, meta->count, meta->cap};
    if (meta->failed)
        return;
    if (old) {
        value.key = old->key;
        *old = value;
        return;
    }
    value.key = by_arena_text(meta->arena, key, strlen(key), NULL);
    if (!value.key || by_list_reserve(meta->arena, &any, 1, sizeof value, NULL)) {
        meta->failed = true;
        return;
    }
    meta->at = any.at;
    meta->cap = any.cap;
    meta->at[meta->count++] = value;
}

void by_gguf_set_u32(struct by_gguf_meta *meta, const char *key, uint64_t value)
{
    meta_set(meta, key, (struct by_gguf_value){.kind = BY_GGUF_U32, .integer = (int64_t)value});
}

void by_gguf_set_f32(struct by_gguf_meta *meta, const char *key, double value)
{
    meta_set(meta, key, (struct by_gguf_value){.kind = BY_GGUF_F32, .real = (float)value});
}

void by_gguf_set_bool(struct by_gguf_meta *meta, const char *key, bool value)
{
    meta_set(meta, key, (struct by_gguf_value){.kind = BY_GGUF_BOOL, .integer = value});
}

void by_gguf_set_text(struct by_gguf_meta *meta, const char *key, const char *text)
{
    size_t size = strlen(text);
    char *copy = by_arena_text(meta->arena, text, size, NULL);
    meta->failed |= !copy;
    meta_set(meta, key, (struct by_gguf_value){.kind = BY_GGUF_STRING, .text = {copy, size}});
}

void by_gguf_set_array(struct by_gguf_meta *meta, const char *key, enum by_gguf_kind item,
                       const void *items, size_t count)
{
    meta_set(meta, key,
             (struct by_gguf_value){
                 .kind = BY_GGUF_ARRAY, .item = item, .items = items, .count = count});
}

const struct by_gguf_value *by_gguf_get(const struct by_gguf_meta *meta, const char *key)
{
    return meta_find(meta, key);
}

bool by_gguf_get_int(const struct by_gguf_meta *meta, const char *key, int64_t *value)
{
    const struct by_gguf_value *found = meta_find(meta, key);
    if (!found || found->kind == BY_GGUF_STRING || found->kind == BY_GGUF_ARRAY ||
        found->kind == BY_GGUF_F32 || found->kind == BY_GGUF_F64)
        return false;
    *value = found->integer;
    return true;
}

bool by_gguf_get_real(const struct by_gguf_meta *meta, const char *key, double *value)
{
    const struct by_gguf_value *found = meta_find(meta, key);
    if (!found || (found->kind != BY_GGUF_F32 && found->kind != BY_GGUF_F64))
        return false;
    *value = found->real;
    return true;
}

const char *by_gguf_get_text(const struct by_gguf_meta *meta, const char *key)
{
    const struct by_gguf_value *found = meta_find(meta, key);
    return found && found->kind == BY_GGUF_STRING ? found->text.bytes : NULL;
}

const struct by_gguf_value *by_gguf_get_array(const struct by_gguf_meta *meta, const char *key,
                                              enum by_gguf_kind item)
{
    const struct by_gguf_value *found = meta_find(meta, key);
    return found && found->kind == BY_GGUF_ARRAY && found->item == item ? found : NULL;
}

int by_gguf_meta_error(const struct by_gguf_meta *meta, struct baryon_error *err)
{
    return meta->failed ? by_err_nomem(err, 0) : 0;
}
