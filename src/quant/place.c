/* Decides which tensors of a model are quantized and lists its nodes with reasons. */
#include "quant/place_internal.h"

#include "quant/half.h"
#include "quant/lower.h"

/* --- Working memory: with the plan but for what is big --- */

static int open_placing(struct by_placing *placing, struct by_quant_plan *plan,
                        const struct by_origins *origins, struct baryon_error *err)
{
    struct baryon_graph *graph = plan->model->graph;
    struct by_arena *arena = &plan->arena;
    const size_t nodes = graph->node.count, values = graph->all_values.count;
    *placing = (struct by_placing){.plan = plan,
                                   .recipe = plan->recipe,
                                   .origins = origins,
                                   .graph = graph,
                                   .node_count = nodes,
                                   .value_count = values};
    if (!(placing->ops = by_arena_alloc(arena, nodes, sizeof *placing->ops, err)) ||
        !(placing->stays = by_arena_alloc(arena, nodes, sizeof *placing->stays, err)) ||
        !(placing->kind = by_arena_alloc(arena, nodes, sizeof *placing->kind, err)) ||
        !(placing->quantized = by_arena_alloc(arena, nodes, sizeof(bool), err)) ||
        !(placing->folded = by_arena_alloc(arena, nodes, sizeof(bool), err)) ||
        !(placing->mute = by_arena_alloc(arena, nodes, sizeof(bool), err)) ||
        !(placing->marked = by_arena_alloc(arena, values, sizeof(bool), err)) ||
        !(placing->computed = by_arena_alloc(arena, values, sizeof(bool), err)))
        return -1;
    for (size_t i = 0; i < nodes; i++)
        placing->ops[i] = by_place_op(graph->node.at[i]);
    by_place_find_computed(placing);
    return by_place_open_rules(placing, err);
}

/* --- The plan's list of nodes --- */

struct listing {
    struct by_placing *placing;
    struct by_quant_node *nodes;
    size_t count;
};

static int count_nodes(void *context, struct baryon_graph *graph, unsigned depth,
                       struct baryon_error *err)
{
    (void)depth, (void)err;
    struct listing *listing = context;
    listing->count += graph->node.count;
    return 0;
}

static const char *quantized_reason(const struct by_placing *placing, size_t index)
{
    if (placing->folded[index])
        return "the range of its output replaces it";
    return placing->recipe->approach == BY_APPROACH_STATIC ? "quantized"
                                                           : "its weights are quantized";
}

static void list_outer(struct listing *listing, const struct baryon_node *node)
{
    const struct by_placing *placing = listing->placing;
    struct by_quant_node *at = &listing->nodes[listing->count++];
    const size_t i = node->index;
    at->node = (struct baryon_node *)node;
    at->macs = by_place_macs(node, &at->open);
    at->folded = placing->folded[i];
    at->state = placing->quantized[i] ? BY_NODE_QUANTIZED : placing->kind[i];
    at->why = placing->quantized[i] ? quantized_reason(placing, i) : placing->stays[i];
}

static void list_inner(struct listing *listing, const struct baryon_node *node)
{
    struct by_quant_node *at = &listing->nodes[listing->count++];
    const struct by_opinfo *info = by_node_opinfo(node);
    at->node = (struct baryon_node *)node;
    at->macs = by_place_macs(node, &at->open);
    at->state = info && info->data_inputs ? BY_NODE_FLOAT : BY_NODE_OTHER;
    at->why = "it is in a nested graph; nested graphs stay float";
}

static int list_graph(void *context, struct baryon_graph *graph, unsigned depth,
                      struct baryon_error *err)
{
    (void)depth, (void)err;
    struct listing *listing = context;
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        if (node && graph == listing->placing->graph)
            list_outer(listing, node);
        else if (node)
            list_inner(listing, node);
    }
    return 0;
}

static int list_nodes(struct by_placing *placing, struct baryon_error *err)
{
    struct by_quant_plan *plan = placing->plan;
    struct listing listing = {placing, NULL, 0};
    if (by_model_each_graph(plan->model, count_nodes, &listing, err))
        return -1;
    listing.nodes = by_arena_alloc(&plan->arena, listing.count, sizeof *listing.nodes, err);
    listing.count = 0;
    if (!listing.nodes || by_model_each_graph(plan->model, list_graph, &listing, err))
        return -1;
    return by_quant_set_nodes(plan, listing.nodes, listing.count, err);
}

/* --- All of it --- */

/* Of the nodes that could be quantized the one that costs most. */
static const struct by_quant_node *explained(const struct by_quant_plan *plan)
{
    const struct by_quant_node *best = NULL;
    for (size_t i = 0; i < plan->node_count; i++) {
        const struct by_quant_node *node = &plan->nodes[i];
        if (node->state == BY_NODE_FLOAT && (!best || node->macs > best->macs))
            best = node;
    }
    return best;
}

static int nothing_to_quantize(const struct by_quant_plan *plan, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 80];
    const struct by_quant_node *node = explained(plan);
    by_fail(err, BARYON_ERR_USAGE, "no node of the model can be quantized with this config");
    if (!node)
        return by_err_hint(err, "it has no float tensors that an operator accepts as integers");
    return by_err_hint(err, "%s stays float: %s", by_node_label(node->node, label, sizeof label),
                       node->why);
}

static int place_all(struct by_placing *placing, struct baryon_error *err)
{
    return by_place_select(placing, err) || by_place_mark(placing, err) ||
                   by_place_fold(placing, err) || by_place_rows(placing, err) ||
                   by_place_nested(placing, err) || by_place_blocks(placing, err) ||
                   by_place_share(placing, err) || list_nodes(placing, err)
               ? -1
               : 0;
}

int by_place(struct by_quant_plan *plan, const struct by_origins *origins, const struct by_log *log,
             struct baryon_error *err)
{
    struct by_placing placing = {0};
    const char *domain;
    int failed = by_model_link(plan->model, err) || by_model_settle(plan->model, err) ||
                 open_placing(&placing, plan, origins, err) || place_all(&placing, err);
    if (!failed && !plan->rows.count)
        failed = nothing_to_quantize(plan, err);
    failed = failed || by_place_tell_unused(&placing, log, err);
    if (!failed && (plan->recipe->approach == BY_APPROACH_STATIC ||
                    plan->recipe->approach == BY_APPROACH_WEIGHTS))
        failed = by_quant_domain(plan, &domain, err);
    by_free(placing.picks);
    by_half_specs(plan);
    return failed ? -1 : 0;
}
