/* Tensors and layers of a .stats file. */
#include "array/elem.h"
#include "stats/store.h"

#include <inttypes.h>
#include <string.h>

/* In one byte. */
#define RANK_VARIES 1u
#define HAS_MEANS   2u
#define HAS_VOTES   4u

void by_store_put_tensor(struct by_str *out, const struct by_tensor_stats *tensor)
{
    by_store_put_text(out, tensor->name);
    by_store_put_varint(out, (uint64_t)tensor->elem);
    by_store_put_varint(out, (uint64_t)tensor->channel_axis + 1);
    by_store_put_byte(out, (tensor->rank_varies ? RANK_VARIES : 0) |
                               (tensor->has_means ? HAS_MEANS : 0) |
                               (tensor->sketch.votes.count ? HAS_VOTES : 0));
    by_store_put_varint(out, (uint64_t)tensor->rank + 1); /* never looked at: 0 */
    for (size_t i = 0; tensor->rank != SIZE_MAX && i < tensor->rank; i++)
        by_store_put_varint(out, (uint64_t)tensor->dims[i] + 1); /* varies: 0 */
    by_store_put_byte(out, tensor->nonfinite_name != NULL);
    if (tensor->nonfinite_name)
        by_store_put_text(out, tensor->nonfinite_name);
    by_store_put_sketch(out, &tensor->sketch);
    by_store_put_channels(out, &tensor->channels);
    if (tensor->has_means)
        by_store_put_means(out, &tensor->means);
    if (tensor->sketch.votes.count)
        by_store_put_votes(out, &tensor->sketch.votes);
}

static void take_shape(struct by_store_in *in, struct by_tensor_stats *tensor, unsigned flags)
{
    tensor->rank_varies = flags & RANK_VARIES;
    tensor->has_means = flags & HAS_MEANS;
    tensor->rank = (size_t)by_store_take_varint(in, BY_RANK_MAX + 1, "the rank plus 1") - 1;
    if (tensor->rank_varies && tensor->rank)
        by_store_fail(in, "a rank that varies must be written as 0");
    for (size_t i = 0; tensor->rank != SIZE_MAX && i < tensor->rank; i++)
        tensor->dims[i] = (int64_t)by_store_take_varint(in, BY_ELEMENTS_MAX, "a dimension") - 1;
    if (in->failed)
        tensor->rank = 0;
}

static void check_channels(struct by_store_in *in, const struct by_tensor_stats *tensor,
                           size_t count)
{
    const int axis = tensor->channel_axis;
    if (tensor->rank == SIZE_MAX && count)
        by_store_fail(in, "has values, but no shape");
    else if (count &&
             (axis < 0 || (size_t)axis >= tensor->rank || tensor->dims[axis] != (int64_t)count))
        by_store_fail(in, "%zu channels do not fit the shape", count);
}

static void check_tensor(struct by_store_in *in, const struct by_tensor_stats *tensor)
{
    check_channels(in, tensor, tensor->channels.count);
    check_channels(in, tensor, tensor->means.sums.count);
    if (tensor->rank == SIZE_MAX && tensor->sketch.samples)
        by_store_fail(in, "has values, but no shape");
    else if (tensor->nonfinite_name && tensor->sketch.nonfinite_sample == BY_SKETCH_NO_SAMPLE)
        by_store_fail(in, "names a sample with values that are not finite, but has none");
}

void by_store_take_tensor(struct by_store_in *in, struct by_tensor_stats *tensor)
{
    by_sketch_init(&tensor->sketch);
    tensor->name = by_store_take_text(in);
    tensor->elem = (int64_t)by_store_take_varint(in, BY_ELEM_COUNT - 1, "the element type");
    tensor->channel_axis = (int)by_store_take_varint(in, BY_RANK_MAX, "the channels' axis") - 1;
    const unsigned flags = by_store_take_byte(in, RANK_VARIES | HAS_MEANS | HAS_VOTES);
    take_shape(in, tensor, flags);
    if (by_store_take_byte(in, 1))
        tensor->nonfinite_name = by_store_take_text(in);
    by_store_take_sketch(in, &tensor->sketch);
    by_store_take_channels(in, &tensor->channels);
    by_channel_means_release(&tensor->means);
    if (tensor->has_means)
        by_store_take_means(in, &tensor->means);
    if (flags & HAS_VOTES)
        by_store_take_votes(in, &tensor->sketch);
    if (!in->failed)
        check_tensor(in, tensor);
}

