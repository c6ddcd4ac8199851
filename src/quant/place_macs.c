/* Counts the multiply-adds of a layer, for what share of them runs quantized. */
#include "ir/opinfo.h"
#include "quant/place_internal.h"

#include <string.h>

static double size_at(const struct by_shape *shape, size_t axis, bool *open)
{
    const int64_t size = shape->dims[axis].size;
    *open |= size < 0;
    return size < 0 ? 1 : (double)size;
}

static double elements_of_shape(const struct baryon_value *value, bool *open)
{
    double count = 1;
    for (size_t i = 0; i < value->shape->rank; i++)
        count *= size_at(value->shape, i, open);
    return count;
}

static bool known(const struct baryon_value *value, size_t least_rank, bool *open)
{
    const bool is_known = value && value->shape && value->shape->rank >= least_rank;
    *open |= !is_known;
    return is_known;
}

/* Each output (of a transposed one, input) meets the weights of its channel, axis 0 of them. */
static double of_conv(const struct baryon_value *data, const struct baryon_value *weight,
                      bool *open)
{
    if (!known(data, 0, open) || !known(weight, 2, open))
        return 0;
    return elements_of_shape(data, open) * elements_of_shape(weight, open) /
           size_at(weight->shape, 0, open);
}

static double of_matrix(const struct baryon_node *node, bool *open)
{
    const struct baryon_value *left = by_node_in(node, 0), *out = by_node_out(node, 0);
    if (!known(left, 1, open) || !known(out, 0, open))
        return 0;
    const bool turned = by_node_int(node, "transA", 0) != 0;
    return elements_of_shape(out, open) *
           size_at(left->shape, turned ? 0 : left->shape->rank - 1, open);
}

/* Weights are met once a step of each sequence. */
static double of_recurrent(const struct baryon_node *node, bool *open)
{
    const struct baryon_value *data = by_node_in(node, 0);
    double weights = 0;
    if (!known(data, 3, open))
        return 0;
    for (size_t i = 1; i <= 2; i++)
        if (known(by_node_in(node, i), 0, open))
            weights += elements_of_shape(by_node_in(node, i), open);
    return size_at(data->shape, 0, open) * size_at(data->shape, 1, open) * weights;
}

enum kind { CONV, CONV_TRANSPOSE, MATRIX, RECURRENT };

static const struct row {
    const char *op_type, *domain;
    enum kind kind;
    size_t weight; /* slot, of convolutions */
} rows[] = {
    {"Conv", "", CONV, 1},
    {"ConvInteger", "", CONV, 1},
    {"ConvTranspose", "", CONV_TRANSPOSE, 1},
    {"Gemm", "", MATRIX, 1},
    {"GRU", "", RECURRENT, 1},
    {"LSTM", "", RECURRENT, 1},
    {"MatMul", "", MATRIX, 1},
    {"MatMulInteger", "", MATRIX, 1},
    {"QLinearConv", "", CONV, 3},
    {"QLinearMatMul", "", MATRIX, 3},
    {"RNN", "", RECURRENT, 1},
    {"DynamicQuantizeLSTM", "com.microsoft", RECURRENT, 1},
    {"DynamicQuantizeMatMul", "com.microsoft", MATRIX, 1},
    {"FusedConv", "com.microsoft", CONV, 1},
    {"FusedGemm", "com.microsoft", MATRIX, 1},
    {"FusedMatMul", "com.microsoft", MATRIX, 1},
    {"MatMulIntegerToFloat", "com.microsoft", MATRIX, 1},
    {"MatMulNBits", "com.microsoft", MATRIX, 1},
    {"QGemm", "com.microsoft", MATRIX, 3},
    {"ExtendedLSTM", "com.amd.quark", RECURRENT, 1},
    {"VitisLSTM", "com.vai.quantize", RECURRENT, 1},
};

static const struct row *find_row(const struct baryon_node *node)
{
    for (size_t i = 0; node->op_type && i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].op_type, node->op_type) &&
            !strcmp(rows[i].domain, by_domain(node->domain)))
            return &rows[i];
    return NULL;
}

double by_place_macs(const struct baryon_node *node, bool *open)
{
    const struct row *row = find_row(node);
    *open = false;
    if (!row)
        return 0;
    if (row->kind == MATRIX)
        return of_matrix(node, open);
    if (row->kind == RECURRENT)
        return of_recurrent(node, open);
    return of_conv(row->kind == CONV ? by_node_out(node, 0) : by_node_in(node, 0),
                   by_node_in(node, row->weight), open);
}
