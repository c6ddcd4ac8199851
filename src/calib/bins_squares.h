/*
 * Mean squared errors of many scales over the same bins, as searches ask for them: by_bins_error()
 * with the bins laid out for vectors, and given up once it is clear that the answer is not wanted.
 */
#ifndef BY_BINS_SQUARES_H
#define BY_BINS_SQUARES_H

#include "calib/bins.h"

struct by_bins_squares {
    double *low, *high, *count,
        *per_width; /* columns in one allocation, filled up with empty bins */
    size_t blocks;
    uint64_t total;
};

int by_bins_squares_load(struct by_bins_squares *squares, const struct by_bins *bins,
                         struct baryon_error *err);
/* Those of all that was seen. */
int by_bins_squares_of(struct by_bins_squares *squares, const struct by_sketch *sketch,
                       struct baryon_error *err);
void by_bins_squares_release(struct by_bins_squares *squares);
/* As soon as the error is known to be above `enough`: infinity. */
double by_bins_squares_error(const struct by_bins_squares *squares, const struct by_scale *scale,
                             const struct by_calib_target *target, double enough);

#endif
