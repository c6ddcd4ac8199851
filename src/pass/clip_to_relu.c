/* Clip that cuts at 0 -> Relu: where nothing is cut above, and, not exactly, where there is. */
#include "pass/make.h"
#include "pass/passes.h"

#include <float.h>
#include <math.h>

/* False when a bound is not constant. Up to opset 10 they are attributes. */
static bool find_bounds(struct by_matcher *match, const struct baryon_node *node, double *low,
                        double *high)
{
    const struct baryon_value *least = by_node_in(node, 1), *most = by_node_in(node, 2);
    *low = by_node_float(node, "min", -INFINITY);
    *high = by_node_float(node, "max", INFINITY);
    return (!least || by_match_scalar(match, least, low)) &&
           (!most || by_match_scalar(match, most, high));
}

static int become_relu(struct by_matcher *match, struct baryon_node *node)
{
    struct baryon_value *input = by_node_in(node, 0);
    match->context->changes++;
    return by_make_become(match, node, "Relu", &input, 1);
}

static bool is_clip(const struct baryon_node *node)
{
    return by_match_plain(node, "Clip") && by_match_is_float(by_node_in(node, 0));
}

static int visit_open(struct by_matcher *match, struct baryon_node *node)
{
    double low, high;
    if (!is_clip(node) || !find_bounds(match, node, &low, &high) || low != 0 ||
        !(high >= (double)FLT_MAX))
        return 0;
    return become_relu(match, node);
}

static int run_open(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_each(context, visit_open, err);
}

const struct by_pass by_pass_open_clip_to_relu = {
    .name = "open-clip-to-relu",
    .help = "Replace Clip with minimum 0 and no maximum by Relu",
    .exact = true,
    .shapes = true,
    .run = run_open,
};

static int visit_clip(struct by_matcher *match, struct baryon_node *node)
{
    double low, high;
    if (!is_clip(node) || !find_bounds(match, node, &low, &high) ||
        !(match->context->compat ? low >= 0 : low == 0) || !(high > low))
        return 0;
    return become_relu(match, node);
}

static int run_clip_to_relu(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_main(context, visit_clip, err);
}

const struct by_pass by_pass_clip_to_relu = {
    .name = "clip-to-relu",
    .alias = "ConvertClipToRelu",
    .help = "Replace Clip with minimum 0 by Relu and drop its maximum",
    .fallback = BY_PASS_OFF,
    .simulates = true,
    .shapes = true,
    .run = run_clip_to_relu,
};
