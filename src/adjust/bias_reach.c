/* Finds how often each element of a kernel lies on the input instead of on padding. */
#include "adjust/bias_reach.h"

#include "base/divide.h"
#include "stats/layers.h"

/* Of the places 0 .. out - 1 along an axis, those where this element of the kernel is inside. */
static double share_along(const struct by_moments_layer *layer, size_t axis, int64_t in, int64_t at)
{
    int64_t pad, out;
    by_layer_windows(layer, axis, in, &pad, &out);
    const int64_t stride = layer->stride[axis], ahead = pad - at * layer->dilation[axis];
    int64_t first = by_divide_up(ahead, stride), last = by_divide_down(in - 1 + ahead, stride);
    if (first < 0)
        first = 0;
    if (last > out - 1)
        last = out - 1;
    return out > 0 && last >= first ? (double)(last - first + 1) / (double)out : 0;
}

/* Its place in the kernel, the last axis first. */
static double share_of(const struct by_moments_layer *layer, const int64_t *dims, size_t element)
{
    double share = 1;
    for (size_t axis = layer->spatial; axis-- > 0;) {
        const int64_t at = (int64_t)(element % (size_t)layer->kernel[axis]);
        element /= (size_t)layer->kernel[axis];
        if (dims[axis + 2] >= 0)
            share *= share_along(layer, axis, dims[axis + 2], at);
    }
    return share;
}

double *by_bias_reach(const struct baryon_node *node, const int64_t *dims, size_t rank,
                      size_t count, struct baryon_error *err)
{
    struct by_moments_layer layer;
    const bool slides = by_node_is(node, "Conv") && by_layer_of_node(node->graph, node, &layer) &&
                        rank == layer.spatial + 2;
    double *shares = by_alloc(count, sizeof *shares, err);
    for (size_t i = 0; shares && i < count; i++)
        shares[i] = slides ? share_of(&layer, dims, i) : 1;
    return shares;
}
