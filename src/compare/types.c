/* Counts the layers of a model by the types that they compute in. */
#include "compare/compare.h"

#include <stdlib.h>
#include <string.h>

bool by_compare_same_type(const struct by_profile_type *one, const struct by_profile_type *other)
{
    const char *a = one->name, *b = other->name;
    if (one->bits != other->bits)
        return false;
    return !strcmp(*a == 'u' ? a + 1 : a, *b == 'u' ? b + 1 : b);
}

static struct by_type_share *find_share(struct by_compared_model *model,
                                        const struct by_profile_layer *layer)
{
    const char *weight = layer->has_weight ? layer->weight.type.name : NULL;
    for (size_t i = 0; i < model->types.count; i++) {
        struct by_type_share *share = &model->types.at[i];
        if (!strcmp(share->data, layer->data.type.name) && !share->weight == !weight &&
            (!weight || !strcmp(share->weight, weight)))
            return share;
    }
    return NULL;
}

static int by_macs(const void *left, const void *right)
{
    const struct by_type_share *one = left, *other = right;
    if (one->macs != other->macs)
        return one->macs > other->macs ? -1 : 1;
    if (one->layers != other->layers)
        return one->layers > other->layers ? -1 : 1;
    const int order = strcmp(one->data, other->data);
    return order ? order
                 : strcmp(one->weight ? one->weight : "", other->weight ? other->weight : "");
}

int by_compare_types(struct by_compared_model *model, struct by_arena *arena,
                     struct baryon_error *err)
{
    for (size_t i = 0; i < model->profile.layers.count; i++) {
        const struct by_profile_layer *layer = &model->profile.layers.at[i];
        struct by_type_share *share = find_share(model, layer);
        if (!share) {
            if (by_list_reserve(arena, &model->types, 1, sizeof *share, err) < 0)
                return -1;
            share = &model->types.at[model->types.count++];
            *share =
                (struct by_type_share){.data = layer->data.type.name,
                                       .weight = layer->has_weight ? layer->weight.type.name : NULL,
                                       .bits = layer->bits};
        }
        share->layers++;
        share->macs += layer->macs;
    }
    if (model->types.count)
        qsort(model->types.at, model->types.count, sizeof *model->types.at, by_macs);
    return 0;
}
