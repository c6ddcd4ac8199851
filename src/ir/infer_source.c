/* Operators that make tensors, and those that read shapes. */
#include "ir/infer_internal.h"

#include <math.h>
#include <string.h>

static int64_t clamp_axis(int64_t axis, int64_t rank)
{
    axis = axis < 0 ? axis + rank : axis;
    return axis < 0 ? 0 : axis > rank ? rank : axis;
}

int by_infer_shape_of(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    struct by_extent count = by_extent_unknown();
    if (!in)
        return by_out_dims(infer, node, 0, &count, 1, err);
    const int64_t rank = (int64_t)in->rank;
    const int64_t start = clamp_axis(by_node_int(node, "start", 0), rank);
    const int64_t end = clamp_axis(by_node_int(node, "end", rank), rank);
    count = by_extent_of(end > start ? end - start : 0);
    struct by_content *content = by_new_content(infer, (size_t)count.size, err);
    if (!content)
        return -1;
    for (size_t i = 0; i < content->count; i++)
        content->items[i] = by_item_from_extent(in->dims[(size_t)start + i]);
    by_out_content(infer, node, 0, content);
    return by_out_dims(infer, node, 0, &count, 1, err);
}

int by_infer_size_of(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    struct by_content *content = by_new_content(infer, 1, err);
    if (!content)
        return -1;
    if (in)
        content->items[0] = by_item_from_extent(by_extent_product(in, 0, in->rank));
    by_out_content(infer, node, 0, content);
    return by_out_scalar(infer, node, 0, err);
}

static int out_tensor(struct by_infer *infer, struct baryon_node *node,
                      const struct baryon_tensor *tensor, struct baryon_error *err)
{
    const struct by_shape *shape;
    const struct by_content *content;
    by_out_elem(node, 0, tensor->data_type);
    if (by_shape_from_dims(&infer->model->arena, tensor->dims.at, tensor->dims.count, &shape, err))
        return -1;
    by_out_shape(node, 0, shape);
    if (by_content_of_tensor(infer, tensor, &content, err))
        return -1;
    by_out_content(infer, node, 0, content);
    return 0;
}

static int out_sparse(struct by_infer *infer, struct baryon_node *node,
                      const struct by_sparse_tensor *tensor, struct baryon_error *err)
{
    const struct by_shape *shape;
    if (tensor->values)
        by_out_elem(node, 0, tensor->values->data_type);
    if (by_shape_from_dims(&infer->model->arena, tensor->dims.at, tensor->dims.count, &shape, err))
        return -1;
    by_out_shape(node, 0, shape);
    return 0;
}

/* value_int, value_floats and so on: a scalar or a list of `count` elements. */
static int out_numbers(struct by_infer *infer, struct baryon_node *node, int64_t elem,
                       const int64_t *ints, const float *floats, size_t count, bool scalar,
                       struct baryon_error *err)
{
    const struct by_extent extent = by_extent_of((int64_t)count);
    by_out_elem(node, 0, elem);
    if (by_out_dims(infer, node, 0, &extent, scalar ? 0 : 1, err))
        return -1;
    if (count > BY_CONTENT_CONST_MAX || (!ints && !floats))
        return 0;
    struct by_content *content = by_new_content(infer, count, err);
    if (!content)
        return -1;
    for (size_t i = 0; i < count; i++)
        content->items[i] = ints ? by_item_int(ints[i])
                                 : (struct by_item){.kind = BY_ITEM_REAL, .r = (double)floats[i]};
    by_out_content(infer, node, 0, content);
    return 0;
}

