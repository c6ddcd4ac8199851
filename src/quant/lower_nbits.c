/*
 * MatMulNBits in the place of MatMul and Gemm with a constant matrix, GatherBlockQuantized in that
 * of Gather from a table. A matrix that several nodes read the same way is written once.
 */
#include "base/half.h"
#include "quant/floats.h"
#include "quant/lower.h"
#include "quant/lower_node.h"
#include "quant/nbits.h"
#include "quant/rounded.h"
#include "quant/unfit.h"

#include "onnx/load.h"

#include <stdio.h>

struct lowering {
    struct by_quant_plan *plan;
    const struct by_recipe *recipe;
    struct baryon_graph *graph;
    struct by_pool *pool;
};

/* What stands in the graph for a matrix. */
struct matrix {
    struct by_nbits_spec spec;
    struct by_nbits made;
    struct baryon_value *levels, *scales, *zeros; /* zeros NULL: all in the middle */
};

/* --- Constants --- */

static struct baryon_value *add_floats(struct lowering *lowering, const struct matrix *matrix,
                                       const char *stem, const char *suffix, const float *values,
                                       const int64_t *dims, size_t rank, struct baryon_error *err)
{
    const size_t count = matrix->made.channels * matrix->made.blocks;
    if (!matrix->spec.half)
        return by_lower_new(lowering->graph, stem, suffix, BY_ELEM_FLOAT, dims, rank, values,
                            count * sizeof *values, err);
    struct baryon_value *value =
        by_lower_new(lowering->graph, stem, suffix, BY_ELEM_FLOAT16, dims, rank, NULL, 0, err);
    if (value)
        by_f32_to_f16((uint16_t *)(void *)by_lower_room(value), values, count);
    return value;
}

static int add_zeros(struct lowering *lowering, struct matrix *matrix, const char *stem,
                     bool as_table, struct baryon_error *err)
{
    const struct by_nbits *made = &matrix->made;
    const int64_t blocks[] = {(int64_t)made->channels, (int64_t)made->blocks};
    const size_t each = by_nbits_zero_bytes(made, &matrix->spec);
    const int64_t bytes[] = {as_table ? blocks[0] : (int64_t)(made->channels * each),
                             (int64_t)each};
    if (matrix->spec.symmetric && !made->float_zeros)
        return 0;
    if (made->float_zeros) {
        const int64_t all = blocks[0] * blocks[1];
        matrix->zeros =
            add_floats(lowering, matrix, stem, "zero_points", made->zeros, &all, 1, err);
    } else {
        matrix->zeros = by_lower_new(lowering->graph, stem, "zero_points", BY_ELEM_UINT8, bytes,
                                     as_table ? 2 : 1, NULL, 0, err);
        if (matrix->zeros)
            by_nbits_pack_zeros(made, &matrix->spec, by_lower_room(matrix->zeros));
    }
    return matrix->zeros ? 0 : -1;
}

/* A matrix has [channel][block][byte] levels and its numbers in one row; a table has the axes of
 * the one it stands for. */
static int add_constants(struct lowering *lowering, struct matrix *matrix, const char *stem,
                         bool as_table, struct baryon_error *err)
{
    const struct by_nbits *made = &matrix->made;
    const int64_t channels = (int64_t)made->channels, blocks = (int64_t)made->blocks;
    const int64_t bytes = (int64_t)made->block_bytes;
    const int64_t matrix_dims[] = {channels, blocks, bytes}, row[] = {channels * blocks};
    const int64_t table_dims[] = {channels, blocks * bytes}, each[] = {channels, blocks};
    char suffix[8];
    snprintf(suffix, sizeof suffix, "Q%u", matrix->spec.bits);
    matrix->levels = by_lower_new(lowering->graph, stem, suffix, BY_ELEM_UINT8,
                                  as_table ? table_dims : matrix_dims, as_table ? 2 : 3,
                                  made->levels, (size_t)(channels * blocks * bytes), err);
    if (!matrix->levels)
        return -1;
    by_tensor_done(lowering->plan->model, matrix->levels->initializer);
    matrix->scales = add_floats(lowering, matrix, stem, "scales", made->scales,
                                as_table ? each : row, as_table ? 2 : 1, err);
    return matrix->scales ? add_zeros(lowering, matrix, stem, as_table, err) : -1;
}

static int quantize_matrix(struct lowering *lowering, struct by_quant_row *row,
                           struct matrix *matrix, struct baryon_error *err)
{
    const struct baryon_tensor *tensor = row->value->initializer;
    struct by_floats_view floats;
    if (by_floats_open(&floats, tensor, err))
        return -1;
    const struct by_weight_view view = by_quant_view(row, &row->params, floats.values);
    const int failed =
        row->rounded
            ? by_nbits_take(&matrix->made, &view, &matrix->spec, &row->params, row->rounded, err)
            : by_nbits_open(&matrix->made, &view, &matrix->spec, lowering->pool, err);
    by_floats_close(&floats);
    by_tensor_done(lowering->plan->model, tensor);
    row->error = failed ? row->error : matrix->made.error;
    return failed;
}

/* --- Nodes --- */

