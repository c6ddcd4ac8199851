/*
 * Normalizations written out in single operators: what leads from a mean to a root is a small
 * difference of great numbers, or its inverse is great where it is small. Eight bits of that
 * leave nothing of the result, so it stays float.
 */
#include "ir/shape.h"
#include "quant/place_internal.h"

#include <string.h>

#define DEPTH 10 /* operators from the root back to the mean */

static bool is_one_of(const struct baryon_node *node, const char *const *names)
{
    if (*by_domain(node->domain))
        return false;
    for (; *names; names++)
        if (!strcmp(node->op_type, *names))
            return true;
    return false;
}

static bool is_mean(const struct baryon_node *node)
{
    static const char *const names[] = {"ReduceMean", "ReduceSum", "ReduceSumSquare",
                                        "GlobalAveragePool", NULL};
    return is_one_of(node, names);
}

static bool hands_on(const struct baryon_node *node)
{
    static const char *const names[] = {"Add",     "Sub",  "Mul",       "Div",      "Max",
                                        "Clip",    "Relu", "Reshape",   "Squeeze",  "Unsqueeze",
                                        "Flatten", "Abs",  "Transpose", "Identity", NULL};
    return is_one_of(node, names);
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

static void keep_float(struct by_placing *placing, const struct baryon_node *node)
{
    if (placing->stays[node->index])
        return;
    placing->stays[node->index] = "it is part of a variance: a small difference of great numbers";
    placing->kind[node->index] = BY_NODE_FLOAT;
}

/* Marks the nodes between `value` and a mean; true when there is one. */
static bool walk(struct by_placing *placing, const struct baryon_value *value,
                 const struct baryon_value *root, unsigned depth)
{
    const struct baryon_node *node = value ? value->producer : NULL;
    bool found = false;
    if (!node || node->graph != placing->graph || !depth || is_greater(value, root))
        return false;
    if (is_mean(node)) {
        const struct baryon_value *in = by_node_in(node, 0);
        if (in && in->producer && is_square(in->producer))
            keep_float(placing, in->producer);
        keep_float(placing, node);
        return true;
    }
    if (!hands_on(node) && !is_square(node))
        return false;
    for (size_t i = 0; i < node->input.count; i++)
        found |= walk(placing, by_node_in(node, i), root, depth - 1);
    if (found)
        keep_float(placing, node);
    return found;
}

void by_place_variances(struct by_placing *placing)
{
    if (placing->recipe->compat || placing->recipe->approach != BY_APPROACH_STATIC)
        return;
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        if (!node || !by_node_is(node, "Sqrt"))
            continue;
        const struct baryon_value *out = by_node_out(node, 0);
        if (!out || !walk(placing, by_node_in(node, 0), out, DEPTH))
            continue;
        keep_float(placing, node);
        for (size_t k = 0; k < out->use_count; k++)
            if (out->uses[k].node && by_node_is(out->uses[k].node, "Reciprocal"))
                keep_float(placing, out->uses[k].node);
    }
}
