/*
 * Normalizations written out in single operators: what leads from a mean to a root is a small
 * difference of great numbers, or its inverse is great where it is small. Eight bits of that
 * leave nothing of the result, so it stays float. So does what multiplies with the inverse, up to
 * the shift: one operator would compute all of it in floats as well.
 *
 * Floats of 16 bits lose as much where the difference is one of two means, mean(x^2) - mean(x)^2:
 * what cancels is most of their bits. Blocks lose the small roots beside great ones, and 0 is what
 * is divided by then.
 */
#include "ir/shape.h"
#include "quant/place_internal.h"

#define DEPTH 10 /* operators from the root back to the mean */

static bool is_mean(const struct baryon_node *node)
{
    static const char *const names[] = {"ReduceMean", "ReduceSum", "ReduceSumSquare",
                                        "GlobalAveragePool", NULL};
    return by_node_is_one_of(node, names);
}

static bool hands_on_variance(const struct baryon_node *node)
{
    static const char *const names[] = {"Add",     "Sub",  "Mul",       "Div",      "Max",
                                        "Clip",    "Relu", "Reshape",   "Squeeze",  "Unsqueeze",
                                        "Flatten", "Abs",  "Transpose", "Identity", NULL};
    return by_node_is_one_of(node, names);
}

static bool is_square(const struct baryon_node *node)
{
    return by_node_is(node, "Pow") ||
           (by_node_is(node, "Mul") && by_node_in(node, 0) == by_node_in(node, 1));
}

/* False where one of them is not known. */
static bool is_greater(const struct baryon_value *value, const struct baryon_value *than)
{
    int64_t count, other;
    return by_shape_count(value->shape, &count) && by_shape_count(than->shape, &other) &&
           count > other;
}

static const char in_variance[] = "it is part of a variance: a small difference of large numbers";
static const char in_norm[] = "it is part of a normalization of several nodes";

/* The way back to a mean. */
struct way {
    struct by_placing *placing;
    const struct baryon_value *root; /* nothing greater lies on the way; NULL: whatever does */
    bool marks;                      /* what lies on it */
};

static void mark(const struct way *way, const struct baryon_node *node)
{
    if (way->marks)
        by_place_keep(way->placing, node, in_variance);
}

static void mark_mean(const struct way *way, const struct baryon_node *mean)
{
    const struct baryon_value *in = by_node_in(mean, 0);
    if (in && in->producer && is_square(in->producer))
        mark(way, in->producer);
    mark(way, mean);
}

/* True when there is a mean so many operators before `value`. */
static bool walk_to_mean(const struct way *way, const struct baryon_value *value, unsigned depth)
{
    const struct baryon_node *node = value ? value->producer : NULL;
    bool found = false;
    if (!node || node->graph != way->placing->graph || !depth ||
        (way->root && is_greater(value, way->root)))
        return false;
    if (is_mean(node)) {
        mark_mean(way, node);
        return true;
    }
    for (size_t i = 0; (hands_on_variance(node) || is_square(node)) && i < node->input.count; i++)
        found |= walk_to_mean(way, by_node_in(node, i), depth - 1);
    if (found)
        mark(way, node);
    return found;
}

/* Whether a mean is taken from a mean on the way. */
static bool cancels(struct by_placing *placing, const struct baryon_value *value, unsigned depth)
{
    const struct way way = {.placing = placing};
    const struct baryon_node *node = value ? value->producer : NULL;
    if (!node || node->graph != placing->graph || !depth || is_mean(node) ||
        !hands_on_variance(node))
        return false;
    if (by_node_is(node, "Sub") && walk_to_mean(&way, by_node_in(node, 0), depth - 1) &&
        walk_to_mean(&way, by_node_in(node, 1), depth - 1))
        return true;
    for (size_t i = 0; i < node->input.count; i++)
        if (cancels(placing, by_node_in(node, i), depth - 1))
            return true;
    return false;
}

/* --- After the root --- */

static bool is_kept(const struct by_placing *placing, const struct baryon_value *value)
{
    const struct baryon_node *node = value ? value->producer : NULL;
    return node && node->graph == placing->graph &&
           (placing->stays[node->index] == in_norm || placing->stays[node->index] == in_variance);
}

