/* Finds the unknown types and shapes of a model with ONNX Runtime and one sample. */
#include "engine/trace.h"

#include "engine/session_internal.h"
#include "engine/vary.h"
#include "ir/shape.h"

#include <string.h>

/* Outputs that are had at once; their tensors are in memory together. */
#define BATCH 64

struct value_list {
    struct baryon_value **at;
    size_t count, cap;
};

struct trace {
    struct baryon_model *model;
    struct by_arena scratch;
    struct by_session *session;
    struct value_list asked;
    bool *varying; /* of all values */
};

static bool is_complete(const struct baryon_value *value)
{
    if (!value->elem || !value->shape)
        return false;
    for (size_t i = 0; i < value->shape->rank; i++)
        if (!by_extent_is_known(value->shape->dims[i]))
            return false;
    return true;
}

static int find_incomplete(struct trace *trace, struct baryon_error *err)
{
    const struct by_ptrs *values = &trace->model->graph->all_values;
    for (size_t i = 0; i < values->count; i++) {
        struct baryon_value *value = values->at[i];
        if (!value || !value->producer || is_complete(value))
            continue;
        if (by_list_reserve(&trace->scratch, &trace->asked, 1, sizeof value, err))
            return -1;
        trace->asked.at[trace->asked.count++] = value;
    }
    return 0;
}

/* --- the copy --- */

static int add_outputs(struct trace *trace, struct by_ptrs *outputs, struct baryon_error *err)
{
    const struct by_ptrs *old = &trace->model->graph->output;
    if (by_list_reserve(&trace->scratch, outputs, old->count + trace->asked.count, sizeof(void *),
                        err))
        return -1;
    for (size_t i = 0; i < old->count; i++)
        outputs->at[outputs->count++] = old->at[i];
    for (size_t i = 0; i < trace->asked.count; i++) {
        const struct baryon_value *value = trace->asked.at[i];
        if (by_value_is_output(value))
            continue;
        struct by_value_info *info = BY_ARENA_NEW(&trace->scratch, struct by_value_info, err);
        if (!info)
            return -1;
        info->name = value->name;
        outputs->at[outputs->count++] = info;
    }
    return 0;
}

/* The graph says that it has more outputs for as long as it is being opened. */
static int open_copy(struct trace *trace, const struct by_session_options *options,
                     struct baryon_error *err)
{
    struct baryon_graph *graph = trace->model->graph;
    const struct by_ptrs old = graph->output;
    struct by_ptrs outputs = {0};
    struct by_session_options plain = *options;
    plain.optimization = 0; /* so that every value is there */
    plain.shares_memory = true;
    if (add_outputs(trace, &outputs, err))
        return -1;
    graph->output = outputs;
    int failed = by_session_open_model(&trace->session, trace->model, 0, &plain, err);
    graph->output = old;
    return failed;
}

/* --- what is learnt --- */

/* A symbol counts when the model's own inputs have it. */
static const char *known_symbol(const struct baryon_model *model, const char *text)
{
    const struct by_ptrs *inputs = &model->graph->input;
    for (size_t i = 0; *text && i < inputs->count; i++) {
        const struct by_value_info *info = inputs->at[i];
        const struct baryon_value *value = info ? by_graph_value(model->graph, info->name) : NULL;
        for (size_t k = 0; value && value->shape && k < value->shape->rank; k++)
            if (value->shape->dims[k].symbol && strcmp(value->shape->dims[k].symbol, text) == 0)
                return value->shape->dims[k].symbol;
    }
    return NULL;
}

/* Fills what is unknown from dims; true in *told when there was something to fill. */
static int learn_shape(struct trace *trace, struct baryon_value *value,
                       const struct by_extent *dims, size_t rank, bool *told,
                       struct baryon_error *err)
{
    struct by_arena *arena = &trace->model->arena;
    const struct by_shape *old = value->shape;
    if (old && old->rank != rank)
        return 0;
    struct by_shape *shape = old ? by_shape_copy(arena, old, err) : by_shape_new(arena, rank, err);
    if (!shape)
        return -1;
    *told |= !old;
    for (size_t i = 0; i < rank; i++)
        if (!by_extent_is_known(shape->dims[i]) && by_extent_is_known(dims[i])) {
            shape->dims[i] = dims[i];
            *told = true;
        }
    value->shape = shape;
    return 0;
}

