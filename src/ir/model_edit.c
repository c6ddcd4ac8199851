/* Edits of what a model says beside its graph: imports and metadata. */
#include "ir/links.h"

#include "base/str.h"

#include <string.h>

int by_model_set_opset(struct baryon_model *model, const char *domain, int64_t version,
                       struct baryon_error *err)
{
    bool found = false; /* some models import a domain twice */
    for (size_t i = 0; i < model->opset_import.count; i++) {
        struct by_opset *opset = model->opset_import.at[i];
        if (strcmp(by_domain(opset->domain), by_domain(domain)) == 0) {
            opset->version = version;
            found = true;
        }
    }
    if (found)
        return 0;
    struct by_opset *opset = BY_ARENA_NEW(&model->arena, struct by_opset, err);
    if (!opset || !(opset->domain = by_model_name(model, by_domain(domain), err)) ||
        by_list_reserve(&model->arena, &model->opset_import, 1, sizeof(void *), err))
        return -1;
    opset->version = version;
    by_ptrs_add(&model->opset_import, opset);
    return 0;
}

static size_t find_metadata(const struct by_ptrs *list, const char *key)
{
    size_t i = 0;
    while (i < list->count) {
        const struct by_pair *pair = list->at[i];
        if (pair->key && strcmp(pair->key, key) == 0)
            break;
        i++;
    }
    return i;
}

static void remove_at(struct by_ptrs *list, size_t slot)
{
    if (slot == list->count)
        return;
    memmove(&list->at[slot], &list->at[slot + 1], (list->count - slot - 1) * sizeof(void *));
    list->count--;
}

int by_model_set_metadata(struct baryon_model *model, const char *key, const char *value,
                          struct baryon_error *err)
{
    struct by_arena *arena = &model->arena;
    size_t slot = find_metadata(&model->metadata, key);
    if (!value) {
        remove_at(&model->metadata, slot);
        return 0;
    }
    char quoted[BY_QUOTE_MAX];
    if (!by_utf8_valid(value, strlen(value)))
        return by_fail(err, BARYON_ERR_USAGE, "value %s of metadata is not valid UTF-8",
                       by_quote(quoted, value));
    struct by_pair *pair = BY_ARENA_NEW(arena, struct by_pair, err);
    const char *text = by_arena_text(arena, value, strlen(value), err);
    if (!pair || !text || !(pair->key = by_model_name(model, key, err)) ||
        by_list_reserve(arena, &model->metadata, 1, sizeof(void *), err))
        return -1;
    pair->value = (struct by_span){(const uint8_t *)text, strlen(value)};
    if (slot == model->metadata.count)
        by_ptrs_add(&model->metadata, pair);
    else
        model->metadata.at[slot] = pair;
    return 0;
}
