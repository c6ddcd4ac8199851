/*
 * Finds the nodes that compute with other values where decisions are made. Solved integers make up
 * for the errors of what their layer reads, so behind a change they make up for errors that are
 * gone.
 */
#include "search/decision_internal.h"

#include "ir/graph.h"

#include <string.h>

static void mark(const struct by_decisions *d, const struct baryon_node *node, bool *behind)
{
    const struct by_quant_node *at = node ? by_quant_node_of(d->q->plan, node) : NULL;
    if (at)
        behind[at - d->q->plan->nodes] = true;
}

static void mark_readers(const struct by_decisions *d, size_t source, bool *behind)
{
    const struct by_quant_plan *plan = d->q->plan;
    for (size_t i = 0; i < plan->rows.count; i++)
        for (size_t k = 0; d->work->source_of[i] == source && k < plan->rows.at[i].readers.count;
             k++)
            mark(d, plan->rows.at[i].readers.at[k].node, behind);
}

static void mark_decision(const struct by_decisions *d, size_t decision, bool *behind)
{
    const struct by_decide_work *work = d->work;
    const struct by_decide_region *region = &work->regions[decision];
    for (size_t i = 0; i < region->count; i++)
        mark(d, work->region_nodes.at[region->first + i], behind);
    for (size_t i = 0; i < d->decisions[decision].count; i++)
        mark_readers(d, d->touches[d->decisions[decision].first + i].source, behind);
    if (work->layer_of[decision] != BY_NONE)
        mark(d, work->layers[work->layer_of[decision]].node, behind);
}

/* Nodes are in order, so that those before one are known. */
static bool reads_behind(const struct by_quant_plan *plan, const struct baryon_node *node,
                         const bool *behind)
{
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *value = by_node_in(node, i);
        const struct by_quant_node *from =
            value && value->producer ? by_quant_node_of(plan, value->producer) : NULL;
        if (from && behind[from - plan->nodes])
            return true;
    }
    return false;
}

void by_decide_behind(const struct by_decisions *d, const bool *on, bool *behind)
{
    const struct by_quant_plan *plan = d->q->plan;
    memset(behind, 0, plan->node_count * sizeof *behind);
    for (size_t i = 0; i < d->decision_count; i++)
        if (on[i])
            mark_decision(d, i, behind);
    for (size_t i = 0; i < plan->node_count; i++)
        behind[i] = behind[i] || reads_behind(plan, plan->nodes[i].node, behind);
}
