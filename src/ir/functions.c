/* Finds the functions of a model by domain, name and overload. */
#include "ir/functions.h"

#include <string.h>

#define KEY_MAX (3 * (4096 + 1)) /* three names as long as a file may have them */

/* Names as one text; false when those of an edited model are too long for one. */
static bool make_key(char key[KEY_MAX], const char *domain, const char *name, const char *overload)
{
    const char *const parts[] = {by_domain(domain), name ? name : "", overload ? overload : ""};
    size_t used = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(parts[i]);
        if (length >= KEY_MAX - used)
            return false;
        memcpy(key + used, parts[i], length);
        used += length;
        key[used++] = i < 2 ? '\n' : '\0';
    }
    return true;
}

int by_function_table_fill(struct by_function_table *table, const struct baryon_model *model,
                           struct by_arena *arena, struct baryon_error *err)
{
    const struct by_ptrs *list = &model->functions;
    by_map_init(&table->by_key);
    struct by_callee *callees = by_arena_alloc(arena, list->count, sizeof *callees, err);
    if (!callees)
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        const struct by_function *function = list->at[i];
        char key[KEY_MAX];
        if (!function || !make_key(key, function->domain, function->name, function->overload) ||
            by_map_get(&table->by_key, key))
            continue;
        callees[i] = (struct by_callee){function, i};
        const char *copy = by_arena_text(arena, key, strlen(key), err);
        if (!copy || by_map_put(&table->by_key, copy, &callees[i], err))
            return -1;
    }
    return 0;
}

void by_function_table_release(struct by_function_table *table)
{
    by_map_release(&table->by_key);
}

const struct by_callee *by_function_find(const struct by_function_table *table, const char *domain,
                                         const char *name, const char *overload)
{
    char key[KEY_MAX];
    if (!table->by_key.count || !make_key(key, domain, name, overload))
        return NULL;
    return by_map_get(&table->by_key, key);
}