static int out_attribute(struct by_infer *infer, struct baryon_node *node,
                         const struct baryon_attribute *attr, struct baryon_error *err)
{
    switch (attr->type) {
    case BY_ATTR_TENSOR:
        return attr->t ? out_tensor(infer, node, attr->t, err) : 0;
    case BY_ATTR_SPARSE_TENSOR:
        return attr->sparse_tensor ? out_sparse(infer, node, attr->sparse_tensor, err) : 0;
    case BY_ATTR_INT:
        return out_numbers(infer, node, BY_ELEM_INT64, &attr->i, NULL, 1, true, err);
    case BY_ATTR_FLOAT:
        return out_numbers(infer, node, BY_ELEM_FLOAT, NULL, &attr->f, 1, true, err);
    case BY_ATTR_INTS:
        return out_numbers(infer, node, BY_ELEM_INT64, attr->ints.at, NULL, attr->ints.count, false,
                           err);
    case BY_ATTR_FLOATS:
        return out_numbers(infer, node, BY_ELEM_FLOAT, NULL, attr->floats.at, attr->floats.count,
                           false, err);
    case BY_ATTR_STRING:
        return out_numbers(infer, node, BY_ELEM_STRING, NULL, NULL, 1, true, err);
    case BY_ATTR_STRINGS:
        return out_numbers(infer, node, BY_ELEM_STRING, NULL, NULL, attr->strings.count, false,
                           err);
    default:
        return 0;
    }
}

int by_infer_constant(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    for (size_t i = 0; i < node->attribute.count; i++) {
        const struct baryon_attribute *attr = node->attribute.at[i];
        const bool is_value =
            attr && attr->name && !attr->ref_attr_name &&
            (strncmp(attr->name, "value", 5) == 0 || strcmp(attr->name, "sparse_value") == 0);
        if (is_value)
            return out_attribute(infer, node, attr, err);
    }
    return 0;
}

static int fill_known_content(struct by_infer *infer, struct baryon_node *node,
                              const struct by_shape *shape, const struct baryon_tensor *value,
                              struct baryon_error *err)
{
    const struct by_content *one = NULL;
    int64_t count;
    struct by_item item = {.kind = BY_ITEM_REAL, .r = 0};
    if (!by_shape_count(shape, &count) || count > BY_CONTENT_MAX)
        return 0;
    if (value && by_content_of_tensor(infer, value, &one, err))
        return -1;
    if (value && (!one || one->count != 1))
        return 0;
    if (one)
        item = one->items[0];
    struct by_content *content = by_new_content(infer, (size_t)count, err);
    if (!content)
        return -1;
    for (size_t i = 0; i < content->count; i++)
        content->items[i] = item;
    by_out_content(infer, node, 0, content);
    return 0;
}

int by_infer_constant_of_shape(struct by_infer *infer, struct baryon_node *node,
                               struct baryon_error *err)
{
    const struct baryon_attribute *attr = by_node_attr(node, "value");
    const struct baryon_tensor *value = attr && attr->type == BY_ATTR_TENSOR ? attr->t : NULL;
    struct by_shape *shape;
    by_out_elem(node, 0, value ? value->data_type : BY_ELEM_FLOAT);
    if (by_spelled_shape(infer, node, 0, &shape, err))
        return -1;
    by_out_shape(node, 0, shape);
    return shape ? fill_known_content(infer, node, shape, value, err) : 0;
}

/* Elements of a range, -1 when they are not known. */
static int64_t range_count(struct by_item start, struct by_item limit, struct by_item delta)
{
    int64_t span;
    if (start.kind == BY_ITEM_REAL && limit.kind == BY_ITEM_REAL && delta.kind == BY_ITEM_REAL) {
        const double count = ceil((limit.r - start.r) / delta.r);
        return count <= 0 ? 0 : count < 1e15 ? (int64_t)count : -1;
    }
    if (start.kind != BY_ITEM_INT || limit.kind != BY_ITEM_INT || delta.kind != BY_ITEM_INT ||
        !delta.i || delta.i == INT64_MIN || __builtin_sub_overflow(limit.i, start.i, &span) ||
        span == INT64_MIN)
        return -1;
    if ((span > 0) != (delta.i > 0) || !span)
        return 0;
    return span / delta.i + (span % delta.i != 0);
}

