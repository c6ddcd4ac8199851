/*
 * Training information names values of the main graph from outside: in its
 * bindings and in its own graphs. Those values keep their names and stay.
 */
#include "ir/links.h"

static void pin(const struct baryon_graph *graph, const char *name)
{
    struct baryon_value *value = name ? by_map_get(&graph->values, name) : NULL;
    if (value)
        value->pinned = true;
}

static int pin_bindings(const struct baryon_graph *graph, const struct by_ptrs *bindings,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < bindings->count; i++) {
        const struct by_pair *pair = bindings->at[i];
        const char *name;
        if (by_span_name(graph->model, pair->value, &name, err))
            return -1;
        pin(graph, name);
        pin(graph, pair->key);
    }
    return 0;
}

/* Recursion is bounded: the decoder limits how deep messages nest. */
static void pin_reads(const struct baryon_graph *graph, const struct baryon_graph *training)
{
    const struct baryon_graph *nested;
    for (size_t i = 0; training && i < training->node.count; i++) {
        const struct baryon_node *node = training->node.at[i];
        for (size_t k = 0; k < node->input.count; k++)
            pin(graph, node->input.at[k]);
        for (struct by_nested at = {0}; (nested = by_node_nested(node, &at));)
            pin_reads(graph, nested);
    }
}

int by_model_pin(struct baryon_model *model, struct baryon_error *err)
{
    for (size_t i = 0; i < model->training_info.count; i++) {
        const struct by_training_info *info = model->training_info.at[i];
        pin_reads(model->graph, info->initialization);
        pin_reads(model->graph, info->algorithm);
        if (pin_bindings(model->graph, &info->initialization_binding, err) ||
            pin_bindings(model->graph, &info->update_binding, err))
            return -1;
    }
    return 0;
}