static int set_sizes(const struct lowering *lowering, const struct matrix *matrix,
                     struct baryon_node *node, struct baryon_error *err)
{
    if (by_node_set_int(node, "K", (int64_t)matrix->made.inputs, err) ||
        by_node_set_int(node, "N", (int64_t)matrix->made.channels, err) ||
        by_node_set_int(node, "bits", matrix->spec.bits, err) ||
        by_node_set_int(node, "block_size", (int64_t)matrix->spec.block, err))
        return -1;
    const int64_t level = lowering->recipe->nbits.accuracy_level;
    return level > 0 ? by_node_set_int(node, "accuracy_level", level, err) : 0;
}

static const char *node_name(struct lowering *lowering, const struct baryon_node *node,
                             unsigned bits, struct baryon_error *err)
{
    char name[BY_NAME_MAX];
    const char *stem = node->name && *node->name ? node->name : node->output.at[0];
    const int size = snprintf(name, sizeof name, "%.4000s_Q%u", stem, bits);
    return size > 0 ? by_model_name(lowering->plan->model, name, err) : NULL;
}

/* One number a channel is the operator's own bias; what Gemm takes besides is added. */
static int replace_product(struct lowering *lowering, const struct matrix *matrix,
                           struct baryon_node *node, struct baryon_error *err)
{
    struct baryon_value *bias = by_node_is(node, "Gemm") ? by_node_in(node, 2) : NULL;
    const bool own = bias && by_unfit_bias_is_row(bias, matrix->made.channels);
    struct baryon_value *inputs[] = {by_node_in(node, 0), matrix->levels, matrix->scales,
                                     matrix->zeros,       NULL,           own ? bias : NULL};
    const size_t count = own ? 6 : matrix->zeros ? 4 : 3;
    const char *name = node_name(lowering, node, matrix->spec.bits, err);
    struct baryon_node *made =
        name ? by_lower_replace(node, "MatMulNBits", BY_MICROSOFT, name, inputs, count, err) : NULL;
    if (!made || set_sizes(lowering, matrix, made, err))
        return -1;
    if (!bias || own)
        return 0;
    struct baryon_value *product = by_node_out(made, 0);
    const char *fresh = by_model_fresh_name(lowering->plan->model, "biased", err);
    struct baryon_value *summands[] = {product, bias};
    struct baryon_node *add =
        fresh ? by_graph_add_node(lowering->graph, "Add", NULL, NULL, summands, 2, &fresh, 1, err)
              : NULL;
    if (!add)
        return -1;
    by_node_out(add, 0)->elem = product->elem;
    by_node_out(add, 0)->shape = product->shape;
    return by_value_replace_uses(product, by_node_out(add, 0), add, err);
}

static int replace_gather(struct lowering *lowering, const struct matrix *matrix,
                          struct baryon_node *node, struct baryon_error *err)
{
    struct baryon_value *inputs[] = {matrix->levels, by_node_in(node, 1), matrix->scales,
                                     matrix->zeros};
    const char *name = node_name(lowering, node, matrix->spec.bits, err);
    struct baryon_node *made = name ? by_lower_replace(node, "GatherBlockQuantized", BY_MICROSOFT,
                                                       name, inputs, matrix->zeros ? 4 : 3, err)
                                    : NULL;
    if (!made || by_node_set_int(made, "gather_axis", 0, err) ||
        by_node_set_int(made, "quantize_axis", 1, err) ||
        by_node_set_int(made, "block_size", (int64_t)matrix->spec.block, err))
        return -1;
    return by_node_set_int(made, "bits", matrix->spec.bits, err);
}

static int replace(struct lowering *lowering, const struct matrix *matrix, struct baryon_node *node,
                   struct baryon_error *err)
{
    return by_node_is(node, "Gather") ? replace_gather(lowering, matrix, node, err)
                                      : replace_product(lowering, matrix, node, err);
}

static int lower_row(struct lowering *lowering, size_t index, bool tables, struct baryon_error *err)
{
    struct by_quant_row *row = &lowering->plan->rows.at[index];
    struct matrix matrix = {.spec = by_nbits_spec_of(lowering->recipe, row, tables)};
    bool ready = false;
    int failed = 0;
    for (size_t i = 0; i < row->readers.count && !failed; i++) {
        struct baryon_node *node = row->readers.at[i].node;
        if (!node || by_node_is(node, "Gather") != tables)
            continue;
        if (!ready)
            failed = quantize_matrix(lowering, row, &matrix, err) ||
                     add_constants(lowering, &matrix, row->value->name, tables, err);
        ready = true;
        failed = failed || replace(lowering, &matrix, node, err);
    }
    by_nbits_close(&matrix.made);
    return failed ? -1 : 0;
}

int by_lower_nbits(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err)
{
    struct lowering lowering = {plan, plan->recipe, plan->model->graph, pool};
    for (size_t i = 0; i < plan->rows.count; i++)
        if (plan->rows.at[i].role == BY_ROLE_WEIGHT &&
            (lower_row(&lowering, i, false, err) || lower_row(&lowering, i, true, err) ||
             by_lower_drop(plan->rows.at[i].value, err)))
            return -1;
    return by_lower_import_microsoft(plan->model, err) || by_model_settle(plan->model, err) ? -1
                                                                                            : 0;
}
