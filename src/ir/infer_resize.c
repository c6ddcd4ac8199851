/* Pictures of another size. */
#include "ir/infer_window.h"

#include <math.h>
#include <string.h>

struct resize {
    const struct by_shape *in;
    struct by_shape *out;
    size_t axes[BY_RANK_MAX], count; /* the axes that are resized, in their order */
};

/* Attribute axes of opset 18; all of them without it. */
static int read_resized_axes(const struct baryon_node *node, struct resize *resize,
                             struct baryon_error *err)
{
    const struct by_ints *given = by_attr_ints(node, "axes");
    const size_t rank = resize->in->rank;
    resize->count = given ? given->count : rank;
    if (resize->count > rank)
        return by_infer_fail(node, err, "%zu axes are resized, but the input has rank %zu",
                             resize->count, rank);
    for (size_t i = 0; i < resize->count; i++)
        if (by_axis(node, given ? given->at[i] : (int64_t)i, rank, &resize->axes[i], err))
            return -1;
    return 0;
}

static int check_resized_count(const struct baryon_node *node, const struct resize *resize,
                               const char *what, size_t count, struct baryon_error *err)
{
    if (count == resize->count)
        return 0;
    return by_infer_fail(node, err, "there are %zu %s, must be %zu", count, what, resize->count);
}

/* floor(size * scale), in float32 as the runtimes have it. */
static int scale_axis(const struct baryon_node *node, struct resize *resize, size_t i,
                      struct by_item scale, struct baryon_error *err)
{
    struct by_extent *dim = &resize->out->dims[resize->axes[i]];
    if (scale.kind == BY_ITEM_INT)
        scale = (struct by_item){.kind = BY_ITEM_REAL, .r = (double)scale.i};
    if (scale.kind != BY_ITEM_REAL) {
        *dim = by_extent_unknown();
        return 0;
    }
    if (!(scale.r > 0) || scale.r > 1e9)
        return by_infer_fail(node, err, "scale %zu is %g, must be greater than 0", i, scale.r);
    if (scale.r == 1)
        return 0;
    const float size = floorf((float)dim->size * (float)scale.r);
    *dim = by_extent_is_number(*dim) && size < 1e15f ? by_extent_of((int64_t)size)
                                                     : by_extent_unknown();
    return 0;
}

static int scale_all(struct by_infer *infer, const struct baryon_node *node, struct resize *resize,
                     size_t slot, struct baryon_error *err)
{
    const struct by_floats *floats = by_attr_floats(node, "scales");
    const struct by_content *content = by_in_content(infer, node, slot);
    if (by_attr_text_is(node, "coordinate_transformation_mode", "tf_crop_and_resize") ||
        (!content && !floats)) {
        for (size_t i = 0; i < resize->count; i++)
            resize->out->dims[resize->axes[i]] = by_extent_unknown();
        return 0;
    }
    if (check_resized_count(node, resize, "scales", content ? content->count : floats->count, err))
        return -1;
    for (size_t i = 0; i < resize->count; i++) {
        const struct by_item scale =
            content ? content->items[i]
                    : (struct by_item){.kind = BY_ITEM_REAL, .r = (double)floats->at[i]};
        if (scale_axis(node, resize, i, scale, err))
            return -1;
    }
    return 0;
}

/*
 * One scale for all axes, so that none is larger (or smaller) than asked for; false
 * when not all sizes are known.
 */
static bool common_scale(const struct resize *resize, const struct by_content *sizes, bool larger,
                         float *scale)
{
    *scale = larger ? 0 : INFINITY;
    for (size_t i = 0; i < resize->count; i++) {
        const struct by_extent dim = resize->in->dims[resize->axes[i]];
        if (sizes->items[i].kind != BY_ITEM_INT || dim.size < 1)
            return false;
        const float here = (float)sizes->items[i].i / (float)dim.size;
        *scale = larger == (here > *scale) ? here : *scale;
    }
    return true;
}

static int size_all(const struct baryon_node *node, struct resize *resize,
                    const struct by_content *sizes, struct baryon_error *err)
{
    const bool not_larger = by_attr_text_is(node, "keep_aspect_ratio_policy", "not_larger");
    const bool not_smaller = by_attr_text_is(node, "keep_aspect_ratio_policy", "not_smaller");
    const bool keep = not_larger || not_smaller;
    float scale = 0;
    if (sizes && check_resized_count(node, resize, "sizes", sizes->count, err))
        return -1;
    for (size_t i = 0; sizes && i < resize->count; i++)
        if (sizes->items[i].kind == BY_ITEM_INT && sizes->items[i].i < 0)
            return by_infer_fail(node, err, "size %zu is %lld, must not be negative", i,
                                 (long long)sizes->items[i].i);
    const bool known = sizes && (!keep || common_scale(resize, sizes, not_smaller, &scale));
    for (size_t i = 0; i < resize->count; i++) {
        const size_t axis = resize->axes[i];
        const float scaled = floorf(scale * (float)resize->in->dims[axis].size + 0.5f);
        resize->out->dims[axis] = !known           ? by_extent_unknown()
                                  : !keep          ? by_extent_from_item(sizes->items[i])
                                  : scaled < 1e15f ? by_extent_of((int64_t)scaled)
                                                   : by_extent_unknown();
    }
    return 0;
}

