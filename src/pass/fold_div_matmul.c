/*
 * Division of a product by a number, as attention does, becomes part of weights: of the
 * layer that gives it, or of one that gives a factor of it.
 */
#include "pass/layer.h"
#include "pass/passes.h"

#include <math.h>

#define STEPS_MAX 16

static bool hands_on_factor(const struct by_pass_context *context, const struct baryon_node *node)
{
    return by_pass_is(context, node, "Reshape") || by_pass_is(context, node, "Transpose") ||
           by_pass_is(context, node, "Squeeze") || by_pass_is(context, node, "Unsqueeze");
}

/* The layer whose output, through nodes that only move it and at most one product, is a factor of
 * input `slot`. */
static bool find_layer(const struct by_pass_context *context, const struct baryon_node *reader,
                       size_t slot, bool product, struct by_pass_layer *layer)
{
    for (int step = 0; step < STEPS_MAX; step++) {
        struct baryon_node *node = by_pass_only_producer(reader, slot);
        if (!node)
            return false;
        if (by_layer_of(context, node, layer))
            return true;
        if (by_pass_is(context, node, "MatMul") && product)
            return find_layer(context, node, 0, false, layer) ||
                   find_layer(context, node, 1, false, layer);
        if (!hands_on_factor(context, node))
            return false;
        reader = node;
        slot = 0;
    }
    return false;
}

/* The number that node multiplies input 0 with; *is false when it is another operation, or
 * makes the output larger. */
static int read_factor(const struct baryon_node *node, double *factor, bool *is,
                       struct baryon_error *err)
{
    const struct baryon_tensor *tensor = by_pass_tensor(by_node_in(node, 1));
    int rank = by_pass_rank(by_node_in(node, 0));
    size_t count;
    *is = false;
    if (!tensor || rank < 0 || tensor->dims.count > (size_t)rank ||
        by_tensor_count(tensor, &count, NULL) || count != 1)
        return 0;
    if (by_pass_uniform(by_node_in(node, 1), is, factor, err))
        return -1;
    if (by_node_is(node, "Div"))
        *factor = 1 / *factor;
    *is = *is && isfinite(*factor);
    return 0;
}

static int scale_layer(struct by_pass_layer *layer, double factor, bool *fits,
                       struct baryon_error *err)
{
    struct by_arena scratch;
    struct by_layer_change change;
    by_arena_init(&scratch, 0);
    double *scale = by_arena_alloc(&scratch, layer->channels, sizeof *scale, err);
    double *zero = by_arena_alloc(&scratch, layer->channels, sizeof *zero, err);
    for (size_t i = 0; scale && i < layer->channels; i++)
        scale[i] = factor;
    int failed =
        !scale || !zero || by_layer_scale(layer, scale, zero, &scratch, &change, fits, err);
    if (!failed && *fits)
        failed = by_layer_apply(layer, &change, err);
    by_arena_release(&scratch);
    return failed ? -1 : 0;
}

static int fold_div_matmul(struct by_pass_context *context, struct baryon_node *node,
                           struct baryon_error *err)
{
    struct baryon_node *product;
    struct by_pass_layer layer;
    double factor;
    bool is, fits;
    if (!by_pass_is(context, node, "Div") && !by_pass_is(context, node, "Mul"))
        return 0;
    product = by_pass_only_producer(node, 0);
    if (!product || !by_pass_can_take_over(product, node) ||
        !find_layer(context, node, 0, true, &layer))
        return 0;
    if (read_factor(node, &factor, &is, err))
        return -1;
    if (!is)
        return 0;
    if (scale_layer(&layer, factor, &fits, err))
        return -1;
    if (!fits)
        return 0;
    context->changes++;
    return by_pass_take_over(product, node, err);
}

static int run_fold_div_matmul(struct by_pass_context *context, struct baryon_error *err)
{
    return by_pass_each_node(context, fold_div_matmul, err);
}

const struct by_pass by_pass_fold_div_matmul = {
    .name = "fold-div-matmul",
    .alias = "FoldDivIntoMatMul",
    .help = "Fold the division of a product by a constant into the weights of one of its factors",
    .fallback = BY_PASS_OFF,
    .exact = true,
    .shapes = true,
    .run = run_fold_div_matmul,
};
