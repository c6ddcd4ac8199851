/*
 * The float model with all sources of noise in it, each switched on and off by an input: a session
 * is opened once, and any set of sources is a run.
 *
 * Pairs of activations read their scales from a table that is an input, where a scale of 0 leaves
 * values as they are. After what is no such pair stands a Where that a bool of the input `switches`
 * sets. To what a weight of MatMul or Gemm gives, its input times what rounding changes is added,
 * or nothing, so that the runtime packs the weight once. Other weights are inputs themselves: a run
 * is given the float values, or what rounding leaves.
 *
 * With the sources of a part alone a run takes a fraction of the time: other activations have no
 * pairs, and other weights are constants.
 */
#include "search/decision_internal.h"

#include "engine/pair.h"
#include "engine/product.h"
#include "ir/shape.h"
#include "ir/tensor.h"
#include "quant/floats.h"
#include "quant/lower.h"
#include "quant/plan_copy.h"
#include "quant/rounded.h"
#include "trial/draft.h"

#include <string.h>

/* A constant that is an input, or what changes of one: its values when its source is off, and on.
 */
struct constant {
    size_t source;
    struct by_array array; /* off */
    struct by_floats_view exact;
    float *rounded;
    size_t rows, columns; /* of a change, which has no rows when it is off; 0: a constant */
};

/* A row of the table. */
struct pair {
    size_t source; /* BY_NONE: it is not read */
    bool tuned;    /* its scale is the source's, and has its factor */
};

struct by_switches {
    const struct by_decisions *d;
    size_t begin, end; /* sources that are in it */
    struct by_session *session;
    struct by_arena arena; /* names */
    struct constant *constants;
    size_t constant_count;
    const char *bits; /* name of the input of bools; NULL: nothing reads it */
    struct by_pair_table table;
    struct pair *pairs; /* by row of the table */
    struct by_begun begun;
    size_t first; /* of the judge's kept samples, the first one that judges */
};

struct opening {
    struct by_switches *switches;
    struct by_draft draft;
    size_t *rows;               /* of the whole plan, by row of the draft's */
    struct baryon_value *input; /* of bools */
    struct baryon_value **bit;  /* by source: its scalar; NULL: not made yet */
};

static bool has_source(const struct by_switches *switches, size_t source)
{
    return source != BY_NONE && source >= switches->begin && source < switches->end;
}

/* --- Activations --- */

/* Of an element for each source, when the first one is read. */
static int add_list(struct opening *opening, struct baryon_error *err)
{
    struct baryon_model *model = opening->draft.model;
    struct by_switches *switches = opening->switches;
    struct by_shape *shape = by_shape_new(&model->arena, 1, err);
    if (!shape)
        return -1;
    shape->dims[0].size = (int64_t)switches->d->source_count;
    const char *name = by_model_fresh_name(model, "switches", err);
    struct by_type *type = name ? by_type_tensor(model, BY_ELEM_BOOL, shape, err) : NULL;
    opening->input = type ? by_graph_add_input(model->graph, name, type, err) : NULL;
    switches->bits =
        opening->input ? by_arena_text(&switches->arena, name, strlen(name), err) : NULL;
    return switches->bits ? 0 : -1;
}

/* A source's element of the list, as a scalar. */
static struct baryon_value *bit_of(struct opening *opening, size_t source, struct baryon_error *err)
{
    struct baryon_model *model = opening->draft.model;
    const int64_t place = (int64_t)source;
    if (opening->bit[source])
        return opening->bit[source];
    if (!opening->input && add_list(opening, err) < 0)
        return NULL;
    const char *name = by_model_fresh_name(model, "switch_place", err);
    const char *out = name ? by_model_fresh_name(model, "switch", err) : NULL;
    struct baryon_tensor *tensor =
        out ? by_tensor_new(model, name, BY_ELEM_INT64, NULL, 0, &place, sizeof place, err) : NULL;
    struct baryon_value *inputs[] = {
        opening->input, tensor ? by_graph_add_initializer(model->graph, tensor, err) : NULL};
    if (!inputs[1])
        return NULL;
    const struct baryon_node *node =
        by_graph_add_node(model->graph, "Gather", NULL, out, inputs, 2, &out, 1, err);
    return opening->bit[source] = node ? by_node_out(node, 0) : NULL;
}

