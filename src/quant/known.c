/* Keeps parameters of constants and ranges of activations by name and spec. */
#include "quant/known.h"

#include <pthread.h>
#include <string.h>

struct entry {
    struct entry *next; /* of the same name */
    struct by_tensor_spec spec;
    int axis; /* that it was searched along */
    struct by_params params;
    struct by_range range;
    double error;
};

struct by_known {
    pthread_mutex_t lock;
    struct by_arena arena;
    struct by_map names;
};

int by_known_open(struct by_known **out, struct baryon_error *err)
{
    struct by_known *known = *out = by_alloc_zero(1, sizeof *known, err);
    if (!known)
        return -1;
    pthread_mutex_init(&known->lock, NULL);
    by_arena_init(&known->arena, 0);
    by_map_init(&known->names);
    return 0;
}

void by_known_close(struct by_known *known)
{
    if (!known)
        return;
    by_map_release(&known->names);
    by_arena_release(&known->arena);
    pthread_mutex_destroy(&known->lock);
    by_free(known);
}

/* All that a search reads besides the values. */
static bool same_search(const struct entry *entry, const struct by_quant_row *row)
{
    const struct by_tensor_spec *one = &entry->spec, *other = &row->spec;
    return one->elem == other->elem && one->format == other->format &&
           one->scaled == other->scaled && one->bits == other->bits &&
           one->symmetric == other->symmetric && one->reduce_range == other->reduce_range &&
           one->scale == other->scale && one->granularity == other->granularity &&
           one->group == other->group && one->method == other->method &&
           one->calib.own == other->calib.own && one->calib.headroom == other->calib.headroom &&
           entry->axis == row->params.axis;
}

static int copy_params(struct by_arena *arena, const struct by_params *from, struct by_params *to,
                       struct baryon_error *err)
{
    float *scales = by_arena_alloc(arena, from->count, sizeof *scales, err);
    int64_t *zeros = from->zeros ? by_arena_alloc(arena, from->count, sizeof *zeros, err) : NULL;
    if (!scales || (from->zeros && !zeros))
        return -1;
    memcpy(scales, from->scales, from->count * sizeof *scales);
    if (zeros)
        memcpy(zeros, from->zeros, from->count * sizeof *zeros);
    *to = *from;
    to->scales = scales;
    to->zeros = zeros;
    return 0;
}

static const struct entry *find(const struct by_known *known, const struct by_quant_row *row)
{
    const struct entry *entry = by_map_get(&known->names, row->value->name);
    while (entry && !same_search(entry, row))
        entry = entry->next;
    return entry;
}

static const struct entry *find_safely(struct by_known *known, const struct by_quant_row *row)
{
    pthread_mutex_lock(&known->lock);
    const struct entry *entry = find(known, row); /* stays as it is */
    pthread_mutex_unlock(&known->lock);
    return entry;
}

int by_known_take(struct by_known *known, struct by_quant_plan *plan, struct by_quant_row *row,
                  bool *found, struct baryon_error *err)
{
    *found = false;
    if (!known)
        return 0;
    const struct entry *entry = find_safely(known, row);
    if (!entry)
        return 0;
    *found = true;
    row->error = entry->error;
    return copy_params(&plan->arena, &entry->params, &row->params, err);
}

static struct entry *add(struct by_known *known, const struct by_quant_row *row,
                         struct baryon_error *err)
{
    struct entry *entry = BY_ARENA_NEW(&known->arena, struct entry, err);
    const char *name = row->value->name;
    if (!entry || !(name = by_arena_text(&known->arena, name, strlen(name), err)))
        return NULL;
    entry->spec = row->spec;
    entry->axis = row->params.axis;
    entry->error = row->error;
    entry->range = row->range;
    entry->next = by_map_get(&known->names, name);
    return by_map_put(&known->names, name, entry, err) < 0 ? NULL : entry;
}

static int add_params(struct by_known *known, const struct by_quant_row *row,
                      struct baryon_error *err)
{
    struct by_params params;
    if (copy_params(&known->arena, &row->params, &params, err) < 0)
        return -1;
    struct entry *entry = add(known, row, err);
    if (!entry)
        return -1;
    entry->params = params;
    return 0;
}

int by_known_keep(struct by_known *known, const struct by_quant_row *row, struct baryon_error *err)
{
    if (!known)
        return 0;
    pthread_mutex_lock(&known->lock);
    const int status = find(known, row) ? 0 : add_params(known, row, err);
    pthread_mutex_unlock(&known->lock);
    return status;
}

/* --- Ranges --- */

bool by_known_take_range(struct by_known *known, struct by_quant_row *row)
{
    const struct entry *entry = known ? find_safely(known, row) : NULL;
    if (!entry)
        return false;
    row->range = entry->range;
    row->error = entry->error;
    return true;
}

int by_known_keep_range(struct by_known *known, const struct by_quant_row *row,
                        struct baryon_error *err)
{
    if (!known)
        return 0;
    pthread_mutex_lock(&known->lock);
    const int status = find(known, row) || add(known, row, err) ? 0 : -1;
    pthread_mutex_unlock(&known->lock);
    return status;
}
