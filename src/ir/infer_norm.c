/* Normalisations and dropout: what they give besides the normalised input. */
#include "ir/infer_internal.h"

#include <string.h>

/* Mean and deviation: the input with 1 from the axis on. */
static int out_moments(struct by_infer *infer, struct baryon_node *node, const struct by_shape *in,
                       size_t axis, size_t first, size_t last, struct baryon_error *err)
{
    struct by_shape *moments = by_new_copy(infer, in, err);
    if (!moments)
        return -1;
    for (size_t i = axis; i < moments->rank; i++)
        moments->dims[i] = by_extent_of(1);
    for (size_t slot = first; slot <= last; slot++)
        by_out_shape(node, slot, moments);
    return 0;
}

/* The type of the moments is an attribute. */
static int out_stash_types(struct baryon_node *node, size_t first, size_t last,
                           struct baryon_error *err)
{
    int64_t elem;
    if (by_attr_elem(node, "stash_type", BY_ELEM_FLOAT, &elem, err))
        return -1;
    for (size_t slot = first; slot <= last; slot++)
        by_out_elem(node, slot, elem);
    return 0;
}

/* As its input, along an axis that the input must have. Before opset 13 some flattened it at the
 * axis, which may be after the last one then. */
int by_infer_same_along(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    size_t axis;
    by_out_shape(node, 0, in);
    if (!in || !by_node_attr(node, "axis") ||
        (infer->opset < 13 && by_node_int(node, "axis", 0) == (int64_t)in->rank))
        return 0;
    return by_attr_axis(node, "axis", -1, in->rank, &axis, err);
}

int by_infer_layer_norm(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    size_t axis;
    if (out_stash_types(node, 1, 2, err))
        return -1;
    by_out_shape(node, 0, in);
    if (!in)
        return 0;
    if (by_attr_axis(node, "axis", -1, in->rank, &axis, err))
        return -1;
    return out_moments(infer, node, in, axis, 1, 2, err);
}

/* The fourth output is the sum of input and skip. */
int by_infer_skip_layer_norm(struct by_infer *infer, struct baryon_node *node,
                             struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    by_out_shape(node, 0, in);
    by_out_shape(node, 3, in);
    if (!in || !in->rank)
        return 0;
    return out_moments(infer, node, in, in->rank - 1, 1, 2, err);
}

int by_infer_batch_norm(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    static const char *const names[] = {NULL, "scale", "bias", "mean", "variance"};
    const struct by_shape *in = by_in_shape(node, 0);
    struct by_extent agreed;
    (void)infer;
    for (size_t slot = 1; in && in->rank > 1 && slot <= 4; slot++) {
        const struct by_shape *each = by_in_shape(node, slot);
        if (each && !each->rank)
            return by_infer_fail(
                node, err, "the %s is a single value, must be one for each channel", names[slot]);
        if (each && each->rank == 1 && !by_extent_unify(in->dims[1], each->dims[0], &agreed))
            return by_infer_fail(node, err, "the input has %lld channels, but the %s has %lld",
                                 (long long)in->dims[1].size, names[slot],
                                 (long long)each->dims[0].size);
    }
    by_out_shape(node, 0, in);
    for (size_t slot = 1; slot < node->output.count; slot++)
        by_out_shape(node, slot, by_in_shape(node, slot < 3 ? slot + 2 : slot));
    return 0;
}

/* The mask is bool from opset 10 on; before, it had the type of the data. */
int by_infer_dropout(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    (void)err;
    by_out_shape(node, 0, by_in_shape(node, 0));
    by_out_shape(node, 1, by_in_shape(node, 0));
    if (infer->opset >= 10)
        by_out_elem(node, 1, BY_ELEM_BOOL);
    return 0;
}

/* [batch, length, hidden], the mask index [batch], the sum before normalisation. */
int by_infer_embed_layer_norm(struct by_infer *infer, struct baryon_node *node,
                              struct baryon_error *err)
{
    const struct by_shape *ids = by_in_shape(node, 0), *words = by_in_shape(node, 2);
    if (!ids || ids->rank != 2)
        return 0;
    const struct by_extent dims[] = {ids->dims[0], ids->dims[1],
                                     words && words->rank == 2 ? words->dims[1]
                                                               : by_extent_unknown()};
    if (by_out_dims(infer, node, 0, dims, 3, err) || by_out_dims(infer, node, 1, dims, 1, err))
        return -1;
    return by_out_dims(infer, node, 2, dims, 3, err);
}

int by_infer_bias_split_gelu(struct by_infer *infer, struct baryon_node *node,
                             struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    if (!in || !in->rank)
        return 0;
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out)
        return -1;
    out->dims[out->rank - 1] = by_extent_div(out->dims[out->rank - 1], 2);
    by_out_shape(node, 0, out);
    return 0;
}

static bool is_reduced_to_one(const struct baryon_node *node)
{
    return !by_attr_text_is(node, "reduction", "none");
}

/* A scalar, or without reduction the shape of the labels; then the logarithms. */
int by_infer_loss(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    by_out_shape(node, 1, by_in_shape(node, 0));
    if (is_reduced_to_one(node))
        return by_out_scalar(infer, node, 0, err);
    by_out_shape(node, 0, by_in_shape(node, 1));
    return 0;
}

/* Determinants of the matrices in the last two axes. */
int by_infer_det(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    if (!in)
        return 0;
    if (in->rank < 2)
        return by_infer_fail(node, err, "the input has rank %zu, must be at least 2", in->rank);
    return by_out_dims(infer, node, 0, in->dims, in->rank - 2, err);
}

/* [how many, 3]: batch, class, box */
int by_infer_non_max_suppression(struct by_infer *infer, struct baryon_node *node,
                                 struct baryon_error *err)
{
    const struct by_extent dims[] = {by_extent_unknown(), by_extent_of(3)};
    return by_out_dims(infer, node, 0, dims, 2, err);
}