static void take_pair(const struct opening *opening, size_t index, size_t source,
                      const struct baryon_node *node)
{
    const struct by_decisions *d = opening->switches->d;
    const struct by_quant_plan *plan = d->q->plan;
    const size_t row = opening->rows[index];
    opening->switches->pairs[by_node_int(node, BY_PAIR_INDEX, 0)] =
        (struct pair){.source = source,
                      .tuned = plan->rows.at[row].converts == BY_NO_ROW &&
                               by_decide_same_grid(by_quant_params(plan, row),
                                                   by_quant_params(plan, d->sources[source].row))};
}

/* The row's pair, and the one before it, which nothing else may read: both are the source's.
 * Whether they are all there is between the exact value and the node. */
static bool take_pairs(const struct opening *opening, size_t index, size_t source,
                       const struct baryon_node *node)
{
    const struct by_quant_plan *plan = opening->draft.plan;
    const struct baryon_value *exact = plan->rows.at[index].value, *value = NULL;
    bool all = true;
    if (plan->rows.at[index].converts == BY_NO_ROW && !by_node_is_pair(node))
        return false;
    for (; node && value != exact && index != BY_NO_ROW; node = value ? value->producer : NULL) {
        value = by_node_in(node, 0);
        all = all && by_node_is_pair(node);
        if (!by_node_is_pair(node))
            continue;
        take_pair(opening, index, source, node);
        index = plan->rows.at[index].converts;
    }
    return all;
}

static int switch_value(struct opening *opening, size_t source, struct baryon_value *exact,
                        struct baryon_value *quantized, struct baryon_error *err)
{
    struct baryon_model *model = opening->draft.model;
    struct baryon_value *inputs[] = {bit_of(opening, source, err), quantized, exact};
    const char *out = inputs[0] ? by_model_fresh_name(model, "switched", err) : NULL;
    if (!out)
        return -1;
    struct baryon_node *node =
        by_graph_add_node(model->graph, "Where", NULL, out, inputs, 3, &out, 1, err);
    return node ? by_value_replace_uses(quantized, by_node_out(node, 0), node, err) : -1;
}

static struct baryon_value *read_by(const struct by_quant_reader *reader)
{
    if (!reader->node)
        return by_graph_out(reader->graph, reader->slot);
    return reader->node->graph ? by_node_in(reader->node, reader->slot) : NULL;
}

/* Readers may have a pair each. What reads the value itself, or a Where already, is passed over. */
static int switch_row(struct opening *opening, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &opening->draft.plan->rows.at[index];
    const size_t source = opening->switches->d->work->source_of[opening->rows[index]];
    for (size_t i = 0; source != BY_NONE && i < row->readers.count; i++) {
        struct baryon_value *value = read_by(&row->readers.at[i]);
        if (!value || !value->producer || value == row->value ||
            !strcmp(value->producer->op_type, "Where"))
            continue;
        if (!has_source(opening->switches, source) && row->readers.at[i].node) {
            if (by_value_replace_uses(value, row->value, NULL, err) < 0)
                return -1;
            continue;
        }
        if (!take_pairs(opening, index, source, value->producer) &&
            switch_value(opening, source, row->value, value, err) < 0)
            return -1;
    }
    return 0;
}

static int join_pairs(struct opening *opening, struct baryon_error *err)
{
    struct by_switches *switches = opening->switches;
    if (by_pairs_join_open(opening->draft.model, &switches->table, err) < 0)
        return -1;
    const size_t count = switches->table.count;
    switches->pairs = by_arena_alloc(&switches->arena, count + 1, sizeof *switches->pairs, err);
    for (size_t i = 0; switches->pairs && i < count; i++)
        switches->pairs[i] = (struct pair){BY_NONE, false};
    return switches->pairs ? 0 : -1;
}

