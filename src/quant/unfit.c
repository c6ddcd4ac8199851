/* Finds nodes that cannot be converted to MatMulNBits, MatMulInteger and the like. */
#include "quant/unfit.h"

#include "ir/shape.h"
#include "ir/tensor.h"

#include <string.h>

static const struct by_ints *dims_of(const struct baryon_value *value)
{
    return value && value->initializer ? &value->initializer->dims : NULL;
}

static bool is_fixed_constant(const struct baryon_value *value)
{
    return value && value->initializer && !value->is_input;
}

bool by_unfit_bias_is_row(const struct baryon_value *bias, size_t channels)
{
    const struct by_ints *dims = dims_of(bias);
    return dims && dims->count == 1 && (size_t)dims->at[0] == channels;
}

static bool is_microsoft(const struct baryon_node *node, const char *op_type)
{
    return node->op_type && strcmp(node->op_type, op_type) == 0 && node->domain &&
           strcmp(node->domain, "com.microsoft") == 0;
}

/* What Gemm does besides multiplying. */
static const char *unfit_gemm(const struct baryon_node *node)
{
    if (by_node_int(node, "transA", 0))
        return "it transposes its first matrix";
    if (by_node_float(node, "alpha", 1) != 1)
        return "it multiplies by alpha";
    if (by_node_in(node, 2) && by_node_float(node, "beta", 1) != 1)
        return "it multiplies by beta";
    return NULL;
}

static const char *unfit_matrix(const struct baryon_node *node)
{
    const struct by_ints *dims = dims_of(by_node_in(node, 1));
    if (!is_fixed_constant(by_node_in(node, 1)))
        return "its second matrix is not constant";
    if (dims->count != 2)
        return "its second matrix does not have two axes";
    return by_node_is(node, "Gemm") ? unfit_gemm(node) : NULL;
}

static const char *unfit_nbits(const struct baryon_node *node, const struct by_recipe *recipe)
{
    const struct by_ints *table = dims_of(by_node_in(node, 0));
    if (by_node_is(node, "MatMul") || by_node_is(node, "Gemm"))
        return unfit_matrix(node);
    if (!by_node_is(node, "Gather"))
        return "it has no form with blocks of few bits";
    if (!is_fixed_constant(by_node_in(node, 0)) || table->count != 2 ||
        by_node_int(node, "axis", 0) != 0)
        return "it does not look up rows of a constant table";
    if (table->at[1] % recipe->nbits.group)
        return "rows of its table are not whole blocks";
    return NULL;
}

static const char *unfit_matrices(const struct baryon_node *node)
{
    for (size_t i = 1; i <= 2; i++) {
        if (!is_fixed_constant(by_node_in(node, i)))
            return "its weights are not constant";
        if (dims_of(by_node_in(node, i))->count != 3)
            return "its weights do not have three axes";
    }
    return NULL;
}

static const char *unfit_lstm(const struct baryon_node *node)
{
    const char *unfit = unfit_matrices(node);
    if (unfit)
        return unfit;
    return by_node_int(node, "layout", 0) ? "the batch must not be its first axis" : NULL;
}

static const char *unfit_dynamic(const struct baryon_node *node)
{
    const struct baryon_value *first = by_node_in(node, 0);
    if (first && first->elem != BY_ELEM_FLOAT)
        return "DynamicQuantizeLinear supports only float32";
    if (by_node_is(node, "MatMul") || by_node_is(node, "Gemm"))
        return unfit_matrix(node);
    if (by_node_is(node, "Conv") || is_microsoft(node, "Attention"))
        return is_fixed_constant(by_node_in(node, 1)) ? NULL : "its weights are not constant";
    if (by_node_is(node, "LSTM"))
        return unfit_lstm(node);
    if (by_node_is(node, "GRU") || by_node_is(node, "RNN"))
        return unfit_matrices(node);
    if (by_node_is(node, "Gather"))
        return is_fixed_constant(first) && by_node_int(node, "axis", 0) == 0
                   ? NULL
                   : "it does not look up rows of a constant table";
    return "it has no form that quantizes at run time";
}

const char *by_unfit(const struct baryon_node *node, const struct by_recipe *recipe)
{
    return recipe->approach == BY_APPROACH_NBITS ? unfit_nbits(node, recipe) : unfit_dynamic(node);
}
