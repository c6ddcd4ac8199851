/*
 * Means of channels (axis 1) of what layers with weights read: what rounding those weights does to
 * the mean of the layer's result follows from them.
 *
 * A look sums in single precision, in runs of 32 values for each of 16 lanes, and the runs in
 * double; sums of looks, rounded to single precision, are added so that their order does not matter
 * (moments/fold.h). Where single precision overflows, the sum is made in double; channels whose sum
 * is not finite are left out of that look: what the sketch counts tells of them.
 */
#ifndef BY_CHANNEL_MEANS_H
#define BY_CHANNEL_MEANS_H

#include "moments/fold.h"
#include "stats/sketch.h"

struct by_channel_means {
    struct by_fold sums; /* count 0: not asked for, or the size varies */
    uint64_t values;     /* that each channel had */
};

/* A mean is known well after few samples: the first ones count, and after them every eighth. */
static inline bool by_channel_means_of(uint64_t sample)
{
    return sample < 16 || sample % 8 == 0;
}

int by_channel_means_init(struct by_channel_means *means, size_t count, struct baryon_error *err);
void by_channel_means_release(struct by_channel_means *means);
/* sums[channels] of one look; not finite where they are beyond floats. */
int by_channel_sums(const struct by_channel_values *values, const struct by_team *team, float *sums,
                    struct baryon_error *err);
/* Of so many values each; sums that are not finite become 0. */
void by_channel_means_add(struct by_channel_means *means, float *sums, size_t values);
/* Of the same size. */
void by_channel_means_merge(struct by_channel_means *means, const struct by_channel_means *other);
double by_channel_mean(const struct by_channel_means *means, size_t channel); /* 0: of nothing */

#endif