/* Ranges do not take the place of nodes where they may be switched off. */
static int switch_activations(struct opening *opening, struct baryon_error *err)
{
    struct by_switches *switches = opening->switches;
    struct by_quant_plan *plan = opening->draft.plan;
    for (size_t i = 0; i < plan->node_count; i++)
        plan->nodes[i].folded = false;
    const size_t rows = plan->rows.count;
    if (by_lower_qdq(plan, switches->d->q->pool, err) < 0 || join_pairs(opening, err) < 0)
        return -1;
    for (size_t i = 0; i < rows; i++)
        if (switch_row(opening, i, err) < 0)
            return -1;
    return 0;
}

/* --- Constants --- */

static bool is_floats(const struct baryon_value *value)
{
    return value && value->initializer && !value->is_input && !by_value_is_output(value) &&
           value->initializer->data_type == BY_ELEM_FLOAT;
}

static struct baryon_value *add_constant_input(struct baryon_model *model, size_t rank,
                                               const int64_t *dims, struct baryon_error *err)
{
    struct by_shape *shape = by_shape_new(&model->arena, rank, err);
    for (size_t i = 0; shape && i < rank; i++)
        shape->dims[i].size = dims[i];
    const char *name = shape ? by_model_fresh_name(model, "switched_constant", err) : NULL;
    struct by_type *type = name ? by_type_tensor(model, BY_ELEM_FLOAT, shape, err) : NULL;
    return type ? by_graph_add_input(model->graph, name, type, err) : NULL;
}

/* Takes the rounded values over, whatever comes out. */
static int make_input(struct opening *opening, size_t source, struct baryon_value *value,
                      float *rounded, struct baryon_error *err)
{
    struct by_switches *switches = opening->switches;
    struct constant *constant = &switches->constants[switches->constant_count];
    const struct baryon_tensor *tensor = value->initializer;
    *constant = (struct constant){.source = source, .rounded = rounded};
    switches->constant_count++;
    struct baryon_value *input =
        add_constant_input(opening->draft.model, tensor->dims.count, tensor->dims.at, err);
    if (!input || by_floats_open(&constant->exact, tensor, err) < 0 ||
        by_value_replace_uses(value, input, NULL, err) < 0)
        return -1;
    constant->array = (struct by_array){
        .name = by_arena_text(&switches->arena, input->name, strlen(input->name), err),
        .elem = BY_ELEM_FLOAT,
        .rank = tensor->dims.count,
        .data = constant->exact.values,
        .size = constant->exact.count * sizeof(float)};
    if (!constant->array.name)
        return -1;
    if (tensor->dims.count > BY_RANK_MAX) {
        by_fail(err, BARYON_ERR_UNSUPPORTED, "constants of more than %d dimensions", BY_RANK_MAX);
        return by_err_tensor(err, tensor);
    }
    for (size_t i = 0; i < tensor->dims.count; i++)
        constant->array.dims[i] = tensor->dims.at[i];
    return value->use_count || value->pinned ? 0 : by_graph_remove_initializer(value, err);
}

/* --- Changes of weights --- */

/* Whose second input the weight is, and which gives its product alone; NULL: there is none. */
static struct baryon_node *multiplied_by(const struct baryon_value *weight)
{
    struct baryon_node *node = weight->use_count == 1 ? weight->uses[0].node : NULL;
    if (!node || weight->pinned || weight->uses[0].slot != 1 || node->graph != weight->graph ||
        weight->initializer->dims.count != 2)
        return NULL;
    const bool gemm = by_node_is(node, "Gemm") && !by_node_int(node, "transA", 0) &&
                      by_node_float(node, "alpha", 1) == 1;
    return (gemm || by_node_is(node, "MatMul")) && !by_value_is_output(by_node_out(node, 0)) ? node
                                                                                             : NULL;
}

