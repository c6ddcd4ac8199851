/* A histogram for the terminal: bars of the share of values, one line each. */
#ifndef BY_HISTOGRAM_H
#define BY_HISTOGRAM_H

#include "cli/out.h"
#include "stats/sketch.h"

/* Equal steps from the least to the greatest value; zeros by themselves. */
struct by_histogram {
    double low, step;
    size_t count;
    double *values; /* how many: bins of the sketch are shared out among steps evenly */
    uint64_t zeros, total;
};

#define BY_HISTOGRAM_STEPS 24

/* by_histogram_release() it. */
int by_histogram_make(struct by_histogram *histogram, const struct by_sketch *sketch, size_t steps,
                      struct baryon_error *err);
void by_histogram_release(struct by_histogram *histogram);
/* logarithmic: bars as long as the logarithm of the counts. */
void by_histogram_draw(struct by_out *out, const struct by_histogram *histogram, bool logarithmic);

#endif
