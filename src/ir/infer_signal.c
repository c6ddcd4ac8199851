/* Signals, sounds, pictures and texts from outside. */
#include "ir/infer_internal.h"

#include <string.h>

/* One number, -1 when it is not known; fails when it is below `least`. */
static int read_length(const struct by_infer *infer, const struct baryon_node *node, size_t slot,
                       int64_t least, int64_t *length, struct baryon_error *err)
{
    const struct by_item item = by_in_item(infer, node, slot);
    *length = item.kind == BY_ITEM_INT ? item.i : -1;
    if (item.kind == BY_ITEM_INT && item.i < least)
        return by_infer_fail(node, err, "input %zu is %lld, must be at least %lld", slot,
                             (long long)item.i, (long long)least);
    return 0;
}

static struct by_extent half(int64_t length)
{
    return length < 0 ? by_extent_unknown() : by_extent_of(length / 2 + 1);
}

int by_infer_window(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    int64_t length;
    if (read_length(infer, node, 0, 0, &length, err))
        return -1;
    const struct by_extent extent = by_extent_of(length);
    return by_out_dims(infer, node, 0, &extent, 1, err);
}

int by_infer_mel_weight_matrix(struct by_infer *infer, struct baryon_node *node,
                               struct baryon_error *err)
{
    int64_t bins, length;
    if (read_length(infer, node, 0, 1, &bins, err) || read_length(infer, node, 1, 1, &length, err))
        return -1;
    const struct by_extent dims[] = {half(length), by_extent_of(bins)};
    return by_out_dims(infer, node, 0, dims, 2, err);
}

/* The axis: an input from opset 20 on, an attribute before; false when it is not known. */
static int dft_axis(const struct by_infer *infer, const struct baryon_node *node, size_t rank,
                    size_t *axis, bool *known, struct baryon_error *err)
{
    const struct by_item item = by_in_item(infer, node, 2);
    const int64_t fallback = infer->opset >= 20 ? -2 : by_node_int(node, "axis", 1);
    *known = !by_in_given(node, 2) || item.kind == BY_ITEM_INT;
    return by_axis(node, by_in_given(node, 2) && *known ? item.i : fallback, rank, axis, err);
}

/* Onesided spectra have length / 2 + 1 bins, also on the way back. */
static struct by_extent transformed(struct by_extent in, bool given, int64_t length, bool onesided,
                                    bool inverse)
{
    if (!given && inverse && onesided)
        return in.size > 0 && in.size < INT32_MAX ? by_extent_of(2 * (in.size - 1))
                                                  : by_extent_unknown();
    if (!given)
        length = in.size;
    return onesided && !inverse ? half(length) : by_extent_of(length);
}

int by_infer_dft(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const bool onesided = by_node_int(node, "onesided", 0) != 0;
    const bool inverse = by_node_int(node, "inverse", 0) != 0;
    int64_t length;
    size_t axis;
    bool known;
    if (!in)
        return 0;
    if (in->rank < 2)
        return by_infer_fail(node, err, "the input has rank %zu, must be at least 2", in->rank);
    if (read_length(infer, node, 1, 1, &length, err) ||
        dft_axis(infer, node, in->rank, &axis, &known, err))
        return -1;
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out)
        return -1;
    out->dims[in->rank - 1] = by_extent_of(onesided && inverse ? 1 : 2);
    const bool resized = by_in_given(node, 1) || onesided;
    if (resized)
        out->dims[axis] =
            transformed(in->dims[axis], by_in_given(node, 1), length, onesided, inverse);
    for (size_t i = 0; resized && !known && i + 1 < in->rank; i++)
        out->dims[i] = by_extent_unknown();
    by_out_shape(node, 0, out);
    return 0;
}

/* [batch, frames, bins, 2] */
int by_infer_stft(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0), *window = by_in_shape(node, 2);
    const bool onesided = by_node_int(node, "onesided", 1) != 0;
    int64_t step, length;
    if (!in)
        return 0;
    if (in->rank < 2)
        return by_infer_fail(node, err, "the input has rank %zu, must be at least 2", in->rank);
    if (read_length(infer, node, 1, 1, &step, err) || read_length(infer, node, 3, 1, &length, err))
        return -1;
    if (!by_in_given(node, 3) && by_in_given(node, 2))
        length = window && window->rank == 1 ? window->dims[0].size : -1;
    else if (!by_in_given(node, 3))
        length = in->dims[1].size;
    struct by_extent frames = by_extent_unknown();
    if (step > 0 && length >= 0 && by_extent_is_number(in->dims[1]))
        frames =
            by_extent_of(in->dims[1].size < length ? 0 : (in->dims[1].size - length) / step + 1);
    const struct by_extent dims[] = {
        in->dims[0], frames, onesided ? half(length) : by_extent_of(length), by_extent_of(2)};
    return by_out_dims(infer, node, 0, dims, 4, err);
}

/* [height, width, channels] */
int by_infer_image_decoder(struct by_infer *infer, struct baryon_node *node,
                           struct baryon_error *err)
{
    const bool grey = by_attr_text_is(node, "pixel_format", "Grayscale");
    const struct by_extent dims[] = {by_extent_unknown(), by_extent_unknown(),
                                     by_extent_of(grey ? 1 : 3)};
    return by_out_dims(infer, node, 0, dims, 3, err);
}

/* Stop words may go, so that the last axis is not known. */
int by_infer_string_normalizer(struct by_infer *infer, struct baryon_node *node,
                               struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    if (!in)
        return 0;
    if (in->rank != 1 && in->rank != 2)
        return by_infer_fail(node, err, "the input has rank %zu, must be 1 or 2", in->rank);
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out)
        return -1;
    out->dims[in->rank - 1] = by_extent_unknown();
    by_out_shape(node, 0, out);
    return 0;
}

/* The parts along one axis more, and how many there are of each. */
int by_infer_string_split(struct by_infer *infer, struct baryon_node *node,
                          struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    struct by_extent dims[BY_RANK_MAX + 1];
    if (!in)
        return 0;
    memcpy(dims, in->dims, in->rank * sizeof *dims);
    dims[in->rank] = by_extent_unknown();
    by_out_shape(node, 1, in);
    return by_out_dims(infer, node, 0, dims, in->rank + 1, err);
}

/* The last axis becomes one of n-grams, of which the largest index is the attribute's. */
int by_infer_tf_idf(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const struct by_ints *indexes = by_attr_ints(node, "ngram_indexes");
    int64_t largest = -1;
    if (!in || !indexes || !indexes->count || (in->rank != 1 && in->rank != 2))
        return 0;
    for (size_t i = 0; i < indexes->count; i++)
        largest = indexes->at[i] > largest ? indexes->at[i] : largest;
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out)
        return -1;
    out->dims[in->rank - 1] = largest < INT64_MAX ? by_extent_of(largest + 1) : by_extent_unknown();
    by_out_shape(node, 0, out);
    return 0;
}
