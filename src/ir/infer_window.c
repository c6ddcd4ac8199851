/* Computes the output sizes of convolutions and poolings. */
#include "ir/infer_window.h"

#include "base/divide.h"

#include <string.h>

/* Keeps the arithmetic on sizes, kernels and pads far from overflow. */
#define SIZE_LIMIT ((int64_t)1 << 48)

bool by_channels_last(const struct baryon_node *node)
{
    return strncmp(node->op_type, "Nhwc", 4) == 0 || by_node_int(node, "channels_last", 0) == 1;
}

int by_window_ints(const struct baryon_node *node, const char *name, size_t count, int64_t least,
                   const int64_t **values, struct baryon_error *err)
{
    const struct by_ints *ints = by_attr_ints(node, name);
    *values = NULL;
    if (!ints || !ints->count)
        return 0;
    if (ints->count != count)
        return by_infer_fail(node, err, "%s has %zu numbers, must have %zu", name, ints->count,
                             count);
    for (size_t i = 0; i < count; i++)
        if (ints->at[i] < least || ints->at[i] > SIZE_LIMIT)
            return by_infer_fail(node, err, "%s[%zu] is %lld, must be at least %lld%s", name, i,
                                 (long long)ints->at[i], (long long)least,
                                 ints->at[i] > SIZE_LIMIT ? " and at most 2^48" : "");
    *values = ints->at;
    return 0;
}

static int read_padding(const struct baryon_node *node, struct by_window *window,
                        struct baryon_error *err)
{
    const int64_t *pads;
    if (by_attr_text_is(node, "auto_pad", "VALID"))
        window->pad = BY_PAD_VALID;
    if (by_attr_text_is(node, "auto_pad", "SAME_UPPER") ||
        by_attr_text_is(node, "auto_pad", "SAME_LOWER"))
        window->pad = BY_PAD_SAME;
    if (window->pad != BY_PAD_EXPLICIT)
        return 0;
    if (by_window_ints(node, "pads", 2 * window->axes, -SIZE_LIMIT, &pads, err))
        return -1;
    for (size_t i = 0; pads && i < window->axes; i++) {
        window->begin[i] = pads[i];
        window->end[i] = pads[window->axes + i];
    }
    return 0;
}

int by_read_window(const struct baryon_node *node, size_t axes, struct by_window *window,
                   struct baryon_error *err)
{
    const int64_t *kernel, *stride, *dilation;
    *window = (struct by_window){.axes = axes, .ceil_mode = by_node_int(node, "ceil_mode", 0) == 1};
    if (by_window_ints(node, "kernel_shape", axes, 1, &kernel, err) ||
        by_window_ints(node, "strides", axes, 1, &stride, err) ||
        by_window_ints(node, "dilations", axes, 1, &dilation, err))
        return -1;
    for (size_t i = 0; i < axes; i++) {
        window->kernel[i] = kernel ? by_extent_of(kernel[i]) : by_extent_unknown();
        window->stride[i] = stride ? stride[i] : 1;
        window->dilation[i] = dilation ? dilation[i] : 1;
    }
    return read_padding(node, window, err);
}

/* Elements that the dilated window spans; false when it is unknown or absurd. */
static bool window_span(const struct by_window *window, size_t axis, int64_t *span)
{
    const struct by_extent kernel = window->kernel[axis];
    return by_extent_is_number(kernel) &&
           !__builtin_mul_overflow(kernel.size - 1, window->dilation[axis], span) &&
           *span < SIZE_LIMIT && ++*span > 0;
}

/* A window that does not fit by less than a stride leaves an output of size 0, as in the
 * runtimes. */
static int count_positions(const struct baryon_node *node, const struct by_window *window,
                           size_t axis, int64_t in, int64_t span, struct by_extent *out,
                           struct baryon_error *err)
{
    const int64_t stride = window->stride[axis];
    const int64_t padded = in + window->begin[axis] + window->end[axis], room = padded - span;
    int64_t positions =
        (window->ceil_mode ? by_divide_up(room, stride) : by_divide_down(room, stride)) + 1;
    if (positions < 0)
        return by_infer_fail(
            node, err, "the window spans %lld elements of axis %zu, which has %lld with padding",
            (long long)span, axis, (long long)padded);
    /* The last window has to begin inside the input or the padding before it. */
    if (window->ceil_mode && positions && (positions - 1) * stride >= in + window->begin[axis])
        positions--;
    *out = by_extent_of(positions);
    return 0;
}

int by_window_positions(const struct baryon_node *node, const struct by_window *window, size_t axis,
                        struct by_extent in, struct by_extent *out, struct baryon_error *err)
{
    int64_t span;
    const int64_t stride = window->stride[axis];
    *out = by_extent_unknown();
    if (window->pad == BY_PAD_SAME) {
        if (by_extent_is_number(in))
            *out = by_extent_of(by_divide_up(in.size, stride));
        else if (stride == 1)
            *out = in;
        return 0;
    }
    if (!window_span(window, axis, &span) || in.size > SIZE_LIMIT)
        return 0;
    if (by_extent_is_number(in))
        return count_positions(node, window, axis, in.size, span, out, err);
    if (stride == 1 && window->begin[axis] + window->end[axis] == span - 1)
        *out = in;
    return 0;
}
