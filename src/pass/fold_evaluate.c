/* A small model of the nodes that read constants alone, run by ONNX Runtime. */
#include "pass/fold.h"

#include "engine/ort.h"
#include "onnx/load.h"

#include <string.h>

struct evaluation {
    struct by_pass_context *context;
    struct baryon_graph *graph; /* the user's */
    struct baryon_model *model; /* the small one */
    bool *needed;               /* nodes of graph */
    struct by_map made;         /* name -> value of the small model */
};

/* --- the small model --- */

static int copy_opsets(struct baryon_model *to, const struct baryon_model *from,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < from->opset_import.count; i++) {
        const struct by_opset *opset = from->opset_import.at[i];
        if (by_model_set_opset(to, by_domain(opset->domain), opset->version, err))
            return -1;
    }
    return 0;
}

static int add_constant(struct evaluation *e, const struct baryon_value *value,
                        struct baryon_error *err)
{
    struct baryon_tensor *tensor = BY_ARENA_NEW(&e->model->arena, struct baryon_tensor, err);
    if (!tensor)
        return -1;
    *tensor = *value->initializer;
    tensor->name = value->name;
    struct baryon_value *made = by_graph_add_initializer(e->model->graph, tensor, err);
    return made ? by_map_put(&e->made, value->name, made, err) : -1;
}

static int add_inputs(struct evaluation *e, const struct baryon_node *node,
                      struct baryon_value **inputs, struct baryon_error *err)
{
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *value = by_node_in(node, i);
        if (value && !value->producer && !by_map_get(&e->made, value->name) &&
            add_constant(e, value, err))
            return -1;
        inputs[i] = value ? by_map_get(&e->made, value->name) : NULL;
    }
    return 0;
}

static int note_outputs(struct evaluation *e, const struct baryon_node *node,
                        const struct baryon_node *made, struct baryon_error *err)
{
    for (size_t i = 0; i < node->output.count; i++)
        if (node->outs[i] && by_map_put(&e->made, node->outs[i]->name, made->outs[i], err))
            return -1;
    return 0;
}

static const char *const *output_names(const struct baryon_node *node, struct by_arena *arena,
                                       struct baryon_error *err)
{
    const char **names = by_arena_alloc(arena, node->output.count, sizeof *names, err);
    for (size_t i = 0; names && i < node->output.count; i++)
        names[i] = node->outs[i] ? node->outs[i]->name : NULL;
    return names;
}

static int add_node(struct evaluation *e, const struct baryon_node *node, struct baryon_error *err)
{
    struct by_arena *arena = &e->model->arena;
    struct baryon_value **inputs = by_arena_alloc(arena, node->input.count, sizeof *inputs, err);
    const char *const *outputs = output_names(node, arena, err);
    if (!inputs || !outputs || add_inputs(e, node, inputs, err))
        return -1;
    struct baryon_node *made =
        by_graph_add_node(e->model->graph, node->op_type, node->domain, NULL, inputs,
                          node->input.count, outputs, node->output.count, err);
    if (!made ||
        by_list_reserve(arena, &made->attribute, node->attribute.count, sizeof(void *), err))
        return -1;
    for (size_t i = 0; i < node->attribute.count; i++)
        if (node->attribute.at[i])
            made->attribute.at[made->attribute.count++] = node->attribute.at[i];
    return note_outputs(e, node, made, err);
}

static int add_output(struct evaluation *e, const struct baryon_value *value,
                      struct baryon_error *err)
{
    struct by_type *type = by_type_tensor(e->model, value->elem, NULL, err);
    struct baryon_value *made = by_map_get(&e->made, value->name);
    return type ? by_graph_add_output(made, type, err) : -1;
}

/* The nodes that a value needs, found backwards; stack has room for all nodes. */
static void mark_needed(struct evaluation *e, const struct baryon_value *value, size_t *stack)
{
    size_t height = 0;
    if (!e->needed[value->producer->index])
        stack[height++] = value->producer->index;
    e->needed[value->producer->index] = true;
    while (height) {
        const struct baryon_node *node = e->graph->node.at[stack[--height]];
        for (size_t i = 0; i < node->input.count; i++) {
            const struct baryon_value *in = by_node_in(node, i);
            if (!in || !in->producer || e->needed[in->producer->index])
                continue;
            e->needed[in->producer->index] = true;
            stack[height++] = in->producer->index;
        }
    }
}

