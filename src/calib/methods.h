/* The rows of methods.c, one a file, and what several methods share. */
#ifndef BY_METHODS_H
#define BY_METHODS_H

#include "calib/calib.h"

#include <stddef.h>

extern const struct by_calibrator by_calib_minmax, by_calib_nonoverflow, by_calib_percentile,
    by_calib_layerwise_percentile, by_calib_minmse, by_calib_minmse_pow2, by_calib_entropy,
    by_calib_distribution, by_calib_distribution_p3, by_calib_minmse_pow2_percentile,
    by_calib_minmse_pow2_common, by_calib_stddev, by_calib_output;

/* --- Options of several methods --- */

struct by_average_options {
    bool moving; /* means over samples of their least and greatest values */
};

struct by_percentile_options {
    double percent;
    bool symmetric; /* of magnitudes; false: both tails by themselves */
    bool guard;     /* nothing is cut where that costs more than finer steps gain */
};

extern const struct by_calib_option_set by_average_option_set, by_percentile_option_set;

#define BY_PERCENTILE_SYMMETRIC_ROW(own)                                                           \
    {                                                                                              \
        .row = {.name = "percentile-symmetric",                                                    \
                .type = BY_OPT_FLAG,                                                               \
                .fallback = "true",                                                                \
                .offset = offsetof(own, symmetric),                                                \
                .help = "apply it to magnitudes instead of to both tails separately"},             \
        .quark = "CalibTensorRangeSymmetric",                                                      \
    }

/* --- Ranges of methods that others take part of --- */

void by_range_minmax(const struct by_sketch *sketch, bool moving_average, struct by_range *range);
/* Of the values that `within` leaves; NULL: of all. */
int by_range_minmse_pow2(const struct by_sketch *sketch, const struct by_calib_target *target,
                         const struct by_range *within, struct by_range *range,
                         struct baryon_error *err);
/* No scale is small enough for these values: they stay at scale 1. */
bool by_range_is_tiny(const struct by_range *range, const struct by_calib_target *target);
/* The best power of two around this scale, of values that are not tiny. */
struct by_bins_squares;
void by_range_best_pow2(const struct by_bins_squares *bins, const struct by_calib_target *target,
                        struct by_scale scale, struct by_range *range);
/* The range that `percent` of the values fall into. 0 < percent <= 100. */
int by_percentile_range(const struct by_sketch *sketch, double percent, bool symmetric,
                        struct by_range *range, struct baryon_error *err);

#endif
