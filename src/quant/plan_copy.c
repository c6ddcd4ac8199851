#include "quant/plan_copy.h"

#include <string.h>

struct copying {
    const struct by_quant_plan *from;
    struct by_quant_plan *to;
    const struct baryon_graph *graph; /* of the copy */
    unsigned roles;
    size_t *rows;
};

static struct baryon_node *node_of(const struct copying *copying, const struct baryon_node *node,
                                   struct baryon_error *err)
{
    struct baryon_node *found =
        node->index < copying->graph->node.count ? copying->graph->node.at[node->index] : NULL;
    if (found && node->graph == copying->from->model->graph &&
        !strcmp(found->op_type, node->op_type))
        return found;
    by_fail(err, BARYON_ERR_INTERNAL, "the copy of a model has another node in place of '%s'",
            node->name ? node->name : "");
    return NULL;
}

static int copy_readers(const struct copying *copying, const struct by_quant_row *from, size_t to,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < from->readers.count; i++) {
        const struct by_quant_reader *reader = &from->readers.at[i];
        struct baryon_node *node = reader->node ? node_of(copying, reader->node, err) : NULL;
        if ((reader->node && !node) ||
            by_quant_add_reader(copying->to, to, node, copying->to->model->graph, reader->slot,
                                err))
            return -1;
    }
    return 0;
}

/* Parameters that are shared are there once for each: they are final. */
static int copy_row(const struct copying *copying, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *from = &copying->from->rows.at[index];
    struct baryon_value *value = by_map_get(&copying->graph->values, from->value->name);
    if (!value)
        return by_fail(err, BARYON_ERR_INTERNAL, "the copy of a model has no value '%s'",
                       from->value->name);
    const size_t to = by_quant_add(copying->to, value, from->role, &from->spec, from->why, err);
    if (to == BY_NO_ROW)
        return -1;
    struct by_quant_row *row = &copying->to->rows.at[to];
    *row = *from;
    row->value = value;
    memset(&row->remarks, 0, sizeof row->remarks);
    memset(&row->readers, 0, sizeof row->readers);
    row->params = *by_quant_params(copying->from, index);
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
    struct copying copying = {.from = plan, .graph = model->graph, .roles = roles, .rows = rows};
    if (by_quant_plan_open(copy, model, recipe, err) < 0)
        return -1;
    copying.to = *copy;
    int status = copy_nodes(&copying, err);
    for (size_t i = 0; status == 0 && i < plan->rows.count; i++)
        if (roles & (1u << plan->rows.at[i].role))
            status = copy_row(&copying, i, err);
    if (status == 0)
        return 0;
    by_quant_plan_close(*copy);
    *copy = NULL;
    return -1;
}
