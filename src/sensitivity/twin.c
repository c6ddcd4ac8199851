/* Layers and activations of the plan, by themselves and in the quantized model. */
#include "base/thread.h"
#include "ir/tensor.h"
#include "sensitivity/sensitivity_internal.h"
#include "stats/layers.h"

#include <math.h>
#include <string.h>

#define SIDES (BY_STATES - 1) /* all but the float one, in their order */

/* The runtime takes time in the square of the nodes to optimize. */
#define MANY_NODES 4000

struct wanting {
    struct by_sensing *sensing;
    struct by_twin_want *wants; /* layers, then tensors */
    size_t count;
    size_t *weight; /* row of each node of the plan: its first one; or BY_NO_ROW */
};

static struct by_sensing_model *side_of(const struct wanting *wanting, enum by_state state)
{
    return &wanting->sensing->models[state];
}

static const struct baryon_value *value_of(const struct wanting *wanting, const char *name)
{
    const struct baryon_value *value =
        by_map_get(&side_of(wanting, BY_STATE_FLOAT)->draft.model->graph->values, name);
    const bool is_float =
        value && (value->elem == BY_ELEM_FLOAT || value->elem == BY_ELEM_DOUBLE ||
                  value->elem == BY_ELEM_FLOAT16 || value->elem == BY_ELEM_BFLOAT16);
    return is_float && !value->initializer && !value->sparse ? value : NULL;
}

/* --- Layers --- */

static size_t input_of(const struct by_quant_plan *plan, const struct baryon_node *node)
{
    for (size_t slot = 0; slot < node->input.count; slot++) {
        const size_t row = by_quant_read(plan, node, slot);
        for (size_t k = 0; row != BY_NO_ROW && k < plan->rows.at[row].readers.count; k++)
            if (plan->rows.at[row].role == BY_ROLE_ACTIVATION &&
                plan->rows.at[row].readers.at[k].node == node)
                return row;
    }
    return BY_NO_ROW;
}

static void want_layer(struct wanting *wanting, const struct baryon_node *node, size_t weight)
{
    struct by_sensitivity *out = wanting->sensing->out;
    const struct by_quant_plan *plan = wanting->sensing->q->plan;
    const struct baryon_value *given = by_node_out(node, 0);
    const struct baryon_value *value = given ? value_of(wanting, given->name) : NULL;
    if (!value)
        return;
    struct by_twin_want *want = &wanting->wants[wanting->count];
    *want = (struct by_twin_want){.value = value};
    for (enum by_state i = BY_STATE_WEIGHTS; i < BY_STATES; i++) {
        const struct by_twin_side *side = &side_of(wanting, i)->side;
        want->others[i - 1] = side->same[value->index];
        if (!want->others[i - 1] || !want->others[i - 1]->graph)
            return;
    }
    wanting->count++;
    out->layers[out->layer_count++] =
        (struct by_sensed_layer){.name = node->name ? node->name : given->name,
                                 .op_type = node->op_type,
                                 .output = given->name,
                                 .weight = weight,
                                 .input = input_of(plan, node)};
}

/* A pass over the rows rather than one for each node. */
static int find_layers(struct wanting *wanting, struct baryon_error *err)
{
    const struct by_quant_plan *plan = wanting->sensing->q->plan;
    wanting->weight = by_alloc(plan->node_count + 1, sizeof *wanting->weight, err);
    if (!wanting->weight)
        return -1;
    for (size_t i = 0; i < plan->node_count; i++)
        wanting->weight[i] = BY_NO_ROW;
    for (size_t i = plan->rows.count; i-- > 0;) {
        const struct by_quant_row *row = &plan->rows.at[i];
        for (size_t k = 0; row->role == BY_ROLE_WEIGHT && k < row->readers.count; k++) {
            const struct by_quant_node *node = by_quant_node_of(plan, row->readers.at[k].node);
            if (node)
                wanting->weight[node - plan->nodes] = i;
        }
    }
    return 0;
}

