/* Joining along an axis, taking apart, padding. */
#include "ir/infer_internal.h"

#include <string.h>

/* Adds one input's dimensions to the joined ones. */
static int join_dims(const struct baryon_node *node, struct by_shape *out,
                     const struct by_shape *in, size_t axis, struct baryon_error *err)
{
    if (in->rank != out->rank)
        return by_infer_fail(node, err, "inputs have ranks %zu and %zu, must be the same",
                             out->rank, in->rank);
    for (size_t i = 0; i < in->rank; i++) {
        const struct by_extent before = out->dims[i], more = in->dims[i];
        if (i == axis)
            out->dims[i] = by_extent_is_number(more)            ? by_extent_add(before, more.size)
                           : before.size == 0 && !before.symbol ? more
                                                                : by_extent_unknown();
        else if (!by_extent_unify(before, more, &out->dims[i]))
            return by_infer_fail(node, err, "axis %zu has %lld and %lld elements", i,
                                 (long long)before.size, (long long)more.size);
    }
    return 0;
}

/* Items of lists joined, in order. */
static int follow_joined(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < node->input.count; i++) {
        const struct by_content *part = by_in_content(infer, node, i);
        if (!part || (count += part->count) > BY_CONTENT_MAX)
            return 0;
    }
    struct by_content *content = by_new_content(infer, count, err);
    if (!content)
        return -1;
    for (size_t i = 0; i < node->input.count; i++) {
        const struct by_content *part = by_in_content(infer, node, i);
        memcpy(&content->items[at], part->items, part->count * sizeof *part->items);
        at += part->count;
    }
    by_out_content(infer, node, 0, content);
    return 0;
}

/* The first axis of rank 1 or 2 joins lists in order; others would mix them. */
static int out_concat(struct by_infer *infer, struct baryon_node *node, size_t first, size_t step,
                      struct baryon_error *err)
{
    struct by_shape *out = NULL;
    size_t axis = 0;
    for (size_t slot = first; slot < node->input.count; slot += step) {
        const struct by_shape *in = by_in_shape(node, slot);
        if (!in)
            return 0;
        if (!out && by_attr_axis(node, "axis", 1, in->rank, &axis, err))
            return -1;
        if (!out) {
            out = by_new_copy(infer, in, err);
            if (!out)
                return -1;
        } else if (join_dims(node, out, in, axis, err)) {
            return -1;
        }
    }
    by_out_shape(node, 0, out);
    return out && axis == 0 && step == 1 ? follow_joined(infer, node, err) : 0;
}

int by_infer_concat(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    return out_concat(infer, node, 0, 1, err);
}

/* Scale and zero point of the output, then threes of tensor, scale, zero point. */
int by_infer_qlinear_concat(struct by_infer *infer, struct baryon_node *node,
                            struct baryon_error *err)
{
    return out_concat(infer, node, 2, 3, err);
}

/* Sizes of the parts as attribute or input; NULL where they are not given. */
struct parts {
    const struct by_ints *ints;
    const struct by_content *content;
    size_t count;
    bool given;
};

static struct by_extent part_size(const struct parts *parts, size_t i)
{
    if (parts->ints)
        return by_extent_of(parts->ints->at[i]);
    return parts->content ? by_extent_from_item(parts->content->items[i]) : by_extent_unknown();
}

static int read_parts(const struct by_infer *infer, const struct baryon_node *node,
                      struct parts *parts, struct baryon_error *err)
{
    const size_t outputs = node->output.count;
    *parts = (struct parts){.ints = by_attr_ints(node, "split"), .given = true};
    if (by_in_given(node, 1)) {
        parts->ints = NULL;
        parts->content = by_in_content(infer, node, 1);
        parts->count = parts->content ? parts->content->count : outputs;
    } else if (parts->ints) {
        parts->count = parts->ints->count;
    } else {
        parts->given = false;
        return 0;
    }
    if (parts->count != outputs)
        return by_infer_fail(node, err, "split has %zu sizes for %zu outputs", parts->count,
                             outputs);
    return 0;
}

/* All of the axis has to be given out, and no more, even where not all sizes are known. */
static int check_parts(const struct baryon_node *node, const struct parts *parts,
                       struct by_extent whole, struct baryon_error *err)
{
    int64_t sum = 0;
    bool all_known = true;
    for (size_t i = 0; i < parts->count; i++) {
        const struct by_extent part = part_size(parts, i);
        if (parts->ints && parts->ints->at[i] < 0)
            return by_infer_fail(node, err, "split[%zu] is %lld, must not be negative", i,
                                 (long long)parts->ints->at[i]);
        if (!by_extent_is_number(part))
            all_known = false;
        else if (__builtin_add_overflow(sum, part.size, &sum))
            return by_infer_fail(node, err, "the sizes in split overflow at split[%zu]", i);
    }
    if (by_extent_is_number(whole) && (sum > whole.size || (all_known && sum < whole.size)))
        return by_infer_fail(node, err, "the sizes in split sum to %lld%s, but the axis has %lld",
                             (long long)sum, all_known ? "" : " at least", (long long)whole.size);
    return 0;
}