static int build(struct evaluation *e, const struct by_folded *values, size_t count,
                 struct baryon_error *err)
{
    size_t nodes = e->graph->node.count;
    size_t *stack = by_alloc(nodes, sizeof *stack, err);
    if (!stack)
        return -1;
    for (size_t i = 0; i < count; i++)
        mark_needed(e, values[i].value, stack);
    by_free(stack);
    for (size_t i = 0; i < nodes; i++)
        if (e->needed[i] && add_node(e, e->graph->node.at[i], err))
            return -1;
    for (size_t i = 0; i < count; i++)
        if (add_output(e, values[i].value, err))
            return -1;
    return 0;
}

/* --- running it --- */

static int keep_outputs(struct evaluation *e, const struct by_run *run, struct by_folded *values,
                        struct baryon_error *err)
{
    size_t count;
    const struct by_array *arrays = by_run_outputs(run, &count);
    for (size_t i = 0; i < count; i++) {
        const struct by_array *array = &arrays[i];
        values[i].tensor =
            by_tensor_new(e->context->model, "", array->elem, array->dims, array->rank,
                          array->size ? array->data : NULL, array->size, err);
        if (!values[i].tensor)
            return -1;
    }
    return 0;
}

static int run_model(struct evaluation *e, struct by_folded *values, bool *ran,
                     struct baryon_error *err)
{
    struct by_session_options options =
        e->context->session ? *e->context->session : (struct by_session_options){0};
    struct by_session *session;
    struct by_run *run;
    options.optimization = 0;
    *ran = false;
    if (by_session_open_model(&session, e->model, 0, &options, err))
        return -1;
    int failed = by_session_run(session, NULL, 0, NULL, 0, &run, err);
    if (!failed) {
        *ran = true;
        failed = keep_outputs(e, run, values, err);
        by_run_free(run);
    }
    by_session_close(session);
    return failed;
}

static int evaluate(struct by_pass_context *context, struct baryon_graph *graph,
                    struct by_folded *values, size_t count, bool *ran, struct baryon_error *err)
{
    struct evaluation e = {.context = context, .graph = graph};
    const struct baryon_model *model = context->model;
    *ran = false;
    int64_t ir_version = model->ir_version < 4 ? 4 : model->ir_version;
    if (by_model_new(&e.model, ir_version, by_model_opset(model, ""), err))
        return -1;
    by_map_init(&e.made);
    e.needed = by_alloc_zero(graph->node.count, sizeof *e.needed, err);
    int failed = !e.needed || copy_opsets(e.model, model, err) || by_model_link(e.model, err) ||
                 build(&e, values, count, err) || run_model(&e, values, ran, err);
    by_free(e.needed);
    by_map_release(&e.made);
    by_model_free(e.model);
    return failed ? -1 : 0;
}

static bool is_final(const struct baryon_error *err)
{
    return err->code == BARYON_ERR_NOMEM || err->code == BARYON_ERR_CANCELLED;
}

/* Halves until the values that the runtime cannot tell are alone. */
static int try_range(struct by_pass_context *context, struct baryon_graph *graph,
                     struct by_folded *values, size_t count, struct baryon_error *err)
{
    struct baryon_error local;
    char quoted[BY_QUOTE_MAX];
    bool ran;
    by_err_clear(&local);
    if (!evaluate(context, graph, values, count, &ran, &local))
        return 0;
    if (ran || is_final(&local)) {
        if (err)
            *err = local;
        return -1;
    }
    if (count == 1) {
        by_log(context->log, BY_LOG_DEBUG, "%s cannot be folded: %s",
               by_quote(quoted, values->value->name), local.message);
        return 0;
    }
    return try_range(context, graph, values, count / 2, err) ||
                   try_range(context, graph, values + count / 2, count - count / 2, err)
               ? -1
               : 0;
}

int by_fold_evaluate(struct by_pass_context *context, struct baryon_graph *graph,
                     struct by_folded *values, size_t count, struct baryon_error *err)
{
    const struct by_ort *ort;
    if (!count)
        return 0;
    if (by_ort_open(&ort, context->session ? context->session->ort_path : NULL, err))
        return by_err_hint(
            err, "ONNX Runtime folds constants; without it, switch off the pass fold-constants");
    by_ort_close(ort);
    return try_range(context, graph, values, count, err);
}
