/* What all rules share: reading inputs and attributes, writing outputs. */
#include "ir/infer_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int by_infer_fail(const struct baryon_node *node, struct baryon_error *err, const char *format, ...)
{
    char label[BY_QUOTE_MAX + 96], text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    by_node_label(node, label, sizeof label);
    return by_fail(err, BARYON_ERR_INPUT, "%s: %s", label, text);
}

bool by_in_given(const struct baryon_node *node, size_t slot)
{
    return by_node_in(node, slot) != NULL;
}

int64_t by_in_elem(const struct baryon_node *node, size_t slot)
{
    const struct baryon_value *value = by_node_in(node, slot);
    return value ? value->elem : 0;
}

const struct by_shape *by_in_shape(const struct baryon_node *node, size_t slot)
{
    const struct baryon_value *value = by_node_in(node, slot);
    return value ? value->shape : NULL;
}

struct by_fact *by_in_fact(const struct by_infer *infer, const struct baryon_node *node,
                           size_t slot)
{
    const struct baryon_value *value = by_node_in(node, slot);
    return value ? by_fact_of(infer, value) : NULL;
}

const struct by_content *by_in_content(const struct by_infer *infer, const struct baryon_node *node,
                                       size_t slot)
{
    const struct by_fact *fact = by_in_fact(infer, node, slot);
    return fact ? fact->content : NULL;
}

struct by_item by_in_item(const struct by_infer *infer, const struct baryon_node *node, size_t slot)
{
    const struct by_content *content = by_in_content(infer, node, slot);
    return content && content->count == 1 ? content->items[0]
                                          : (struct by_item){.kind = BY_ITEM_UNKNOWN};
}

void by_out_elem(struct baryon_node *node, size_t slot, int64_t elem)
{
    struct baryon_value *value = by_node_out(node, slot);
    if (value)
        value->elem = elem;
}

void by_out_shape(struct baryon_node *node, size_t slot, const struct by_shape *shape)
{
    struct baryon_value *value = by_node_out(node, slot);
    if (value && shape)
        value->shape = shape;
}

void by_out_content(struct by_infer *infer, struct baryon_node *node, size_t slot,
                    const struct by_content *content)
{
    const struct baryon_value *value = by_node_out(node, slot);
    if (value)
        by_fact_of(infer, value)->content = content;
}

void by_out_kind(struct by_infer *infer, struct baryon_node *node, size_t slot,
                 enum by_value_kind kind, int64_t elem, const struct by_shape *shape)
{
    struct baryon_value *value = by_node_out(node, slot);
    if (!value)
        return;
    value->elem = 0;
    value->shape = NULL;
    *by_fact_of(infer, value) = (struct by_fact){.kind = kind, .elem = elem, .shape = shape};
}

void by_out_same(struct by_infer *infer, struct baryon_node *node, size_t slot,
                 const struct baryon_value *value)
{
    struct baryon_value *out = by_node_out(node, slot);
    if (!out || !value)
        return;
    out->elem = value->elem;
    out->shape = value->shape;
    *by_fact_of(infer, out) = *by_fact_of(infer, value);
}

struct by_shape *by_new_shape(struct by_infer *infer, size_t rank, struct baryon_error *err)
{
    return by_shape_new(&infer->model->arena, rank, err);
}

struct by_shape *by_new_copy(struct by_infer *infer, const struct by_shape *shape,
                             struct baryon_error *err)
{
    return by_shape_copy(&infer->model->arena, shape, err);
}

int by_out_dims(struct by_infer *infer, struct baryon_node *node, size_t slot,
                const struct by_extent *dims, size_t rank, struct baryon_error *err)
{
    struct by_shape *shape = by_new_shape(infer, rank, err);
    if (!shape)
        return -1;
    if (rank)
        memcpy(shape->dims, dims, rank * sizeof *dims);
    by_out_shape(node, slot, shape);
    return 0;
}

int by_out_scalar(struct by_infer *infer, struct baryon_node *node, size_t slot,
                  struct baryon_error *err)
{
    return by_out_dims(infer, node, slot, NULL, 0, err);
}

static const struct baryon_attribute *attr_of_type(const struct baryon_node *node, const char *name,
                                                   int64_t type)
{
    const struct baryon_attribute *attr = by_node_attr(node, name);
    return attr && attr->type == type && !attr->ref_attr_name ? attr : NULL;
}

const struct by_ints *by_attr_ints(const struct baryon_node *node, const char *name)
{
    const struct baryon_attribute *attr = attr_of_type(node, name, BY_ATTR_INTS);
    return attr ? &attr->ints : NULL;
}

