/* Taking elements out by index: gathers, slices, choices. */
#include "ir/infer_internal.h"

#include <string.h>

/* Items of a list or of rows by index; `axis` is 0. */
static int follow_gathered(struct by_infer *infer, struct baryon_node *node,
                           const struct by_shape *data, struct baryon_error *err)
{
    const struct by_content *from = by_in_content(infer, node, 0);
    const struct by_content *indices = by_in_content(infer, node, 1);
    if (!from || !indices || !data->rank || !data->dims[0].size)
        return 0;
    const int64_t rows = data->dims[0].size;
    const size_t width = from->count / (size_t)rows;
    if (indices->count > BY_CONTENT_MAX || indices->count * width > BY_CONTENT_MAX)
        return 0;
    struct by_content *content = by_new_content(infer, indices->count * width, err);
    if (!content)
        return -1;
    for (size_t i = 0; i < indices->count; i++) {
        int64_t row = indices->items[i].i;
        if (indices->items[i].kind != BY_ITEM_INT || row < -rows || row >= rows)
            continue;
        row = row < 0 ? row + rows : row;
        memcpy(&content->items[i * width], &from->items[(size_t)row * width],
               width * sizeof *content->items);
    }
    by_out_content(infer, node, 0, content);
    return 0;
}

static int check_indices(const struct by_infer *infer, const struct baryon_node *node,
                         struct by_extent size, struct baryon_error *err)
{
    const struct by_content *indices = by_in_content(infer, node, 1);
    for (size_t i = 0; indices && by_extent_is_number(size) && i < indices->count; i++) {
        const struct by_item item = indices->items[i];
        if (item.kind == BY_ITEM_INT && (item.i < -size.size || item.i >= size.size))
            return by_infer_fail(node, err, "index %lld is outside an axis of %lld elements",
                                 (long long)item.i, (long long)size.size);
    }
    return 0;
}

/* The axis of the data gives way to all axes of the indices. */
static int out_gathered(struct by_infer *infer, struct baryon_node *node,
                        const struct by_shape *data, size_t axis, struct baryon_error *err)
{
    const struct by_shape *indices = by_in_shape(node, 1);
    struct by_extent dims[2 * BY_RANK_MAX];
    if (!indices)
        return 0;
    memcpy(dims, data->dims, axis * sizeof *dims);
    memcpy(dims + axis, indices->dims, indices->rank * sizeof *dims);
    memcpy(dims + axis + indices->rank, data->dims + axis + 1,
           (data->rank - axis - 1) * sizeof *dims);
    return by_out_dims(infer, node, 0, dims, data->rank + indices->rank - 1, err);
}

int by_infer_gather(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *data = by_in_shape(node, 0);
    size_t axis;
    if (!data)
        return 0;
    if (by_attr_axis(node, "axis", 0, data->rank, &axis, err) ||
        check_indices(infer, node, data->dims[axis], err) ||
        out_gathered(infer, node, data, axis, err))
        return -1;
    return axis == 0 ? follow_gathered(infer, node, data, err) : 0;
}

/* Bytes hold several elements along the axis that is quantized. */
int by_infer_gather_block_quantized(struct by_infer *infer, struct baryon_node *node,
                                    struct baryon_error *err)
{
    const struct by_shape *packed = by_in_shape(node, 0);
    const int64_t bits = by_node_int(node, "bits", 4);
    size_t axis;
    if (!packed)
        return 0;
    struct by_shape *data = by_new_copy(infer, packed, err);
    if (!data || by_attr_axis(node, "gather_axis", 0, data->rank, &axis, err))
        return -1;
    if (by_in_elem(node, 0) == BY_ELEM_UINT8 && bits >= 1 && bits < 8 && data->rank)
        data->dims[data->rank - 1] =
            by_extent_mul(data->dims[data->rank - 1], by_extent_of(8 / bits));
    return out_gathered(infer, node, data, axis, err);
}

int by_infer_gather_elements(struct by_infer *infer, struct baryon_node *node,
                             struct baryon_error *err)
{
    (void)infer;
    (void)err;
    by_out_shape(node, 0, by_in_shape(node, 1));
    return 0;
}

