/* Folds what DequantizeLinear makes of constants. */
#include "engine/dequantize.h"
#include "engine/pair.h"
#include "ir/graph.h"
#include "ir/tensor.h"

#include <string.h>

/* A constant as [outer][channels][inner]. */
struct channels {
    size_t count, inner;
};

static bool find_channels(const struct baryon_node *node, struct channels *channels)
{
    const struct by_ints *dims = &by_node_in(node, 0)->initializer->dims;
    const int64_t rank = (int64_t)dims->count;
    int64_t axis = by_node_int(node, "axis", 1);
    *channels = (struct channels){by_pair_count_of(by_node_in(node, 1)), 1};
    if (channels->count == 1)
        return true;
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank || dims->at[axis] != (int64_t)channels->count)
        return false;
    for (int64_t i = axis + 1; i < rank; i++)
        channels->inner *= (size_t)dims->at[i];
    return true;
}

/* Larger ones would be in memory twice as floats; a few nodes take the runtime little time. */
#define FOLDED_MOST ((size_t)256 << 10)

static bool dequantizes_constant(const struct baryon_node *node)
{
    const struct baryon_value *levels = by_node_in(node, 0), *out = by_node_out(node, 0);
    const struct by_elem_info *info;
    if (!by_node_dequantizes(node) || !by_pair_is_only_constant(levels) || !out || out->pinned ||
        by_value_is_output(out) || !by_pair_has_plain_params(node))
        return false;
    info = by_elem_info(levels->initializer->data_type);
    return info && info->class == BY_CLASS_INT && info->bits <= 32;
}

static bool is_small_constant(const struct baryon_node *node)
{
    return dequantizes_constant(node) && by_pair_count_of(by_node_in(node, 0)) <= FOLDED_MOST;
}

bool by_pair_is_large_constant(const struct baryon_node *node)
{
    return dequantizes_constant(node) && !is_small_constant(node) &&
           by_pair_count_of(by_node_in(node, 1)) == 1 &&
           by_elem_info(by_node_in(node, 0)->initializer->data_type)->bits >= 8;
}

/* As the runtime computes it: whole numbers, one rounding to float, one product. */
static void mean(const int64_t *levels, size_t first, size_t count, const struct channels *channels,
                 const float *scales, const int64_t *zeros, float *out)
{
    for (size_t i = 0; i < count; i++) {
        const size_t at =
            channels->count == 1 ? 0 : (first + i) / channels->inner % channels->count;
        out[i] = (float)(levels[i] - zeros[at]) * scales[at];
    }
}

static int mean_bytes(const int8_t *levels, const struct channels *channels, const float *scales,
                      const int64_t *zeros, float *out, size_t count, struct baryon_error *err)
{
    int8_t *least = by_alloc(channels->count, 1, err);
    if (!least)
        return -1;
    for (size_t i = 0; i < channels->count; i++)
        least[i] = (int8_t)zeros[i];
    const struct by_byte_levels bytes = {.levels = levels,
                                         .zeros = least,
                                         .scales = scales,
                                         .scale_count = channels->count,
                                         .run = channels->count == 1 ? count : channels->inner};
    by_dequantize_bytes(true, &bytes, count, out);
    by_free(least);
    return 0;
}

#define PIECE 1024

static int fill_constant(const struct baryon_tensor *tensor, const struct channels *channels,
                         const float *scales, const int64_t *zeros, float *out, size_t count,
                         struct baryon_error *err)
{
    struct by_arena arena;
    struct by_span bytes;
    int64_t levels[PIECE];
    by_arena_init(&arena, 0);
    int status = by_tensor_bytes(tensor, &arena, &bytes, err);
    if (status == 0 && tensor->data_type == BY_ELEM_INT8) {
        status = mean_bytes((const int8_t *)bytes.data, channels, scales, zeros, out, count, err);
        by_arena_release(&arena);
        return status;
    }
    for (size_t at = 0; status == 0 && at < count; at += PIECE) {
        const size_t some = count - at < PIECE ? count - at : PIECE;
        status = by_elem_to_ints(tensor->data_type, bytes.data, at, some, levels, err);
        if (status == 0)
            mean(levels, at, some, channels, scales, zeros, out + at);
    }
    by_arena_release(&arena);
    return status;
}

static int read_params(const struct baryon_node *node, size_t count, float *scales, int64_t *zeros,
                       struct baryon_error *err)
{
    const struct baryon_value *scale = by_node_in(node, 1), *zero = by_node_in(node, 2);
    struct by_arena arena;
    struct by_span bytes;
    by_arena_init(&arena, 0);
    int status = by_tensor_bytes(scale->initializer, &arena, &bytes, err);
    if (status == 0)
        status = by_elem_to_floats(BY_ELEM_FLOAT, bytes.data, 0, count, scales, err);
    memset(zeros, 0, count * sizeof *zeros);
    if (status == 0 && zero)
        status =
            by_tensor_bytes(zero->initializer, &arena, &bytes, err) < 0
                ? -1
                : by_elem_to_ints(zero->initializer->data_type, bytes.data, 0, count, zeros, err);
    by_arena_release(&arena);
    return status;
}

