/* Values in the tables of their graph, and what goes with them. */
#include "ir/links.h"

#include <string.h>

void by_ptrs_add(struct by_ptrs *list, void *item)
{
    list->at[list->count++] = item;
}

int by_span_name(struct baryon_model *model, struct by_span text, const char **name,
                 struct baryon_error *err)
{
    *name = NULL;
    if (text.size == 0 || text.size > BY_NAME_MAX || memchr(text.data, '\0', text.size))
        return 0;
    *name = by_intern(&model->names, text.data, text.size, err);
    return *name ? 0 : -1;
}

struct baryon_value *by_value_new(struct baryon_graph *graph, const char *name,
                                  struct baryon_error *err)
{
    struct by_arena *arena = by_graph_arena(graph);
    struct baryon_value *value = BY_ARENA_NEW(arena, struct baryon_value, err);
    if (!value || by_list_reserve(arena, &graph->all_values, 1, sizeof(void *), err) ||
        by_map_put(&graph->values, name, value, err))
        return NULL;
    value->name = name;
    value->graph = graph;
    value->index = graph->all_values.count;
    value->init_slot = value->info_slot = value->annotation = BY_NO_SLOT;
    by_ptrs_add(&graph->all_values, value);
    return value;
}

static void remove_annotation(struct baryon_graph *graph, size_t place)
{
    struct by_annotation *annotation = graph->annotation.at[place];
    annotation->names.count = 0;
    graph->annotation.at[place] = NULL;
}

bool by_value_is_kept(const struct baryon_value *value)
{
    const struct by_mention *mention = value->mentions;
    while (mention && mention->annotation->names.count == 0)
        mention = mention->next;
    return mention || value->pinned;
}

void by_value_forget(struct baryon_value *value)
{
    struct baryon_graph *graph = value->graph;
    by_map_remove(&graph->values, value->name);
    graph->all_values.at[value->index] = NULL;
    if (value->info_slot != BY_NO_SLOT)
        graph->value_info.at[value->info_slot] = NULL;
    if (value->annotation != BY_NO_SLOT)
        remove_annotation(graph, value->annotation);
    graph->unsettled = true;
    value->graph = NULL;
    value->info = NULL;
}

int by_node_is_live(const struct baryon_node *node, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX];
    if (node->graph && node->graph->linked)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "%s is not part of a linked graph",
                   by_node_label(node, label, sizeof label));
}

int by_value_is_live(const struct baryon_value *value, struct baryon_error *err)
{
    char name[BY_QUOTE_MAX];
    if (value->graph && value->graph->linked)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "value %s is not part of a linked graph",
                   by_quote(name, value->name));
}

int by_graph_can_read(const struct baryon_graph *graph, const struct baryon_value *value,
                      struct baryon_error *err)
{
    char name[BY_QUOTE_MAX];
    if (by_value_is_live(value, err))
        return -1;
    if (by_graph_value(graph, value->name) == value)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE,
                   "value %s is not visible there, only in its own graph and graphs nested in it",
                   by_quote(name, value->name));
}

static void detach_graph(struct baryon_graph *graph);

void by_node_detach(struct baryon_node *node)
{
    struct baryon_graph *nested;
    for (size_t i = 0; i < node->input.count; i++)
        by_link_drop(&node->links[i]);
    for (struct by_nested at = {0}; (nested = by_node_nested(node, &at));)
        detach_graph(nested);
}

void by_attr_detach(struct baryon_attribute *attr)
{
    if (attr->g)
        detach_graph(attr->g);
    for (size_t i = 0; i < attr->graphs.count; i++)
        if (attr->graphs.at[i])
            detach_graph(attr->graphs.at[i]);
}

/* Recursion is bounded: linking refuses graphs that nest deeper than BY_GRAPH_DEPTH_MAX. */
static void detach_graph(struct baryon_graph *graph)
{
    if (!graph->linked)
        return;
    for (size_t i = 0; i < graph->node.count; i++)
        if (graph->node.at[i])
            by_node_detach(graph->node.at[i]);
    for (size_t i = 0; i < graph->output.count; i++)
        by_link_drop(&graph->out_links[i]);
    by_map_release(&graph->values);
    graph->linked = false;
}
