/*
 * The histogram that the methods work on, and what a quantizer does to it. A bin's values are
 * taken as spread evenly; the outermost bins end at the extremes that were seen.
 */
#ifndef BY_BINS_H
#define BY_BINS_H

#include "calib/calib.h"

struct by_bins {
    struct by_sketch_bin *at; /* ascending, apart, none empty */
    size_t count;
    uint64_t total; /* values in them */
};

int by_bins_load(struct by_bins *bins, const struct by_sketch *sketch, struct baryon_error *err);
/* The same of magnitudes. */
int by_bins_load_magnitudes(struct by_bins *bins, const struct by_sketch *sketch,
                            struct baryon_error *err);
/* Leaves out what lies outside of [low, high]. */
void by_bins_cut(struct by_bins *bins, double low, double high);
void by_bins_release(struct by_bins *bins);

/* The value below which, or at which, `rank` of the values lie; 1 <= rank <= total. */
double by_bins_at_rank(const struct by_bins *bins, uint64_t rank);
/* Counts in `count` cells of equal width from `low` on; whole numbers that add up to the total. */
void by_bins_spread(const struct by_bins *bins, double low, double width, double *cells,
                    size_t count);

/*
 * Mean error a value of rounding to the levels of an integer type: sums over bins of the integral
 * of |x - q(x)| or its square, in closed form.
 */
double by_bins_error(const struct by_bins *bins, const struct by_scale *scale,
                     const struct by_calib_target *target, enum by_calib_metric metric);

/* An error counts as less than another when it is below this part of it: rounding is not gain. */
#define BY_BINS_TIE (1 - 1e-9)

/* From the least to the greatest value, and 0; sets constant_zero and no error. */
void by_range_seen(const struct by_sketch *sketch, struct by_range *range);
/* The part of the range that was seen. */
void by_range_limit(struct by_range *range, const struct by_sketch *sketch);

#endif
