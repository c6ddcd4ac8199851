/* Pooling, and reading regions out of a picture. */
#include "ir/infer_window.h"

static int need_spatial(const struct baryon_node *node, const struct by_shape *in,
                        struct baryon_error *err)
{
    if (in->rank < 3)
        return by_infer_fail(node, err, "the input has rank %zu, must be at least 3", in->rank);
    return 0;
}

int by_infer_pool(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    struct by_window window;
    const struct by_shape *in = by_in_shape(node, 0);
    const size_t spatial = by_channels_last(node) ? 1 : 2;
    if (!in)
        return 0;
    if (need_spatial(node, in, err) || by_read_window(node, in->rank - 2, &window, err))
        return -1;
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out)
        return -1;
    for (size_t i = 0; i < window.axes; i++)
        if (by_window_positions(node, &window, i, in->dims[spatial + i], &out->dims[spatial + i],
                                err))
            return -1;
    by_out_shape(node, 0, out);
    by_out_shape(node, 1, out);
    return 0;
}

int by_infer_global_pool(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const size_t spatial = by_channels_last(node) ? 1 : 2;
    if (!in)
        return 0;
    if (in->rank < 2)
        return by_infer_fail(node, err, "the input has rank %zu, must be at least 2", in->rank);
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out)
        return -1;
    for (size_t i = 0; i + 2 < in->rank; i++)
        out->dims[spatial + i] = by_extent_of(1);
    by_out_shape(node, 0, out);
    return 0;
}

/* (in - 1) * stride + kernel - pads, or as the third input says. */
static struct by_extent unpooled(const struct by_window *window, size_t axis, struct by_extent in)
{
    int64_t size;
    if (!by_extent_is_number(in) || !by_extent_is_number(window->kernel[axis]) ||
        __builtin_mul_overflow(in.size - 1, window->stride[axis], &size) ||
        __builtin_add_overflow(size, window->kernel[axis].size, &size) ||
        __builtin_sub_overflow(size, window->begin[axis] + window->end[axis], &size))
        return by_extent_unknown();
    return by_extent_of(size);
}

int by_infer_max_unpool(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    struct by_window window;
    const struct by_shape *in = by_in_shape(node, 0);
    const struct by_content *fixed = by_in_content(infer, node, 2);
    if (!in)
        return 0;
    if (need_spatial(node, in, err) || by_read_window(node, in->rank - 2, &window, err))
        return -1;
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out)
        return -1;
    for (size_t i = 0; i < window.axes; i++)
        out->dims[i + 2] =
            by_in_given(node, 2) ? by_extent_unknown() : unpooled(&window, i, in->dims[i + 2]);
    for (size_t i = 0; fixed && fixed->count == in->rank && i < in->rank; i++)
        out->dims[i] = by_extent_from_item(fixed->items[i]);
    by_out_shape(node, 0, out);
    return 0;
}

/* [regions, channels, height, width] */
static int out_regions(struct by_infer *infer, struct baryon_node *node, struct by_extent height,
                       struct by_extent width, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0), *rois = by_in_shape(node, 1);
    if (in && in->rank != 4)
        return by_infer_fail(node, err, "the input has rank %zu, must be 4", in->rank);
    if (rois && rois->rank != 2)
        return by_infer_fail(node, err, "the regions have rank %zu, must be 2", rois->rank);
    const struct by_extent dims[] = {rois ? rois->dims[0] : by_extent_unknown(),
                                     in ? in->dims[1] : by_extent_unknown(), height, width};
    return by_out_dims(infer, node, 0, dims, 4, err);
}

int by_infer_roi_pool(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const int64_t *size;
    if (by_window_ints(node, "pooled_shape", 2, 1, &size, err))
        return -1;
    return size ? out_regions(infer, node, by_extent_of(size[0]), by_extent_of(size[1]), err) : 0;
}

int by_infer_roi_align(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const int64_t height = by_node_int(node, "output_height", 1);
    const int64_t width = by_node_int(node, "output_width", 1);
    if (height < 1 || width < 1)
        return by_infer_fail(node, err, "the output is %lld by %lld, must be at least 1 by 1",
                             (long long)height, (long long)width);
    return out_regions(infer, node, by_extent_of(height), by_extent_of(width), err);
}
