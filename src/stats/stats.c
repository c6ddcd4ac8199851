/* Holds the tensors and layers of statistics and the samples that they cover. */
#include "stats/stats.h"

#include "stats/store.h"

#include <inttypes.h>
#include <string.h>

int by_stats_open(struct by_stats **stats, struct baryon_error *err)
{
    struct by_stats *fresh = by_alloc_zero(1, sizeof *fresh, err);
    if (!fresh)
        return -1;
    by_arena_init(&fresh->arena, 0);
    fresh->model = fresh->data = fresh->settings = "";
    *stats = fresh;
    return 0;
}

void by_stats_close(struct by_stats *stats)
{
    if (!stats)
        return;
    for (size_t i = 0; i < stats->tensor_count; i++) {
        by_sketch_release(&stats->tensors[i].sketch);
        by_channels_release(&stats->tensors[i].channels);
        by_channel_means_release(&stats->tensors[i].means);
    }
    for (size_t i = 0; i < stats->layer_count; i++)
        by_moments_release(&stats->layers[i].moments);
    for (size_t i = 0; i < stats->sources.count; i++)
        by_stats_source_drop(stats->sources.at[i]);
    if (stats->by_name)
        by_map_release(stats->by_name);
    by_arena_release(&stats->arena);
    by_free(stats);
}

/* --- Filling --- */

static const char *copy(struct by_stats *stats, const char *text, struct baryon_error *err)
{
    return by_arena_text(&stats->arena, text, strlen(text), err);
}

int by_stats_describe(struct by_stats *stats, const char *model, const char *data,
                      const char *settings, struct baryon_error *err)
{
    const char *texts[] = {copy(stats, model, err), copy(stats, data, err),
                           copy(stats, settings, err)};
    if (!texts[0] || !texts[1] || !texts[2])
        return -1;
    stats->model = texts[0];
    stats->data = texts[1];
    stats->settings = texts[2];
    return 0;
}

int by_stats_set_targets(struct by_stats *stats, const struct by_target *targets, size_t count,
                         struct baryon_error *err)
{
    stats->tensors = by_arena_alloc(&stats->arena, count, sizeof *stats->tensors, err);
    if (!stats->tensors)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct by_tensor_stats *tensor = &stats->tensors[i];
        tensor->name = copy(stats, targets[i].name, err);
        if (!tensor->name)
            return -1;
        tensor->elem = targets[i].elem;
        tensor->channel_axis = targets[i].channel_axis;
        tensor->has_means = targets[i].feeds;
        tensor->rank = SIZE_MAX;
        by_sketch_init(&tensor->sketch);
        by_channel_means_release(&tensor->means);
        stats->tensor_count++;
    }
    return 0;
}

static int set_layer(struct by_stats *stats, struct by_layer_stats *stats_layer,
                     const struct by_moments_layer *layer, struct baryon_error *err)
{
    stats_layer->layer = *layer;
    stats_layer->layer.name = copy(stats, layer->name, err);
    stats_layer->layer.input = copy(stats, layer->input, err);
    stats_layer->layer.weight = copy(stats, layer->weight, err);
    if (!stats_layer->layer.name || !stats_layer->layer.input || !stats_layer->layer.weight)
        return -1;
    struct by_moments *moments = &stats_layer->moments;
    size_t tiles = by_moments_tiles(layer);
    moments->mean.cell = BY_FOLD_NONE;
    moments->tiles = tiles ? by_alloc_zero(tiles, sizeof *moments->tiles, err) : NULL;
    if (tiles && !moments->tiles)
        return -1;
    moments->tile_count = tiles;
    return 0;
}

int by_stats_set_layers(struct by_stats *stats, const struct by_moments_layer *layers, size_t count,
                        struct baryon_error *err)
{
    stats->layers = by_arena_alloc(&stats->arena, count, sizeof *stats->layers, err);
    if (!stats->layers)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (set_layer(stats, &stats->layers[i], &layers[i], err))
            return -1;
        stats->layer_count++;
    }
    return 0;
}

bool by_tensor_stats_has_channels(const struct by_tensor_stats *tensor)
{
    size_t axis = (size_t)tensor->channel_axis;
    return tensor->channel_axis >= 0 && tensor->rank != SIZE_MAX && axis < tensor->rank &&
           tensor->dims[axis] > 0;
}

static void join_shape(struct by_tensor_stats *tensor, const int64_t *dims, size_t rank)
{
    if (tensor->rank == SIZE_MAX) {
        tensor->rank = rank;
        memcpy(tensor->dims, dims, rank * sizeof *dims);
        return;
    }
    if (tensor->rank_varies)
        return;
    if (tensor->rank != rank) {
        tensor->rank_varies = true;
        tensor->rank = 0;
        memset(tensor->dims, 0, sizeof tensor->dims);
    }
    for (size_t i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] != dims[i])
            tensor->dims[i] = BY_DIM_VARIES;
}

void by_tensor_stats_shape(struct by_tensor_stats *tensor, const int64_t *dims, size_t rank)
{
    join_shape(tensor, dims, rank);
    if (by_tensor_stats_has_channels(tensor))
        return;
    by_channels_release(&tensor->channels);
    by_channel_means_release(&tensor->means);
}

#define TOP_MAX (127 + 80)