/* --- Layers --- */

#define WINDOW_MAX 6u

/* The members that are one number. */
static const size_t layer_numbers[] = {
    offsetof(struct by_moments_layer, groups),
    offsetof(struct by_moments_layer, columns),
    offsetof(struct by_moments_layer, channels),
};

/* Those that have one for each spatial dimension. */
static const size_t layer_windows[] = {
    offsetof(struct by_moments_layer, kernel),     offsetof(struct by_moments_layer, stride),
    offsetof(struct by_moments_layer, dilation),   offsetof(struct by_moments_layer, pad_begin),
    offsetof(struct by_moments_layer, pad_end),    offsetof(struct by_moments_layer, output_pad),
    offsetof(struct by_moments_layer, output_size)};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int64_t number_at(const struct by_moments_layer *layer, size_t offset, size_t index)
{
    int64_t value;
    memcpy(&value, (const char *)layer + offset + index * sizeof value, sizeof value);
    return value;
}

void by_store_put_layer(struct by_str *out, const struct by_moments_layer *layer)
{
    by_store_put_byte(out, layer->kind);
    by_store_put_text(out, layer->name);
    by_store_put_text(out, layer->input);
    by_store_put_text(out, layer->weight);
    for (size_t i = 0; i < COUNT(layer_numbers); i++)
        by_store_put_signed(out, number_at(layer, layer_numbers[i], 0));
    by_store_put_byte(out, (unsigned)layer->spatial);
    for (size_t i = 0; i < COUNT(layer_windows); i++)
        for (size_t k = 0; k < layer->spatial; k++)
            by_store_put_signed(out, number_at(layer, layer_windows[i], k));
    by_store_put_signed(out, layer->auto_pad);
    by_store_put_byte(out, (unsigned)layer->transposed | (unsigned)layer->share << 1);
}

static size_t present_tiles(const struct by_layer_stats *layer)
{
    size_t present = 0;
    for (size_t i = 0; i < layer->moments.tile_count; i++)
        present += by_layer_stats_has(layer, i);
    return present;
}

void by_store_put_layer_stats(struct by_str *out, const struct by_layer_stats *layer)
{
    const struct by_moments *moments = &layer->moments;
    by_store_put_layer(out, &layer->layer);
    by_store_put_varint(out, moments->rows);
    by_store_put_varint(out, moments->samples);
    by_store_put_varint(out, moments->nonfinite_rows);
    by_store_put_byte(out, moments->mean.count > 0);
    if (moments->mean.count)
        by_store_put_fold(out, &moments->mean);
    by_store_put_byte(out, moments->counts != NULL);
    if (moments->counts)
        by_store_put_counts(out, moments->counts, (size_t)layer->layer.columns);
    by_store_put_varint(out, present_tiles(layer));
}

static void put_number(struct by_moments_layer *layer, size_t offset, size_t index, int64_t value)
{
    memcpy((char *)layer + offset + index * sizeof value, &value, sizeof value);
}

/* No array of numbers is this large. */
#define COLUMNS_MAX ((int64_t)1 << 40)