/* It multiplies: what only adds a constant, or is limited by one, is none. */
static bool is_layer(const struct wanting *wanting, size_t place)
{
    const struct by_quant_plan *plan = wanting->sensing->q->plan;
    const struct by_quant_node *node = &plan->nodes[place];
    struct by_moments_layer layer;
    return wanting->weight[place] != BY_NO_ROW &&
           (node->macs > 0 || by_layer_of_node(plan->model->graph, node->node, &layer));
}

static void want_layers(struct wanting *wanting)
{
    const struct by_quant_plan *plan = wanting->sensing->q->plan;
    for (size_t i = 0; i < plan->node_count; i++) {
        const struct baryon_node *node = plan->nodes[i].node;
        if (node->graph != plan->model->graph)
            wanting->sensing->out->nested++;
        else if (is_layer(wanting, i))
            want_layer(wanting, node, wanting->weight[i]);
    }
}

/* --- Activations --- */

static const struct baryon_value *read_by(const struct by_quant_reader *reader)
{
    if (!reader->node)
        return by_graph_out(reader->graph, reader->slot);
    return reader->node->graph ? by_node_in(reader->node, reader->slot) : NULL;
}

/* What the row's readers read in a lowered model: what nodes of its format gave. */
static const struct baryon_value *dequantized(const struct by_sensing_model *model, size_t row)
{
    if (model->row_at[row] == BY_NO_ROW)
        return NULL;
    const struct by_quant_row *at = &model->draft.plan->rows.at[model->row_at[row]];
    for (size_t i = 0; i < at->readers.count; i++) {
        const struct baryon_value *value = read_by(&at->readers.at[i]);
        if (value && value->producer && value != at->value)
            return value;
    }
    return NULL;
}

static void want_tensor(struct wanting *wanting, size_t row)
{
    struct by_sensitivity *out = wanting->sensing->out;
    const struct by_quant_row *at = &wanting->sensing->q->plan->rows.at[row];
    struct by_twin_want *want = &wanting->wants[wanting->count];
    *want = (struct by_twin_want){.value = value_of(wanting, at->value->name), .derived = true};
    for (enum by_state i = BY_STATE_ACTIVATIONS; i < BY_STATES; i++)
        want->others[i - 1] = dequantized(side_of(wanting, i), row);
    if (!want->value || !want->others[BY_STATE_ACTIVATIONS - 1] || !want->others[BY_STATE_BOTH - 1])
        return;
    wanting->count++;
    out->tensors[out->tensor_count++] =
        (struct by_sensed_tensor){.name = at->value->name, .row = row};
}

/* In the order of the graph: as values are defined. */
static void want_tensors(struct wanting *wanting)
{
    const struct by_quant_plan *plan = wanting->sensing->q->plan;
    const struct by_ptrs *values = &plan->model->graph->all_values;
    const struct baryon_graph *graph = plan->model->graph;
    for (size_t i = 0; i < values->count; i++) {
        const struct baryon_value *value = values->at[i];
        const size_t row = value && !value->producer ? by_quant_find(plan, value) : BY_NO_ROW;
        if (row != BY_NO_ROW && plan->rows.at[row].role == BY_ROLE_ACTIVATION)
            want_tensor(wanting, row);
    }
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        for (size_t k = 0; k < node->output.count; k++) {
            const size_t row = by_quant_find(plan, by_node_out(node, k));
            if (row != BY_NO_ROW && plan->rows.at[row].role == BY_ROLE_ACTIVATION)
                want_tensor(wanting, row);
        }
    }
}

/* --- Answers --- */

static double sqnr_of(const struct by_twin *twin, size_t want, enum by_state state,
                      const struct by_twin_value *value)
{
    struct by_twin_error error;
    by_twin_error(twin, want, state - 1, &error);
    return error.lost ? 0 : by_decibels(value->signal, error.noise);
}

static double rms_of(const struct by_twin_value *value)
{
    return value->count ? sqrt(value->signal / (double)value->count) : 0;
}

