/* Finds the nodes, inputs and outputs of the piece that computes given values. */
#include "base/format.h"
#include "engine/stages_internal.h"

/* --- What a node reads, graphs nested in it included --- */

typedef int read_fn(void *context, struct baryon_value *value, struct baryon_error *err);

static int each_read_nested(const struct baryon_graph *outer, struct baryon_graph *graph,
                            read_fn *read, void *context, struct baryon_error *err);

static int each_read(const struct baryon_graph *outer, const struct baryon_node *node,
                     read_fn *read, void *context, struct baryon_error *err)
{
    struct by_nested at = {0};
    struct baryon_graph *nested;
    for (size_t i = 0; i < node->input.count; i++) {
        struct baryon_value *value = by_node_in(node, i);
        if (value && value->graph == outer && read(context, value, err) < 0)
            return -1;
    }
    while ((nested = by_node_nested(node, &at)))
        if (each_read_nested(outer, nested, read, context, err) < 0)
            return -1;
    return 0;
}

static int each_read_nested(const struct baryon_graph *outer, struct baryon_graph *graph,
                            read_fn *read, void *context, struct baryon_error *err)
{
    for (size_t i = 0; i < graph->output.count; i++) {
        struct baryon_value *value = by_graph_out(graph, i);
        if (value && value->graph == outer && read(context, value, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < graph->node.count; i++)
        if (graph->node.at[i] && each_read(outer, graph->node.at[i], read, context, err) < 0)
            return -1;
    return 0;
}

/* --- Nodes that run wherever they are needed --- */

static bool is_stored_constant(const struct baryon_value *value)
{
    return !value->producer && (value->initializer || value->sparse);
}

static int count_variable(void *context, struct baryon_value *value, struct baryon_error *err)
{
    size_t *count = context;
    (void)err;
    *count += !is_stored_constant(value);
    return 0;
}

/* Random ones read nothing either. */
static bool makes_random(const struct baryon_node *node)
{
    static const char *const names[] = {"RandomNormal", "RandomUniform", NULL};
    return by_node_is_one_of(node, names);
}

bool by_stage_is_free(const struct baryon_node *node)
{
    size_t variable = 0;
    if (by_node_dequantizes(node))
        return true;
    (void)each_read(node->graph, node, count_variable, &variable, NULL);
    return !variable && !makes_random(node);
}

bool by_stage_is_awaited(const struct by_stages *stages, const bool *needed,
                         const struct baryon_value *value)
{
    for (size_t i = 0; i < value->use_count; i++) {
        const struct baryon_node *reader = by_use_reader(&value->uses[i], stages->model->graph);
        if (!reader && stages->options.outputs_wait)
            return true;
        if (!reader || stages->done[reader->index] ||
            (needed && needed[reader->index] && !by_stage_is_free(reader)))
            continue;
        if (!by_stage_is_free(reader))
            return true;
        for (size_t k = 0; k < reader->output.count; k++)
            if (reader->outs[k] && by_stage_is_awaited(stages, needed, reader->outs[k]))
                return true;
    }
    return false;
}

/* --- What a piece is made of --- */

struct search {
    struct by_stage *stage;
    const struct by_stages *stages;
    struct baryon_node **stack;
    size_t height;
};

static int note(struct by_stage *stage, struct by_value_list *list, struct baryon_value *value,
                struct baryon_error *err)
{
    if (stage->seen[value->index])
        return 0;
    stage->seen[value->index] = true;
    if (by_list_reserve(&stage->arena, list, 1, sizeof(void *), err) < 0)
        return -1;
    list->at[list->count++] = value;
    return 0;
}

static int refuse_gone(const struct baryon_value *value, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_INTERNAL, "tensor %s is used again",
                   by_quote(quoted, value->name));
}

static int need(void *context, struct baryon_value *value, struct baryon_error *err)
{
    struct search *search = context;
    struct by_stage *stage = search->stage;
    struct baryon_node *producer = value->producer;
    if (is_stored_constant(value))
        return note(stage, &stage->constants, value, err);
    if (by_stages_has(search->stages, value))
        return note(stage, &stage->inputs, value, err);
    if (!producer || (search->stages->done[producer->index] && !by_stage_is_free(producer)))
        return refuse_gone(value, err);
    if (stage->needed[producer->index])
        return 0;
    stage->needed[producer->index] = true;
    search->stack[search->height++] = producer;
    return 0;
}

static int find_nodes(struct search *search, struct baryon_value *const *values, size_t count,
                      struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!by_stages_has(search->stages, values[i]) && need(search, values[i], err) < 0)
            return -1;
    while (search->height) {
        const struct baryon_node *node = search->stack[--search->height];
        if (each_read(search->stages->model->graph, node, need, search, err) < 0)
            return -1;
    }
    return 0;
}

static bool is_among(struct baryon_value *const *values, size_t count,
                     const struct baryon_value *value)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] == value)
            return true;
    return false;
}

static int find_outputs(const struct search *search, struct baryon_value *const *values,
                        size_t count, struct baryon_error *err)
{
    struct by_stage *stage = search->stage;
    const struct by_ptrs *nodes = &search->stages->model->graph->node;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct baryon_node *node = nodes->at[i];
        for (size_t k = 0; stage->needed[i] && k < node->output.count; k++) {
            struct baryon_value *value = node->outs[k];
            const bool waits = value && !by_stage_is_free(node) &&
                               by_stage_is_awaited(search->stages, stage->needed, value);
            if (value && (waits || is_among(values, count, value)) &&
                note(stage, &stage->outputs, value, err) < 0)
                return -1;
        }
    }
    return 0;
}

int by_stage_find(struct by_stage *stage, const struct by_stages *stages,
                  struct baryon_value *const *values, size_t count, struct baryon_error *err)
{
    const struct baryon_graph *graph = stages->model->graph;
    struct search search = {.stage = stage, .stages = stages};
    by_arena_init(&stage->arena, 0);
    stage->needed = by_arena_alloc(&stage->arena, graph->node.count, sizeof(bool), err);
    stage->seen = by_arena_alloc(&stage->arena, graph->all_values.count, sizeof(bool), err);
    search.stack = by_arena_alloc(&stage->arena, graph->node.count, sizeof(void *), err);
    if (!stage->needed || !stage->seen || !search.stack)
        return -1;
    return find_nodes(&search, values, count, err) < 0 ? -1
                                                       : find_outputs(&search, values, count, err);
}
