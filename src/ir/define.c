/* Makes a value for everything that a graph defines, as the first part of linking. */
#include "ir/links.h"

#define PARTS_MAX (16u << 20)

static void hint_first(struct baryon_error *err, const struct baryon_value *first)
{
    char label[BY_QUOTE_MAX + 80];
    if (first->producer)
        by_err_hint(err, "%s defines it first",
                    by_node_label(first->producer, label, sizeof label));
    else if (first->is_input)
        by_err_hint(err, "input[%zu] defines it first", first->slot);
    else
        by_err_hint(err, "%sinitializer[%zu] defines it first", first->sparse ? "sparse_" : "",
                    first->init_slot);
}

const struct baryon_value *by_graph_outer_value(const struct baryon_graph *graph, const char *name)
{
    for (; graph->owner; graph = graph->owner->graph) {
        const struct baryon_node *owner = graph->owner;
        const struct baryon_value *outer = by_map_get(&owner->graph->values, name);
        if (outer)
            return !outer->producer || outer->producer->index < owner->index ? outer : NULL;
    }
    return NULL;
}

static int check_new(const struct baryon_graph *graph, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct baryon_value *first;
    if (!name || !*name)
        return by_fail(err, BARYON_ERR_INPUT, "a value has no name, must have one");
    first = by_map_get(&graph->values, name);
    if (!first)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "value %s is defined twice, must be defined once",
            by_quote(quoted, name));
    hint_first(err, first);
    return -1;
}

/* Inputs and initializers of a nested graph may hide an outer value, outputs of nodes may not. */
static int check_output(const struct baryon_graph *graph, const char *name,
                        struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct baryon_value *first = by_graph_outer_value(graph, name);
    if (!first)
        return 0;
    by_fail(err, BARYON_ERR_INPUT,
            "value %s has the name of a value in an outer graph, must have its own name",
            by_quote(quoted, name));
    hint_first(err, first);
    return -1;
}

static int count_part(struct by_linker *linker, struct baryon_error *err)
{
    if (++linker->parts <= PARTS_MAX)
        return 0;
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "more than %u nodes and values in the model, the limit", PARTS_MAX);
}

static struct baryon_value *define(struct by_linker *linker, struct baryon_graph *graph,
                                   const char *name, struct baryon_error *err)
{
    if (count_part(linker, err) || check_new(graph, name, err))
        return NULL;
    return by_value_new(graph, name, err);
}

static int define_inputs(struct by_linker *linker, struct baryon_graph *graph,
                         struct baryon_error *err)
{
    for (size_t i = 0; i < graph->input.count; i++) {
        const struct by_value_info *info = graph->input.at[i];
        if (!info)
            continue;
        struct baryon_value *value = define(linker, graph, info->name, err);
        if (!value) {
            by_err_at_msg(err, graph->model, &info->msg);
            return by_err_in(err, "input[%zu]", i);
        }
        value->is_input = true;
        value->slot = i;
    }
    return 0;
}

/* The input of that name, which so gets a default, or a new value. */
static struct baryon_value *define_initializer(struct by_linker *linker, struct baryon_graph *graph,
                                               const char *name, size_t slot,
                                               struct baryon_error *err)
{
    struct baryon_value *value = name ? by_map_get(&graph->values, name) : NULL;
    if (!value || !value->is_input || value->init_slot != BY_NO_SLOT)
        value = define(linker, graph, name, err);
    if (value)
        value->init_slot = slot;
    return value;
}

static int define_dense(struct by_linker *linker, struct baryon_graph *graph,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < graph->initializer.count; i++) {
        struct baryon_tensor *tensor = graph->initializer.at[i];
        if (!tensor)
            continue;
        struct baryon_value *value = define_initializer(linker, graph, tensor->name, i, err);
        if (!value) {
            by_err_at_msg(err, graph->model, &tensor->msg);
            return by_err_in(err, "initializer[%zu]", i);
        }
        value->initializer = tensor;
    }
    return 0;
}

static int define_sparse(struct by_linker *linker, struct baryon_graph *graph,
                         struct baryon_error *err)
{
    for (size_t i = 0; i < graph->sparse_initializer.count; i++) {
        struct by_sparse_tensor *sparse = graph->sparse_initializer.at[i];
        if (!sparse)
            continue;
        const char *name = sparse->values ? sparse->values->name : NULL;
        struct baryon_value *value = define_initializer(linker, graph, name, i, err);
        if (!value) {
            by_err_at_msg(err, graph->model, &sparse->msg);
            return by_err_in(err, "sparse_initializer[%zu]", i);
        }
        value->sparse = sparse;
    }
    return 0;
}

static int make_links(struct baryon_graph *graph, struct baryon_node *node,
                      struct baryon_error *err)
{
    struct by_arena *arena = by_graph_arena(graph);
    size_t in = node->input.count, out = node->output.count;
    node->links = NULL;
    node->outs = NULL;
    node->links_cap = in;
    if (in && !(node->links = by_arena_alloc(arena, in, sizeof *node->links, err)))
        return -1;
    if (out && !(node->outs = by_arena_alloc(arena, out, sizeof(void *), err)))
        return -1;
    return 0;
}

static int define_outputs(struct by_linker *linker, struct baryon_node *node,
                          struct baryon_error *err)
{
    for (size_t i = 0; i < node->output.count; i++) {
        if (!node->output.at[i] || !*node->output.at[i])
            continue;
        const char *name = node->output.at[i];
        struct baryon_value *value =
            check_output(node->graph, name, err) ? NULL : define(linker, node->graph, name, err);
        if (!value) {
            by_err_at_msg(err, linker->model, &node->msg);
            return by_err_in(err, "node[%zu].output[%zu]", node->index, i);
        }
        value->producer = node;
        value->slot = i;
        node->outs[i] = value;
    }
    return 0;
}

static int define_nodes(struct by_linker *linker, struct baryon_graph *graph,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        if (!node)
            continue;
        node->graph = graph;
        node->index = i;
        if (count_part(linker, err) || make_links(graph, node, err) ||
            define_outputs(linker, node, err))
            return -1;
    }
    return 0;
}

int by_graph_define(struct by_linker *linker, struct baryon_graph *graph, struct baryon_error *err)
{
    if (define_inputs(linker, graph, err) || define_dense(linker, graph, err) ||
        define_sparse(linker, graph, err) || define_nodes(linker, graph, err))
        return -1;
    return 0;
}
