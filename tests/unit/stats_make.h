/*
 * Small statistics made from a seed, for tests: sample for sample, so that parts of the
 * same samples can be made by themselves. Include cmocka.h first.
 */
#ifndef BY_TEST_STATS_MAKE_H
#define BY_TEST_STATS_MAKE_H

#include "base/rng.h"
#include "calib/votes.h"
#include "ir/tensor.h"
#include "stats/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STATS_SAMPLES 30u

static const struct by_target stats_targets[] = {
    {"input", BY_ELEM_FLOAT, 1, true},
    {"zeros", BY_ELEM_FLOAT, -1, false},
    {"ragged", BY_ELEM_FLOAT16, 0, true},
    {"never", BY_ELEM_FLOAT, 1, true},
    {"strange \x1b[31m\xc3\xa9", BY_ELEM_FLOAT, -1, false}, /* a terminal must not see it */
    {"ranks", BY_ELEM_FLOAT, 0, true},
};

static const struct by_moments_layer stats_layers[] = {
    {.kind = BY_LAYER_MATMUL,
     .name = "m",
     .input = "input",
     .weight = "w",
     .groups = 1,
     .columns = 9},
    {.kind = BY_LAYER_CONV,
     .name = "c",
     .input = "ragged",
     .weight = "k",
     .groups = 1,
     .columns = 520,
     .spatial = 2,
     .channels = 100,
     .kernel = {2, 3},
     .stride = {1, 2},
     .dilation = {1, 1}},
    {.kind = BY_LAYER_GATHER,
     .name = "g",
     .input = "ids",
     .weight = "table",
     .groups = 1,
     .columns = 50},
};

#define STATS_COUNT(array) (sizeof(array) / sizeof *(array))

static inline struct by_stats *stats_empty(struct baryon_error *error)
{
    struct by_stats *stats;
    if (by_stats_open(&stats, error))
        return NULL;
    stats->key = (struct by_stats_key){{1, 0x123456789abcdef0}, {3, 4}, {5, 6}};
    stats->total = STATS_SAMPLES;
    if (by_stats_describe(stats, "net.onnx", "folder", "moments", error) ||
        by_stats_set_targets(stats, stats_targets, STATS_COUNT(stats_targets), error) ||
        by_stats_set_layers(stats, stats_layers, STATS_COUNT(stats_layers), error)) {
        by_stats_close(stats);
        return NULL;
    }
    return stats;
}

/* Values of one sample's tensor; some are huge, tiny, zero, NaN. */
static inline void stats_values(float *values, size_t count, unsigned tensor, uint64_t sample,
                                uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = by_rng_bits(seed, sample * 1000 + tensor, i);
        double value = (double)(int64_t)bits * 0x1p-75 * (double)(1 << bits % 24);
        values[i] = tensor == 1 || bits % 7 == 0 ? 0 : (float)value;
    }
    if (tensor == 4 && sample % 11 == 5)
        values[3] = sample % 2 ? NAN : -INFINITY;
}

static inline int stats_sum(struct by_tensor_stats *tensor, const float *values, size_t outer,
                            size_t inner, bool first, struct baryon_error *error)
{
    float sums[64];
    const struct by_channel_values all = {.at = values,
                                          .elem = BY_ELEM_FLOAT,
                                          .outer = outer,
                                          .channels = (size_t)tensor->dims[tensor->channel_axis],
                                          .inner = inner};
    if ((first && by_channel_means_init(&tensor->means, all.channels, error)) ||
        by_channel_sums(&all, NULL, sums, error))
        return -1;
    by_channel_means_add(&tensor->means, sums, outer * inner);
    return 0;
}

/* A look; samples of two of the tensors vote, unless that is switched off. */
static bool stats_without_votes;

static inline int stats_sketch(struct by_sketch *sketch, const float *values, size_t count,
                               unsigned index, uint64_t sample, struct baryon_error *error)
{
    size_t levels;
    const struct by_vote_levels *all = by_vote_all_levels(&levels);
    struct by_sketch alone;
    if (stats_without_votes || (index && index != 4))
        return by_sketch_look_ref(sketch, values, BY_ELEM_FLOAT, count, sample, error);
    by_sketch_init(&alone);
    const int failed = by_sketch_look_ref(&alone, values, BY_ELEM_FLOAT, count, sample, error) ||
                       by_votes_cast(&alone, all, levels, error) ||
                       by_sketch_merge(sketch, &alone, error);
    by_sketch_release(&alone);
    return failed ? -1 : 0;
}