static void read_layer(const struct by_twin *twin, size_t want, struct by_sensed_layer *layer)
{
    struct by_twin_value value;
    struct by_twin_error error;
    by_twin_value(twin, want, &value);
    by_twin_error(twin, want, BY_STATE_BOTH - 1, &error);
    layer->weights = sqnr_of(twin, want, BY_STATE_WEIGHTS, &value);
    layer->inputs = sqnr_of(twin, want, BY_STATE_ACTIVATIONS, &value);
    layer->whole = sqnr_of(twin, want, BY_STATE_BOTH, &value);
    layer->shift = rms_of(&value) > 0 ? error.shift / rms_of(&value) : 0;
}

static void read_tensor(const struct by_twin *twin, size_t want, struct by_sensed_tensor *tensor)
{
    struct by_twin_value value;
    struct by_twin_error error;
    by_twin_value(twin, want, &value);
    by_twin_error(twin, want, BY_STATE_BOTH - 1, &error);
    tensor->alone = sqnr_of(twin, want, BY_STATE_ACTIVATIONS, &value);
    tensor->whole = error.lost ? 0 : by_decibels(value.signal, error.noise);
    tensor->shift = error.shift;
    tensor->peak = error.peak;
    tensor->min = value.min;
    tensor->max = value.max;
    tensor->rms = rms_of(&value);
    tensor->sample = value.sample;
    tensor->rank = value.rank;
    memcpy(tensor->at, value.at, sizeof tensor->at);
}

static void read_all(const struct by_sensing *sensing, const struct by_twin *twin)
{
    struct by_sensitivity *out = sensing->out;
    for (size_t i = 0; i < out->layer_count; i++)
        read_layer(twin, i, &out->layers[i]);
    for (size_t i = 0; i < out->tensor_count; i++)
        read_tensor(twin, out->layer_count + i, &out->tensors[i]);
}

/* --- Running --- */

static int run_twin(const struct by_sensing *sensing, struct by_twin *twin,
                    struct baryon_error *err)
{
    const size_t samples = sensing->out->samples;
    const struct by_array **inputs = by_alloc(samples, sizeof *inputs, err);
    size_t count = 0;
    if (!inputs)
        return -1;
    for (size_t i = 0; i < samples; i++)
        inputs[i] = by_judge_inputs(sensing->judge, i, &count);
    const double begun = by_seconds();
    const int status = by_twin_run(twin, sensing->q->pool, inputs, count, samples, err);
    sensing->out->seconds = by_seconds() - begun;
    by_free((void *)inputs);
    return status;
}

static int open_and_run(const struct wanting *wanting, struct baryon_error *err)
{
    const struct by_sensing *sensing = wanting->sensing;
    struct by_session_options options = sensing->q->options->calibrate.session;
    struct by_twin_side sides[SIDES];
    struct by_twin *twin;
    size_t nodes = 0;
    for (enum by_state i = 0; i < BY_STATES; i++) {
        nodes += sensing->models[i].draft.model->graph->node.count;
        if (i)
            sides[i - 1] = sensing->models[i].side;
    }
    options.as_written = true;
    options.optimization = nodes < MANY_NODES;
    if (by_twin_open(&twin, sensing->models[BY_STATE_FLOAT].draft.model, sides, SIDES,
                     wanting->wants, wanting->count, &options, err) < 0)
        return -1;
    const int status = run_twin(sensing, twin, err);
    if (status == 0)
        read_all(sensing, twin);
    by_twin_close(twin);
    return status;
}

int by_sensing_twin(struct by_sensing *sensing, struct baryon_error *err)
{
    struct by_sensitivity *out = sensing->out;
    const struct by_quant_plan *plan = sensing->q->plan;
    struct wanting wanting = {.sensing = sensing};
    const size_t most = plan->node_count + plan->rows.count + 1;
    out->layers = by_arena_alloc(&out->arena, plan->node_count + 1, sizeof *out->layers, err);
    out->tensors = by_arena_alloc(&out->arena, plan->rows.count + 1, sizeof *out->tensors, err);
    wanting.wants = by_alloc(most, sizeof *wanting.wants, err);
    int status = -1;
    if (out->layers && out->tensors && wanting.wants && find_layers(&wanting, err) == 0) {
        want_layers(&wanting);
        want_tensors(&wanting);
        status = open_and_run(&wanting, err);
    }
    by_free(wanting.wants);
    by_free(wanting.weight);
    return status;
}