void by_store_take_layer(struct by_store_in *in, struct by_moments_layer *layer)
{
    layer->kind = (enum by_layer_kind)by_store_take_byte(in, BY_LAYER_GATHER);
    layer->name = by_store_take_text(in);
    layer->input = by_store_take_text(in);
    layer->weight = by_store_take_text(in);
    for (size_t i = 0; i < COUNT(layer_numbers); i++)
        put_number(layer, layer_numbers[i], 0, by_store_take_signed(in));
    layer->spatial = by_store_take_byte(in, WINDOW_MAX);
    for (size_t i = 0; i < COUNT(layer_windows); i++)
        for (size_t k = 0; k < layer->spatial; k++)
            put_number(layer, layer_windows[i], k, by_store_take_signed(in));
    layer->auto_pad = (int)by_store_take_signed(in);
    const unsigned both = by_store_take_byte(in, BY_SHARE_JUDGES << 1 | 1);
    layer->transposed = both & 1;
    layer->share = (enum by_moments_share)(both >> 1);
    if (!in->failed && (layer->groups < 1 || layer->columns < 1 || layer->columns > COLUMNS_MAX ||
                        layer->groups > COLUMNS_MAX / layer->columns))
        by_store_fail(in, "%" PRId64 " groups of %" PRId64 " columns, must be at least one of each",
                      layer->groups, layer->columns);
}

static void take_mean(struct by_store_in *in, struct by_layer_stats *stats)
{
    size_t count = (size_t)(stats->layer.groups * stats->layer.columns);
    if (!by_store_take_byte(in, 1) || !by_store_allow(in, count, 2 * sizeof(int64_t)))
        return;
    if (by_fold_init(&stats->moments.mean, count, in->err))
        in->failed = true;
    else
        by_store_take_fold(in, &stats->moments.mean);
}

static void take_index_counts(struct by_store_in *in, struct by_layer_stats *stats)
{
    size_t count = (size_t)stats->layer.columns;
    if (!by_store_take_byte(in, 1) || !by_store_allow(in, count, sizeof(uint64_t)))
        return;
    if (stats->layer.kind != BY_LAYER_GATHER) {
        by_store_fail(in, "counts of indices are valid for tables only");
        return;
    }
    stats->moments.counts = by_alloc_zero(count, sizeof(uint64_t), in->err);
    if (!stats->moments.counts)
        in->failed = true;
    else
        by_store_take_counts(in, stats->moments.counts, count);
}

/* Tiles of the upper triangle of a square, for each group; told apart before it overflows. */
static bool allow_tiles(struct by_store_in *in, const struct by_moments_layer *layer)
{
    size_t side = ((size_t)layer->columns + BY_MOMENTS_TILE - 1) / BY_MOMENTS_TILE, tiles;
    if (layer->kind == BY_LAYER_GATHER)
        return true;
    if (by_mul_overflow(side, side + 1, &tiles) ||
        by_mul_overflow(tiles / 2, (size_t)layer->groups, &tiles))
        tiles = SIZE_MAX;
    return by_store_allow(in, tiles, sizeof(struct by_fold) + sizeof(void *));
}

void by_store_take_layer_stats(struct by_store_in *in, struct by_layer_stats *stats, size_t *tiles)
{
    struct by_moments *moments = &stats->moments;
    by_store_take_layer(in, &stats->layer);
    moments->rows = by_store_take_varint(in, UINT64_MAX, "the number of rows");
    moments->samples = by_store_take_varint(in, UINT64_MAX, "the number of samples");
    moments->nonfinite_rows = by_store_take_varint(in, UINT64_MAX, "the number of rows");
    if (in->failed || !allow_tiles(in, &stats->layer))
        return;
    take_mean(in, stats);
    take_index_counts(in, stats);
    *tiles = (size_t)by_store_take_varint(in, SIZE_MAX, "the number of tiles");
    size_t all = in->failed ? 0 : by_moments_tiles(&stats->layer);
    if (*tiles > all)
        by_store_fail(in, "%zu tiles are more than the layer has (%zu)", *tiles, all);
    if (in->failed || !all)
        return;
    moments->tiles = by_alloc_zero(all, sizeof *moments->tiles, in->err);
    if (moments->tiles)
        moments->tile_count = all;
    else
        in->failed = true;
}