bool by_tensor_stats_means(const struct by_tensor_stats *tensor, double *means)
{
    const struct by_sketch *sketch = &tensor->sketch;
    const size_t count = tensor->means.sums.count;
    /* Sums of greater values may have left the range of floats. */
    if (!count || !tensor->means.values || sketch->nans || sketch->infinities ||
        sketch->top > TOP_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        means[i] = by_channel_mean(&tensor->means, i);
    return true;
}

/* --- Samples --- */

/* The first range that ends at or after the sample. */
static size_t find_range(const struct by_stats *stats, uint64_t sample)
{
    size_t i = 0;
    while (i < stats->covered.count && stats->covered.at[i].end < sample)
        i++;
    return i;
}

int by_stats_cover(struct by_stats *stats, uint64_t begin, uint64_t end, struct baryon_error *err)
{
    if (begin >= end)
        return 0;
    size_t i = find_range(stats, begin), count = stats->covered.count;
    struct by_sample_range *at = stats->covered.at;
    bool joins = i < count && at[i].end == begin;
    size_t next = joins ? i + 1 : i;
    if ((i < count && !joins && at[i].begin < end) || (next < count && at[next].begin < end))
        return by_fail(err, BARYON_ERR_INTERNAL,
                       "samples %" PRIu64 " to %" PRIu64 " are covered twice", begin, end - 1);
    bool meets = next < count && at[next].begin == end;
    if (joins) {
        at[i].end = meets ? at[next].end : end;
        if (meets) {
            memmove(at + next, at + next + 1, (count - next - 1) * sizeof *at);
            stats->covered.count--;
        }
        return 0;
    }
    if (meets) {
        at[next].begin = begin;
        return 0;
    }
    if (by_list_reserve(&stats->arena, &stats->covered, 1, sizeof *at, err))
        return -1;
    at = stats->covered.at;
    memmove(at + i + 1, at + i, (count - i) * sizeof *at);
    at[i] = (struct by_sample_range){begin, end};
    stats->covered.count++;
    return 0;
}

int by_stats_skip(struct by_stats *stats, uint64_t sample, const char *name, const char *reason,
                  struct baryon_error *err)
{
    struct by_skipped skipped = {sample, copy(stats, name, err), copy(stats, reason, err)};
    if (!skipped.name || !skipped.reason ||
        by_list_reserve(&stats->arena, &stats->skipped, 1, sizeof skipped, err))
        return -1;
    struct by_skipped *at = stats->skipped.at;
    size_t i = stats->skipped.count;
    for (; i && at[i - 1].sample > sample; i--)
        at[i] = at[i - 1];
    at[i] = skipped;
    stats->skipped.count++;
    return 0;
}

bool by_stats_covers(const struct by_stats *stats, uint64_t sample)
{
    size_t i = find_range(stats, sample + 1);
    return i < stats->covered.count && stats->covered.at[i].begin <= sample;
}

uint64_t by_stats_covered(const struct by_stats *stats)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < stats->covered.count; i++)
        sum += stats->covered.at[i].end - stats->covered.at[i].begin;
    return sum;
}

uint64_t by_stats_seen(const struct by_stats *stats)
{
    return by_stats_covered(stats) - stats->skipped.count;
}

bool by_stats_complete(const struct by_stats *stats)
{
    return by_stats_covered(stats) == stats->total;
}

/* --- Finding --- */

static bool make_names(struct by_stats *stats)
{
    struct by_map *map = by_arena_alloc(&stats->arena, 1, sizeof *map, NULL);
    if (!map)
        return false;
    by_map_init(map);
    for (size_t i = 0; i < stats->tensor_count; i++)
        if (by_map_put(map, stats->tensors[i].name, &stats->tensors[i], NULL)) {
            by_map_release(map);
            return false;
        }
    stats->by_name = map;
    return true;
}

const struct by_tensor_stats *by_stats_find(struct by_stats *stats, const char *name)
{
    if (stats->by_name || make_names(stats))
        return by_map_get(stats->by_name, name);
    /* Without memory for a map it only takes longer. */
    for (size_t i = 0; i < stats->tensor_count; i++)
        if (!strcmp(stats->tensors[i].name, name))
            return &stats->tensors[i];
    return NULL;
}

const struct by_layer_stats *by_stats_find_columns(const struct by_stats *stats,
                                                   const struct by_moments_layer *like,
                                                   enum by_moments_share share)
{
    const struct by_layer_stats *found = NULL;
    for (size_t i = 0; i < stats->layer_count; i++) {
        const struct by_layer_stats *layer = &stats->layers[i];
        if (layer->layer.share != share || !by_layer_same_columns(&layer->layer, like))
            continue;
        if (!strcmp(layer->layer.name, like->name))
            return layer;
        found = found ? found : layer;
    }
    return found;
}

size_t by_stats_layers(const struct by_stats *stats)
{
    size_t count = 0;
    for (size_t i = 0; i < stats->layer_count; i++)
        count += stats->layers[i].layer.share != BY_SHARE_JUDGES;
    return count;
}

int by_stats_check_use(struct by_stats *stats, const struct by_hash128 *model,
                       const char *const *names, size_t count, const char *path,
                       struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (memcmp(&stats->key.model, model, sizeof *model) != 0) {
        by_fail(err, BARYON_ERR_CHANGED,
                "these statistics are of another model, or the model has changed since");
        by_err_hint(err, "calibrate again with 'baryon calibrate'");
        return by_err_file(err, path);
    }
    for (size_t i = 0; i < count; i++) {
        if (by_stats_find(stats, names[i]))
            continue;
        by_fail(err, BARYON_ERR_UNSUPPORTED, "there are no statistics of tensor %s",
                by_quote(quoted, names[i]));
        by_err_hint(err, "calibrate with --tensors all to cover every tensor");
        return by_err_file(err, path);
    }
    return 0;
}
