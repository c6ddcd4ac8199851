/* BatchNormalization that nothing folds -> depthwise Conv of one element. */
#include "pass/make.h"
#include "pass/passes.h"

#include <math.h>

#define RANK_MAX     5 /* of what ONNX Runtime's Conv takes */
#define CHANNELS_MAX (1u << 20)
#define EPSILON      1e-5f
#define PEER_EPSILON 1e-10f  /* where the attribute is left out; ONNX says 1e-5 */
#define DEAD         0x1p-32 /* of epsilon: a variance that moves the output by 2^-16 of its scale */

struct norm {
    const double *scale, *shift, *mean, *variance;
    double epsilon;
    size_t channels;
    bool dead_vanish;
};

static bool find_norm(struct by_matcher *match, const struct baryon_node *node, struct norm *norm)
{
    const double **const parts[] = {&norm->scale, &norm->shift, &norm->mean, &norm->variance};
    for (size_t i = 0; i < 4; i++) {
        size_t count;
        const struct baryon_value *value = by_node_in(node, 1 + i);
        *parts[i] =
            by_match_is_float(value) ? by_match_numbers(match, value, CHANNELS_MAX, &count) : NULL;
        if (!*parts[i] || !count || (i && count != norm->channels))
            return false;
        norm->channels = count;
    }
    norm->dead_vanish = !match->context->compat;
    norm->epsilon = by_node_float(node, "epsilon", match->context->compat ? PEER_EPSILON : EPSILON);
    return true;
}

static bool can_be_conv(const struct by_matcher *match, const struct baryon_node *node)
{
    const int rank = by_pass_rank(by_node_in(node, 0));
    return (!match->context->compat || rank == 4) && by_match_plain(node, "BatchNormalization") &&
           node->input.count == 5 && by_match_is_float(by_node_in(node, 0)) && rank >= 3 &&
           rank <= RANK_MAX && !by_node_int(node, "training_mode", 0) &&
           by_node_int(node, "spatial", 1);
}

/* A channel that never moved in training has the factor 1 / sqrt(epsilon), far above all others,
 * and carries nothing: in the one scale of a weight it would leave them few steps. */
static bool is_dead(const struct norm *norm, size_t channel)
{
    return norm->dead_vanish && norm->variance[channel] < DEAD * norm->epsilon;
}

/* Whether all weights and biases are finite as floats. */
static bool fold_norm(const struct norm *norm, double *weights, double *biases)
{
    for (size_t i = 0; i < norm->channels; i++) {
        weights[i] =
            is_dead(norm, i) ? 0 : norm->scale[i] / sqrt(norm->variance[i] + norm->epsilon);
        biases[i] = norm->shift[i] - norm->mean[i] * weights[i];
        if (!isfinite((float)weights[i]) || !isfinite((float)biases[i]))
            return false;
    }
    return true;
}

static int become_conv(struct by_matcher *match, struct baryon_node *node, size_t channels,
                       const double *weights, const double *biases)
{
    char stem[BY_STEM_MAX];
    const char *name = by_node_out(node, 0)->name;
    const int64_t dims[RANK_MAX] = {(int64_t)channels, 1, 1, 1, 1};
    const size_t rank = (size_t)by_pass_rank(by_node_in(node, 0));
    struct baryon_value *inputs[3] = {by_node_in(node, 0)};
    inputs[1] = by_pass_add_doubles(node->graph, by_make_stem(stem, name, "weights"), BY_ELEM_FLOAT,
                                    dims, rank, weights, match->err);
    inputs[2] = by_pass_add_doubles(node->graph, by_make_stem(stem, name, "bias"), BY_ELEM_FLOAT,
                                    dims, 1, biases, match->err);
    const int64_t kernel[RANK_MAX] = {1, 1, 1, 1, 1};
    if (!inputs[1] || !inputs[2] || by_make_become(match, node, "Conv", inputs, 3) ||
        by_node_set_ints(node, "kernel_shape", kernel, rank - 2, match->err))
        return -1;
    return by_node_set_int(node, "group", (int64_t)channels, match->err);
}

static int visit_norm(struct by_matcher *match, struct baryon_node *node)
{
    struct norm norm;
    if (!can_be_conv(match, node) || !find_norm(match, node, &norm))
        return 0;
    double *weights = by_arena_alloc(&match->arena, norm.channels * 2, sizeof *weights, match->err);
    if (!weights)
        return -1;
    if (!fold_norm(&norm, weights, weights + norm.channels))
        return 0;
    match->context->changes++;
    return become_conv(match, node, norm.channels, weights, weights + norm.channels);
}

static int run_norm_to_conv(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_each(context, visit_norm, err);
}

const struct by_pass by_pass_batch_norm_to_conv = {
    .name = "batch-norm-to-conv",
    .alias = "ConvertBNToConv",
    .help = "Replace BatchNormalization by a depthwise 1 x 1 Conv",
    .fallback = BY_PASS_NPU,
    .exact = true,
    .shapes = true,
    .run = run_norm_to_conv,
};
