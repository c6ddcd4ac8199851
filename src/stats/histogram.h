/* A histogram of equal steps, made of a sketch. */
#ifndef BY_STATS_HISTOGRAM_H
#define BY_STATS_HISTOGRAM_H

#include "stats/sketch.h"

/* Equal steps from the least to the greatest value; zeros by themselves. */
struct by_histogram {
    double low, step;
    size_t count;
    double *values; /* how many: bins of the sketch are shared out among steps evenly */
    uint64_t zeros, total;
};

/* by_histogram_release() it. */
int by_histogram_make(struct by_histogram *histogram, const struct by_sketch *sketch, size_t steps,
                      struct baryon_error *err);
void by_histogram_release(struct by_histogram *histogram);

#endif
