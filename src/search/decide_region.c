/*
 * Lists the nodes that have to stay float for a tensor to lose its pair: those that give it and
 * those that read it, with what is fused to them. Two such tensors beside each other make a region
 * of float nodes with no pair inside.
 */
#include "search/decision_internal.h"

#include "ir/graph.h"

static bool is_taken(const struct by_decide_work *work, const struct by_decide_region *region,
                     const struct baryon_node *node)
{
    for (size_t i = 0; i < region->count; i++)
        if (work->region_nodes.at[region->first + i] == node)
            return true;
    return false;
}

static int take(struct by_decisions *d, struct by_decide_region *region,
                const struct baryon_node *node, struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    const struct by_quant_node *at = node ? by_quant_node_of(d->q->plan, node) : NULL;
    if (!at || at->state != BY_NODE_QUANTIZED || node->graph != d->q->plan->model->graph ||
        is_taken(work, region, node))
        return 0;
    if (by_list_reserve(&d->arena, &work->region_nodes, 1, sizeof *work->region_nodes.at, err) < 0)
        return -1;
    work->region_nodes.at[work->region_nodes.count++] = node;
    region->count++;
    return 0;
}

static int take_readers(struct by_decisions *d, struct by_decide_region *region,
                        const struct baryon_value *value, struct baryon_error *err)
{
    for (size_t i = 0; i < value->use_count; i++)
        if (take(d, region, value->uses[i].node, err) < 0)
            return -1;
    return 0;
}

/* Between a layer and the activation that is fused to it stands no pair: both stay float, as one
 * alone would get a pair there. */
static int take_fused(struct by_decisions *d, struct by_decide_region *region,
                      const struct baryon_node *node, struct baryon_error *err)
{
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *value = by_node_in(node, i);
        if (value && !value->initializer && by_quant_find(d->q->plan, value) == BY_NO_ROW &&
            take(d, region, value->producer, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < node->output.count; i++) {
        const struct baryon_value *value = by_node_out(node, i);
        if (value && by_quant_find(d->q->plan, value) == BY_NO_ROW &&
            take_readers(d, region, value, err) < 0)
            return -1;
    }
    return 0;
}

int by_decide_region_find(struct by_decisions *d, size_t source, struct by_decide_region *region,
                          struct baryon_error *err)
{
    const struct by_quant_plan *plan = d->q->plan;
    struct by_decide_work *work = d->work;
    *region = (struct by_decide_region){work->region_nodes.count, 0};
    for (size_t i = 0; i < plan->rows.count; i++)
        if (work->source_of[i] == source &&
            (take(d, region, plan->rows.at[i].value->producer, err) < 0 ||
             take_readers(d, region, plan->rows.at[i].value, err) < 0))
            return -1;
    for (size_t i = 0; i < region->count; i++)
        if (take_fused(d, region, work->region_nodes.at[region->first + i], err) < 0)
            return -1;
    return 0;
}

bool by_decide_region_has(const struct by_decisions *d, size_t decision,
                          const struct baryon_node *node)
{
    return is_taken(d->work, &d->work->regions[decision], node);
}

bool by_decide_changes_layer(const struct by_decisions *d, const bool *on, size_t layer)
{
    const struct by_decide_index *covering = &d->work->covering;
    for (size_t i = covering->start[layer]; i < covering->start[layer + 1]; i++)
        if (on[covering->at[i]])
            return true;
    for (size_t i = 0; i < d->decision_count; i++)
        if (on[i] && d->work->layer_of[i] == layer)
            return true;
    return false;
}

/* Layers in the order of the list, of each the decisions that keep it float. */
int by_decide_region_index(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    struct by_decide_index *index = &work->covering;
    index->start = by_arena_alloc(&d->arena, work->layer_count + 2, sizeof *index->start, err);
    index->at = by_arena_alloc(&d->arena, work->region_nodes.count + 1, sizeof *index->at, err);
    if (!index->start || !index->at)
        return -1;
    size_t count = 0;
    for (size_t i = 0; i < work->layer_count; i++) {
        index->start[i] = count;
        for (size_t k = 0; k < d->decision_count && work->region_nodes.count; k++)
            if (by_decide_region_has(d, k, work->layers[i].node))
                index->at[count++] = k;
    }
    index->start[work->layer_count] = count;
    return 0;
}
