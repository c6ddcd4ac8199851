/* Counts the multiply-adds of a layer, for what share of them runs quantized. */
#include "ir/opinfo.h"
#include "quant/place_internal.h"

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
static double of_conv(const struct baryon_node *node, const struct baryon_value *data, bool *open)
{
    const struct baryon_value *weight = by_node_in(node, 1);
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
    const bool turned = by_node_is(node, "Gemm") && by_node_int(node, "transA", 0);
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

double by_place_macs(const struct baryon_node *node, bool *open)
{
    *open = false;
    if (by_node_is(node, "Conv"))
        return of_conv(node, by_node_out(node, 0), open);
    if (by_node_is(node, "ConvTranspose"))
        return of_conv(node, by_node_in(node, 0), open);
    if (by_node_is(node, "Gemm") || by_node_is(node, "MatMul"))
        return of_matrix(node, open);
    if (by_node_is(node, "LSTM") || by_node_is(node, "GRU") || by_node_is(node, "RNN"))
        return of_recurrent(node, open);
    return 0;
}
