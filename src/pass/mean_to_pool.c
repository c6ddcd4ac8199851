/* ReduceMean over all places of a picture -> GlobalAveragePool. */
#include "pass/make.h"
#include "pass/passes.h"

/* What ONNX Runtime has average pooling for. */
#define SPATIAL_MAX 3

static bool is_over_places(struct by_matcher *match, const struct baryon_node *node)
{
    size_t count;
    const int rank = by_pass_rank(by_node_in(node, 0));
    if (rank < 3 || rank > 2 + SPATIAL_MAX || !by_node_int(node, "keepdims", 1) ||
        (match->context->compat && rank != 4))
        return false;
    const int64_t *axes = by_match_axes(match, node, &count);
    if (!axes || count != (size_t)rank - 2)
        return false;
    for (size_t i = 0; i < count; i++)
        if (axes[i] != (int64_t)i + 2)
            return false;
    return true;
}

static int visit_mean(struct by_matcher *match, struct baryon_node *node)
{
    struct baryon_value *input = by_node_in(node, 0);
    if (!by_match_plain(node, "ReduceMean") || !by_match_is_float(input) ||
        !is_over_places(match, node))
        return 0;
    match->context->changes++;
    return by_make_become(match, node, "GlobalAveragePool", &input, 1);
}

static int run_mean_to_pool(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_each(context, visit_mean, err);
}

const struct by_pass by_pass_mean_to_pool = {
    .name = "reduce-mean-to-global-average-pool",
    .alias = "ConvertReduceMeanToGlobalAvgPool",
    .help = "Replace ReduceMean over all spatial axes by GlobalAveragePool",
    .fallback = BY_PASS_NPU,
    .exact = true,
    .shapes = true,
    .run = run_mean_to_pool,
};
