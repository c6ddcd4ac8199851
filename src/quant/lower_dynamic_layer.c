/* Layers whose data is quantized while the model runs. */
#include "quant/lower_dynamic.h"

#include <stdio.h>
#include <string.h>

static const char *stem_of(const struct baryon_node *node)
{
    return node->output.at[0];
}

static bool by_channel(const struct by_quant_plan *plan, size_t row)
{
    return plan->rows.at[row].spec.granularity != BY_PER_TENSOR;
}

static const struct by_ints *dims_of(const struct by_quant_plan *plan, size_t row)
{
    return &plan->rows.at[row].value->initializer->dims;
}

/* --- Data --- */

/* DynamicQuantizeLinear, one for all that read the value. */
static int quantize_input(struct by_dynamic *dynamic, struct baryon_value *value,
                          struct by_dynamic_input **input, struct baryon_error *err)
{
    static const char *const suffixes[] = {"quantized", "scale", "zero_point"};
    struct by_arena *arena = &dynamic->plan->arena;
    char stem[BY_NAME_MAX];
    const char *names[3];
    if ((*input = by_map_get_bytes(&dynamic->inputs, &value, sizeof value)))
        return 0;
    for (size_t i = 0; i < 3; i++) {
        const int size = snprintf(stem, sizeof stem, "%.4000s_%s", value->name, suffixes[i]);
        if (size < 0 || !(names[i] = by_model_fresh_name(dynamic->plan->model, stem, err)))
            return -1;
    }
    struct baryon_node *node = by_graph_add_node(dynamic->graph, "DynamicQuantizeLinear", NULL,
                                                 names[0], &value, 1, names, 3, err);
    struct baryon_value **key = BY_ARENA_NEW(arena, struct baryon_value *, err);
    if (!node || !key || !(*input = BY_ARENA_NEW(arena, struct by_dynamic_input, err)))
        return -1;
    *key = value;
    **input =
        (struct by_dynamic_input){by_node_out(node, 0), by_node_out(node, 1), by_node_out(node, 2)};
    return by_map_put_bytes(&dynamic->inputs, key, sizeof *key, *input, err);
}

/* --- Sums of integers: Cast, times both scales, plus bias --- */

static int finish_dynamic_layer(struct by_dynamic *dynamic, struct baryon_node *node,
                                struct baryon_value *sums, const struct by_dynamic_input *input,
                                const struct by_dynamic_weight *weight, struct baryon_value *bias,
                                struct baryon_error *err)
{
    const char *stem = stem_of(node);
    struct baryon_value *scales[] = {input->scale, weight->scale};
    struct baryon_value *cast = by_lower_step(dynamic->graph, "Cast", stem, "cast", &sums, 1, err);
    struct baryon_value *scale =
        by_lower_step(dynamic->graph, "Mul", stem, "scales", scales, 2, err);
    if (!cast || !scale || by_node_set_int(cast->producer, "to", BY_ELEM_FLOAT, err))
        return -1;
    struct baryon_value *factors[] = {cast, scale};
    if (!bias)
        return by_lower_replace(node, "Mul", NULL, node->name, factors, 2, err) ? 0 : -1;
    struct baryon_value *summands[] = {
        by_lower_step(dynamic->graph, "Mul", stem, "scaled", factors, 2, err), bias};
    return summands[0] && by_lower_replace(node, "Add", NULL, node->name, summands, 2, err) ? 0
                                                                                            : -1;
}

