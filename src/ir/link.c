/*
 * Linking: define all values, find the one after each name that is read and count
 * the uses, then connect them. So the tables of uses are made as large as they have
 * to be, once. What is said about values comes last, and a look for cycles.
 */
#include "ir/links.h"

#include "base/str.h"

#include <string.h>

#define HINT_NAMES_MAX 65536u

int by_err_at_msg(struct baryon_error *err, const struct baryon_model *model,
                  const struct by_msg *msg)
{
    if (msg->src && model->msg.src && msg->src >= model->msg.src)
        by_err_offset(err, (uint64_t)(msg->src - model->msg.src));
    return -1;
}

static void err_in_owner(struct baryon_error *err, const struct baryon_graph *graph)
{
    const struct baryon_node *owner = graph->owner;
    const struct baryon_graph *nested;
    struct by_nested at = {0};
    while ((nested = by_node_nested(owner, &at)) && nested != graph)
        ;
    if (at.slot == 1)
        by_err_in(err, "node[%zu].attribute[%zu].g.", owner->index, at.attr);
    else
        by_err_in(err, "node[%zu].attribute[%zu].graphs[%zu].", owner->index, at.attr, at.slot - 2);
}

int by_err_in_graph(struct baryon_error *err, const struct baryon_graph *graph)
{
    bool bare = err && !err->place[0];
    for (; graph->owner; graph = graph->owner->graph)
        err_in_owner(err, graph);
    by_err_in(err, "graph.");
    if (bare)
        err->place[strlen(err->place) - 1] = '\0';
    return -1;
}

/* --- finding what is read --- */

static const struct baryon_graph *outer(const struct baryon_graph *graph)
{
    return graph->owner ? graph->owner->graph : NULL;
}

static size_t collect_names(const struct baryon_graph *graph, const char **names, size_t most)
{
    size_t count = 0;
    for (; graph; graph = outer(graph)) {
        for (size_t i = 0; i < graph->all_values.count && count < most; i++) {
            const struct baryon_value *value = graph->all_values.at[i];
            if (value)
                names[count++] = value->name;
        }
    }
    return count;
}

static void hint_nearest(struct baryon_error *err, const struct baryon_graph *graph,
                         const char *name)
{
    char quoted[BY_QUOTE_MAX];
    const char **names = by_alloc(HINT_NAMES_MAX, sizeof *names, NULL);
    if (!names)
        return;
    const char *nearest = by_nearest(name, names, collect_names(graph, names, HINT_NAMES_MAX));
    if (nearest)
        by_err_hint(err, "did you mean %s?", by_quote(quoted, nearest));
    by_free((void *)names);
}

static int find_input(struct baryon_node *node, size_t slot, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], label[BY_QUOTE_MAX + 80];
    const char *name = node->input.at[slot];
    if (!name || !*name)
        return 0;
    struct baryon_value *value = by_graph_value(node->graph, name);
    if (value) {
        node->links[slot].value = value;
        value->use_cap++;
        return 0;
    }
    by_fail(err, BARYON_ERR_INPUT,
            "%s has input %s, which no graph input, initializer or node output defines",
            by_node_label(node, label, sizeof label), by_quote(quoted, name));
    hint_nearest(err, node->graph, name);
    by_err_at_msg(err, node->graph->model, &node->msg);
    by_err_in(err, "node[%zu].input[%zu]", node->index, slot);
    return by_err_in_graph(err, node->graph);
}

/* Until uses are connected, use_count of a model output is its place + 1. In nested graphs
 * the same value may come out twice: there outputs go by their places. */
static int find_output(const struct baryon_graph *graph, size_t slot, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_value_info *info = graph->output.at[slot];
    const char *name = info->name ? info->name : "";
    struct baryon_value *value = by_graph_value(graph, name);
    if (!value) {
        by_fail(err, BARYON_ERR_INPUT,
                "graph output %s is not defined by any graph input, initializer or node output",
                by_quote(quoted, name));
        hint_nearest(err, graph, name);
        return -1;
    }
    if (!graph->owner) {
        if (value->use_count)
            return by_fail(err, BARYON_ERR_INPUT,
                           "graph output %s is listed twice, it is already output[%zu]",
                           by_quote(quoted, name), value->use_count - 1);
        value->use_count = slot + 1;
    }
    graph->out_links[slot].value = value;
    value->use_cap++;
    return 0;
}

