/* Removing what nobody reads. */
#include "ir/links.h"

/* A node without outputs is there for what it does. */
static bool is_dead(const struct baryon_node *node)
{
    bool any = false;
    for (size_t i = 0; i < node->output.count; i++) {
        const struct baryon_value *value = node->outs[i];
        if (!value)
            continue;
        if (value->use_count || by_value_is_kept(value))
            return false;
        any = true;
    }
    return any;
}

/* An input with a default belongs to the model's interface, but before IR version 4 it had
 * to be declared for every initializer. */
static bool is_dead_initializer(const struct baryon_value *value, const struct baryon_model *model)
{
    if (value->init_slot == BY_NO_SLOT || value->use_count || by_value_is_kept(value))
        return false;
    return !value->is_input || model->ir_version < 4;
}

static int prune(struct baryon_graph *graph, size_t *removed, struct baryon_error *err);

static int prune_nested(struct baryon_node *node, size_t *removed, struct baryon_error *err)
{
    struct baryon_graph *nested;
    for (struct by_nested at = {0}; (nested = by_node_nested(node, &at));)
        if (prune(nested, removed, err))
            return -1;
    return 0;
}

/* Readers stand after what they read, so one pass from the end finds all. */
static int prune_nodes(struct baryon_graph *graph, size_t *removed, struct baryon_error *err)
{
    for (size_t i = graph->node.count; i-- > 0;) {
        struct baryon_node *node = graph->node.at[i];
        if (!is_dead(node)) {
            if (prune_nested(node, removed, err))
                return -1;
            continue;
        }
        if (by_graph_remove_node(node, err))
            return -1;
        ++*removed;
    }
    return 0;
}

static int prune_initializers(struct baryon_graph *graph, size_t *removed, struct baryon_error *err)
{
    for (size_t i = 0; i < graph->all_values.count; i++) {
        struct baryon_value *value = graph->all_values.at[i];
        if (!value || !is_dead_initializer(value, graph->model))
            continue;
        if (by_graph_remove_initializer(value, err))
            return -1;
        ++*removed;
    }
    return 0;
}

/* Recursion is bounded: linking refuses graphs that nest deeper than BY_GRAPH_DEPTH_MAX. */
static int prune(struct baryon_graph *graph, size_t *removed, struct baryon_error *err)
{
    if (by_graph_settle(graph, err) || prune_nodes(graph, removed, err) ||
        prune_initializers(graph, removed, err))
        return -1;
    return 0;
}

int by_graph_prune(struct baryon_graph *graph, size_t *removed, struct baryon_error *err)
{
    size_t count = 0;
    int result = prune(graph, &count, err);
    if (removed)
        *removed = count;
    return result;
}
