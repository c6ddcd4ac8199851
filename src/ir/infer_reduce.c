/* Reductions, and what looks for the largest. */
#include "ir/infer_internal.h"

#include <string.h>

/* All axes with none given, unless noop_with_empty_axes keeps the input as it is. */
static void choose_axes(const struct baryon_node *node, size_t rank, struct by_axes *axes)
{
    const bool none = !axes->given || (axes->known && !axes->count);
    if (none && by_node_int(node, "noop_with_empty_axes", 0) != 1)
        for (size_t i = 0; i < rank; i++)
            axes->set[i] = true;
}

static int out_reduced(struct by_infer *infer, struct baryon_node *node, const struct by_shape *in,
                       const bool *reduced, struct baryon_error *err)
{
    struct by_extent dims[BY_RANK_MAX];
    size_t rank = 0;
    const bool keep = by_node_int(node, "keepdims", 1) == 1;
    for (size_t i = 0; i < in->rank; i++) {
        if (!reduced[i])
            dims[rank++] = in->dims[i];
        else if (keep)
            dims[rank++] = by_extent_of(1);
    }
    return by_out_dims(infer, node, 0, dims, rank, err);
}

/* The numbers of the axes are not known: their count may still give the rank. */
static int out_reduced_somewhere(struct by_infer *infer, struct baryon_node *node,
                                 const struct by_shape *in, const struct by_axes *axes,
                                 struct baryon_error *err)
{
    const bool keep = by_node_int(node, "keepdims", 1) == 1;
    const bool counted = axes->count_known && axes->count && axes->count <= in->rank;
    if (!keep && !counted)
        return 0;
    struct by_shape *out = by_new_shape(infer, keep ? in->rank : in->rank - axes->count, err);
    if (!out)
        return -1;
    by_out_shape(node, 0, out);
    return 0;
}

/* One element that stands for all of a followed tensor: ReduceProd of a shape and so on. */
static int follow_reduced(struct by_infer *infer, struct baryon_node *node,
                          struct baryon_error *err)
{
    static const struct {
        const char *op_type, *step;
    } steps[] = {
        {"ReduceMax", "Max"}, {"ReduceMin", "Min"}, {"ReduceProd", "Mul"}, {"ReduceSum", "Add"}};
    const struct by_content *from = by_in_content(infer, node, 0);
    const struct baryon_value *out = by_node_out(node, 0);
    const char *step = NULL;
    int64_t count;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (strcmp(steps[i].op_type, node->op_type) == 0)
            step = steps[i].step;
    if (!step || !from || !from->count || !out || !by_shape_count(out->shape, &count) || count != 1)
        return 0;
    const struct baryon_node as = {.op_type = step};
    const struct by_item_function *function = by_item_function(&as);
    struct by_content *content = by_new_content(infer, 1, err);
    if (!content)
        return -1;
    content->items[0] = from->items[0];
    for (size_t i = 1; i < from->count; i++)
        content->items[0] = by_item_settle(
            function->apply((struct by_item[]){content->items[0], from->items[i]}), out->elem);
    by_out_content(infer, node, 0, content);
    return 0;
}

int by_infer_reduce(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    struct by_axes axes;
    if (!in)
        return 0;
    /* Inputs 1 to 4 of the quantized forms are scales and zero points. */
    const size_t slot = by_node_opinfo(node)->max_in > 2 ? SIZE_MAX : 1;
    if (by_read_axes(infer, node, slot, in->rank, &axes, err))
        return -1;
    if (axes.given && !axes.known)
        return out_reduced_somewhere(infer, node, in, &axes, err);
    choose_axes(node, in->rank, &axes);
    if (out_reduced(infer, node, in, axes.set, err))
        return -1;
    return follow_reduced(infer, node, err);
}

int by_infer_arg_reduce(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    bool reduced[BY_RANK_MAX] = {false};
    size_t axis;
    if (!in)
        return 0;
    if (!in->rank)
        return by_out_scalar(infer, node, 0, err);
    if (by_attr_axis(node, "axis", 0, in->rank, &axis, err))
        return -1;
    reduced[axis] = true;
    return out_reduced(infer, node, in, reduced, err);
}

static int top_count(const struct by_infer *infer, const struct baryon_node *node,
                     struct by_item *count, struct baryon_error *err)
{
    const struct baryon_attribute *attr = by_node_attr(node, "k");
    *count = by_in_item(infer, node, 1);
    if (!by_in_given(node, 1) && attr && attr->type == BY_ATTR_INT)
        *count = by_item_int(attr->i);
    if (count->kind == BY_ITEM_INT && count->i < 0)
        return by_infer_fail(node, err, "k is %lld, must not be negative", (long long)count->i);
    return 0;
}

int by_infer_top_k(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    struct by_item count;
    size_t axis;
    if (!in)
        return 0;
    if (by_attr_axis(node, "axis", -1, in->rank, &axis, err) || top_count(infer, node, &count, err))
        return -1;
    const struct by_extent taken = by_extent_from_item(count);
    if (by_extent_is_number(taken) && by_extent_is_number(in->dims[axis]) &&
        taken.size > in->dims[axis].size)
        return by_infer_fail(node, err, "k is %lld, but axis %zu has %lld elements",
                             (long long)taken.size, axis, (long long)in->dims[axis].size);
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out)
        return -1;
    out->dims[axis] = taken;
    by_out_shape(node, 0, out);
    by_out_shape(node, 1, out);
    return 0;
}