static int find_outputs(struct baryon_graph *graph, struct baryon_error *err)
{
    size_t count = graph->output.count;
    graph->out_links_cap = count;
    graph->out_links = by_arena_alloc(by_graph_arena(graph), count, sizeof *graph->out_links, err);
    if (!graph->out_links)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct by_value_info *info = graph->output.at[i];
        if (find_output(graph, i, err)) {
            by_err_at_msg(err, graph->model, &info->msg);
            by_err_in(err, "output[%zu]", i);
            return by_err_in_graph(err, graph);
        }
    }
    return 0;
}

static int read_graph(struct by_linker *linker, struct baryon_graph *graph,
                      struct baryon_node *owner, unsigned depth, struct baryon_error *err);

static int read_node(struct by_linker *linker, struct baryon_node *node, unsigned depth,
                     struct baryon_error *err)
{
    struct baryon_graph *nested;
    for (size_t i = 0; i < node->input.count; i++)
        if (find_input(node, i, err))
            return -1;
    for (struct by_nested at = {0}; (nested = by_node_nested(node, &at));)
        if (read_graph(linker, nested, node, depth + 1, err))
            return -1;
    return 0;
}

static int begin_graph(struct baryon_model *model, struct baryon_graph *graph,
                       struct baryon_node *owner, unsigned depth, struct baryon_error *err)
{
    graph->model = model;
    graph->owner = owner;
    graph->all_values.count = 0;
    if (depth > BY_GRAPH_DEPTH_MAX) {
        by_fail(err, BARYON_ERR_INPUT, "graphs nest more than %d deep, the limit",
                BY_GRAPH_DEPTH_MAX);
        return by_err_at_msg(err, model, &graph->msg);
    }
    if (by_list_reserve(&model->arena, &model->linked, 1, sizeof(void *), err))
        return -1;
    by_ptrs_add(&model->linked, graph);
    if (graph->linked) /* in another model, which lends the node */
        by_map_release(&graph->values);
    by_map_init(&graph->values);
    graph->linked = true;
    graph->unsettled = false;
    return 0;
}

/* Recursion is bounded by BY_GRAPH_DEPTH_MAX. */
static int read_graph(struct by_linker *linker, struct baryon_graph *graph,
                      struct baryon_node *owner, unsigned depth, struct baryon_error *err)
{
    if (begin_graph(linker->model, graph, owner, depth, err) || by_graph_define(linker, graph, err))
        return by_err_in_graph(err, graph);
    for (size_t i = 0; i < graph->node.count; i++)
        if (graph->node.at[i] && read_node(linker, graph->node.at[i], depth, err))
            return -1;
    return find_outputs(graph, err);
}

/* --- connecting --- */

static int connect(struct by_link *link, struct by_use use, struct baryon_error *err)
{
    struct baryon_value *value = link->value;
    if (!value)
        return 0;
    if (!value->uses) {
        value->uses =
            by_arena_alloc(by_graph_arena(value->graph), value->use_cap, sizeof *value->uses, err);
        if (!value->uses)
            return -1;
        value->use_count = 0;
    }
    by_use_connect(use, value);
    return 0;
}

static int connect_graph(struct baryon_graph *graph, struct baryon_error *err)
{
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        for (size_t k = 0; node && k < node->input.count; k++)
            if (connect(&node->links[k], (struct by_use){node, graph, k}, err))
                return -1;
    }
    for (size_t i = 0; i < graph->output.count; i++)
        if (connect(&graph->out_links[i], (struct by_use){NULL, graph, i}, err))
            return -1;
    return 0;
}

/* --- what is said about values elsewhere --- */

static int mention(const struct baryon_graph *graph, const struct by_annotation *annotation,
                   struct by_pair *pair, struct baryon_error *err)
{
    struct by_arena *arena = by_graph_arena(graph);
    const char *name;
    if (by_span_name(graph->model, pair->value, &name, err))
        return -1;
    struct baryon_value *value = by_graph_value(graph, name);
    if (!value)
        return 0;
    struct by_mention *mention = BY_ARENA_NEW(arena, struct by_mention, err);
    if (!mention)
        return -1;
    *mention = (struct by_mention){value->mentions, annotation, pair};
    value->mentions = mention;
    return 0;
}

