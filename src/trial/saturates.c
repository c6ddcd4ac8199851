/* Finds what outputs that saturate are computed from. */
#include "trial/saturates.h"

#include "ir/graph.h"
#include "ir/softmax_parts.h"

#include <string.h>

#define DEPTH 32 /* operators from the output back */

/* QuantizeLinear and the like of whatever domain, too. */
static bool only_moves(const struct baryon_node *node)
{
    static const char *const names[] = {"Cast",  "Flatten", "Identity",  "Mul",       "Reshape",
                                        "Slice", "Squeeze", "Transpose", "Unsqueeze", NULL};
    return by_node_is_one_of(node, names) || strstr(node->op_type, "quantizeLinear") ||
           strstr(node->op_type, "Quantize");
}

static bool is_constant(const struct baryon_value *value)
{
    return !value || value->initializer ||
           (value->producer && by_node_is(value->producer, "Constant"));
}

/* The input that the values of the output come from; NULL where several make it. A factor of a
 * simulated HardSigmoid is constant. */
static const struct baryon_value *moved_from(const struct baryon_node *node)
{
    const struct baryon_value *data = by_node_in(node, 0);
    if (!by_node_is(node, "Mul"))
        return data;
    return is_constant(by_node_in(node, 1)) ? data : is_constant(data) ? by_node_in(node, 1) : NULL;
}

static bool saturates(const struct baryon_node *node, struct by_unsaturated *found)
{
    struct by_softmax_parts parts;
    if (by_softmax_parts(node, &parts)) {
        *found = (struct by_unsaturated){parts.logits, parts.over_last_axis};
        return true;
    }
    if (!by_node_is(node, "Sigmoid") && !by_node_is(node, "HardSigmoid"))
        return false;
    *found = (struct by_unsaturated){by_node_in(node, 0), false};
    return true;
}

bool by_unsaturated_find(const struct baryon_value *output, struct by_unsaturated *found)
{
    const struct baryon_value *value = output;
    for (unsigned depth = 0; value && value->producer && depth < DEPTH; depth++) {
        const struct baryon_node *node = value->producer;
        if (saturates(node, found))
            return found->value && found->value->graph == output->graph;
        value = only_moves(node) ? moved_from(node) : NULL;
    }
    return false;
}

static bool is_listed(const struct by_unsaturated *found, size_t count,
                      const struct baryon_value *value)
{
    for (size_t i = 0; i < count; i++)
        if (found[i].value == value)
            return true;
    return false;
}

size_t by_unsaturated_all(const struct baryon_graph *graph, const bool *left_out,
                          struct by_unsaturated *found, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->output.count && count < most; i++) {
        struct by_unsaturated one;
        const struct baryon_value *output = by_graph_out(graph, i);
        if (output && !(left_out && left_out[i]) && by_unsaturated_find(output, &one) &&
            !by_value_is_output(one.value) && !is_listed(found, count, one.value))
            found[count++] = one;
    }
    return count;
}