static int learn_port(struct trace *trace, struct baryon_value *value, const struct by_port *port,
                      bool *told, struct baryon_error *err)
{
    struct by_extent dims[BY_RANK_MAX];
    if (!value->elem && port->elem) {
        value->elem = port->elem;
        *told = true;
    }
    if (!port->rank || port->rank > BY_RANK_MAX)
        return 0;
    for (size_t i = 0; i < port->rank; i++) {
        dims[i] = by_extent_of(port->dims[i]);
        if (port->dims[i] < 0)
            dims[i].symbol = known_symbol(trace->model, port->symbols[i]);
    }
    return learn_shape(trace, value, dims, port->rank, told, err);
}

static int learn_array(struct trace *trace, struct baryon_value *value,
                       const struct by_array *array, bool *told, struct baryon_error *err)
{
    struct by_extent dims[BY_RANK_MAX];
    for (size_t i = 0; i < array->rank; i++)
        dims[i] = trace->varying[value->index] ? by_extent_unknown() : by_extent_of(array->dims[i]);
    return learn_shape(trace, value, dims, array->rank, told, err);
}

static const struct by_port *port_of(const struct trace *trace, const struct baryon_value *value)
{
    return by_map_get(&trace->session->outputs.by_name, value->name);
}

static int learn_from_opening(struct trace *trace, struct by_trace_result *result,
                              struct baryon_error *err)
{
    for (size_t i = 0; i < trace->asked.count; i++) {
        struct baryon_value *value = trace->asked.at[i];
        const struct by_port *port = port_of(trace, value);
        bool told = false;
        if (port && learn_port(trace, value, port, &told, err))
            return -1;
        result->opened += told;
    }
    return 0;
}

/* --- the run --- */

static bool wants_run(const struct trace *trace, const struct baryon_value *value)
{
    const struct by_port *port = port_of(trace, value);
    if (is_complete(value) || !port || strcmp(port->kind, "tensor") != 0)
        return false;
    return !value->shape || !trace->varying[value->index];
}

static int run_batch(struct trace *trace, const struct by_array *inputs, size_t input_count,
                     struct baryon_value *const *batch, size_t count,
                     struct by_trace_result *result, struct baryon_error *err)
{
    const char *names[BATCH] = {0};
    struct by_run *run;
    for (size_t i = 0; i < count; i++)
        names[i] = batch[i]->name;
    if (by_session_run(trace->session, inputs, input_count, names, count, &run, err))
        return -1;
    size_t made;
    const struct by_array *outputs = by_run_outputs(run, &made);
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        bool told = false;
        failed = learn_array(trace, batch[i], &outputs[i], &told, err);
        result->ran += told;
    }
    by_run_free(run);
    return failed;
}

static int learn_from_run(struct trace *trace, const struct by_array *inputs, size_t input_count,
                          struct by_trace_result *result, struct baryon_error *err)
{
    struct baryon_value *batch[BATCH];
    size_t count = 0;
    if (by_graph_varying(trace->model->graph, &trace->varying, err))
        return -1;
    for (size_t i = 0; i < trace->asked.count; i++) {
        if (wants_run(trace, trace->asked.at[i]))
            batch[count++] = trace->asked.at[i];
        if (count == BATCH || (count && i + 1 == trace->asked.count)) {
            if (run_batch(trace, inputs, input_count, batch, count, result, err))
                return -1;
            count = 0;
        }
    }
    return 0;
}

static int ask(struct trace *trace, const struct by_array *inputs, size_t input_count,
               const struct by_session_options *options, struct by_trace_result *result,
               struct baryon_error *err)
{
    if (open_copy(trace, options, err) || learn_from_opening(trace, result, err))
        return -1;
    return inputs ? learn_from_run(trace, inputs, input_count, result, err) : 0;
}

int by_model_trace(struct baryon_model *model, const struct by_array *inputs, size_t input_count,
                   const struct by_session_options *options, struct by_trace_result *result,
                   struct baryon_error *err)
{
    const struct by_session_options defaults = {0};
    struct by_trace_result ignored;
    struct trace trace = {.model = model};
    if (!result)
        result = &ignored;
    *result = (struct by_trace_result){0};
    if (by_model_settle(model, err))
        return -1;
    by_arena_init(&trace.scratch, 0);
    int failed = find_incomplete(&trace, err);
    if (!failed && trace.asked.count)
        failed = ask(&trace, inputs, input_count, options ? options : &defaults, result, err);
    result->asked = trace.asked.count;
    for (size_t i = 0; i < trace.asked.count; i++)
        result->left += !is_complete(trace.asked.at[i]);
    by_session_close(trace.session);
    by_free(trace.varying);
    by_arena_release(&trace.scratch);
    return failed;
}
