/* Puts the nodes of a graph in order and closes the holes that edits left. */
#include "ir/links.h"

/* Closes holes; returns what is left. */
static size_t close_holes(struct by_ptrs *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i])
            list->at[kept++] = list->at[i];
    list->count = kept;
    return kept;
}

static void settle_nodes(struct by_ptrs *nodes)
{
    close_holes(nodes);
    for (size_t i = 0; i < nodes->count; i++) {
        struct baryon_node *node = nodes->at[i];
        node->index = i;
    }
}

static void settle_values(struct by_ptrs *values)
{
    close_holes(values);
    for (size_t i = 0; i < values->count; i++) {
        struct baryon_value *value = values->at[i];
        value->index = i;
    }
}

static void settle_inputs(struct baryon_graph *graph)
{
    close_holes(&graph->input);
    for (size_t i = 0; i < graph->input.count; i++) {
        const struct by_value_info *info = graph->input.at[i];
        struct baryon_value *value = by_map_get(&graph->values, info->name);
        value->slot = i;
    }
}

static void settle_initializers(struct baryon_graph *graph)
{
    close_holes(&graph->initializer);
    for (size_t i = 0; i < graph->initializer.count; i++) {
        const struct baryon_tensor *tensor = graph->initializer.at[i];
        struct baryon_value *value = by_map_get(&graph->values, tensor->name);
        value->init_slot = i;
    }
    close_holes(&graph->sparse_initializer);
    for (size_t i = 0; i < graph->sparse_initializer.count; i++) {
        const struct by_sparse_tensor *sparse = graph->sparse_initializer.at[i];
        struct baryon_value *value = by_map_get(&graph->values, sparse->values->name);
        value->init_slot = i;
    }
}

/* Entries that say nothing about a value of the graph, or say it again, are left alone. */
static void settle_infos(struct baryon_graph *graph)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->value_info.count; i++) {
        struct by_value_info *info = graph->value_info.at[i];
        if (!info)
            continue;
        struct baryon_value *value = info->name ? by_map_get(&graph->values, info->name) : NULL;
        if (value && value->info_slot == i)
            value->info_slot = kept;
        graph->value_info.at[kept++] = info;
    }
    graph->value_info.count = kept;
}

static void settle_annotations(struct baryon_graph *graph)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->annotation.count; i++) {
        struct by_annotation *annotation = graph->annotation.at[i];
        if (!annotation)
            continue;
        const char *name = annotation->tensor_name;
        struct baryon_value *value = name ? by_map_get(&graph->values, name) : NULL;
        if (value && value->annotation == i)
            value->annotation = kept;
        graph->annotation.at[kept++] = annotation;
    }
    graph->annotation.count = kept;
}

static int sort_nodes(struct baryon_graph *graph, struct baryon_error *err)
{
    size_t *order, count;
    if (by_graph_is_sorted(graph, NULL))
        return 0;
    if (by_graph_order(graph, &order, &count, err))
        return -1;
    /* The list itself is still needed to look nodes up: gather before writing. */
    void **sorted = by_alloc(count, sizeof *sorted, err);
    if (sorted) {
        for (size_t i = 0; i < count; i++)
            sorted[i] = graph->node.at[order[i]];
        for (size_t i = 0; i < count; i++)
            graph->node.at[i] = sorted[i];
        graph->node.count = count;
    }
    by_free(order);
    by_free(sorted);
    return sorted ? 0 : -1;
}

int by_graph_settle(struct baryon_graph *graph, struct baryon_error *err)
{
    if (sort_nodes(graph, err))
        return -1;
    settle_nodes(&graph->node);
    settle_values(&graph->all_values);
    settle_inputs(graph);
    settle_initializers(graph);
    settle_infos(graph);
    settle_annotations(graph);
    graph->unsettled = false;
    return 0;
}

static int settle_where(struct baryon_model *model, bool all, struct baryon_error *err)
{
    for (size_t i = 0; i < model->linked.count; i++) {
        struct baryon_graph *graph = model->linked.at[i];
        if (graph->linked && (all || graph->unsettled) && by_graph_settle(graph, err))
            return -1;
    }
    return 0;
}

int by_model_settle(struct baryon_model *model, struct baryon_error *err)
{
    return settle_where(model, false, err);
}

int by_model_sort(struct baryon_model *model, struct baryon_error *err)
{
    return settle_where(model, true, err);
}