int by_dynamic_matmul(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                      struct baryon_error *err)
{
    const struct by_ints *dims = dims_of(dynamic->plan, row);
    const bool gemm = by_node_is(node, "Gemm"), transposed = gemm && by_node_int(node, "transB", 0);
    const int axis = transposed ? 0 : 1;
    const struct by_dynamic_form form = {.dims = {dims->at[0], dims->at[1]},
                                         .rank = 2,
                                         .axis = by_channel(dynamic->plan, row) ? axis : -1,
                                         .transposed = transposed,
                                         .scale_dims = {dims->at[axis]},
                                         .scale_rank = 1};
    struct by_dynamic_weight *weight;
    struct by_dynamic_input *input;
    if (by_dynamic_weight(dynamic, row, &form, &weight, err) ||
        quantize_input(dynamic, by_node_in(node, 0), &input, err))
        return -1;
    struct baryon_value *inputs[] = {input->levels, weight->levels, input->zero, weight->zero};
    struct baryon_value *sums =
        by_lower_step(dynamic->graph, "MatMulInteger", stem_of(node), "integers", inputs, 4, err);
    struct baryon_value *bias = gemm ? by_node_in(node, 2) : NULL;
    return sums ? finish_dynamic_layer(dynamic, node, sums, input, weight, bias, err) : -1;
}

/* --- Convolutions --- */

/* [C] as [1, C, 1, 1]. */
static struct baryon_value *spread_bias(struct by_dynamic *dynamic, struct baryon_value *bias,
                                        const char *stem, size_t rank, struct baryon_error *err)
{
    int64_t shape[BY_RANK_MAX];
    const int64_t count = (int64_t)rank;
    for (size_t i = 0; i < rank; i++)
        shape[i] = i == 1 ? -1 : 1;
    struct baryon_value *inputs[] = {bias, by_lower_new(dynamic->graph, bias->name, "shape",
                                                        BY_ELEM_INT64, &count, 1, shape,
                                                        rank * sizeof *shape, err)};
    return inputs[1] ? by_lower_step(dynamic->graph, "Reshape", stem, "bias", inputs, 2, err)
                     : NULL;
}

int by_dynamic_conv(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                    struct baryon_error *err)
{
    const struct by_ints *dims = dims_of(dynamic->plan, row);
    const size_t channels = (size_t)dims->at[0];
    size_t count = 0;
    if (by_dims_count(dims->at, dims->count, &count, err))
        return -1;
    const struct by_dynamic_form form = {
        .dims = {dims->at[0], channels ? (int64_t)(count / channels) : 0},
        .rank = 2,
        .axis = by_channel(dynamic->plan, row) ? 0 : -1,
        .equal_zeros = true,
        .one_zero = true,
        .scale_dims = {dims->at[0], 1, 1, 1},
        .scale_rank = dims->count - 1};
    struct by_dynamic_weight *weight;
    struct by_dynamic_input *input;
    if (dims->count < 3 || dims->count > 5)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "Conv with a weight of %zu axes", dims->count);
    if (by_dynamic_weight(dynamic, row, &form, &weight, err) ||
        quantize_input(dynamic, by_node_in(node, 0), &input, err))
        return -1;
    struct baryon_value *inputs[] = {input->levels, weight->levels, input->zero, weight->zero};
    struct baryon_value *bias = by_node_in(node, 2),
                        *sums = by_lower_step(dynamic->graph, "ConvInteger", stem_of(node),
                                              "integers", inputs, 4, err);
    if (!sums || by_lower_copy_attributes(node, sums->producer, err))
        return -1;
    if (bias && !(bias = spread_bias(dynamic, bias, stem_of(node), dims->count, err)))
        return -1;
    return finish_dynamic_layer(dynamic, node, sums, input, weight, bias, err);
}

/* --- Operators that do all of it --- */

int by_dynamic_attention(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                         struct baryon_error *err)
{
    const struct by_ints *dims = dims_of(dynamic->plan, row);
    const struct by_dynamic_form form = {.dims = {dims->at[0], dims->at[1]},
                                         .rank = 2,
                                         .axis = by_channel(dynamic->plan, row) ? 1 : -1,
                                         .scale_dims = {dims->at[1]},
                                         .scale_rank = 1};
    struct by_dynamic_weight *weight;
    struct by_dynamic_input *input;
    if (by_dynamic_weight(dynamic, row, &form, &weight, err) ||
        quantize_input(dynamic, by_node_in(node, 0), &input, err))
        return -1;
    struct baryon_value *inputs[] = {input->levels, weight->levels, by_node_in(node, 2),
                                     input->scale,  weight->scale,  by_node_in(node, 3),
                                     input->zero,   weight->zero,   by_node_in(node, 4)};
    const char *op = by_model_name(dynamic->plan->model, "QAttention", err);
    for (size_t i = 0; i < 9 && op; i++)
        if (by_node_set_input(node, i, inputs[i], err))
            return -1;
    if (!op)
        return -1;
    node->op_type = op;
    return 0;
}