static int attach_annotations(struct baryon_graph *graph, struct baryon_error *err)
{
    for (size_t i = 0; i < graph->annotation.count; i++) {
        const struct by_annotation *annotation = graph->annotation.at[i];
        if (!annotation)
            continue;
        struct baryon_value *value =
            annotation->tensor_name ? by_map_get(&graph->values, annotation->tensor_name) : NULL;
        if (value && value->annotation == BY_NO_SLOT)
            value->annotation = i;
        for (size_t k = 0; k < annotation->names.count; k++)
            if (mention(graph, annotation, annotation->names.at[k], err))
                return -1;
    }
    return 0;
}

static void attach_infos(struct baryon_graph *graph)
{
    graph->loose_infos = 0;
    for (size_t i = 0; i < graph->value_info.count; i++) {
        struct by_value_info *info = graph->value_info.at[i];
        struct baryon_value *value =
            info && info->name ? by_map_get(&graph->values, info->name) : NULL;
        if (value && value->info_slot == BY_NO_SLOT) {
            value->info_slot = i;
            value->info = info;
        } else {
            graph->loose_infos++;
        }
    }
    for (size_t i = graph->output.count; i-- > 0;)
        if (graph->out_links[i].value->graph == graph)
            graph->out_links[i].value->info = graph->output.at[i];
    for (size_t i = 0; i < graph->input.count; i++) {
        struct by_value_info *info = graph->input.at[i];
        struct baryon_value *value = info ? by_map_get(&graph->values, info->name) : NULL;
        if (value)
            value->info = info;
    }
}

static int refuse_cycle(const struct baryon_graph *graph, struct baryon_error *err)
{
    size_t *order, count;
    if (by_graph_is_sorted(graph, NULL))
        return 0;
    if (by_graph_order(graph, &order, &count, err))
        return -1;
    by_free(order);
    return 0;
}

/* Values of nested graphs that hide an outer one get names of their own, so that edits can connect
 * any value to any graph that it is there for. */
static int rename_hiding(struct baryon_graph *graph, struct baryon_error *err)
{
    for (size_t i = 0; graph->owner && i < graph->all_values.count; i++) {
        struct baryon_value *value = graph->all_values.at[i];
        const char *name;
        if (!by_graph_outer_value(graph, value->name))
            continue;
        if (!(name = by_model_fresh_name(graph->model, value->name, err)) ||
            by_value_rename(value, name, err))
            return by_err_in_graph(err, graph);
    }
    return 0;
}

static int link_all(struct baryon_model *model, struct baryon_error *err)
{
    struct by_linker linker = {.model = model};
    if (!model->graph)
        return by_fail(err, BARYON_ERR_INPUT, "the model has no graph, must have one");
    if (read_graph(&linker, model->graph, NULL, 0, err))
        return -1;
    for (size_t i = 0; i < model->linked.count; i++) {
        if (connect_graph(model->linked.at[i], err))
            return -1;
    }
    for (size_t i = 0; i < model->linked.count; i++) {
        struct baryon_graph *graph = model->linked.at[i];
        attach_infos(graph);
        if (attach_annotations(graph, err) || refuse_cycle(graph, err))
            return -1;
    }
    for (size_t i = 0; i < model->linked.count; i++) {
        if (rename_hiding(model->linked.at[i], err))
            return -1;
    }
    return by_model_pin(model, err);
}

int by_model_link(struct baryon_model *model, struct baryon_error *err)
{
    if (model->graph && model->graph->linked)
        return 0;
    if (!link_all(model, err)) {
        /* The file is understood. What edits add is no longer its doing. */
        model->arena.limit = 0;
        return 0;
    }
    if (model->path)
        by_err_file(err, model->path);
    by_model_unlink(model);
    return -1;
}

void by_model_unlink(struct baryon_model *model)
{
    for (size_t i = 0; i < model->linked.count; i++) {
        struct baryon_graph *graph = model->linked.at[i];
        by_map_release(&graph->values);
        graph->linked = false;
    }
    model->linked.count = 0;
    by_map_release(&model->stems);
}