int by_infer_gather_nd(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *data = by_in_shape(node, 0), *indices = by_in_shape(node, 1);
    const int64_t batch = by_node_int(node, "batch_dims", 0);
    struct by_extent dims[2 * BY_RANK_MAX];
    if (!data || !indices)
        return 0;
    if (!data->rank || !indices->rank || batch < 0 || batch >= (int64_t)data->rank ||
        batch >= (int64_t)indices->rank)
        return by_infer_fail(node, err, "batch_dims is %lld for inputs of rank %zu and %zu",
                             (long long)batch, data->rank, indices->rank);
    const size_t lead = indices->rank - 1;
    const int64_t depth = indices->dims[lead].size;
    if (depth < 0)
        return 0;
    if (depth > (int64_t)data->rank - batch)
        return by_infer_fail(node, err, "indices have %lld parts, but the data has rank %zu",
                             (long long)depth, data->rank);
    const size_t taken = (size_t)(batch + depth), left = data->rank - taken;
    memcpy(dims, indices->dims, lead * sizeof *dims);
    memcpy(dims + lead, data->dims + taken, left * sizeof *dims);
    return by_out_dims(infer, node, 0, dims, lead + left, err);
}

int by_infer_compress(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const struct by_extent any = by_extent_unknown();
    size_t axis;
    if (!by_node_attr(node, "axis"))
        return by_out_dims(infer, node, 0, &any, 1, err);
    if (!in)
        return 0;
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out || by_attr_axis(node, "axis", 0, in->rank, &axis, err))
        return -1;
    out->dims[axis] = any;
    by_out_shape(node, 0, out);
    return 0;
}

int by_infer_unique(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const struct by_extent any = by_extent_unknown();
    size_t axis;
    for (size_t slot = 1; slot < node->output.count; slot++)
        if (by_out_dims(infer, node, slot, &any, 1, err))
            return -1;
    if (!by_node_attr(node, "axis"))
        return by_out_dims(infer, node, 0, &any, 1, err);
    if (!in)
        return 0;
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out || by_attr_axis(node, "axis", 0, in->rank, &axis, err))
        return -1;
    out->dims[axis] = any;
    by_out_shape(node, 0, out);
    return 0;
}

/* Starts, ends, axes and steps of a slice, from attributes (opset 7 to 9) or inputs. */
struct slice {
    const struct by_ints *ints[4];
    const struct by_content *contents[4];
    bool given[4];
    size_t count;
    bool counted;
};

enum { STARTS, ENDS, AXES, STEPS };

static struct by_item slice_item(const struct slice *slice, int list, size_t i)
{
    if (!slice->given[list])
        return by_item_int(list == STEPS ? 1 : (int64_t)i);
    if (slice->ints[list])
        return by_item_int(slice->ints[list]->at[i]);
    return slice->contents[list] ? slice->contents[list]->items[i]
                                 : (struct by_item){.kind = BY_ITEM_UNKNOWN};
}

