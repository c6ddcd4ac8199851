/*
 * Means of channels (axis 1) of what layers with weights read: what rounding those weights does to
 * the mean of the layer's result follows from them.
 *
 * A look sums in single precision, in runs of 32 values for each of 16 lanes, and the runs in
 * double; looks are added exactly, so that their order does not matter. Where single precision
 * overflows, the sum is made in double; channels with values that are not finite are left
 * out of that look (the sketch counts such values).
 */
#ifndef BY_CHANNEL_MEANS_H
#define BY_CHANNEL_MEANS_H

#include "base/blocks.h"
#include "base/exact.h"
#include "base/team.h"

struct by_channel_means {
    size_t count; /* 0: not asked for, or the size varies */
    struct by_exact *sums;
};

/* One sample's values, [outer][channels][inner]; or in blocks. */
struct by_channel_values {
    const void *at;
    int64_t elem;
    size_t outer, channels, inner;
    const struct by_blocks *blocks; /* of float values; NULL: one behind the other */
};

int by_channel_means_init(struct by_channel_means *means, size_t count, struct baryon_error *err);
void by_channel_means_release(struct by_channel_means *means);
/* sums[channels] of one look. */
int by_channel_sums(const struct by_channel_values *values, const struct by_team *team,
                    double *sums, struct baryon_error *err);
void by_channel_means_add(struct by_channel_means *means, const double *sums);
/* Of the same size. */
void by_channel_means_merge(struct by_channel_means *means, const struct by_channel_means *other);
/* Of a channel that had so many values, 0 where there were none. */
double by_channel_mean(const struct by_channel_means *means, size_t channel, uint64_t values);

#endif
