/* Copies a plan for a copy of its model, with all or some of its rows. */
#include "quant/plan_copy.h"

#include "quant/lower_block.h"

#include <string.h>

struct copying {
    const struct by_quant_plan *from;
    struct by_quant_plan *to;
    struct by_ptrs graphs, others; /* all graphs of the model and of the copy, in order */
    unsigned roles;
    size_t *rows;
};

/* --- What stands in the copy --- */

struct listing {
    struct by_arena *arena;
    struct by_ptrs *graphs;
};

static int list_graph(void *context, struct baryon_graph *graph, unsigned depth,
                      struct baryon_error *err)
{
    const struct listing *listing = context;
    (void)depth;
    if (by_list_reserve(listing->arena, listing->graphs, 1, sizeof(void *), err) < 0)
        return -1;
    listing->graphs->at[listing->graphs->count++] = graph;
    return 0;
}

static int list_graphs(struct copying *copying, struct baryon_error *err)
{
    struct listing listing = {&copying->to->arena, &copying->graphs};
    if (by_model_each_graph(copying->from->model, list_graph, &listing, err) < 0)
        return -1;
    listing.graphs = &copying->others;
    return by_model_each_graph(copying->to->model, list_graph, &listing, err);
}

/* NULL: the copy has none there. */
static struct baryon_graph *graph_of(const struct copying *copying,
                                     const struct baryon_graph *graph)
{
    size_t place = 0;
    while (place < copying->graphs.count && copying->graphs.at[place] != graph)
        place++;
    return place < copying->others.count ? copying->others.at[place] : NULL;
}

static struct baryon_node *node_of(const struct copying *copying, const struct baryon_node *node,
                                   struct baryon_error *err)
{
    const struct baryon_graph *graph = graph_of(copying, node->graph);
    struct baryon_node *found =
        graph && node->index < graph->node.count ? graph->node.at[node->index] : NULL;
    if (found && !strcmp(found->op_type, node->op_type))
        return found;
    by_fail(err, BARYON_ERR_INTERNAL, "the copy of the model has a different node in place of '%s'",
            node->name ? node->name : "");
    return NULL;
}

/* --- Rows --- */

static int copy_readers(const struct copying *copying, const struct by_quant_row *from, size_t to,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < from->readers.count; i++) {
        const struct by_quant_reader *reader = &from->readers.at[i];
        struct baryon_node *node = reader->node ? node_of(copying, reader->node, err) : NULL;
        if ((reader->node && !node) ||
            by_quant_add_reader(copying->to, to, node, graph_of(copying, reader->graph),
                                reader->slot, err))
            return -1;
    }
    return 0;
}

/* The copy's recipe may ask for blocks in another form. */
static void store_blocks(const struct by_quant_plan *plan, struct by_quant_row *row)
{
    if (by_lower_is_stored(row))
        row->spec.elem = by_spec_block_codes(row->spec.format, plan->recipe->block_form,
                                             by_model_opset(plan->model, ""))
                             ->elem;
}

/* Parameters that are shared are there once for each: they are final. */
static int copy_row(const struct copying *copying, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *from = &copying->from->rows.at[index];
    struct baryon_value *value = by_map_get(&copying->to->model->graph->values, from->value->name);
    if (!value)
        return by_fail(err, BARYON_ERR_INTERNAL, "the copy of the model has no tensor '%s'",
                       from->value->name);
    const size_t first =
        from->converts == BY_NO_ROW ? BY_NO_ROW : by_quant_find(copying->to, value);
    const size_t to =
        first == BY_NO_ROW
            ? by_quant_add(copying->to, value, from->role, &from->spec, from->why, err)
            : by_quant_add_second(copying->to, first, &from->spec, from->why, err);
    if (to == BY_NO_ROW)
        return -1;
    struct by_quant_row *row = &copying->to->rows.at[to];
    *row = *from;
    row->converts = first;
    row->second = BY_NO_ROW;
    row->value = value;
    memset(&row->remarks, 0, sizeof row->remarks);
    memset(&row->readers, 0, sizeof row->readers);
    row->params = *by_quant_params(copying->from, index);
    store_blocks(copying->to, row);
    row->shares = row->range_of = row->input_row = row->weight_row = BY_NO_ROW;
    if (copying->rows)
        copying->rows[to] = index;
    return copy_readers(copying, from, to, err);
}

/* Those of nested graphs are not for lowering. A node whose work a range does is only left out
 * where there is the range. */
static int copy_nodes(const struct copying *copying, struct baryon_error *err)
{
    const struct by_quant_plan *from = copying->from;
    struct by_quant_node *nodes =
        by_arena_alloc(&copying->to->arena, from->node_count, sizeof *nodes, err);
    size_t count = 0;
    if (!nodes)
        return -1;
    for (size_t i = 0; i < from->node_count; i++) {
        if (from->nodes[i].node->graph != from->model->graph)
            continue;
        nodes[count] = from->nodes[i];
        nodes[count].folded &= (copying->roles & BY_ROLES_ACTIVATIONS) != 0;
        nodes[count].node = node_of(copying, from->nodes[i].node, err);
        if (!nodes[count++].node)
            return -1;
    }
    return by_quant_set_nodes(copying->to, nodes, count, err);
}

int by_quant_plan_copy(struct by_quant_plan **copy, const struct by_quant_plan *plan,
                       struct baryon_model *model, const struct by_recipe *recipe, unsigned roles,
                       size_t *rows, struct baryon_error *err)
{
    struct copying copying = {.from = plan, .roles = roles, .rows = rows};
    if (by_quant_plan_open(copy, model, recipe, err) < 0)
        return -1;
    copying.to = *copy;
    int status = list_graphs(&copying, err) < 0 ? -1 : copy_nodes(&copying, err);
    for (size_t i = 0; status == 0 && i < plan->rows.count; i++)
        if (roles & (1u << plan->rows.at[i].role))
            status = copy_row(&copying, i, err);
    if (status == 0)
        return 0;
    by_quant_plan_close(*copy);
    *copy = NULL;
    return -1;
}