static int read_slice(const struct by_infer *infer, const struct baryon_node *node,
                      struct slice *slice, struct baryon_error *err)
{
    static const char *const names[] = {"starts", "ends", "axes", "steps"};
    *slice = (struct slice){.counted = false};
    for (size_t list = 0; list < 4; list++) {
        int64_t count = 0;
        const struct by_ints *ints = by_in_given(node, 1) ? NULL : by_attr_ints(node, names[list]);
        slice->ints[list] = ints;
        slice->contents[list] = by_in_content(infer, node, list + 1);
        slice->given[list] = ints || by_in_given(node, list + 1);
        const bool counted = ints || by_shape_count(by_in_shape(node, list + 1), &count);
        if (!slice->given[list] || !counted)
            continue;
        const size_t here = ints ? ints->count : (size_t)count;
        if (slice->counted && here != slice->count)
            return by_infer_fail(node, err, "%s has %zu numbers, but starts or ends have %zu",
                                 names[list], here, slice->count);
        slice->counted = true;
        slice->count = here;
    }
    return 0;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Elements from start to end by step; *first is where they begin. */
static int64_t sliced_count(int64_t size, int64_t start, int64_t end, int64_t step, int64_t *first)
{
    start = start < 0 ? start + size : start;
    end = end < 0 ? end + size : end;
    if (step > 0) {
        *first = clamp(start, 0, size);
        const int64_t room = clamp(end, 0, size) - *first;
        return room <= 0 ? 0 : (room - 1) / step + 1;
    }
    *first = clamp(start, -1, size - 1);
    const int64_t room = *first - clamp(end, -1, size - 1);
    return room <= 0 ? 0 : (room - 1) / -step + 1;
}

/* What a slice leaves of an axis that is not a number: all of it, or nobody knows. */
static struct by_extent slice_symbol(struct by_extent dim, struct by_item start, struct by_item end,
                                     struct by_item step)
{
    const bool from_zero = start.kind == BY_ITEM_INT && !start.i;
    const bool by_one = step.kind == BY_ITEM_INT && step.i == 1;
    const bool to_end = (end.kind == BY_ITEM_INT && end.i >= INT32_MAX) ||
                        (end.kind == BY_ITEM_SYMBOL && end.symbol == dim.symbol);
    return from_zero && by_one && to_end ? dim : by_extent_unknown();
}

/* Changes one dimension; *offset and strides follow the elements where *exact stays set. */
static int slice_axis(const struct baryon_node *node, const struct slice *slice, size_t i,
                      struct by_shape *out, int64_t *strides, int64_t *offset, bool *exact,
                      struct baryon_error *err)
{
    const struct by_item at = slice_item(slice, AXES, i), start = slice_item(slice, STARTS, i);
    const struct by_item end = slice_item(slice, ENDS, i), step = slice_item(slice, STEPS, i);
    size_t axis;
    int64_t first;
    if (by_axis(node, at.i, out->rank, &axis, err))
        return -1;
    if (step.kind == BY_ITEM_INT && (!step.i || step.i == INT64_MIN))
        return by_infer_fail(node, err, "the step is %lld, must not be 0", (long long)step.i);
    const struct by_extent dim = out->dims[axis];
    if (!by_extent_is_number(dim) || start.kind != BY_ITEM_INT || end.kind != BY_ITEM_INT ||
        step.kind != BY_ITEM_INT) {
        *exact = false;
        out->dims[axis] =
            by_extent_is_number(dim) ? by_extent_unknown() : slice_symbol(dim, start, end, step);
        return 0;
    }
    out->dims[axis] = by_extent_of(sliced_count(dim.size, start.i, end.i, step.i, &first));
    if (*exact && out->dims[axis].size) {
        *offset += first * strides[axis];
        strides[axis] *= out->dims[axis].size > 1 ? step.i : 0;
    }
    return 0;
}

static int out_sliced(struct by_infer *infer, struct baryon_node *node, const struct by_shape *in,
                      const struct slice *slice, struct baryon_error *err)
{
    const struct by_content *content = by_in_content(infer, node, 0);
    int64_t strides[BY_RANK_MAX], offset = 0;
    bool exact = content != NULL;
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out)
        return -1;
    if (exact)
        by_strides(in, strides);
    for (size_t i = 0; i < slice->count; i++)
        if (slice_axis(node, slice, i, out, strides, &offset, &exact, err))
            return -1;
    by_out_shape(node, 0, out);
    if (!exact)
        return 0;
    if (by_content_view(infer, content, out, offset, strides, &content, err))
        return -1;
    by_out_content(infer, node, 0, content);
    return 0;
}

int by_infer_slice(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    struct slice slice;
    if (!in)
        return 0;
    if (read_slice(infer, node, &slice, err))
        return -1;
    bool axes_known = slice.counted && slice.count <= in->rank;
    for (size_t i = 0; axes_known && i < slice.count; i++)
        axes_known = slice_item(&slice, AXES, i).kind == BY_ITEM_INT;
    if (slice.counted && slice.count > in->rank)
        return by_infer_fail(node, err, "%zu axes are sliced, but the input has rank %zu",
                             slice.count, in->rank);
    if (axes_known)
        return out_sliced(infer, node, in, &slice, err);
    struct by_shape *out = by_new_shape(infer, in->rank, err);
    by_out_shape(node, 0, out);
    return out ? 0 : -1;
}