/* Both matrices are [directions, 4 * hidden, inputs] and wanted with the last two exchanged; a
 * scale for each direction, or for each row. */
static int lstm_matrix(struct by_dynamic *dynamic, struct baryon_node *node, size_t slot,
                       struct by_dynamic_weight **weight, struct baryon_error *err)
{
    const size_t row = by_quant_find(dynamic->plan, by_node_in(node, slot));
    if (row == BY_NO_ROW)
        return by_fail(err, BARYON_ERR_INTERNAL, "an LSTM with only one matrix in the plan");
    const struct by_ints *dims = dims_of(dynamic->plan, row);
    const bool rows = by_channel(dynamic->plan, row);
    const struct by_dynamic_form form = {.dims = {rows ? dims->at[0] * dims->at[1] : dims->at[0],
                                                  rows ? dims->at[2] : dims->at[1] * dims->at[2]},
                                         .rank = 2,
                                         .axis = 0,
                                         .transposed = true,
                                         .equal_zeros = rows,
                                         .scale_dims = {dims->at[0], dims->at[1]},
                                         .scale_rank = rows ? 2 : 1};
    return by_dynamic_weight(dynamic, row, &form, weight, err);
}

int by_dynamic_lstm(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                    struct baryon_error *err)
{
    struct by_dynamic_weight *input, *hidden;
    (void)row;
    if (lstm_matrix(dynamic, node, 1, &input, err) || lstm_matrix(dynamic, node, 2, &hidden, err))
        return -1;
    const char *op = by_model_name(dynamic->plan->model, "DynamicQuantizeLSTM", err);
    const char *domain = op ? by_model_name(dynamic->plan->model, BY_MICROSOFT, err) : NULL;
    if (!domain || by_node_set_input(node, 1, input->levels, err) ||
        by_node_set_input(node, 2, hidden->levels, err) ||
        by_node_set_input(node, 8, input->scale, err) ||
        by_node_set_input(node, 9, input->zero, err) ||
        by_node_set_input(node, 10, hidden->scale, err) ||
        by_node_set_input(node, 11, hidden->zero, err))
        return -1;
    by_node_remove_attr(node, "layout");
    node->op_type = op;
    node->domain = domain;
    return 0;
}

/* --- Recurrent operators without a form of their own --- */

/* Stored as one matrix, a row of which has a scale in each direction. */
static struct baryon_value *dequantized_matrix(struct by_dynamic *dynamic,
                                               const struct baryon_node *node, size_t slot,
                                               struct baryon_error *err)
{
    const struct baryon_value *value = by_node_in(node, slot);
    const size_t row = by_quant_find(dynamic->plan, value);
    if (row == BY_NO_ROW) {
        by_fail(err, BARYON_ERR_INTERNAL, "%s with only one matrix in the plan", node->op_type);
        return NULL;
    }
    const struct by_ints *dims = dims_of(dynamic->plan, row);
    const int64_t rows = dims->at[0] * dims->at[1], rank = (int64_t)dims->count;
    const struct by_dynamic_form form = {.dims = {rows, dims->at[2]},
                                         .rank = 2,
                                         .axis = by_channel(dynamic->plan, row) ? 0 : -1,
                                         .flat = true,
                                         .scale_dims = {rows},
                                         .scale_rank = 1};
    struct by_dynamic_weight *weight;
    if (by_dynamic_weight(dynamic, row, &form, &weight, err))
        return NULL;
    struct baryon_value *inputs[] = {weight->levels, weight->scale, weight->zero};
    struct baryon_value *shape =
        by_lower_new(dynamic->graph, value->name, "shape", BY_ELEM_INT64, &rank, 1, dims->at,
                     dims->count * sizeof *dims->at, err);
    struct baryon_value *matrix = shape ? by_lower_step(dynamic->graph, "DequantizeLinear",
                                                        value->name, "dequantized", inputs, 3, err)
                                        : NULL;
    if (!matrix || (form.axis == 0 && by_node_set_int(matrix->producer, "axis", 0, err)))
        return NULL;
    struct baryon_value *parts[] = {matrix, shape};
    return by_lower_step(dynamic->graph, "Reshape", value->name, "stack", parts, 2, err);
}