/* Opset 10 and Upsample: input, scales. From 11 on: input, roi, scales, sizes. */
int by_infer_resize(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    struct resize resize = {.in = by_in_shape(node, 0)};
    if (!resize.in)
        return 0;
    resize.out = by_new_copy(infer, resize.in, err);
    if (!resize.out || read_resized_axes(node, &resize, err))
        return -1;
    const bool old = node->input.count <= 2;
    const struct by_shape *scales = old ? NULL : by_in_shape(node, 2);
    /* An empty list of scales counts as none. */
    const bool by_size =
        !old && by_in_given(node, 3) &&
        (!by_in_given(node, 2) || (scales && scales->rank == 1 && scales->dims[0].size == 0));
    if (by_size ? size_all(node, &resize, by_in_content(infer, node, 3), err)
                : scale_all(infer, node, &resize, old ? 1 : 2, err))
        return -1;
    by_out_shape(node, 0, resize.out);
    return 0;
}

/* The channels of the input at the places of the grid, [N, spatial..., r]. */
int by_infer_grid_sample(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0), *grid = by_in_shape(node, 1);
    if (!in)
        return 0;
    if (in->rank < 3 || (grid && in->rank != grid->rank))
        return by_infer_fail(node, err,
                             "the inputs have ranks %zu and %zu, must be the same and at least 3",
                             in->rank, grid ? grid->rank : in->rank);
    struct by_shape *out = by_new_shape(infer, in->rank, err);
    if (!out)
        return -1;
    out->dims[0] = in->dims[0];
    out->dims[1] = in->dims[1];
    for (size_t i = 2; grid && i < out->rank; i++)
        out->dims[i] = grid->dims[i - 1];
    by_out_shape(node, 0, out);
    return 0;
}

/* size is [N, C, spatial...]; the grid is [N, spatial..., how many]. */
int by_infer_affine_grid(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    struct by_shape *size;
    if (by_spelled_shape(infer, node, 1, &size, err))
        return -1;
    if (!size)
        return 0;
    if (size->rank != 4 && size->rank != 5)
        return by_infer_fail(node, err, "size has %zu numbers, must have 4 or 5", size->rank);
    for (size_t i = 1; i + 1 < size->rank; i++)
        size->dims[i] = size->dims[i + 1];
    size->dims[size->rank - 1] = by_extent_of((int64_t)size->rank - 2);
    by_out_shape(node, 0, size);
    return 0;
}

int by_infer_center_crop_pad(struct by_infer *infer, struct baryon_node *node,
                             struct baryon_error *err)
{
    const struct by_content *sizes = by_in_content(infer, node, 1);
    struct resize resize = {.in = by_in_shape(node, 0)};
    if (!resize.in)
        return 0;
    resize.out = by_new_copy(infer, resize.in, err);
    if (!resize.out || read_resized_axes(node, &resize, err) ||
        (sizes && check_resized_count(node, &resize, "sizes", sizes->count, err)))
        return -1;
    for (size_t i = 0; i < resize.count; i++)
        resize.out->dims[resize.axes[i]] =
            sizes ? by_extent_from_item(sizes->items[i]) : by_extent_unknown();
    by_out_shape(node, 0, resize.out);
    return 0;
}

/* [N, C * block, L] becomes [N, C, image...]. */
int by_infer_col2im(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    struct by_shape *image, *block;
    if (by_spelled_shape(infer, node, 1, &image, err) ||
        by_spelled_shape(infer, node, 2, &block, err))
        return -1;
    if (!image || (in && in->rank != 3))
        return in && in->rank != 3
                   ? by_infer_fail(node, err, "the input has rank %zu, must be 3", in->rank)
                   : 0;
    struct by_shape *out = by_new_shape(infer, image->rank + 2, err);
    if (!out)
        return -1;
    if (in)
        out->dims[0] = in->dims[0];
    const struct by_extent area =
        block ? by_extent_product(block, 0, block->rank) : by_extent_unknown();
    if (in && by_extent_is_number(area))
        out->dims[1] = by_extent_div(in->dims[1], area.size);
    memcpy(out->dims + 2, image->dims, image->rank * sizeof *image->dims);
    by_out_shape(node, 0, out);
    return 0;
}