static inline int stats_look(struct by_stats *stats, unsigned index, uint64_t sample, uint64_t seed,
                             struct baryon_error *error)
{
    struct by_tensor_stats *tensor = &stats->tensors[index];
    int64_t dims[3] = {2, 3, 4};
    size_t rank = 3, count = 1, outer = 1, inner = 1;
    float values[64];
    char name[32];
    if (index == 3)
        return 0;
    if (index == 2)
        dims[2] = 1 + (int64_t)(sample % 3);
    if (index == 5 && sample % 10 == 9)
        rank = 2;
    for (size_t i = 0; i < rank; i++) {
        count *= (size_t)dims[i];
        outer *= tensor->channel_axis > (int)i ? (size_t)dims[i] : 1;
        inner *= tensor->channel_axis < (int)i ? (size_t)dims[i] : 1;
    }
    stats_values(values, count, index, sample, seed);
    bool first = tensor->rank == SIZE_MAX;
    by_tensor_stats_shape(tensor, dims, rank);
    uint64_t bad = tensor->sketch.nonfinite_sample;
    if (stats_sketch(&tensor->sketch, values, count, index, sample, error))
        return -1;
    if (tensor->sketch.nonfinite_sample < bad) {
        snprintf(name, sizeof name, "sample-%u.npy", (unsigned)sample);
        tensor->nonfinite_name = by_arena_text(&stats->arena, name, strlen(name), error);
        if (!tensor->nonfinite_name)
            return -1;
    }
    if (first && by_tensor_stats_has_channels(tensor) &&
        by_channels_init(&tensor->channels, (size_t)dims[tensor->channel_axis], error))
        return -1;
    if (tensor->channels.count &&
        by_channels_look(&tensor->channels,
                         &(struct by_channel_values){.at = values,
                                                     .elem = BY_ELEM_FLOAT,
                                                     .outer = outer,
                                                     .channels = tensor->channels.count,
                                                     .inner = inner},
                         NULL, error))
        return -1;
    return tensor->has_means && by_tensor_stats_has_channels(tensor)
               ? stats_sum(tensor, values, outer, inner, first, error)
               : 0;
}

/* Sums of a fold at one sample, the same whatever else is gathered. */
static inline int stats_fold(struct by_fold *fold, size_t count, unsigned place, uint64_t sample,
                             uint64_t seed, struct baryon_error *error)
{
    if (!fold->count && by_fold_init(fold, count, error))
        return -1;
    float *values = by_alloc(count, sizeof *values, error);
    if (!values)
        return -1;
    stats_values(values, count, 100 + place, sample, seed);
    by_fold_add(fold, values);
    by_free(values);
    return 0;
}

/* Tiles [first, end) of every layer; means and counts with the first. */
static inline int stats_gather(struct by_stats *stats, uint64_t sample, uint64_t seed, size_t first,
                               size_t end, struct baryon_error *error)
{
    for (unsigned i = 0; i < stats->layer_count; i++) {
        struct by_layer_stats *layer = &stats->layers[i];
        struct by_moments *moments = &layer->moments;
        size_t columns = (size_t)layer->layer.columns;
        if (first >= moments->tile_count && first)
            continue;
        moments->rows += 5 + sample % 4;
        moments->samples++;
        moments->nonfinite_rows += sample % 9 == 8;
        if (layer->layer.kind == BY_LAYER_GATHER && !first) {
            if (!moments->counts)
                moments->counts = by_alloc_zero(columns, sizeof *moments->counts, error);
            if (!moments->counts)
                return -1;
            moments->counts[(sample * sample + seed) % columns] += 3;
            continue;
        }
        if (!first && stats_fold(&moments->mean, columns * (size_t)layer->layer.groups, 10 * i,
                                 sample, seed, error))
            return -1;
        for (size_t k = first; k < end && k < moments->tile_count; k++)
            if (stats_fold(&moments->tiles[k], by_layer_tile_entries(&layer->layer, k),
                           10 * i + 1 + (unsigned)k, sample, seed, error))
                return -1;
    }
    return 0;
}

/* Samples [begin, end), of which every 13th is skipped. */
static inline struct by_stats *stats_part(uint64_t begin, uint64_t end, uint64_t seed,
                                          size_t first_tile, size_t end_tile, bool tensors,
                                          struct baryon_error *error)
{
    struct by_stats *stats = stats_empty(error);
    int failed = !stats || by_stats_cover(stats, begin, end, error);
    for (uint64_t sample = begin; sample < end && !failed; sample++) {
        if (sample % 13 == 12) {
            failed = by_stats_skip(stats, sample, "bad.npy", "is no array", error);
            continue;
        }
        for (unsigned i = 0; i < stats->tensor_count && tensors && !failed; i++)
            failed = stats_look(stats, i, sample, seed, error);
        failed = failed || stats_gather(stats, sample, seed, first_tile, end_tile, error);
        stats->content = by_hash128_sum(stats->content, by_hash128(&sample, sizeof sample));
    }
    if (!failed)
        return stats;
    by_stats_close(stats);
    return NULL;
}

static inline struct by_stats *stats_make(uint64_t begin, uint64_t end, uint64_t seed)
{
    return stats_part(begin, end, seed, 0, SIZE_MAX, true, NULL);
}

/* The same in a few kilobytes: without the layer of several tiles. */
static inline struct by_stats *stats_small(uint64_t begin, uint64_t end, uint64_t seed)
{
    struct by_stats *stats = stats_make(begin, end, seed);
    if (!stats)
        return NULL;
    by_moments_release(&stats->layers[1].moments);
    stats->layers[1] = stats->layers[2];
    stats->layer_count = 2;
    return stats;
}

#endif
