/* Sequences and optionals of tensors. */
#include "ir/infer_internal.h"

#include <string.h>

static struct by_fact in_fact(const struct by_infer *infer, const struct baryon_node *node,
                              size_t slot)
{
    const struct by_fact *fact = by_in_fact(infer, node, slot);
    return fact ? *fact : (struct by_fact){.kind = BY_KIND_TENSOR};
}

/* What the tensors of a sequence have in common when one more is put in. */
static int put_in(struct by_infer *infer, const struct baryon_node *node, struct by_fact *sequence,
                  const struct baryon_value *tensor, bool first, struct baryon_error *err)
{
    if (!tensor)
        return 0;
    if (sequence->elem && tensor->elem && sequence->elem != tensor->elem)
        return by_infer_fail(node, err, "a tensor is %s in a sequence of %s, must be the same",
                             by_elem_name(tensor->elem), by_elem_name(sequence->elem));
    sequence->elem = sequence->elem ? sequence->elem : tensor->elem;
    const struct by_shape *before = sequence->shape, *more = tensor->shape;
    sequence->shape = first ? more : NULL;
    if (first || !before || !more || before->rank != more->rank)
        return 0;
    struct by_shape *common = by_new_copy(infer, before, err);
    for (size_t i = 0; common && i < common->rank; i++)
        if (!by_extent_equal(before->dims[i], more->dims[i]))
            common->dims[i] = by_extent_unknown();
    sequence->shape = common;
    return common ? 0 : -1;
}

int by_infer_sequence_construct(struct by_infer *infer, struct baryon_node *node,
                                struct baryon_error *err)
{
    struct by_fact made = {.kind = BY_KIND_SEQUENCE};
    for (size_t i = 0; i < node->input.count; i++)
        if (put_in(infer, node, &made, by_node_in(node, i), i == 0, err))
            return -1;
    by_out_kind(infer, node, 0, made.kind, made.elem, made.shape);
    return 0;
}

int by_infer_sequence_empty(struct by_infer *infer, struct baryon_node *node,
                            struct baryon_error *err)
{
    int64_t elem;
    if (by_attr_elem(node, "dtype", BY_ELEM_FLOAT, &elem, err))
        return -1;
    by_out_kind(infer, node, 0, BY_KIND_SEQUENCE, elem, NULL);
    return 0;
}

/* The shape of an empty sequence is not known, so that nothing is lost by forgetting it. */
int by_infer_sequence_insert(struct by_infer *infer, struct baryon_node *node,
                             struct baryon_error *err)
{
    struct by_fact made = in_fact(infer, node, 0);
    if (put_in(infer, node, &made, by_node_in(node, 1), false, err))
        return -1;
    by_out_kind(infer, node, 0, BY_KIND_SEQUENCE, made.elem, made.shape);
    return 0;
}

int by_infer_sequence_erase(struct by_infer *infer, struct baryon_node *node,
                            struct baryon_error *err)
{
    const struct by_fact in = in_fact(infer, node, 0);
    (void)err;
    by_out_kind(infer, node, 0, BY_KIND_SEQUENCE, in.elem, in.shape);
    return 0;
}

int by_infer_sequence_at(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_fact in = in_fact(infer, node, 0);
    (void)err;
    by_out_elem(node, 0, in.elem);
    by_out_shape(node, 0, in.shape);
    return 0;
}

/* Joined along an axis, or along a new one. */
int by_infer_concat_from_sequence(struct by_infer *infer, struct baryon_node *node,
                                  struct baryon_error *err)
{
    const struct by_fact in = in_fact(infer, node, 0);
    const bool new_axis = by_node_int(node, "new_axis", 0) != 0;
    struct by_extent dims[BY_RANK_MAX + 1];
    size_t axis;
    by_out_elem(node, 0, in.elem);
    if (!in.shape)
        return 0;
    const size_t rank = in.shape->rank + new_axis;
    if (by_attr_axis(node, "axis", 0, rank, &axis, err))
        return -1;
    for (size_t i = 0; i < rank; i++)
        dims[i] = i == axis ? by_extent_unknown() : in.shape->dims[i - (new_axis && i > axis)];
    return by_out_dims(infer, node, 0, dims, rank, err);
}

