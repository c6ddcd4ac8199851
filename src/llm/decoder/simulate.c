/* Which linear layers round their inputs. */
#include "llm/decoder/decoder_internal.h"

static int simulate_place(struct by_decoder *d, struct by_decoder_place *place, size_t *count,
                          struct baryon_error *err)
{
    struct by_llm_input input;
    place->input = NULL;
    if (!place->weight)
        return 0;
    if (by_llm_source_input(d->source, place->weight, &input, err))
        return -1;
    if (!input.spec.dtype)
        return 0;
    struct by_llm_input *own = BY_ARENA_NEW(&d->arena, struct by_llm_input, err);
    if (!own)
        return -1;
    *own = input;
    place->input = own;
    ++*count;
    return 0;
}

static int simulate_cache(struct by_decoder *d, struct by_decoder_layer *layer,
                          struct baryon_error *err)
{
    const struct by_llm_weight *all = layer->parts[BY_PART_QKV].weight;
    const struct by_llm_weight *keys = all ? all : layer->parts[BY_PART_K].weight;
    const struct by_llm_weight *values = all ? all : layer->parts[BY_PART_V].weight;
    struct by_llm_cache cache;
    layer->cache = NULL;
    if (by_llm_source_cache(d->source, keys, values, &cache, err))
        return -1;
    if (!cache.keys.spec.dtype)
        return 0;
    struct by_llm_cache *own = BY_ARENA_NEW(&d->arena, struct by_llm_cache, err);
    if (!own)
        return -1;
    *own = cache;
    layer->cache = own;
    return 0;
}

int by_decoder_simulate(struct by_decoder *d, size_t *count, struct baryon_error *err)
{
    *count = 0;
    for (size_t i = 0; i < d->layers; i++) {
        if (simulate_cache(d, &d->layer[i], err))
            return by_err_in(err, "layer %zu", i);
        for (size_t k = 0; k < BY_PARTS; k++)
            if (simulate_place(d, &d->layer[i].parts[k], count, err))
                return -1;
        for (size_t k = 0; d->layer[i].experts && k < 3 * d->experts; k++)
            if (simulate_place(d, &d->layer[i].experts[k], count, err))
                return -1;
    }
    return simulate_place(d, &d->head, count, err);
}
