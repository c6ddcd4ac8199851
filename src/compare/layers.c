/* Finds the layers that two models have in common: by name, by what they give, by their weight. */
#include "compare/compare.h"

#include <stdlib.h>
#include <string.h>

/* Layers of a model by those names; the first one of a name counts. */
struct index {
    struct by_map names, outputs, weights;
    bool *taken;
};

static int add_to_index(struct by_map *map, const char *key, size_t place, struct baryon_error *err)
{
    if (!key || !*key || by_map_get(map, key))
        return 0;
    return by_map_put(map, key, (void *)(uintptr_t)(place + 1), err);
}

static int open_index(struct index *index, const struct by_profile *profile, struct by_arena *arena,
                      struct baryon_error *err)
{
    by_map_init(&index->names);
    by_map_init(&index->outputs);
    by_map_init(&index->weights);
    index->taken = by_arena_alloc(arena, profile->layers.count, sizeof *index->taken, err);
    if (!index->taken)
        return -1;
    for (size_t i = 0; i < profile->layers.count; i++) {
        const struct by_profile_layer *layer = &profile->layers.at[i];
        if (add_to_index(&index->names, layer->name, i, err) < 0 ||
            add_to_index(&index->outputs, layer->output, i, err) < 0 ||
            add_to_index(&index->weights, layer->weight.name, i, err) < 0)
            return -1;
    }
    return 0;
}

/* "Add" of "QLinearAdd". */
static const char *float_operator(const char *op_type)
{
    static const char prefix[] = "QLinear";
    return strncmp(op_type, prefix, sizeof prefix - 1) ? op_type : op_type + sizeof prefix - 1;
}

/* Layers, whatever their operator, or the same operator: a Relu that one tool folds into what
 * stands before it leaves its output's name to another node. */
static bool are_alike(const struct by_profile_layer *one, const struct by_profile_layer *other)
{
    if (one->macs > 0 || other->macs > 0)
        return one->macs > 0 && other->macs > 0;
    return !strcmp(float_operator(one->op_type), float_operator(other->op_type));
}

static const struct by_profile_layer *take(struct index *index, const struct by_profile *profile,
                                           const struct by_map *map, const char *key,
                                           const struct by_profile_layer *wanted)
{
    const void *found = key && *key ? by_map_get(map, key) : NULL;
    const size_t place = found ? (size_t)(uintptr_t)found - 1 : 0;
    if (!found || index->taken[place] || !are_alike(wanted, &profile->layers.at[place]))
        return NULL;
    index->taken[place] = true;
    return &profile->layers.at[place];
}

static bool types_differ(const struct by_profile_layer *a, const struct by_profile_layer *b)
{
    if (!by_compare_same_type(&a->data.type, &b->data.type))
        return true;
    return a->has_weight && b->has_weight &&
           !by_compare_same_type(&a->weight.type, &b->weight.type);
}

static double share_of_macs(double macs, double all)
{
    return all > 0 ? macs / all : 0;
}

static int add_layer_pair(struct by_comparison *comparison, const struct by_profile_layer *a,
                          const struct by_profile_layer *b, struct baryon_error *err)
{
    const double one = share_of_macs(a->macs, comparison->a.profile.macs),
                 other = share_of_macs(b->macs, comparison->b.profile.macs);
    const struct by_layer_pair pair = {
        .a = a, .b = b, .share = one > other ? one : other, .differs = types_differ(a, b)};
    if (by_list_reserve(&comparison->arena, &comparison->layers, 1, sizeof pair, err) < 0)
        return -1;
    comparison->layers.at[comparison->layers.count++] = pair;
    comparison->layers_alike += !pair.differs;
    return 0;
}

/* Pairs lie in the order of A's layers. */
static int by_importance(const void *left, const void *right)
{
    const struct by_layer_pair *one = left, *other = right;
    if (one->differs != other->differs)
        return one->differs ? -1 : 1;
    if (one->differs && one->share != other->share)
        return one->share > other->share ? -1 : 1;
    return one->a < other->a ? -1 : 1;
}

static int match_layers(struct by_comparison *comparison, struct index *index,
                        struct baryon_error *err)
{
    const struct by_profile *a = &comparison->a.profile, *b = &comparison->b.profile;
    for (size_t i = 0; i < a->layers.count; i++) {
        const struct by_profile_layer *layer = &a->layers.at[i];
        const struct by_profile_layer *other = take(index, b, &index->names, layer->name, layer);
        if (!other)
            other = take(index, b, &index->outputs, layer->output, layer);
        if (!other)
            other = take(index, b, &index->weights, layer->weight.name, layer);
        if (!other)
            comparison->only_a++;
        else if (add_layer_pair(comparison, layer, other, err) < 0)
            return -1;
    }
    comparison->only_b = b->layers.count - comparison->layers.count;
    if (comparison->layers.count)
        qsort(comparison->layers.at, comparison->layers.count, sizeof *comparison->layers.at,
              by_importance);
    return 0;
}

int by_compare_layers(struct by_comparison *comparison, struct baryon_error *err)
{
    struct index index;
    int status = open_index(&index, &comparison->b.profile, &comparison->arena, err);
    if (status == 0)
        status = match_layers(comparison, &index, err);
    by_map_release(&index.names);
    by_map_release(&index.outputs);
    by_map_release(&index.weights);
    return status;
}