/* Even parts; where they do not come out, the last is smaller. */
static int even_part(const struct baryon_node *node, struct by_extent whole, size_t i,
                     struct by_extent *part, struct baryon_error *err)
{
    const int64_t count = (int64_t)node->output.count, index = (int64_t)i;
    *part = count == 1 ? whole : by_extent_unknown();
    if (count == 1 || !by_extent_is_number(whole))
        return 0;
    const int64_t size = whole.size / count + (whole.size % count != 0);
    const int64_t left = whole.size - size * index;
    if (left < 0)
        return by_infer_fail(node, err, "%lld elements cannot be split into %lld parts of %lld",
                             (long long)whole.size, (long long)count, (long long)size);
    *part = by_extent_of(left < size ? left : size);
    return 0;
}

static int follow_part(struct by_infer *infer, struct baryon_node *node, size_t slot,
                       const struct by_shape *in, const struct by_shape *part, size_t axis,
                       int64_t start, struct baryon_error *err)
{
    const struct by_content *content = by_in_content(infer, node, 0);
    int64_t strides[BY_RANK_MAX];
    if (!content || start < 0)
        return 0;
    by_strides(in, strides);
    if (by_content_view(infer, content, part, start * strides[axis], strides, &content, err))
        return -1;
    by_out_content(infer, node, slot, content);
    return 0;
}

int by_infer_split(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    struct parts parts;
    size_t axis;
    int64_t start = 0;
    if (!in)
        return 0;
    if (by_attr_axis(node, "axis", 0, in->rank, &axis, err) ||
        read_parts(infer, node, &parts, err) ||
        (parts.given && check_parts(node, &parts, in->dims[axis], err)))
        return -1;
    for (size_t i = 0; i < node->output.count; i++) {
        struct by_shape *out = by_new_copy(infer, in, err);
        if (!out)
            return -1;
        if (parts.given)
            out->dims[axis] = part_size(&parts, i);
        else if (even_part(node, in->dims[axis], i, &out->dims[axis], err))
            return -1;
        by_out_shape(node, i, out);
        if (follow_part(infer, node, i, in, out, axis, start, err))
            return -1;
        const int64_t size = out->dims[axis].size;
        start = start < 0 || size < 0 ? -1 : start + size;
    }
    return 0;
}

struct pads {
    const struct by_ints *ints;
    const struct by_content *content;
    size_t count;
};

/* False when the amount is not known. */
static bool pad_amount(const struct pads *pads, size_t i, int64_t *amount)
{
    if (pads->ints) {
        *amount = pads->ints->at[i];
        return true;
    }
    if (!pads->content || pads->content->items[i].kind != BY_ITEM_INT)
        return false;
    *amount = pads->content->items[i].i;
    return true;
}

/* Which axes the pads are for, in their order; false when that is not known. */
static int padded_axes(const struct by_infer *infer, const struct baryon_node *node, size_t rank,
                       size_t *axes, size_t *count, bool *known, struct baryon_error *err)
{
    const struct by_content *given = by_in_content(infer, node, 3);
    *known = !by_in_given(node, 3) || given;
    *count = by_in_given(node, 3) && given ? given->count : rank;
    if (*count > rank)
        return by_infer_fail(node, err, "%zu axes are padded, but the input has rank %zu", *count,
                             rank);
    for (size_t i = 0; *known && i < *count; i++) {
        if (given && given->items[i].kind != BY_ITEM_INT)
            *known = false;
        else if (by_axis(node, given ? given->items[i].i : (int64_t)i, rank, &axes[i], err))
            return -1;
    }
    return 0;
}

static int pad_axis(const struct baryon_node *node, const struct pads *pads, size_t place,
                    size_t count, size_t axis, struct by_shape *out, struct baryon_error *err)
{
    int64_t begin, end, sum, padded;
    const struct by_extent before = out->dims[axis];
    if (!pad_amount(pads, place, &begin) || !pad_amount(pads, place + count, &end) ||
        __builtin_add_overflow(begin, end, &sum)) {
        out->dims[axis] = by_extent_unknown();
        return 0;
    }
    if (by_extent_is_number(before) &&
        (__builtin_add_overflow(before.size, sum, &padded) || padded < 0))
        return by_infer_fail(node, err, "axis %zu of %lld elements is padded by %lld and %lld",
                             axis, (long long)before.size, (long long)begin, (long long)end);
    out->dims[axis] = by_extent_add(before, sum);
    return 0;
}

int by_infer_pad(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    struct pads pads = {by_attr_ints(node, "pads"), by_in_content(infer, node, 1), 0};
    size_t axes[BY_RANK_MAX] = {0}, count;
    bool known;
    if (!in)
        return 0;
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out || padded_axes(infer, node, in->rank, axes, &count, &known, err))
        return -1;
    pads.count = pads.ints ? pads.ints->count : pads.content ? pads.content->count : 2 * count;
    if (known && pads.count != 2 * count)
        return by_infer_fail(node, err, "there are %zu pads, must be %zu", pads.count, 2 * count);
    for (size_t i = 0; known && i < count; i++)
        if (pad_axis(node, &pads, i, count, axes[i], out, err))
            return -1;
    for (size_t i = 0; !known && i < in->rank; i++)
        out->dims[i] = by_extent_unknown();
    by_out_shape(node, 0, out);
    return 0;
}
