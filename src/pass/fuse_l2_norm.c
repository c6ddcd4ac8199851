/*
 * x over its length -> LpNormalization:
 *
 *   Mul(x, Reciprocal(Sqrt(Max(ReduceSum(x * x), least))))      TensorFlow
 *   Div(x, Sqrt(...)), Div(x, Max or Clip(ReduceL2(x), least)), with an Expand      torch
 */
#include "pass/make.h"
#include "pass/passes.h"

#include <math.h>

/* Vectors shorter than this get length 1 by the operator, and are shorter without it. */
#define LEAST_MAX 1e-5

struct length {
    struct baryon_value *x;
    int64_t axis;
    double least; /* the length is at least this much */
    struct by_node_set set;
};

static struct baryon_node *giver(const struct baryon_value *value, const struct baryon_node *near)
{
    struct baryon_node *node = value && value->slot == 0 ? value->producer : NULL;
    return node && node->graph == near->graph ? node : NULL;
}

/* One axis, which stays. */
static bool is_over_one_axis(struct by_matcher *match, const struct baryon_node *node,
                             struct length *length)
{
    size_t count;
    if (!by_node_int(node, "keepdims", 1))
        return false;
    const int64_t *axes = by_match_axes(match, node, &count);
    if (!axes || count != 1)
        return false;
    length->axis = axes[0];
    return true;
}

/* Max(v, least) or Clip(v, least): v. Without one, v itself. */
static struct baryon_value *without_least(struct by_matcher *match, struct length *length,
                                          struct baryon_value *value,
                                          const struct baryon_node *near)
{
    size_t slot;
    struct baryon_node *node = giver(value, near);
    length->least = 0;
    if (node && by_node_is(node, "Clip") && node->input.count >= 2 && !by_node_in(node, 2) &&
        by_match_scalar(match, by_node_in(node, 1), &length->least)) {
        by_set_add(&length->set, node);
        return by_node_in(node, 0);
    }
    if (!node || !by_node_is(node, "Max") || !by_match_constant_slot(node, &slot) ||
        !by_match_scalar(match, by_node_in(node, slot), &length->least))
        return value;
    by_set_add(&length->set, node);
    return by_node_in(node, 1 - slot);
}

static bool is_sum_of_squares(struct by_matcher *match, struct length *length,
                              struct baryon_node *node)
{
    by_set_add(&length->set, node);
    if (!node || !is_over_one_axis(match, node, length))
        return false;
    if (by_node_is(node, "ReduceSumSquare")) {
        length->x = by_node_in(node, 0);
        return true;
    }
    struct baryon_node *square = giver(by_node_in(node, 0), node);
    if (!square || !by_node_is(node, "ReduceSum"))
        return false;
    by_set_add(&length->set, square);
    length->x = by_node_in(square, 0);
    return by_node_is(square, "Pow")
               ? by_match_number(match, by_node_in(square, 1), 2)
               : by_node_is(square, "Mul") && by_node_in(square, 1) == length->x;
}

/* The value is the length of x along one axis, at least so much. */
static bool is_length(struct by_matcher *match, struct length *length, struct baryon_value *value,
                      const struct baryon_node *near)
{
    struct baryon_value *bare = without_least(match, length, value, near);
    struct baryon_node *node = giver(bare, near);
    if (!node || length->least < 0)
        return false;
    by_set_add(&length->set, node);
    if (by_node_is(node, "ReduceL2")) {
        length->x = by_node_in(node, 0);
        return is_over_one_axis(match, node, length);
    }
    if (!by_node_is(node, "Sqrt") || length->least > 0)
        return false;
    bare = without_least(match, length, by_node_in(node, 0), near);
    if (length->least < 0)
        return false;
    length->least = sqrt(length->least);
    return is_sum_of_squares(match, length, giver(bare, near));
}

/* Expand to the shape of x says nothing that Div does not. */
static struct baryon_value *without_expand(struct length *length, struct baryon_value *value,
                                           const struct baryon_node *near)
{
    struct baryon_node *node = giver(value, near);
    if (!node || !by_node_is(node, "Expand"))
        return value;
    struct baryon_node *shape = giver(by_node_in(node, 1), near);
    if (!shape || !by_match_plain(shape, "Shape") || shape->attribute.count ||
        by_node_in(shape, 0) != by_node_in(near, 0))
        return value;
    by_set_add(&length->set, node);
    return by_node_in(node, 0);
}

static bool is_quotient(struct by_matcher *match, struct length *length, struct baryon_node *node)
{
    if (by_match_plain(node, "Div"))
        return is_length(match, length, without_expand(length, by_node_in(node, 1), node), node) &&
               by_node_in(node, 0) == length->x;
    if (!by_match_plain(node, "Mul"))
        return false;
    for (size_t i = 0; i < 2; i++) {
        struct baryon_node *inverse = by_match_producer(node, i, "Reciprocal");
        length->set.count = 1;
        by_set_add(&length->set, inverse);
        if (inverse && is_length(match, length, by_node_in(inverse, 0), node) &&
            by_node_in(node, 1 - i) == length->x)
            return true;
    }
    return false;
}

/* Without a least length the zero vector gives NaN before and 0 after; compat takes any. */
static bool is_near_enough(const struct by_matcher *match, const struct length *length)
{
    return match->context->compat || (length->least > 0 && length->least <= LEAST_MAX);
}

static int visit_l2_norm(struct by_matcher *match, struct baryon_node *node)
{
    struct length length = {0};
    by_set_add(&length.set, node);
    if (!is_quotient(match, &length, node) || !by_match_is_float(length.x) ||
        !is_near_enough(match, &length) || !by_set_is_closed(match, &length.set, node))
        return 0;
    match->context->changes++;
    if (by_make_become(match, node, "LpNormalization", &length.x, 1) ||
        by_node_set_int(node, "axis", length.axis, match->err))
        return -1;
    return by_node_set_int(node, "p", 2, match->err);
}

static int run_fuse_l2_norm(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_each(context, visit_l2_norm, err);
}

const struct by_pass by_pass_fuse_l2_norm = {
    .name = "fuse-l2-norm",
    .alias = "FuseL2Norm",
    .help = "Fuse the division of a vector by its length to LpNormalization; vectors shorter than "
            "the least divisor get length 1",
    .shapes = true,
    .run = run_fuse_l2_norm,
};
