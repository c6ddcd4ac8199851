/* Convolutions. */
#include "ir/infer_window.h"

#include <string.h>

struct conv {
    const struct by_shape *in, *weight;
    size_t channel; /* axis of the input's channels */
    size_t spatial; /* first spatial axis of the input */
    struct by_extent groups;
    struct by_window window;
};

/* Kernel sizes: from the weight, which has to agree with kernel_shape. */
static int read_kernel(const struct baryon_node *node, struct conv *conv, struct baryon_error *err)
{
    for (size_t i = 0; conv->weight && i < conv->window.axes; i++) {
        const struct by_extent size = conv->weight->dims[i + 2];
        if (!by_extent_unify(conv->window.kernel[i], size, &conv->window.kernel[i]))
            return by_infer_fail(node, err, "kernel_shape[%zu] is %lld, but the weight has %lld", i,
                                 (long long)conv->window.kernel[i].size, (long long)size.size);
        if (size.size == 0)
            return by_infer_fail(node, err, "axis %zu of the weight is 0, must be at least 1",
                                 i + 2);
    }
    return 0;
}

static int read_conv(const struct baryon_node *node, struct conv *conv, struct baryon_error *err)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    const int64_t group = by_node_int(node, "group", 1);
    conv->in = by_in_shape(node, 0);
    conv->weight = by_in_shape(node, (size_t)info->weight);
    if (!conv->in)
        return 0;
    const size_t rank = conv->in->rank;
    if (rank < 3)
        return by_infer_fail(node, err, "the input has rank %zu, must be at least 3", rank);
    if (conv->weight && conv->weight->rank != rank)
        return by_infer_fail(node, err, "the weight has rank %zu, but the input has %zu",
                             conv->weight->rank, rank);
    if (group < 1)
        return by_infer_fail(node, err, "group is %lld, must be at least 1", (long long)group);
    conv->groups = by_extent_of(group);
    conv->channel = by_channels_last(node) ? rank - 1 : 1;
    conv->spatial = by_channels_last(node) ? 1 : 2;
    if (by_read_window(node, rank - 2, &conv->window, err))
        return -1;
    return read_kernel(node, conv, err);
}

/* The weight of a convolution is [out, in / group, ...]. */
static int check_channels(const struct baryon_node *node, const struct conv *conv,
                          struct baryon_error *err)
{
    struct by_extent wanted, agreed;
    if (!conv->weight || conv->groups.size < 1)
        return 0;
    const struct by_extent have = conv->in->dims[conv->channel], out = conv->weight->dims[0];
    wanted = by_extent_mul(conv->weight->dims[1], conv->groups);
    if (!by_extent_unify(have, wanted, &agreed))
        return by_infer_fail(node, err,
                             "the input has %lld channels, but weight and group require %lld",
                             (long long)have.size, (long long)wanted.size);
    if (by_extent_is_number(out) && out.size % conv->groups.size)
        return by_infer_fail(node, err, "the weight has %lld output channels in %lld groups",
                             (long long)out.size, (long long)conv->groups.size);
    return 0;
}

int by_infer_conv(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    struct conv conv = {0};
    if (read_conv(node, &conv, err))
        return -1;
    if (!conv.in)
        return 0;
    if (check_channels(node, &conv, err))
        return -1;
    struct by_shape *out = by_new_shape(infer, conv.in->rank, err);
    if (!out)
        return -1;
    out->dims[0] = conv.in->dims[0];
    if (conv.weight)
        out->dims[conv.channel] = conv.weight->dims[0];
    for (size_t i = 0; i < conv.window.axes; i++)
        if (by_window_positions(node, &conv.window, i, conv.in->dims[conv.spatial + i],
                                &out->dims[conv.spatial + i], err))
            return -1;
    by_out_shape(node, 0, out);
    return 0;
}

/* stride * (in - 1) + output_padding + span - pads */
static struct by_extent widened(const struct by_window *window, size_t axis, struct by_extent in,
                                int64_t output_padding)
{
    int64_t size, span;
    if (!by_extent_is_number(in) || !in.size)
        return by_extent_unknown();
    if (window->pad == BY_PAD_SAME)
        return by_extent_mul(in, by_extent_of(window->stride[axis]));
    if (!by_extent_is_number(window->kernel[axis]) ||
        __builtin_mul_overflow(window->kernel[axis].size - 1, window->dilation[axis], &span) ||
        __builtin_mul_overflow(in.size - 1, window->stride[axis], &size) ||
        __builtin_add_overflow(size, span, &size) ||
        __builtin_add_overflow(size, output_padding + 1, &size) ||
        __builtin_sub_overflow(size, window->begin[axis] + window->end[axis], &size))
        return by_extent_unknown();
    return by_extent_of(size);
}

static int transposed_size(const struct baryon_node *node, const struct conv *conv, size_t axis,
                           const int64_t *output_padding, struct by_extent *out,
                           struct baryon_error *err)
{
    const struct by_ints *fixed = by_attr_ints(node, "output_shape");
    const size_t axes = conv->window.axes;
    if (!fixed || !fixed->count) {
        *out = widened(&conv->window, axis, conv->in->dims[axis + 2],
                       output_padding ? output_padding[axis] : 0);
        return 0;
    }
    if (fixed->count != axes && fixed->count != axes + 2)
        return by_infer_fail(node, err, "output_shape has %zu numbers, must have %zu", fixed->count,
                             axes);
    const int64_t size = fixed->at[axis + fixed->count - axes];
    if (size < 0)
        return by_infer_fail(node, err, "output_shape is %lld, must not be negative",
                             (long long)size);
    *out = by_extent_of(size);
    return 0;
}

/* The weight of a transposed convolution is [in, out / group, ...]. */
int by_infer_conv_transpose(struct by_infer *infer, struct baryon_node *node,
                            struct baryon_error *err)
{
    struct conv conv = {0};
    const int64_t *output_padding;
    struct by_extent agreed;
    if (read_conv(node, &conv, err))
        return -1;
    if (!conv.in)
        return 0;
    if (by_window_ints(node, "output_padding", conv.window.axes, 0, &output_padding, err))
        return -1;
    if (conv.weight && !by_extent_unify(conv.in->dims[1], conv.weight->dims[0], &agreed))
        return by_infer_fail(node, err, "the input has %lld channels, but the weight requires %lld",
                             (long long)conv.in->dims[1].size,
                             (long long)conv.weight->dims[0].size);
    struct by_shape *out = by_new_shape(infer, conv.in->rank, err);
    if (!out)
        return -1;
    out->dims[0] = conv.in->dims[0];
    if (conv.weight)
        out->dims[1] = by_extent_mul(conv.weight->dims[1], conv.groups);
    for (size_t i = 0; i < conv.window.axes; i++)
        if (transposed_size(node, &conv, i, output_padding, &out->dims[i + 2], err))
            return -1;
    by_out_shape(node, 0, out);
    return 0;
}

/* The state is [batch, channels, kernel - 1]. */
int by_infer_causal_conv(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0), *weight = by_in_shape(node, 1);
    by_out_shape(node, 0, in);
    by_out_shape(node, 1, by_in_shape(node, 3));
    if (!in || !weight || in->rank != 3 || weight->rank != 3)
        return 0;
    const struct by_extent state[] = {in->dims[0], in->dims[1], by_extent_add(weight->dims[2], -1)};
    return by_out_dims(infer, node, 1, state, 3, err);
}