/* Of a node with two inputs the one that is not the value. */
static const struct baryon_value *other(const struct baryon_node *node,
                                        const struct baryon_value *value)
{
    if (node->input.count != 2)
        return NULL;
    return by_node_in(node, by_node_in(node, 0) == value ? 1 : 0);
}

static bool computes(const struct baryon_node *node)
{
    static const char *const names[] = {"Add", "Sub", "Mul", "Div", NULL};
    return by_node_is_one_of(node, names);
}

static bool spreads(const struct baryon_node *node)
{
    static const char *const names[] = {"Reshape", "Expand", "Unsqueeze", "Squeeze", NULL};
    return by_node_is_one_of(node, names);
}

/* Scale and shift, and in the form of sums the two that are added. */
static void keep_end(struct by_placing *placing, const struct baryon_value *value)
{
    for (unsigned steps = 0; steps < 3 && value && value->use_count == 1; steps++) {
        const struct baryon_node *node = value->uses[0].node;
        if (!node || node->graph != placing->graph || !computes(node))
            return;
        const struct baryon_value *beside = other(node, value);
        if (!beside || !(by_place_is_constant(beside) || is_kept(placing, beside)))
            return;
        by_place_keep(placing, node, in_norm);
        value = by_node_out(node, 0);
    }
}

/* x - mean, and what spreads the mean. */
static void keep_centred(struct by_placing *placing, const struct baryon_node *sub)
{
    const struct baryon_node *node = sub;
    if (!node || node->graph != placing->graph || !by_node_is(node, "Sub"))
        return;
    for (const struct baryon_value *mean = by_node_in(sub, 1);; mean = by_node_in(node, 0)) {
        by_place_keep(placing, node, in_norm);
        node = mean ? mean->producer : NULL;
        if (!node || node->graph != placing->graph || !spreads(node))
            return;
    }
}

/* What multiplies with the inverse of the root, or is divided by the root. */
static void keep_products(struct by_placing *placing, const struct baryon_value *inverse,
                          unsigned depth)
{
    for (size_t k = 0; depth && k < inverse->use_count; k++) {
        const struct baryon_node *node = inverse->uses[k].node;
        if (!node || node->graph != placing->graph || !(computes(node) || spreads(node)))
            continue;
        const struct baryon_value *beside = computes(node) ? other(node, inverse) : NULL;
        by_place_keep(placing, node, in_norm);
        if (!beside || by_place_is_constant(beside)) {
            keep_products(placing, by_node_out(node, 0), depth - 1);
            continue;
        }
        keep_centred(placing, beside->producer);
        keep_end(placing, by_node_out(node, 0));
    }
}

static void keep_norm(struct by_placing *placing, const struct baryon_node *root)
{
    const struct baryon_value *out = by_node_out(root, 0);
    by_place_keep(placing, root, in_variance);
    keep_products(placing, out, DEPTH);
    for (size_t k = 0; k < out->use_count; k++) {
        const struct baryon_node *node = out->uses[k].node;
        if (!node || node->graph != placing->graph || !by_node_is(node, "Reciprocal"))
            continue;
        by_place_keep(placing, node, in_variance);
        keep_products(placing, by_node_out(node, 0), DEPTH);
    }
}

/* Floats without blocks hold the mean of what is squared after the mean was taken off. */
static bool holds(struct by_placing *placing, const struct baryon_node *root)
{
    const struct by_tensor_spec *spec = &placing->recipe->activation;
    return spec->format && !by_spec_is_block(spec) && !cancels(placing, by_node_in(root, 0), DEPTH);
}

void by_place_variances(struct by_placing *placing)
{
    if (placing->recipe->compat || placing->recipe->approach != BY_APPROACH_STATIC)
        return;
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        const struct baryon_value *out =
            node && by_node_is(node, "Sqrt") ? by_node_out(node, 0) : NULL;
        const struct way way = {placing, out, true};
        if (out && !holds(placing, node) && walk_to_mean(&way, by_node_in(node, 0), DEPTH))
            keep_norm(placing, node);
    }
}