/* Parts of one size, of listed sizes (not followed), or single elements. */
int by_infer_split_to_sequence(struct by_infer *infer, struct baryon_node *node,
                               struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const bool keep = by_in_given(node, 1) || by_node_int(node, "keepdims", 1) != 0;
    struct by_extent dims[BY_RANK_MAX];
    size_t axis, rank = 0;
    by_out_kind(infer, node, 0, BY_KIND_SEQUENCE, by_in_elem(node, 0), NULL);
    if (!in)
        return 0;
    if (by_attr_axis(node, "axis", 0, in->rank, &axis, err))
        return -1;
    for (size_t i = 0; i < in->rank; i++) {
        if (i != axis)
            dims[rank++] = in->dims[i];
        else if (keep)
            dims[rank++] = by_in_given(node, 1) ? by_extent_unknown() : by_extent_of(1);
    }
    struct by_shape *part = by_new_shape(infer, rank, err);
    if (!part)
        return -1;
    memcpy(part->dims, dims, rank * sizeof *dims);
    by_out_kind(infer, node, 0, BY_KIND_SEQUENCE, by_in_elem(node, 0), part);
    return 0;
}

/* The body sees one element of each sequence at a time, and its other inputs as they are. */
static void bind_elements(struct by_infer *infer, struct baryon_node *node,
                          struct baryon_graph *body)
{
    for (size_t i = 0; i < node->input.count && i < body->input.count; i++) {
        const struct by_value_info *info = body->input.at[i];
        struct baryon_value *value =
            info && info->name ? by_map_get(&body->values, info->name) : NULL;
        const struct by_fact in = in_fact(infer, node, i);
        if (!value)
            continue;
        const bool sequence = in.kind == BY_KIND_SEQUENCE;
        value->elem = sequence ? in.elem : by_in_elem(node, i);
        value->shape = sequence ? in.shape : by_in_shape(node, i);
    }
}

int by_infer_sequence_map(struct by_infer *infer, struct baryon_node *node,
                          struct baryon_error *err)
{
    const struct baryon_attribute *attr = by_node_attr(node, "body");
    struct by_infer_frame frame;
    if (!attr || !attr->g)
        return 0;
    if (attr->g->output.count != node->output.count)
        return by_infer_fail(node, err, "the body has %zu outputs, the node %zu",
                             attr->g->output.count, node->output.count);
    if (by_infer_enter(infer, attr->g, &frame, err))
        return -1;
    bind_elements(infer, node, attr->g);
    const int status = by_infer_graph(infer, err);
    for (size_t i = 0; !status && i < node->output.count; i++) {
        const struct baryon_value *each = by_graph_out(attr->g, i);
        if (each)
            by_out_kind(infer, node, i, BY_KIND_SEQUENCE, each->elem, each->shape);
    }
    by_infer_leave(infer);
    return status;
}

/* Of the input, else of the type in the attribute. */
int by_infer_optional(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct baryon_attribute *attr = by_node_attr(node, "type");
    const struct by_type *type = attr ? attr->tp : NULL;
    const struct by_fact in = in_fact(infer, node, 0);
    const struct by_shape *shape = NULL;
    if (by_in_given(node, 0) && in.kind == BY_KIND_SEQUENCE) {
        by_out_kind(infer, node, 0, BY_KIND_OPTIONAL_SEQUENCE, in.elem, in.shape);
        return 0;
    }
    if (by_in_given(node, 0)) {
        by_out_kind(infer, node, 0, BY_KIND_OPTIONAL, by_in_elem(node, 0), by_in_shape(node, 0));
        return 0;
    }
    const bool sequence = type && type->sequence;
    if (sequence)
        type = type->sequence->elem_type;
    if (!type || !type->tensor)
        return 0;
    if (by_shape_from_msg(&infer->model->arena, type->tensor->shape, &shape, err))
        return -1;
    by_out_kind(infer, node, 0, sequence ? BY_KIND_OPTIONAL_SEQUENCE : BY_KIND_OPTIONAL,
                type->tensor->elem_type, shape);
    return 0;
}

/* From opset 18 on, what is no optional comes out as it is. */
int by_infer_optional_get_element(struct by_infer *infer, struct baryon_node *node,
                                  struct baryon_error *err)
{
    const struct by_fact in = in_fact(infer, node, 0);
    (void)err;
    if (in.kind == BY_KIND_OPTIONAL_SEQUENCE) {
        by_out_kind(infer, node, 0, BY_KIND_SEQUENCE, in.elem, in.shape);
    } else if (in.kind == BY_KIND_OPTIONAL) {
        by_out_elem(node, 0, in.elem);
        by_out_shape(node, 0, in.shape);
    } else {
        by_out_same(infer, node, 0, by_node_in(node, 0));
    }
    return 0;
}