/* rounded becomes what it changes, with a column for each output. */
static int subtract_exact(const struct baryon_tensor *tensor, bool turned, float **rounded,
                          struct baryon_error *err)
{
    struct by_floats_view exact;
    const size_t rows = (size_t)tensor->dims.at[0], columns = (size_t)tensor->dims.at[1];
    if (by_floats_open(&exact, tensor, err) < 0)
        return -1;
    float *change = by_alloc(exact.count + 1, sizeof *change, err);
    for (size_t i = 0; change && i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            change[turned ? k * rows + i : i * columns + k] =
                (*rounded)[i * columns + k] - exact.values[i * columns + k];
    by_floats_close(&exact);
    if (!change)
        return -1;
    by_free(*rounded);
    *rounded = change;
    return 0;
}

/* y becomes y, x and the change in one node, which all read that read y. */
static int change_product(struct opening *opening, struct baryon_node *node,
                          struct baryon_value *change, struct baryon_error *err)
{
    struct baryon_model *model = opening->draft.model;
    struct baryon_value *y = by_node_out(node, 0);
    struct baryon_value *inputs[] = {y, by_node_in(node, 0), change};
    const char *out = by_model_fresh_name(model, "changed", err);
    if (!out || by_model_set_opset(model, BY_PRODUCT_DOMAIN, 1, err) < 0)
        return -1;
    struct baryon_node *product = by_graph_add_node(model->graph, BY_PRODUCT_OP, BY_PRODUCT_DOMAIN,
                                                    NULL, inputs, 3, &out, 1, err);
    return product ? by_value_replace_uses(y, by_node_out(product, 0), product, err) : -1;
}

/* Takes the rounded values over, whatever comes out. */
static int make_change(struct opening *opening, size_t source, struct baryon_node *node,
                       float *rounded, struct baryon_error *err)
{
    struct by_switches *switches = opening->switches;
    struct constant *constant = &switches->constants[switches->constant_count++];
    const struct baryon_tensor *tensor = by_node_in(node, 1)->initializer;
    const bool turned = by_node_int(node, "transB", 0) != 0;
    *constant = (struct constant){.source = source,
                                  .rounded = rounded,
                                  .rows = (size_t)tensor->dims.at[turned],
                                  .columns = (size_t)tensor->dims.at[!turned]};
    if (subtract_exact(tensor, turned, &constant->rounded, err) < 0)
        return -1;
    struct baryon_value *input = add_constant_input(
        opening->draft.model, 2, (int64_t[]){-1, (int64_t)constant->columns}, err);
    if (!input || change_product(opening, node, input, err) < 0)
        return -1;
    constant->array = (struct by_array){
        .name = by_arena_text(&switches->arena, input->name, strlen(input->name), err),
        .elem = BY_ELEM_FLOAT,
        .rank = 2,
        .dims = {0, (int64_t)constant->columns},
        .data = constant->rounded};
    return constant->array.name ? 0 : -1;
}

/* What the row leaves of the values that the quantization has now: of biases, corrected ones. */
static int switch_constant(struct opening *opening, size_t row, struct baryon_error *err)
{
    const struct by_decisions *d = opening->switches->d;
    const struct by_quant_row *at = &d->q->plan->rows.at[row];
    struct baryon_value *value = by_graph_value(opening->draft.model->graph, at->value->name);
    struct by_floats_view now;
    if (!is_floats(value) || !is_floats(at->value))
        return 0;
    if (by_floats_open(&now, at->value->initializer, err) < 0)
        return -1;
    float *rounded = by_alloc(now.count + 1, sizeof *rounded, err);
    int status =
        rounded ? by_quant_round(d->q->plan, row, now.values, d->q->pool, rounded, err) : -1;
    by_floats_close(&now);
    if (status < 0) {
        by_free(rounded);
        return -1;
    }
    struct baryon_node *node = multiplied_by(value);
    return node ? make_change(opening, d->work->source_of[row], node, rounded, err)
                : make_input(opening, d->work->source_of[row], value, rounded, err);
}

/* Biases that stay float but make up for rounded weights. */
static int switch_float_bias(struct opening *opening, const struct by_decide_layer *layer,
                             size_t slot, struct baryon_error *err)
{
    const struct baryon_value *now = by_node_in(layer->node, slot);
    struct by_floats_view one, other;
    if (!is_floats(now) || by_quant_find(opening->switches->d->q->plan, now) != BY_NO_ROW)
        return 0;
    struct baryon_value *value = by_graph_value(opening->draft.model->graph, now->name);
    if (!is_floats(value))
        return 0;
    if (by_floats_open(&one, now->initializer, err) < 0)
        return -1;
    float *copy = by_alloc(one.count + 1, sizeof *copy, err);
    if (!copy || by_floats_open(&other, value->initializer, err) < 0) {
        by_free(copy);
        by_floats_close(&one);
        return -1;
    }
    const bool same = one.count == other.count &&
                      !memcmp(one.values, other.values, one.count * sizeof *one.values);
    memcpy(copy, one.values, one.count * sizeof *copy);
    by_floats_close(&other);
    by_floats_close(&one);
    if (!same)
        return make_input(opening, layer->weight, value, copy, err);
    by_free(copy);
    return 0;
}

static int switch_constants(struct opening *opening, struct baryon_error *err)
{
    struct by_switches *switches = opening->switches;
    const struct by_decide_work *work = switches->d->work;
    const struct by_quant_plan *plan = switches->d->q->plan;
    size_t most = plan->rows.count + 1;
    for (size_t i = 0; i < work->layer_count; i++)
        most += work->layers[i].node->input.count;
    switches->constants = by_alloc_zero(most, sizeof *switches->constants, err);
    if (!switches->constants)
        return -1;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (has_source(switches, work->source_of[i]) &&
            switches->d->sources[work->source_of[i]].weight && switch_constant(opening, i, err) < 0)
            return -1;
    for (size_t i = 0; i < work->layer_count; i++)
        for (size_t k = 2;
             has_source(switches, work->layers[i].weight) && k < work->layers[i].node->input.count;
             k++)
            if (switch_float_bias(opening, &work->layers[i], k, err) < 0)
                return -1;
    return 0;
}

/* --- Sessions --- */

static int open_model(struct opening *opening, struct baryon_error *err)
{
    struct by_switches *switches = opening->switches;
    const struct by_decisions *d = switches->d;
    if (by_draft_open_planned(&opening->draft, &d->q->floats, d->q->plan, BY_ROLES_ACTIVATIONS,
                              opening->rows, err) < 0 ||
        switch_activations(opening, err) < 0 || switch_constants(opening, err) < 0)
        return -1;
    const bool part = switches->end - switches->begin < d->source_count;
    if (part && by_begins_replace(d->work->begins, opening->draft.model, &switches->arena,
                                  &switches->begun, err) < 0)
        return -1;
    if (part && by_graph_prune(opening->draft.model->graph, NULL, err) < 0)
        return -1;
    return by_judge_session(d->judge, opening->draft.model, true, &switches->session, err);
}

int by_switches_open(struct by_switches **out, const struct by_decisions *d, size_t begin,
                     size_t end, struct baryon_error *err)
{
    struct by_switches *switches = *out = by_alloc_zero(1, sizeof *switches, err);
    if (!switches)
        return -1;
    by_arena_init(&switches->arena, 0);
    switches->d = d;
    switches->begin = begin;
    switches->end = end;
    switches->first = by_judge_kept(d->judge) - by_judge_count(d->judge);
    struct opening opening = {.switches = switches};
    opening.rows = by_alloc_zero(d->q->plan->rows.count + 1, sizeof *opening.rows, err);
    opening.bit = by_alloc_zero(d->source_count + 1, sizeof(void *), err);
    const int status = opening.rows && opening.bit ? open_model(&opening, err) : -1;
    by_free(opening.rows);
    by_free((void *)opening.bit);
    by_draft_close(&opening.draft);
    return status;
}

void by_switches_close(struct by_switches *switches)
{
    if (!switches)
        return;
    by_session_close(switches->session);
    for (size_t i = 0; i < switches->constant_count; i++) {
        by_floats_close(&switches->constants[i].exact);
        by_free(switches->constants[i].rounded);
    }
    by_free(switches->constants);
    by_pair_table_release(&switches->table);
    by_arena_release(&switches->arena);
    by_free(switches);
}

/* --- Runs --- */

/* factors: of scales; NULL: all are 1. */
static void set_table(const struct by_switches *switches, const bool *on, const double *factors,
                      float *rows)
{
    if (switches->table.count)
        memcpy(rows, switches->table.rows, switches->table.count * BY_PAIR_TABLE * sizeof *rows);
    for (size_t i = 0; i < switches->table.count; i++) {
        const struct pair *pair = &switches->pairs[i];
        float *scale = &rows[i * BY_PAIR_TABLE];
        if (pair->source == BY_NONE || !on[pair->source])
            *scale = 0;
        else if (factors && pair->tuned)
            *scale *= (float)factors[pair->source];
    }
}

/* The sample's inputs, the bools, the table, the constants. */
static size_t fill_inputs(const struct by_switches *switches, const bool *on, const float *rows,
                          size_t sample, size_t index, struct by_array *inputs)
{
    size_t count;
    const struct by_array *own =
        by_judge_inputs(switches->d->judge, switches->first + sample, &count);
    memcpy(inputs, own, count * sizeof *inputs);
    if (switches->bits)
        inputs[count++] = (struct by_array){.name = switches->bits,
                                            .elem = BY_ELEM_BOOL,
                                            .rank = 1,
                                            .dims = {(int64_t)switches->d->source_count},
                                            .data = on,
                                            .size = switches->d->source_count};
    if (switches->table.count) {
        inputs[count] = switches->table.array;
        inputs[count++].data = rows;
    }
    for (size_t i = 0; i < switches->begun.count; i++) {
        inputs[count] = switches->begun.at[i].arrays[index];
        inputs[count++].name = switches->begun.at[i].name;
    }
    for (size_t i = 0; i < switches->constant_count; i++) {
        const struct constant *constant = &switches->constants[i];
        inputs[count] = constant->array;
        if (on[constant->source])
            inputs[count].data = constant->rounded;
        if (on[constant->source] && constant->rows) {
            inputs[count].dims[0] = (int64_t)constant->rows;
            inputs[count].size = constant->rows * constant->columns * sizeof(float);
        }
        count++;
    }
    return count;
}

static int run_session(const struct by_switches *switches, const bool *on, const double *factors,
                       size_t sample, size_t index, struct by_run **run, struct baryon_error *err)
{
    const struct by_decisions *d = switches->d;
    size_t ports;
    by_judge_inputs(d->judge, switches->first + sample, &ports);
    struct by_array *inputs =
        by_alloc(ports + switches->constant_count + switches->begun.count + 2, sizeof *inputs, err);
    float *rows = by_alloc(switches->table.count * BY_PAIR_TABLE + 1, sizeof *rows, err);
    int status = inputs && rows ? 0 : -1;
    if (status == 0) {
        set_table(switches, on, factors, rows);
        status = by_session_run(switches->session, inputs,
                                fill_inputs(switches, on, rows, sample, index, inputs), NULL, 0,
                                run, err);
    }
    by_free(inputs);
    by_free(rows);
    return status;
}

int by_switches_run(const struct by_switches *switches, const bool *on, const double *factors,
                    size_t sample, size_t index, struct by_judgement *judgement, double *places,
                    struct baryon_error *err)
{
    const struct by_decisions *d = switches->d;
    struct by_run *run;
    size_t count;
    int status = run_session(switches, on, factors, sample, index, &run, err);
    if (status < 0)
        return -1;
    const struct by_array *outputs = by_run_outputs(run, &count);
    if (judgement)
        status = by_judge_outputs(d->judge, sample, outputs, count, judgement, err);
    if (status == 0 && places)
        status = by_decide_noise_fold(d, outputs, count, sample, index, places, err);
    by_run_free(run);
    return status;
}
