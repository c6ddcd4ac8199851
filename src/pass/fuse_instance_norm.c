/* Normalization over the places of a picture, written out -> InstanceNormalization. */
#include "pass/make.h"
#include "pass/norm.h"
#include "pass/passes.h"

static bool is_over_places(const struct by_norm *norm)
{
    const int rank = by_pass_rank(norm->x);
    if (rank < 3 || norm->axis_count != (size_t)rank - 2)
        return false;
    for (size_t i = 0; i < norm->axis_count; i++)
        if (norm->axes[i] != (int64_t)i + 2)
            return false;
    return true;
}

/* Constants after it that are not one a channel belong to a layer normalization. */
static bool is_of_channels(const struct by_norm *norm)
{
    const struct baryon_node *next = by_match_reader(norm->end);
    if (norm->scale || norm->shift)
        return true;
    if (by_pass_rank(norm->x) < 4)
        return false;
    return !next || !(by_node_is(next, "Mul") || by_node_is(next, "Add")) ||
           !by_match_is_constant(by_match_other(next, by_node_out(norm->end, 0)));
}

static int fuse(struct by_matcher *match, const struct by_norm *norm)
{
    struct baryon_value *inputs[3] = {norm->x};
    inputs[1] = by_norm_constant(match, norm, norm->scale, 1, "_scale");
    inputs[2] = inputs[1] ? by_norm_constant(match, norm, norm->shift, 0, "_bias") : NULL;
    if (!inputs[2])
        return -1;
    match->context->changes++;
    if (by_make_become(match, norm->end, "InstanceNormalization", inputs, 3))
        return -1;
    return by_node_set_float(norm->end, "epsilon", (float)norm->epsilon, match->err);
}

static int visit_instance_norm(struct by_matcher *match, struct baryon_node *node)
{
    struct by_norm norm;
    if (!by_node_is(node, "Sqrt") || !by_norm_begin(match, node, &norm) || !is_over_places(&norm))
        return 0;
    norm.first = norm.last = 1;
    if (!by_norm_size(&norm) || !by_norm_finish(match, node, &norm) || !is_of_channels(&norm))
        return 0;
    return fuse(match, &norm);
}

static int run_fuse_instance_norm(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_each(context, visit_instance_norm, err);
}

const struct by_pass by_pass_fuse_instance_norm = {
    .name = "fuse-instance-norm",
    .alias = "FuseInstanceNorm",
    .help = "Fuse the nodes of an instance normalization to InstanceNormalization",
    .exact = true,
    .shapes = true,
    .run = run_fuse_instance_norm,
};
