/* A list of GGUF's keys and values. */
#include "llm/family/meta.h"

#include <string.h>

void by_meta_init(struct by_meta *meta, struct by_arena *arena)
{
    *meta = (struct by_meta){.arena = arena};
}

static struct by_meta_value *meta_find(const struct by_meta *meta, const char *key)
{
    for (size_t i = 0; i < meta->count; i++)
        if (!strcmp(meta->at[i].key, key))
            return &meta->at[i];
    return NULL;
}

static void meta_set(struct by_meta *meta, const char *key, struct by_meta_value value)
{
    struct by_meta_value *old = meta_find(meta, key);
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

void by_meta_set_u32(struct by_meta *meta, const char *key, uint64_t value)
{
    meta_set(meta, key, (struct by_meta_value){.kind = BY_META_U32, .integer = (int64_t)value});
}

void by_meta_set_f32(struct by_meta *meta, const char *key, double value)
{
    meta_set(meta, key, (struct by_meta_value){.kind = BY_META_F32, .real = (float)value});
}

void by_meta_set_bool(struct by_meta *meta, const char *key, bool value)
{
    meta_set(meta, key, (struct by_meta_value){.kind = BY_META_BOOL, .integer = value});
}

void by_meta_set_text(struct by_meta *meta, const char *key, const char *text)
{
    size_t size = strlen(text);
    char *copy = by_arena_text(meta->arena, text, size, NULL);
    meta->failed |= !copy;
    meta_set(meta, key, (struct by_meta_value){.kind = BY_META_STRING, .text = {copy, size}});
}

void by_meta_set_array(struct by_meta *meta, const char *key, enum by_meta_kind item,
                       const void *items, size_t count)
{
    meta_set(meta, key,
             (struct by_meta_value){
                 .kind = BY_META_ARRAY, .item = item, .items = items, .count = count});
}

const struct by_meta_value *by_meta_get(const struct by_meta *meta, const char *key)
{
    return meta_find(meta, key);
}

bool by_meta_get_int(const struct by_meta *meta, const char *key, int64_t *value)
{
    const struct by_meta_value *found = meta_find(meta, key);
    if (!found || found->kind == BY_META_STRING || found->kind == BY_META_ARRAY ||
        found->kind == BY_META_F32 || found->kind == BY_META_F64)
        return false;
    *value = found->integer;
    return true;
}

bool by_meta_get_real(const struct by_meta *meta, const char *key, double *value)
{
    const struct by_meta_value *found = meta_find(meta, key);
    if (!found || (found->kind != BY_META_F32 && found->kind != BY_META_F64))
        return false;
    *value = found->real;
    return true;
}

const char *by_meta_get_text(const struct by_meta *meta, const char *key)
{
    const struct by_meta_value *found = meta_find(meta, key);
    return found && found->kind == BY_META_STRING ? found->text.bytes : NULL;
}

const struct by_meta_value *by_meta_get_array(const struct by_meta *meta, const char *key,
                                              enum by_meta_kind item)
{
    const struct by_meta_value *found = meta_find(meta, key);
    return found && found->kind == BY_META_ARRAY && found->item == item ? found : NULL;
}

int by_meta_error(const struct by_meta *meta, struct baryon_error *err)
{
    return meta->failed ? by_err_nomem(err, 0) : 0;
}
