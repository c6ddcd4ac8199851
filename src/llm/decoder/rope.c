/* Frequencies of rotary positions, scaled as config.json says. */
#include "llm/decoder/decoder_internal.h"
#include "llm/family/arch.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

#define LENGTH_MAX 1e9 /* tokens of a window */

static const struct by_doc_node *rope_map(const struct by_doc_node *config, const char *kind)
{
    const struct by_doc_node *map = by_doc_get(config, "rope_parameters");
    const struct by_doc_node *own = by_doc_get(map, kind);
    if (own && own->kind == BY_DOC_MAP)
        return own;
    if (map && map->kind == BY_DOC_MAP && !by_doc_get(map, "full_attention"))
        return map;
    return by_doc_get(config, "rope_scaling");
}

static void divide_by(struct by_decoder_rope *rope, const float *by)
{
    for (size_t i = 0; i < rope->pairs; i++)
        rope->frequencies[i] /= by[i];
}

/* A factor for each pair. */
static int divide_by_list(float *frequencies, size_t pairs, const struct by_doc_node *map,
                          const char *key, struct baryon_error *err)
{
    const struct by_doc_node *list = by_doc_get(map, key);
    if (!list || list->kind != BY_DOC_LIST || list->count != pairs)
        return by_fail(err, BARYON_ERR_INPUT,
                       "config.json: rope_scaling.%s must be a list of %zu numbers", key, pairs);
    for (size_t i = 0; i < pairs; i++) {
        double value = 0;
        if (list->items[i]->kind != BY_DOC_SCALAR ||
            !by_parse_double(list->items[i]->text, &value) || !(value > 0))
            return by_fail(err, BARYON_ERR_INPUT,
                           "config.json: rope_scaling.%s[%zu] must be above 0", key, i);
        frequencies[i] /= (float)value;
    }
    return 0;
}

/* longrope: factors of short and of long texts. */
static int divide_by_lists(struct by_decoder *d, struct by_decoder_rope *rope,
                           const struct by_doc_node *config, const struct by_doc_node *map,
                           struct baryon_error *err)
{
    double most = 0, original = 0, attention = 0;
    by_hf_number(config, "max_position_embeddings", &most);
    if (!by_hf_number(map, "original_max_position_embeddings", &original))
        by_hf_number(config, "original_max_position_embeddings", &original);
    if (original >= 1 && original < LENGTH_MAX) {
        rope->near = (size_t)original;
        rope->far = by_arena_alloc(&d->arena, rope->pairs, sizeof *rope->far, err);
        if (!rope->far)
            return -1;
        memcpy(rope->far, rope->frequencies, rope->pairs * sizeof *rope->far);
    }
    if (divide_by_list(rope->frequencies, rope->pairs, map, "short_factor", err) ||
        (rope->far && divide_by_list(rope->far, rope->pairs, map, "long_factor", err)))
        return -1;
    if (by_hf_number(map, "attention_factor", &attention) && attention > 0)
        rope->attention = (float)attention;
    else if (original > 1 && most > original)
        rope->attention = (float)sqrt(1 + log(most / original) / log(original));
    return 0;
}

static int scale(struct by_decoder *d, struct by_decoder_rope *rope,
                 const struct by_doc_node *config, const struct by_doc_node *map,
                 struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *type = by_hf_string(map, "rope_type type");
    const float *factors;
    size_t count;
    double factor = 1;
    if (!type || by_has_word("default dynamic", type)) /* dynamic: short texts are as they are */
        return 0;
    if (!strcmp(type, "llama3")) {
        if (by_rope_factors(&d->arena, config, &factors, &count, err))
            return -1;
        if (count != rope->pairs)
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "config.json: rope_type llama3 with %zu of %zu values of a head turned, "
                           "must be all",
                           2 * rope->pairs, d->head_dim);
        divide_by(rope, factors);
        return 0;
    }
    if (by_has_word("longrope su", type))
        return divide_by_lists(d, rope, config, map, err);
    if (strcmp(type, "linear") != 0 || !by_hf_number(map, "factor", &factor) || !(factor > 0))
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "config.json: rope_type is %s, must be default, linear, dynamic, llama3 or "
                       "longrope",
                       by_quote(quoted, type));
    for (size_t i = 0; i < rope->pairs; i++)
        rope->frequencies[i] /= (float)factor;
    return 0;
}

static int make_rope(struct by_decoder *d, struct by_decoder_rope *rope,
                     const struct by_doc_node *config, const struct by_doc_node *map, double theta,
                     struct baryon_error *err)
{
    double part = 1;
    if (!by_hf_number(map, "partial_rotary_factor", &part))
        by_hf_number(config, "partial_rotary_factor", &part);
    const double dims = floor((double)d->head_dim * part);
    if (!(theta > 0) || !(dims >= 2) || dims > (double)d->head_dim || fmod(dims, 2) > 0)
        return by_fail(err, BARYON_ERR_INPUT,
                       "config.json: rope_theta must be above 0, and partial_rotary_factor leave "
                       "an even number of at least 2 values");
    rope->pairs = (size_t)dims / 2;
    rope->attention = 1;
    rope->near = SIZE_MAX;
    rope->frequencies = by_arena_alloc(&d->arena, rope->pairs, sizeof *rope->frequencies, err);
    for (size_t i = 0; rope->frequencies && i < rope->pairs; i++)
        rope->frequencies[i] = 1.0f / powf((float)theta, (float)(2 * i) / (float)dims);
    return rope->frequencies ? scale(d, rope, config, map, err) : -1;
}

int by_decoder_ropes(struct by_decoder *d, const struct by_doc_node *config,
                     struct baryon_error *err)
{
    const struct by_doc_node *full = rope_map(config, "full_attention");
    const struct by_doc_node *parameters = by_doc_get(config, "rope_parameters");
    const struct by_doc_node *local = by_doc_get(parameters, "sliding_attention");
    double theta = 10000, near = 10000;
    if (!by_hf_number(full, "rope_theta", &theta))
        by_hf_number(config, "rope_theta", &theta);
    if (!by_hf_number(local, "rope_theta", &near))
        by_hf_number(config, "rope_local_base_freq", &near);
    return make_rope(d, &d->ropes[0], config, full, theta, err) ||
                   make_rope(d, &d->ropes[1], config, local, near, err)
               ? -1
               : 0;
}
