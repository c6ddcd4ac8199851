/* Multiply-adds of a layer, for what share of them runs quantized. Sizes that are open count
 * as 1: a batch multiplies all layers alike. */
#include "ir/opinfo.h"
#include "quant/place_internal.h"

static double size_at(const struct by_shape *shape, size_t axis)
{
    const int64_t size = shape && axis < shape->rank ? shape->dims[axis].size : -1;
    return size < 0 ? 1 : (double)size;
}

static double elements_of_shape(const struct baryon_value *value)
{
    double count = 1;
    for (size_t i = 0; value && value->shape && i < value->shape->rank; i++)
        count *= size_at(value->shape, i);
    return count;
}

static bool known(const struct baryon_value *value)
{
    return value && value->shape;
}

/* Each output (of a transposed one, input) meets the weights of its channel, axis 0 of them. */
static double of_conv(const struct baryon_node *node, const struct baryon_value *data)
{
    const struct baryon_value *weight = by_node_in(node, 1);
    if (!known(data) || !known(weight) || weight->shape->rank < 2)
        return 0;
    return elements_of_shape(data) * elements_of_shape(weight) / size_at(weight->shape, 0);
}

static double of_matrix(const struct baryon_node *node)
{
    const struct baryon_value *left = by_node_in(node, 0), *out = by_node_out(node, 0);
    if (!known(left) || !known(out) || !left->shape->rank)
        return 0;
    const bool turned = by_node_is(node, "Gemm") && by_node_int(node, "transA", 0);
    return elements_of_shape(out) * size_at(left->shape, turned ? 0 : left->shape->rank - 1);
}

/* Weights are met once a step of each sequence. */
static double of_recurrent(const struct baryon_node *node)
{
    const struct baryon_value *data = by_node_in(node, 0);
    if (!known(data) || data->shape->rank != 3)
        return 0;
    return size_at(data->shape, 0) * size_at(data->shape, 1) *
           ((known(by_node_in(node, 1)) ? elements_of_shape(by_node_in(node, 1)) : 0) +
            (known(by_node_in(node, 2)) ? elements_of_shape(by_node_in(node, 2)) : 0));
}

double by_place_macs(const struct baryon_node *node)
{
    if (by_node_is(node, "Conv"))
        return of_conv(node, by_node_out(node, 0));
    if (by_node_is(node, "ConvTranspose"))
        return of_conv(node, by_node_in(node, 0));
    if (by_node_is(node, "Gemm") || by_node_is(node, "MatMul"))
        return of_matrix(node);
    if (by_node_is(node, "LSTM") || by_node_is(node, "GRU") || by_node_is(node, "RNN"))
        return of_recurrent(node);
    return 0;
}
