/* BatchNormalization after a Concat of layers' channels becomes part of all of them. */
#include "pass/layer.h"
#include "pass/passes.h"

struct part {
    struct by_pass_layer layer;
    struct by_layer_change change;
};

static bool joins_channels(const struct baryon_node *concat)
{
    int rank = by_pass_rank(by_node_out(concat, 0));
    int64_t axis = by_node_int(concat, "axis", 0);
    return axis == 1 || (rank > 0 && axis < 0 && axis + rank == 1);
}

/* All of them, or *fits is false. */
static int prepare_concat_parts(const struct by_pass_context *context,
                                const struct baryon_node *concat, const double *scale,
                                const double *shift, size_t channels, struct by_arena *scratch,
                                struct part *parts, bool *fits, struct baryon_error *err)
{
    size_t at = 0;
    *fits = false;
    for (size_t i = 0; i < concat->input.count; i++) {
        struct baryon_node *producer = by_pass_only_producer(concat, i);
        struct by_pass_layer *layer = &parts[i].layer;
        bool good;
        if (!producer || !by_layer_of(context, producer, layer) || !layer->bias_node ||
            layer->last != layer->node || channels - at < layer->channels)
            return 0;
        if (by_layer_scale(layer, scale + at, shift + at, scratch, &parts[i].change, &good, err))
            return -1;
        if (!good)
            return 0;
        at += layer->channels;
    }
    *fits = at == channels;
    return 0;
}

static int fold_with(struct by_pass_context *context, struct baryon_node *node,
                     struct baryon_node *concat, struct by_arena *scratch, struct baryon_error *err)
{
    double *scale, *shift;
    size_t channels;
    bool is, fits = false;
    struct part *parts = by_arena_alloc(scratch, concat->input.count, sizeof *parts, err);
    if (!parts || by_batch_norm(node, BY_BN_EPSILON, scratch, &scale, &shift, &channels, &is, err))
        return -1;
    if (is &&
        prepare_concat_parts(context, concat, scale, shift, channels, scratch, parts, &fits, err))
        return -1;
    if (!fits)
        return 0;
    for (size_t i = 0; i < concat->input.count; i++)
        if (by_layer_apply(&parts[i].layer, &parts[i].change, err))
            return -1;
    context->changes++;
    return by_pass_take_over(concat, node, err);
}

static int fold_batch_norm_of_concat(struct by_pass_context *context, struct baryon_node *node,
                                     struct baryon_error *err)
{
    struct by_arena scratch;
    struct baryon_node *concat = by_pass_only_producer(node, 0);
    if (!concat || !by_pass_is(context, node, "BatchNormalization") ||
        !by_pass_is(context, concat, "Concat") || !joins_channels(concat) ||
        !by_pass_can_take_over(concat, node))
        return 0;
    by_arena_init(&scratch, 0);
    int failed = fold_with(context, node, concat, &scratch, err);
    by_arena_release(&scratch);
    return failed;
}

static int run_fold_batch_norm_concat(struct by_pass_context *context, struct baryon_error *err)
{
    return by_pass_each_node(context, fold_batch_norm_of_concat, err);
}

const struct by_pass by_pass_fold_batch_norm_concat = {
    .name = "fold-batch-norm-concat",
    .alias = "FoldBatchNormAfterConcat",
    .help = "Fold BatchNormalization after a Concat into the layers that the Concat joins",
    .exact = true,
    .again = true,
    .shapes = true,
    .run = run_fold_batch_norm_concat,
};