/* What the node gives, for by_free(). */
static float *dequantized(const struct baryon_node *node, const struct channels *channels,
                          size_t count, struct baryon_error *err)
{
    float *scales = by_alloc(channels->count, sizeof *scales, err);
    int64_t *zeros = by_alloc(channels->count, sizeof *zeros, err);
    float *out = by_alloc(count, sizeof *out, err);
    int status =
        scales && zeros && out ? read_params(node, channels->count, scales, zeros, err) : -1;
    if (status == 0)
        status = fill_constant(by_node_in(node, 0)->initializer, channels, scales, zeros, out,
                               count, err);
    by_free(scales);
    by_free(zeros);
    if (status == 0)
        return out;
    by_free(out);
    return NULL;
}

static struct baryon_value *add_folded(const struct baryon_node *node, const float *values,
                                       size_t count, struct baryon_error *err)
{
    const struct by_ints *dims = &by_node_in(node, 0)->initializer->dims;
    struct baryon_model *model = node->graph->model;
    const char *name = by_model_fresh_name(model, by_node_out(node, 0)->name, err);
    struct by_span payload;
    if (!name || by_model_payload(model, values, count * sizeof *values, &payload, err))
        return NULL;
    struct baryon_tensor *tensor =
        by_tensor_over(model, name, BY_ELEM_FLOAT, dims->at, dims->count, payload, err);
    return tensor ? by_graph_add_initializer(node->graph, tensor, err) : NULL;
}

static int fold(struct baryon_node *node, const struct channels *channels, struct baryon_error *err)
{
    const size_t count = by_pair_count_of(by_node_in(node, 0));
    float *values = dequantized(node, channels, count, err);
    struct baryon_value *folded = values ? add_folded(node, values, count, err) : NULL;
    by_free(values);
    if (!folded || by_value_replace_uses(by_node_out(node, 0), folded, NULL, err) < 0)
        return -1;
    return by_pair_drop(node, err);
}

/* Those that the rule takes. */
static int fold_some(const struct baryon_graph *graph,
                     bool (*takes)(const struct baryon_node *node), size_t *folded,
                     struct baryon_error *err)
{
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        struct channels channels;
        if (!node || !takes(node) || !find_channels(node, &channels))
            continue;
        if (fold(node, &channels, err) < 0)
            return -1;
        ++*folded;
    }
    return 0;
}

int by_pairs_fold_small(struct baryon_model *model, size_t *folded, struct baryon_error *err)
{
    return by_pairs_look_up(model->graph, err) < 0
               ? -1
               : fold_some(model->graph, is_small_constant, folded, err);
}

/* --- Where the session reads weights as they lie --- */

static bool stays_integers(const struct baryon_node *node)
{
    const struct baryon_value *out = by_node_out(node, 0);
    size_t fit = 0;
    if (!dequantizes_constant(node) || is_small_constant(node) || !by_node_in(node, 2) ||
        by_elem_info(by_node_in(node, 0)->initializer->data_type)->bits != 8)
        return false;
    while (fit < out->use_count && by_use_is_factor(&out->uses[fit]))
        fit++;
    return fit && fit == out->use_count;
}

static int keep_integers(const struct baryon_graph *graph, struct baryon_error *err)
{
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        struct channels channels;
        if (!node || !stays_integers(node) || !find_channels(node, &channels))
            continue;
        const size_t run =
            channels.count == 1 ? by_pair_count_of(by_node_in(node, 0)) : channels.inner;
        if (by_dequantize_put(node, run, err) < 0)
            return -1;
    }
    return 0;
}

int by_pairs_fold(struct baryon_model *model, struct baryon_error *err)
{
    size_t folded = 0;
    return by_pairs_fold_small(model, &folded, err) < 0 || keep_integers(model->graph, err) < 0
               ? -1
               : by_model_settle(model, err);
}

/* One product after another needs floats for a moment. Larger ones would take more memory in runs
 * beside each other than floats that all sessions share. */
#define MOMENTARY_MOST ((size_t)4 << 20)

int by_pairs_fold_largest(struct baryon_model *model, struct baryon_error *err)
{
    const struct baryon_graph *graph = model->graph;
    if (!by_dequantize_wanted(model))
        return 0;
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        const size_t run = by_dequantize_run(node);
        if (!run || by_pair_count_of(by_node_in(node, 0)) <= MOMENTARY_MOST)
            continue;
        const struct channels channels = {by_pair_count_of(by_node_in(node, 1)), run};
        if (fold(node, &channels, err) < 0)
            return -1;
    }
    return by_model_settle(model, err);
}
