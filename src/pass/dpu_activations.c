/* LeakyRelu, Sigmoid, HardSigmoid and Clip as DPUs have them. */
#include "pass/dpu.h"
#include "pass/make.h"
#include "pass/passes.h"

#include <math.h>

/* --- LeakyRelu: the slope in 256ths --- */

static int visit_leaky_relu(struct by_matcher *match, struct baryon_node *node)
{
    if (!by_node_is(node, "LeakyRelu"))
        return 0;
    const float slope = by_node_float(node, "alpha", 0.01f);
    const float rounded = (float)(nearbyint((double)slope * 256) / 256);
    if (rounded == slope)
        return 0;
    match->context->changes++;
    return by_node_set_float(node, "alpha", rounded, match->err);
}

static int run_leaky_relu(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_main(context, visit_leaky_relu, err);
}

const struct by_pass by_pass_leaky_relu_dpu = {
    .name = "leaky-relu-dpu",
    .alias = "ConvertLeakyReluToDPUVersion",
    .help = "Round the slope of LeakyRelu to a multiple of 1/256",
    .fallback = BY_PASS_DPU,
    .simulates = true,
    .run = run_leaky_relu,
};

/* --- Sigmoid: by HardSigmoid --- */

#define SLOPE (1.0f / 6)

static int visit_sigmoid(struct by_matcher *match, struct baryon_node *node)
{
    struct baryon_value *input = by_node_in(node, 0);
    if (!by_match_plain(node, "Sigmoid") || !by_match_is_float(input))
        return 0;
    match->context->changes++;
    if (by_make_become(match, node, "HardSigmoid", &input, 1))
        return -1;
    return by_node_set_float(node, "alpha", SLOPE, match->err);
}

static int run_sigmoid(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_main(context, visit_sigmoid, err);
}

const struct by_pass by_pass_sigmoid_to_hard_sigmoid = {
    .name = "sigmoid-to-hard-sigmoid",
    .alias = "ConvertSigmoidToHardSigmoid",
    .help = "Replace Sigmoid by HardSigmoid with slope 1/6",
    .fallback = BY_PASS_DPU,
    .simulates = true,
    .shapes = true,
    .run = run_sigmoid,
};

/* --- HardSigmoid: 2731 / 16384 is its 1/6 --- */

#define NEAR 1e-6

static int visit_hard_sigmoid(struct by_matcher *match, struct baryon_node *node)
{
    if (!by_match_plain(node, "HardSigmoid") ||
        fabs((double)by_node_float(node, "alpha", 0.2f) - 1.0 / 6) > NEAR ||
        fabs((double)by_node_float(node, "beta", 0.5f) - 0.5) > NEAR)
        return 0;
    return by_dpu_multiply(match, node, 2731.0 / 16384 * 6);
}

static int run_hard_sigmoid(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_main(context, visit_hard_sigmoid, err);
}

const struct by_pass by_pass_hard_sigmoid_dpu = {
    .name = "hard-sigmoid-dpu",
    .alias = "ConvertHardSigmoidToDPUVersion",
    .help = "Multiply HardSigmoid with slope 1/6 by 2731/16384 * 6",
    .fallback = BY_PASS_DPU,
    .simulates = true,
    .run = run_hard_sigmoid,
};

/* --- Clip: bounds are whole numbers of 8 bits --- */

#define LOWEST  (-128.0)
#define HIGHEST 127.0

static double whole(double bound)
{
    return fmin(fmax(nearbyint(bound), LOWEST), HIGHEST);
}

static bool find_bounds(struct by_matcher *match, const struct baryon_node *node, double *low,
                        double *high)
{
    const struct baryon_value *least = by_node_in(node, 1), *most = by_node_in(node, 2);
    *low = by_node_float(node, "min", (float)LOWEST);
    *high = by_node_float(node, "max", (float)HIGHEST);
    return (!least || by_match_scalar(match, least, low)) &&
           (!most || by_match_scalar(match, most, high)) && !isnan(*low) && !isnan(*high);
}

/* An input from opset 11 on, an attribute before. */
static int set_bound(struct by_matcher *match, struct baryon_node *node, size_t slot, double bound)
{
    char stem[BY_STEM_MAX];
    static const char *const names[] = {NULL, "min", "max"};
    if (by_model_opset(match->context->model, "") < 11)
        return by_node_set_float(node, names[slot], (float)bound, match->err);
    by_make_stem(stem, by_node_out(node, 0)->name, slot == 1 ? "_min" : "_max");
    struct baryon_value *old = by_node_in(node, slot);
    struct baryon_value *made =
        by_pass_add_doubles(node->graph, stem, BY_ELEM_FLOAT, NULL, 0, &bound, match->err);
    if (!made || by_node_set_input(node, slot, made, match->err))
        return -1;
    return old ? by_make_drop(match, old) : 0;
}

static bool has_bound(const struct baryon_node *node, size_t slot)
{
    return by_node_in(node, slot) || by_node_attr(node, slot == 1 ? "min" : "max");
}

static int visit_clip(struct by_matcher *match, struct baryon_node *node)
{
    double low, high;
    if (!by_match_plain(node, "Clip") || !by_match_is_float(by_node_in(node, 0)) ||
        !find_bounds(match, node, &low, &high))
        return 0;
    const bool sets_low = !has_bound(node, 1) || low != whole(low);
    const bool sets_high = !has_bound(node, 2) || high != whole(high);
    if ((sets_low && set_bound(match, node, 1, whole(low))) ||
        (sets_high && set_bound(match, node, 2, whole(high))))
        return -1;
    match->context->changes += sets_low || sets_high;
    return 0;
}

static int run_clip(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_main(context, visit_clip, err);
}

const struct by_pass by_pass_clip_dpu = {
    .name = "clip-dpu",
    .alias = "ConvertClipToDPUVersion",
    .help = "Round the bounds of Clip to integers from -128 to 127",
    .fallback = BY_PASS_OFF,
    .shapes = true,
    .run = run_clip,
};
