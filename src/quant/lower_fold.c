/* Removes activations such as Relu that the range of their output makes unnecessary. */
#include "quant/lower_internal.h"

/* What read the activation reads what it read, which takes its name. */
static int leave_out(struct by_lowering *lowering, struct baryon_node *node,
                     struct baryon_error *err)
{
    struct baryon_value *from = by_node_in(node, 0), *to = by_node_out(node, 0);
    const size_t row = by_quant_find(lowering->plan, to);
    const char *name = to->name;
    if (by_node_set_input(node, 0, NULL, err) || by_value_replace_uses(to, from, NULL, err) ||
        by_graph_remove_node(node, err))
        return -1;
    if (from->name != name && by_value_rename(from, name, err))
        return -1;
    if (row != BY_NO_ROW)
        lowering->plan->rows.at[row].value = from;
    return 0;
}

/* A tensor without a pair has no range that could do it. The peer does not look. */
static bool has_range(const struct by_quant_plan *plan, const struct baryon_node *node)
{
    const size_t row = by_quant_find(plan, by_node_out(node, 0));
    return plan->recipe->compat || row != BY_NO_ROW;
}

int by_lower_folded(struct by_lowering *lowering, struct baryon_error *err)
{
    for (size_t i = 0; i < lowering->plan->node_count; i++)
        if (lowering->plan->nodes[i].folded &&
            has_range(lowering->plan, lowering->plan->nodes[i].node) &&
            leave_out(lowering, lowering->plan->nodes[i].node, err))
            return -1;
    return 0;
}
