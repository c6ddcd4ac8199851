/* Dequantizes what is looked up in large tables of integers, in place of the tables. */
#include "engine/pair.h"
#include "ir/graph.h"
#include "ir/links.h"

static bool is_look_up(const struct by_use *use, const struct baryon_node *back)
{
    const struct baryon_node *node = use->node;
    return node && node->graph == back->graph && by_node_is(node, "Gather") && use->slot == 0 &&
           by_node_in(node, 1) && by_node_out(node, 0);
}

/* One scale: whole rows and columns of integers mean what they did. */
static bool is_looked_up(const struct baryon_node *node)
{
    const struct baryon_value *out = by_node_out(node, 0);
    if (!by_pair_is_large_constant(node) || !out->use_count)
        return false;
    for (size_t i = 0; i < out->use_count; i++)
        if (!is_look_up(&out->uses[i], node))
            return false;
    return true;
}

static struct baryon_value *add(struct baryon_graph *graph, const char *op_type, const char *domain,
                                struct baryon_value *const *inputs, size_t count,
                                const struct baryon_value *like, int64_t elem,
                                struct baryon_error *err)
{
    const char *name = by_model_fresh_name(graph->model, like->name, err);
    struct baryon_node *made =
        name ? by_graph_add_node(graph, op_type, domain, NULL, inputs, count, &name, 1, err) : NULL;
    struct baryon_value *out = made ? by_node_out(made, 0) : NULL;
    if (out) {
        out->elem = elem;
        out->shape = like->shape;
    }
    return out;
}

/* y = Gather(DequantizeLinear(table), i) becomes DequantizeLinear(Gather(table, i)). */
static int look_up_first(struct baryon_node *back, struct baryon_node *look_up,
                         struct baryon_error *err)
{
    struct baryon_graph *graph = back->graph;
    struct baryon_value *was = by_node_out(look_up, 0), *table = by_node_in(back, 0);
    struct baryon_value *const from[] = {table, by_node_in(look_up, 1)};
    struct baryon_value *levels =
        add(graph, "Gather", look_up->domain, from, 2, was, table->initializer->data_type, err);
    if (!levels ||
        by_node_set_int(levels->producer, "axis", by_node_int(look_up, "axis", 0), err) < 0)
        return -1;
    struct baryon_value *const inputs[] = {levels, by_node_in(back, 1), by_node_in(back, 2)};
    struct baryon_value *now = add(graph, "DequantizeLinear", back->domain, inputs,
                                   inputs[2] ? 3 : 2, was, BY_ELEM_FLOAT, err);
    return !now || by_value_replace_uses(was, now, NULL, err) < 0
               ? -1
               : by_graph_remove_node(look_up, err);
}

int by_pairs_look_up(struct baryon_graph *graph, struct baryon_error *err)
{
    const size_t count = graph->node.count; /* those that come are no constants' */
    for (size_t i = 0; i < count; i++) {
        struct baryon_node *node = graph->node.at[i];
        if (!node || !is_looked_up(node))
            continue;
        struct baryon_value *out = by_node_out(node, 0);
        while (out->use_count)
            if (look_up_first(node, out->uses[0].node, err) < 0)
                return -1;
        if (by_graph_remove_node(node, err) < 0)
            return -1;
    }
    return 0;
}