static int follow_range(struct by_infer *infer, struct baryon_node *node, struct by_item start,
                        struct by_item delta, int64_t count, struct baryon_error *err)
{
    if (count < 0 || count > BY_CONTENT_MAX || start.kind != BY_ITEM_INT)
        return 0;
    struct by_content *content = by_new_content(infer, (size_t)count, err);
    if (!content)
        return -1;
    for (size_t i = 0; i < content->count; i++)
        content->items[i] = by_item_int(start.i + (int64_t)i * delta.i);
    by_out_content(infer, node, 0, content);
    return 0;
}

int by_infer_range(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_item start = by_in_item(infer, node, 0), limit = by_in_item(infer, node, 1);
    struct by_item delta = by_in_item(infer, node, 2);
    if (!by_in_given(node, 2))
        delta = by_item_int(1);
    const int64_t count = range_count(start, limit, delta);
    struct by_extent extent = by_extent_of(count);
    const bool from_zero = start.kind == BY_ITEM_INT && !start.i;
    const bool by_one = delta.kind == BY_ITEM_INT && delta.i == 1;
    if (limit.kind == BY_ITEM_SYMBOL && from_zero && by_one)
        extent = by_extent_from_item(limit);
    if (by_out_dims(infer, node, 0, &extent, 1, err))
        return -1;
    return follow_range(infer, node, start, delta, count, err);
}

int by_infer_random(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_ints *dims = by_attr_ints(node, "shape");
    const struct by_shape *shape;
    if (!dims)
        return 0;
    for (size_t i = 0; i < dims->count; i++)
        if (dims->at[i] < 0)
            return by_infer_fail(node, err, "shape[%zu] is %lld, must not be negative", i,
                                 (long long)dims->at[i]);
    if (by_shape_from_dims(&infer->model->arena, dims->at, dims->count, &shape, err))
        return -1;
    by_out_shape(node, 0, shape);
    return 0;
}

int by_infer_multinomial(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const struct by_extent dims[] = {in && in->rank == 2 ? in->dims[0] : by_extent_unknown(),
                                     by_extent_of(by_node_int(node, "sample_size", 1))};
    return by_out_dims(infer, node, 0, dims, 2, err);
}

int by_infer_one_hot(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *indices = by_in_shape(node, 0);
    struct by_item depth = by_in_item(infer, node, 1);
    size_t axis;
    if (!indices)
        return 0;
    if (by_attr_axis(node, "axis", -1, indices->rank + 1, &axis, err))
        return -1;
    struct by_shape *out = by_new_shape(infer, indices->rank + 1, err);
    if (!out)
        return -1;
    for (size_t i = 0; i < indices->rank; i++)
        out->dims[i + (i >= axis)] = indices->dims[i];
    if (depth.kind == BY_ITEM_REAL)
        depth = by_item_cast(depth, BY_ELEM_INT64);
    out->dims[axis] = by_extent_from_item(depth);
    by_out_shape(node, 0, out);
    return 0;
}

/* Indices of elements that are not 0: [rank, how many]. */
int by_infer_non_zero(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const struct by_content *from = by_in_content(infer, node, 0);
    struct by_extent dims[] = {by_extent_unknown(), by_extent_unknown()};
    if (in)
        dims[0] = by_extent_of((int64_t)in->rank);
    if (!in || in->rank != 1 || !from || from->count > BY_CONTENT_MAX)
        return by_out_dims(infer, node, 0, dims, 2, err);
    struct by_content *content = by_new_content(infer, from->count, err);
    if (!content)
        return -1;
    content->count = 0;
    for (size_t i = 0; i < from->count; i++) {
        if (from->items[i].kind != BY_ITEM_INT)
            return by_out_dims(infer, node, 0, dims, 2, err);
        if (from->items[i].i)
            content->items[content->count++] = by_item_int((int64_t)i);
    }
    dims[1] = by_extent_of((int64_t)content->count);
    by_out_content(infer, node, 0, content);
    return by_out_dims(infer, node, 0, dims, 2, err);
}
