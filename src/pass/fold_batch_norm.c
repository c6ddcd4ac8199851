/*
 * BatchNormalization becomes part of the layer before it, or of the one after it where no
 * padding comes between.
 */
#include "pass/layer.h"
#include "pass/passes.h"

#include <string.h>

/* The peer takes a missing epsilon for 1e-10 where its own code folds. */
#define PEER_EPSILON 1e-10

struct norm {
    struct baryon_node *node;
    double *scale, *shift;
    size_t channels;
};

/* Only these are folded by the peer's own code, the others by tools that it calls. */
static bool is_peers_own(const struct baryon_node *node)
{
    return by_node_is(node, "ConvTranspose") || by_node_is(node, "Gemm");
}

static int read_norm(const struct by_pass_context *context, struct baryon_node *node,
                     const struct baryon_node *layer, struct by_arena *scratch, struct norm *norm,
                     bool *is, struct baryon_error *err)
{
    norm->node = node;
    return by_batch_norm(node,
                         context->compat && is_peers_own(layer) ? PEER_EPSILON : BY_BN_EPSILON,
                         scratch, &norm->scale, &norm->shift, &norm->channels, is, err);
}

/* --- into the layer before --- */

/* MatMul has no bias: the shift stays, as an Add. */
static int fold_into_matmul(struct by_pass_layer *layer, struct norm *norm,
                            struct by_arena *scratch, bool *done, struct baryon_error *err)
{
    struct by_layer_change change;
    const int64_t dims = (int64_t)norm->channels;
    struct baryon_graph *graph = layer->node->graph;
    double *zero = by_arena_alloc(scratch, norm->channels, sizeof *zero, err);
    if (!zero || by_layer_scale(layer, norm->scale, zero, scratch, &change, done, err))
        return -1;
    if (!*done)
        return 0;
    if (by_layer_apply(layer, &change, err))
        return -1;
    struct baryon_value *out = layer->node->outs[0];
    struct baryon_value *shift = by_pass_add_doubles(
        graph, norm->node->outs[0]->name, layer->weight->data_type, &dims, 1, norm->shift, err);
    struct baryon_node *add = shift
                                  ? by_pass_add_node(graph, "Add", norm->node->outs[0]->name,
                                                     (struct baryon_value *[]){out, shift}, 2, err)
                                  : NULL;
    return add ? by_pass_replace(norm->node, add, err) : -1;
}

static int fold_into_layer(struct by_pass_layer *layer, struct norm *norm, struct by_arena *scratch,
                           bool *done, struct baryon_error *err)
{
    struct by_layer_change change;
    if (!layer->bias_node)
        return fold_into_matmul(layer, norm, scratch, done, err);
    if (by_layer_scale(layer, norm->scale, norm->shift, scratch, &change, done, err))
        return -1;
    if (!*done)
        return 0;
    return by_layer_apply(layer, &change, err) || by_pass_take_over(layer->last, norm->node, err)
               ? -1
               : 0;
}

/* Channels of a normalization stand along axis 1, those of a MatMul along the last one. */
static bool fits_before(const struct by_pass_context *context, const struct by_pass_layer *layer,
                        const struct baryon_node *node)
{
    if (context->compat && by_node_is(layer->node, "ConvTranspose") && layer->groups > 1)
        return false;
    return by_pass_can_take_over(layer->last, node) &&
           (!by_node_is(layer->node, "MatMul") || layer->rank == 2);
}

static int fold_back(struct by_pass_context *context, struct baryon_node *node,
                     struct by_arena *scratch, bool *done, struct baryon_error *err)
{
    struct baryon_node *producer = by_pass_only_producer(node, 0);
    struct by_pass_layer layer;
    struct norm norm;
    bool is;
    if (!producer || !by_layer_of(context, producer, &layer) || !fits_before(context, &layer, node))
        return 0;
    if (read_norm(context, node, layer.node, scratch, &norm, &is, err))
        return -1;
    if (!is || norm.channels != layer.channels)
        return 0;
    return fold_into_layer(&layer, &norm, scratch, done, err);
}

/* --- into the layer after --- */

static bool has_padding(const struct baryon_node *node)
{
    const struct baryon_attribute *auto_pad = by_node_attr(node, "auto_pad");
    const struct baryon_attribute *pads = by_node_attr(node, "pads");
    const char *const plain[] = {"NOTSET", "VALID"};
    bool known = !auto_pad;
    for (size_t i = 0; auto_pad && i < 2; i++)
        known = known || (auto_pad->s.size == strlen(plain[i]) &&
                          memcmp(auto_pad->s.data, plain[i], auto_pad->s.size) == 0);
    for (size_t i = 0; pads && i < pads->ints.count; i++)
        known = known && pads->ints.at[i] == 0;
    return !known;
}

/* With padding around it, a shift of what is inside is not the same as one after. */
static bool fits_behind(const struct by_pass_layer *layer, const struct norm *norm)
{
    bool shifts = false;
    for (size_t i = 0; i < norm->channels; i++)
        shifts = shifts || norm->shift[i] != 0;
    if (by_node_is(layer->node, "Conv"))
        return !shifts || !has_padding(layer->node);
    if (by_node_is(layer->node, "ConvTranspose"))
        return !shifts;
    return by_node_is(layer->node, "Gemm") && !by_node_int(layer->node, "transA", 0);
}

static int fold_forth(struct by_pass_context *context, struct baryon_node *node,
                      struct by_arena *scratch, bool *done, struct baryon_error *err)
{
    struct baryon_value *out = by_pass_sole_output(node), *in = by_node_in(node, 0);
    struct baryon_node *reader = out ? by_pass_only_reader(out) : NULL;
    struct by_pass_layer layer;
    struct by_layer_change change;
    struct norm norm;
    bool is, fits;
    if (context->compat || !reader || by_node_in(reader, 0) != out ||
        !by_layer_of(context, reader, &layer) || layer.node != reader)
        return 0;
    if (read_norm(context, node, reader, scratch, &norm, &is, err))
        return -1;
    if (!is || !fits_behind(&layer, &norm))
        return 0;
    if (by_layer_scale_input(&layer, norm.scale, norm.shift, norm.channels, scratch, &change, &fits,
                             err))
        return -1;
    if (!fits)
        return 0;
    *done = true;
    if (by_layer_apply(&layer, &change, err) || by_node_set_input(reader, 0, in, err))
        return -1;
    return by_graph_remove_node(node, err);
}

static int fold_batch_norm(struct by_pass_context *context, struct baryon_node *node,
                           struct baryon_error *err)
{
    struct by_arena scratch;
    bool done = false;
    if (!by_pass_is(context, node, "BatchNormalization"))
        return 0;
    by_arena_init(&scratch, 0);
    int failed = fold_back(context, node, &scratch, &done, err);
    if (!failed && !done)
        failed = fold_forth(context, node, &scratch, &done, err);
    by_arena_release(&scratch);
    context->changes += done;
    return failed;
}

static int run_fold_batch_norm(struct by_pass_context *context, struct baryon_error *err)
{
    return by_pass_each_node(context, fold_batch_norm, err);
}

const struct by_pass by_pass_fold_batch_norm = {
    .name = "fold-batch-norm",
    .alias = "FoldBatchNorm",
    .help =
        "Fold BatchNormalization into the Conv, ConvTranspose, Gemm or MatMul before or after it",
    .exact = true,
    .again = true,
    .shapes = true,
    .run = run_fold_batch_norm,
};
