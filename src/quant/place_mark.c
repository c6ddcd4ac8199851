/*
 * Which nodes are quantized and which values with them. Some are only where what they read is
 * quantized by others, so they come second; the peer asks in the order of nodes, and so does the
 * way that compares with it.
 */
#include "quant/place_internal.h"

static bool is_conditional(const struct by_placing *placing, const struct baryon_node *node)
{
    const struct by_place_op *op = placing->ops[node->index];
    if (placing->recipe->approach != BY_APPROACH_STATIC)
        return false;
    if (op->rule == BY_PLACE_ACTIVATION || (op->flags & BY_PLACE_ONLY_BEHIND))
        return true;
    return by_place_waits(placing, node);
}

static bool is_met(const struct by_placing *placing, const struct baryon_node *node)
{
    const bool all = placing->ops[node->index]->flags & BY_PLACE_JOINS;
    for (size_t i = 0; i < node->input.count; i++) {
        const enum by_slot_role role = by_place_slot(placing, node, i);
        if (role == BY_SLOT_TABLE)
            return true;
        if (role == BY_SLOT_FLOAT || (role != BY_SLOT_DATA && !placing->recipe->compat))
            continue;
        if (by_place_marked(placing, by_node_in(node, i)) != all)
            return !all;
    }
    return all;
}

static void mark(struct by_placing *placing, const struct baryon_node *node)
{
    placing->quantized[node->index] = true;
    for (size_t i = 0; i < node->input.count; i++)
        if (by_place_slot(placing, node, i) != BY_SLOT_FLOAT &&
            by_place_in(placing, by_node_in(node, i)))
            placing->marked[by_node_in(node, i)->index] = true;
    for (size_t i = 0; i < node->output.count; i++)
        if (by_place_gives(placing, node, i))
            placing->marked[by_node_out(node, i)->index] = true;
}

static int pass_by(struct by_placing *placing, const struct baryon_node *node,
                   struct baryon_error *err)
{
    placing->kind[node->index] = BY_NODE_FLOAT;
    placing->stays[node->index] = by_place_text(
        placing, err, "%s is quantized only where another node quantizes its input", node->op_type);
    return placing->stays[node->index] ? 0 : -1;
}

enum round { UNCONDITIONAL, CONDITIONAL, BOTH };

static int mark_round(struct by_placing *placing, enum round round, struct baryon_error *err)
{
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        const bool conditional = is_conditional(placing, node);
        if (placing->stays[i] || (round != BOTH && conditional != (round == CONDITIONAL)))
            continue;
        if (!conditional || is_met(placing, node))
            mark(placing, node);
        else if (pass_by(placing, node, err))
            return -1;
    }
    return 0;
}

int by_place_mark(struct by_placing *placing, struct baryon_error *err)
{
    if (placing->recipe->compat)
        return mark_round(placing, BOTH, err);
    return mark_round(placing, UNCONDITIONAL, err) ? -1 : mark_round(placing, CONDITIONAL, err);
}
