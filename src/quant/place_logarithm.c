/*
 * Logarithms: what rounds to zero before one becomes infinity, and small values count as much as
 * great ones, which steps of one size and blocks with one exponent do not have. So what computes
 * its input stays float, back to the layers. With few bits that passes on noise of the layers that
 * rounding to zero removes: there samples decide (trial/choices.c).
 */
#include "quant/place_internal.h"

#define DEPTH 16 /* operators from the logarithm back */

static const char in_logarithm[] = "a logarithm follows: small values matter there";

static bool hands_on_logarithm(const struct baryon_node *node)
{
    static const char *const names[] = {
        "Abs",        "Add",       "Clip",      "Concat",   "Div",
        "Exp",        "Expand",    "Flatten",   "Gather",   "HardSigmoid",
        "Identity",   "Max",       "Mean",      "Min",      "Mul",
        "Pad",        "Pow",       "ReduceL1",  "ReduceL2", "ReduceMax",
        "ReduceMean", "ReduceMin", "ReduceSum", "Relu",     "ReduceSumSquare",
        "Reshape",    "Sigmoid",   "Slice",     "Softmax",  "Softplus",
        "Split",      "Sqrt",      "Squeeze",   "Sub",      "Sum",
        "Tile",       "Transpose", "Unsqueeze", NULL};
    return by_node_is_one_of(node, names);
}

static void keep_logarithm_float(struct by_placing *placing, const struct baryon_value *value,
                                 unsigned depth)
{
    const struct baryon_node *node = value ? value->producer : NULL;
    if (!node || node->graph != placing->graph || !depth || !hands_on_logarithm(node) ||
        placing->stays[node->index] == in_logarithm)
        return;
    by_place_keep(placing, node, in_logarithm);
    for (size_t i = 0; i < node->input.count; i++)
        keep_logarithm_float(placing, by_node_in(node, i), depth - 1);
}

void by_place_logarithms(struct by_placing *placing)
{
    const struct by_recipe *recipe = placing->recipe;
    if (recipe->compat || recipe->logarithms == BY_LOGARITHMS_QUANTIZED ||
        recipe->approach != BY_APPROACH_STATIC || recipe->activation.elem == BY_ELEM_BFLOAT16)
        return;
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        if (node && by_node_is(node, "Log"))
            keep_logarithm_float(placing, by_node_in(node, 0), DEPTH);
    }
}

bool by_place_kept_logarithms(const struct by_quant_plan *plan)
{
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i].why == in_logarithm)
            return true;
    return false;
}
