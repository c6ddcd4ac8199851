/*
 * Float models made of lines, with a plan of what their layers read and statistics of uneven
 * channels: what steps on the float model are tested with.
 */
#ifndef LINES_BUILD_H
#define LINES_BUILD_H

#include "engine_build.h"

#include "ir/infer.h"
#include "quant/plan.h"
#include "stats/stats.h"

#include <math.h>

#define OUTPUTS 4096

static struct by_recipe recipe;

struct line {
    const char *name, *op, *in, *out;
};

#define SHAPED(model, name, ...)                                                                   \
    put_weight(model, name, BY_ELEM_INT64,                                                         \
               (const int64_t[]){sizeof((const int64_t[]){__VA_ARGS__}) / 8}, 1,                   \
               (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}))
#define LINES(...)                                                                                 \
    (const struct line[])                                                                          \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* x of that shape; y. */
static inline struct baryon_model *model_of(const char *shape, const struct line *lines)
{
    struct baryon_model *model = new_model();
    drawn = 0;
    takes(model, "x", BY_ELEM_FLOAT, shape);
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    for (; lines->op; lines++)
        put_node(model->graph, lines->name, lines->op, lines->in, lines->out);
    return model;
}

static inline struct baryon_node *node_of(struct baryon_model *model, const char *name)
{
    for (size_t i = 0; i < model->graph->node.count; i++) {
        struct baryon_node *node = model->graph->node.at[i];
        if (node && !strcmp(node->name, name))
            return node;
    }
    fail_msg("no node %s", name);
    return NULL;
}

static inline void put_number(struct baryon_model *model, const char *name, float value)
{
    put_weight(model, name, BY_ELEM_FLOAT, NULL, 0, &value, sizeof value);
}

static inline size_t run_model(struct baryon_model *model, float *out)
{
    static float x[512];
    const struct by_session_options options = {.threads = 1};
    struct by_session *session;
    size_t count, outputs;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = sinf((float)i);
    assert_ok(by_session_open_model(&session, model, 0, &options, &err));
    const struct by_port *port = by_session_inputs(session, &count);
    struct by_array array = array_of("x", BY_ELEM_FLOAT, port->rank, port->dims, x, sizeof *x);
    for (size_t i = 0; i < port->rank; i++)
        array.size *= (size_t)port->dims[i];
    struct by_run *run = run_ok(session, &array, 1);
    const struct by_array *y = by_run_outputs(run, &outputs);
    count = 0;
    for (size_t i = 0; i < outputs; i++) {
        assert_true(count * sizeof *out + y[i].size <= OUTPUTS * sizeof *out);
        memcpy(out + count, y[i].data, y[i].size);
        count += y[i].size / sizeof *out;
    }
    by_run_free(run);
    by_session_close(session);
    return count;
}

static inline bool is_layer(const struct baryon_node *node)
{
    const struct baryon_value *weight = by_node_in(node, 1);
    return weight && weight->initializer && weight->initializer->dims.count >= 2 &&
           by_node_in(node, 0) && !by_node_in(node, 0)->initializer;
}

/* Rows of what layers read; those rows are all that smoothing asks for. */
static inline struct by_quant_plan *open_plan(struct baryon_model *model)
{
    struct by_quant_plan *plan;
    const struct by_tensor_spec spec = {.elem = BY_ELEM_INT8, .symmetric = true};
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    recipe.weight = spec;
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    const size_t count = model->graph->node.count;
    struct by_quant_node *nodes = by_arena_alloc(&plan->arena, count, sizeof *nodes, &err);
    assert_non_null(nodes);
    for (size_t i = 0; i < count; i++) {
        struct baryon_node *node = model->graph->node.at[i];
        nodes[i] = (struct by_quant_node){.node = node, .state = BY_NODE_QUANTIZED};
        if (is_layer(node) && by_quant_find(plan, by_node_in(node, 0)) == BY_NO_ROW)
            assert_true(by_quant_add(plan, by_node_in(node, 0), BY_ROLE_ACTIVATION, &spec, "test",
                                     &err) != BY_NO_ROW);
    }
    assert_ok(by_quant_set_nodes(plan, nodes, count, &err));
    return plan;
}

/* Channel c of every tensor reaches peaks(c, context), and half of it below zero. */
static inline struct by_stats *uneven_stats(struct by_quant_plan *plan,
                                            float (*peaks)(size_t, size_t), size_t context)
{
    struct by_stats *stats;
    struct by_target targets[16];
    size_t count = 0;
    assert_ok(by_stats_open(&stats, &err));
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct baryon_value *value = plan->rows.at[i].value;
        const bool picture = by_node_is(value->uses[0].node, "Conv");
        targets[count++] = (struct by_target){
            .name = value->name,
            .elem = BY_ELEM_FLOAT,
            .channel_axis = picture ? 1 : (int)value->shape->rank - 1,
        };
    }
    assert_ok(by_stats_set_targets(stats, targets, count, &err));
    for (size_t i = 0; i < count; i++) {
        const struct baryon_value *value = plan->rows.at[i].value;
        struct by_tensor_stats *tensor = &stats->tensors[i];
        const size_t channels = (size_t)value->shape->dims[tensor->channel_axis].size;
        assert_ok(by_channels_init(&tensor->channels, channels, &err));
        float squares[64];
        tensor->sketch.count = 100 * channels;
        assert_ok(by_fold_init(&tensor->channels.squares, channels, &err));
        for (size_t c = 0; c < channels; c++) {
            const float peak = peaks(c, context);
            tensor->channels.max[c] = peak;
            tensor->channels.min[c] = -peak / 2;
            tensor->channels.seen[c] = true;
            squares[c] = 10 * peak * peak;
        }
        by_fold_add(&tensor->channels.squares, squares);
    }
    return stats;
}

static inline double error_of(const float *want, const float *got, size_t count)
{
    double signal = 0, noise = 0;
    for (size_t i = 0; i < count; i++) {
        signal += (double)want[i] * (double)want[i];
        noise += pow((double)want[i] - (double)got[i], 2);
    }
    assert_true(signal > 0);
    return sqrt(noise / signal);
}

/* All of the weight's elements. */
static inline size_t read_weight(struct baryon_model *model, const char *name, float *values)
{
    struct by_span bytes;
    const struct baryon_value *value = by_graph_value(model->graph, name);
    assert_non_null(value);
    assert_ok(by_tensor_bytes(value->initializer, &model->arena, &bytes, &err));
    assert_true(bytes.size <= PUT_MOST * sizeof *values);
    memcpy(values, bytes.data, bytes.size);
    return bytes.size / sizeof *values;
}

#endif
