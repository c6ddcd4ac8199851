/* Normalization over the last axes, written out -> LayerNormalization. */
#include "pass/make.h"
#include "pass/norm.h"
#include "pass/passes.h"

#define OPSET 17 /* that has the operator */

/* The mean is over all axes from one on. */
static bool is_over_last_axes(const struct by_norm *norm)
{
    const size_t rank = (size_t)by_pass_rank(norm->x);
    for (size_t i = 0; i < norm->axis_count; i++)
        if (norm->axes[i] != (int64_t)(rank - norm->axis_count + i))
            return false;
    return true;
}

static int fuse(struct by_matcher *match, const struct by_norm *norm)
{
    struct baryon_value *inputs[3] = {norm->x};
    inputs[1] = by_norm_constant(match, norm, norm->scale, 1, "_scale");
    if (!inputs[1])
        return -1;
    if (norm->shift && !(inputs[2] = by_norm_constant(match, norm, norm->shift, 0, "_bias")))
        return -1;
    match->context->changes++;
    if (by_make_become(match, norm->end, "LayerNormalization", inputs, norm->shift ? 3 : 2) ||
        by_node_set_int(norm->end, "axis", -(int64_t)norm->axis_count, match->err))
        return -1;
    return by_node_set_float(norm->end, "epsilon", (float)norm->epsilon, match->err);
}

static int visit_layer_norm(struct by_matcher *match, struct baryon_node *node)
{
    struct by_norm norm;
    if (!by_node_is(node, "Sqrt") || !by_norm_begin(match, node, &norm) ||
        !is_over_last_axes(&norm))
        return 0;
    norm.first = (size_t)norm.axes[0];
    norm.last = (size_t)by_pass_rank(norm.x) - 1;
    if (!by_norm_size(&norm) || !by_norm_finish(match, node, &norm))
        return 0;
    return fuse(match, &norm);
}

static int run_fuse_layer_norm(struct by_pass_context *context, struct baryon_error *err)
{
    if (by_model_opset(context->model, "") < OPSET)
        return 0;
    return by_match_each(context, visit_layer_norm, err);
}

const struct by_pass by_pass_fuse_layer_norm = {
    .name = "fuse-layer-norm",
    .alias = "FuseLayerNorm",
    .help = "Fuse the nodes of a layer normalization to LayerNormalization (opset 17 and later)",
    .exact = true,
    .shapes = true,
    .run = run_fuse_layer_norm,
};