int by_dynamic_recurrent(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                         struct baryon_error *err)
{
    (void)row;
    for (size_t slot = 1; slot <= 2; slot++) {
        struct baryon_value *matrix = dequantized_matrix(dynamic, node, slot, err);
        if (!matrix || by_node_set_input(node, slot, matrix, err))
            return -1;
    }
    return 0;
}

/* --- Tables --- */

/* Rows of integers, and of their scales and zero points. */
static struct baryon_value *take_rows(struct by_dynamic *dynamic, const struct baryon_node *node,
                                      struct baryon_value *table, const char *suffix,
                                      struct baryon_error *err)
{
    struct baryon_value *inputs[] = {table, by_node_in(node, 1)};
    struct baryon_value *rows =
        by_lower_step(dynamic->graph, "Gather", stem_of(node), suffix, inputs, 2, err);
    return rows && by_node_set_int(rows->producer, "axis", 0, err) == 0 ? rows : NULL;
}

static struct baryon_value *as_float(struct by_dynamic *dynamic, const struct baryon_node *node,
                                     struct baryon_value *value, const char *suffix,
                                     struct baryon_error *err)
{
    struct baryon_value *cast =
        value ? by_lower_step(dynamic->graph, "Cast", stem_of(node), suffix, &value, 1, err) : NULL;
    return cast && by_node_set_int(cast->producer, "to", BY_ELEM_FLOAT, err) == 0 ? cast : NULL;
}

static int gather_rows(struct by_dynamic *dynamic, struct baryon_node *node,
                       struct by_dynamic_weight *weight, struct baryon_error *err)
{
    struct baryon_value *rows = take_rows(dynamic, node, weight->levels, "rows", err);
    struct baryon_value *zeros = rows ? take_rows(dynamic, node, weight->zero, "zeros", err) : NULL;
    struct baryon_value *scales =
        zeros ? take_rows(dynamic, node, weight->scale, "scales", err) : NULL;
    struct baryon_value *pair[2] = {scales ? as_float(dynamic, node, rows, "levels", err) : NULL,
                                    scales ? as_float(dynamic, node, zeros, "zero", err) : NULL};
    if (!pair[0] || !pair[1])
        return -1;
    struct baryon_value *factors[] = {
        by_lower_step(dynamic->graph, "Sub", stem_of(node), "distance", pair, 2, err), scales};
    return factors[0] && by_lower_replace(node, "Mul", NULL, node->name, factors, 2, err) ? 0 : -1;
}

int by_dynamic_gather(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                      struct baryon_error *err)
{
    const struct by_ints *dims = dims_of(dynamic->plan, row);
    size_t count = 0;
    if (by_dims_count(dims->at, dims->count, &count, err))
        return -1;
    const bool rows = by_channel(dynamic->plan, row) && dims->count > 1 && dims->count <= 4;
    struct by_dynamic_form form = {
        .dims = {dims->at[0], dims->at[0] ? (int64_t)count / dims->at[0] : 0},
        .rank = 2,
        .axis = rows ? 0 : -1,
        .scale_dims = {dims->at[0], 1, 1, 1},
        .scale_rank = dims->count};
    struct by_dynamic_weight *weight;
    if (by_dynamic_weight(dynamic, row, &form, &weight, err))
        return -1;
    if (rows)
        return gather_rows(dynamic, node, weight, err);
    struct baryon_value *inputs[] = {take_rows(dynamic, node, weight->levels, "rows", err),
                                     weight->scale, weight->zero};
    return inputs[0] && by_lower_replace(node, "DequantizeLinear", NULL, node->name, inputs, 3, err)
               ? 0
               : -1;
}