const struct by_floats *by_attr_floats(const struct baryon_node *node, const char *name)
{
    const struct baryon_attribute *attr = attr_of_type(node, name, BY_ATTR_FLOATS);
    return attr ? &attr->floats : NULL;
}

bool by_attr_text_is(const struct baryon_node *node, const char *name, const char *text)
{
    const struct baryon_attribute *attr = attr_of_type(node, name, BY_ATTR_STRING);
    return attr && attr->s.size == strlen(text) && memcmp(attr->s.data, text, attr->s.size) == 0;
}

struct baryon_graph *by_attr_graph(const struct baryon_node *node, const char *name)
{
    const struct baryon_attribute *attr = attr_of_type(node, name, BY_ATTR_GRAPH);
    return attr ? attr->g : NULL;
}

int by_attr_elem(const struct baryon_node *node, const char *name, int64_t fallback, int64_t *elem,
                 struct baryon_error *err)
{
    *elem = by_node_int(node, name, 0);
    if (!*elem)
        *elem = fallback;
    if (*elem && !by_elem_info(*elem))
        return by_infer_fail(node, err, "%s is %lld, must be an element type", name,
                             (long long)*elem);
    return 0;
}

int by_axis(const struct baryon_node *node, int64_t axis, size_t rank, size_t *out,
            struct baryon_error *err)
{
    const int64_t limit = (int64_t)rank;
    *out = 0;
    if (axis < -limit || axis >= limit)
        return by_infer_fail(node, err, "axis is %lld, must be in [%lld, %lld]", (long long)axis,
                             (long long)-limit, (long long)(limit - 1));
    *out = (size_t)(axis < 0 ? axis + limit : axis);
    return 0;
}

int by_attr_axis(const struct baryon_node *node, const char *name, int64_t fallback, size_t rank,
                 size_t *out, struct baryon_error *err)
{
    return by_axis(node, by_node_int(node, name, fallback), rank, out, err);
}

static int set_axis(const struct baryon_node *node, int64_t axis, size_t rank, struct by_axes *axes,
                    struct baryon_error *err)
{
    size_t place;
    if (by_axis(node, axis, rank, &place, err))
        return -1;
    axes->repeated |= axes->set[place];
    axes->set[place] = true;
    return 0;
}

/* From the input in the slot: known when every item of it is a number. */
static int axes_from_input(const struct by_infer *infer, const struct baryon_node *node,
                           size_t slot, size_t rank, struct by_axes *axes, struct baryon_error *err)
{
    const struct by_content *content = by_in_content(infer, node, slot);
    int64_t count = 0;
    axes->given = true;
    axes->count_known = by_shape_count(by_in_shape(node, slot), &count);
    axes->count = (size_t)count;
    axes->known = content != NULL;
    for (size_t i = 0; content && i < content->count; i++) {
        if (content->items[i].kind != BY_ITEM_INT)
            axes->known = false;
        else if (set_axis(node, content->items[i].i, rank, axes, err))
            return -1;
    }
    return 0;
}

int by_read_axes(const struct by_infer *infer, const struct baryon_node *node, size_t slot,
                 size_t rank, struct by_axes *axes, struct baryon_error *err)
{
    const struct by_ints *ints = by_attr_ints(node, "axes");
    *axes = (struct by_axes){.known = true, .count_known = true};
    if (by_in_given(node, slot))
        return axes_from_input(infer, node, slot, rank, axes, err);
    if (!ints)
        return 0;
    axes->given = true;
    axes->count = ints->count;
    for (size_t i = 0; i < ints->count; i++)
        if (set_axis(node, ints->at[i], rank, axes, err))
            return -1;
    return 0;
}

int by_spelled_shape(struct by_infer *infer, const struct baryon_node *node, size_t slot,
                     struct by_shape **shape, struct baryon_error *err)
{
    const struct by_content *content = by_in_content(infer, node, slot);
    int64_t rank;
    *shape = NULL;
    if (!by_shape_count(by_in_shape(node, slot), &rank))
        return 0;
    if (rank > BY_RANK_MAX)
        return by_infer_fail(node, err, "the shape has %lld dimensions, at most %d are supported",
                             (long long)rank, BY_RANK_MAX);
    *shape = by_new_shape(infer, (size_t)rank, err);
    for (size_t i = 0; *shape && content && i < content->count; i++) {
        if (content->items[i].kind == BY_ITEM_INT && content->items[i].i < 0)
            return by_infer_fail(node, err,
                                 "dimension %zu of the shape is %lld, must not be "
                                 "negative",
                                 i, (long long)content->items[i].i);
        (*shape)->dims[i] = by_extent_from_item(content->items[i]);
    }
    return *shape ? 0 : -1;
}
