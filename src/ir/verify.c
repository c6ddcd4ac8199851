/* Whether links are what they should be, worked out from the lists alone. For tests. */
#include "ir/links.h"

struct verifier {
    const struct baryon_model *model;
    size_t links, uses; /* connected ends: there must be as many of both */
    struct baryon_error *err;
};

static int broken(struct verifier *verifier, const char *rule, const char *name)
{
    char quoted[BY_QUOTE_MAX];
    return by_fail(verifier->err, BARYON_ERR_INTERNAL, "%s (%s)", rule,
                   by_quote(quoted, name ? name : ""));
}

#define MUST(condition, rule, name)                                                                \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return broken(verifier, rule, name);                                                   \
    } while (0)

static int verify_link(struct verifier *verifier, const struct by_link *link, struct by_use use,
                       const char *name)
{
    const struct baryon_value *value = link->value;
    MUST(by_graph_value(use.graph, name) == value, "a link points to the value of its name", name);
    if (!value)
        return 0;
    MUST(value->name == name, "names are interned", name);
    MUST(link->use < value->use_count, "a link records its use", name);
    const struct by_use *back = &value->uses[link->use];
    MUST(back->node == use.node && back->graph == use.graph && back->slot == use.slot,
         "the use points back to the link", name);
    verifier->links++;
    return 0;
}

static int verify_outputs_of(struct verifier *verifier, const struct baryon_node *node)
{
    for (size_t i = 0; i < node->output.count; i++) {
        const struct baryon_value *value = node->outs[i];
        const char *name = node->output.at[i];
        if (!name || !*name) {
            MUST(!value, "an omitted output has no value", node->op_type);
            continue;
        }
        MUST(value && value->name == name, "an output has a value of its name", name);
        MUST(value->producer == node && value->slot == i && value->graph == node->graph,
             "the value records its producer", name);
    }
    return 0;
}

static int verify_node(struct verifier *verifier, const struct baryon_graph *graph, size_t index)
{
    const struct baryon_node *node = graph->node.at[index];
    const struct baryon_graph *nested;
    MUST(node->graph == graph && node->index == index, "a node records its place", node->op_type);
    MUST(node->links_cap >= node->input.count, "there is a link for each input", node->op_type);
    for (size_t i = 0; i < node->input.count; i++)
        if (verify_link(verifier, &node->links[i], (struct by_use){(void *)node, (void *)graph, i},
                        node->input.at[i]))
            return -1;
    for (struct by_nested at = {0}; (nested = by_node_nested(node, &at));)
        MUST(nested->owner == node && nested->linked, "a nested graph records its owner",
             node->op_type);
    return verify_outputs_of(verifier, node);
}

/* Where a value comes from. */
static int verify_sources(struct verifier *verifier, const struct baryon_value *value)
{
    const struct baryon_graph *graph = value->graph;
    MUST(value->producer || value->is_input || value->initializer || value->sparse,
         "a value has a source", value->name);
    if (value->producer)
        MUST(!value->is_input && !value->initializer && !value->sparse &&
                 by_node_out(value->producer, value->slot) == value &&
                 graph->node.at[value->producer->index] == value->producer,
             "a value is defined once", value->name);
    if (value->is_input) {
        const struct by_value_info *info = graph->input.at[value->slot];
        MUST(info && info->name == value->name, "an input has the value's name", value->name);
    }
    if (value->initializer)
        MUST(graph->initializer.at[value->init_slot] == value->initializer &&
                 value->initializer->name == value->name,
             "an initializer is in the list", value->name);
    if (value->sparse)
        MUST(graph->sparse_initializer.at[value->init_slot] == value->sparse &&
                 value->sparse->values->name == value->name,
             "a sparse initializer is in the list", value->name);
    return 0;
}

static int verify_sayings(struct verifier *verifier, const struct baryon_value *value)
{
    const struct baryon_graph *graph = value->graph;
    struct baryon_value again = *value;
    by_value_find_info(&again);
    MUST(again.info == value->info, "the declared type is the nearest one", value->name);
    MUST(!value->info || value->info->name == value->name, "a declaration has the value's name",
         value->name);
    if (value->info_slot != BY_NO_SLOT) {
        const struct by_value_info *info = graph->value_info.at[value->info_slot];
        MUST(info && info->name == value->name, "a value info has the value's name", value->name);
    }
    if (value->annotation != BY_NO_SLOT) {
        const struct by_annotation *annotation = graph->annotation.at[value->annotation];
        MUST(annotation && annotation->tensor_name == value->name,
             "an annotation has the value's name", value->name);
    }
    return 0;
}

static int verify_value(struct verifier *verifier, const struct baryon_graph *graph, size_t index)
{
    const struct baryon_value *value = graph->all_values.at[index];
    size_t outputs = 0;
    MUST(value->graph == graph && value->index == index, "a value records its place", value->name);
    MUST(by_map_get(&graph->values, value->name) == value, "a value is found by its name",
         value->name);
    MUST(value->use_count <= value->use_cap, "uses fit their array", value->name);
    for (size_t i = 0; i < value->use_count; i++) {
        const struct by_link *link = by_use_link(&value->uses[i]);
        MUST(link->value == value && link->use == i, "a use points to its link", value->name);
        outputs += !value->uses[i].node;
    }
    MUST(outputs == value->output_count, "uses that are outputs are counted", value->name);
    verifier->uses += value->use_count;
    return verify_sources(verifier, value) || verify_sayings(verifier, value) ? -1 : 0;
}

/* Every entry of the lists has a value; the value then knows the entry. */
static int verify_lists(struct verifier *verifier, const struct baryon_graph *graph)
{
    for (size_t i = 0; i < graph->input.count; i++) {
        const struct by_value_info *info = graph->input.at[i];
        const struct baryon_value *value = info ? by_map_get(&graph->values, info->name) : NULL;
        MUST(!info || (value && value->is_input && value->slot == i), "an input is a value",
             info ? info->name : "");
    }
    for (size_t i = 0; i < graph->initializer.count; i++) {
        const struct baryon_tensor *tensor = graph->initializer.at[i];
        const struct baryon_value *value = tensor ? by_map_get(&graph->values, tensor->name) : NULL;
        MUST(!tensor || (value && value->initializer == tensor), "an initializer is a value",
             tensor ? tensor->name : "");
    }
    for (size_t i = 0; i < graph->output.count; i++) {
        const struct by_value_info *info = graph->output.at[i];
        MUST(graph->out_links[i].value, "a graph output has a value", info->name);
        if (verify_link(verifier, &graph->out_links[i], (struct by_use){NULL, (void *)graph, i},
                        info->name))
            return -1;
    }
    return 0;
}

static int verify_holes(struct verifier *verifier, const struct baryon_graph *graph)
{
    const struct by_ptrs lists[] = {graph->node,      graph->initializer, graph->sparse_initializer,
                                    graph->input,     graph->value_info,  graph->annotation,
                                    graph->all_values};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; !graph->unsettled && k < lists[i].count; k++)
            MUST(lists[i].at[k], "a settled graph has no holes", graph->name);
    return 0;
}

static int verify_graph(struct verifier *verifier, const struct baryon_graph *graph)
{
    size_t values = 0;
    MUST(graph->model == verifier->model, "a graph records its model", graph->name);
    for (size_t i = 0; i < graph->node.count; i++)
        if (graph->node.at[i] && verify_node(verifier, graph, i))
            return -1;
    for (size_t i = 0; i < graph->all_values.count; i++) {
        if (!graph->all_values.at[i])
            continue;
        values++;
        if (verify_value(verifier, graph, i))
            return -1;
    }
    MUST(values == graph->values.count, "the table contains only values of the graph", graph->name);
    return verify_lists(verifier, graph) || verify_holes(verifier, graph) ? -1 : 0;
}

int by_graph_verify(const struct baryon_model *model, struct baryon_error *err)
{
    struct verifier state = {.model = model, .err = err}, *verifier = &state;
    for (size_t i = 0; i < model->linked.count; i++) {
        const struct baryon_graph *graph = model->linked.at[i];
        if (graph->linked && verify_graph(verifier, graph))
            return -1;
    }
    MUST(verifier->links == verifier->uses, "each use has a link", model->graph->name);
    return 0;
}
