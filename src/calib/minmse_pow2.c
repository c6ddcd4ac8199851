/*
 * The power of two with the least squared error, out of five around the one that the greatest
 * magnitude asks for: one step coarser to three finer. Equal errors: the coarser.
 */
#include "calib/bins_squares.h"
#include "calib/methods.h"

#include <float.h>
#include <math.h>

#define COARSER 1
#define FINER   3

bool by_range_is_tiny(const struct by_range *range, const struct by_calib_target *target)
{
    const double least = (double)FLT_MIN * (double)(target->qmax - target->qmin) / 2;
    return fmax(-range->low, range->high) < least;
}

/* Near the greatest and the least float ranges are cut, and lead to another scale. */
static bool comes_back(const struct by_range *range, const struct by_calib_target *target,
                       const struct by_scale *scale)
{
    struct by_scale again;
    return by_scale_of_range(range, target, &again, NULL) == 0 &&
           again.position == scale->position && again.zero_point == scale->zero_point;
}

void by_range_best_pow2(const struct by_bins_squares *bins, const struct by_calib_target *target,
                        struct by_scale scale, struct by_range *range)
{
    const int base = scale.position;
    double least = INFINITY;
    for (int position = base - COARSER; position <= base + FINER; position++) {
        scale.position = position;
        scale.scale = ldexp(1, -position);
        struct by_range candidate;
        by_range_of_scale(&scale, target, &candidate);
        candidate.error = by_bins_squares_error(bins, &scale, target, least);
        if (comes_back(&candidate, target, &scale) &&
            (isinf(least) || candidate.error < least * BY_BINS_TIE)) {
            *range = candidate;
            least = candidate.error;
        }
    }
}

int by_range_minmse_pow2(const struct by_sketch *sketch, const struct by_calib_target *target,
                         const struct by_range *within, struct by_range *range,
                         struct baryon_error *err)
{
    struct by_bins bins;
    struct by_bins_squares squares;
    struct by_scale scale;
    by_range_seen(sketch, range);
    if (within) {
        range->low = within->low;
        range->high = within->high;
    }
    if (by_scale_of_range(range, target, &scale, err) < 0 || by_bins_load(&bins, sketch, err) < 0)
        return -1;
    if (within)
        by_bins_cut(&bins, within->low, within->high);
    const int status = by_bins_squares_load(&squares, &bins, err);
    by_bins_release(&bins);
    if (status < 0)
        return -1;
    if (by_range_is_tiny(range, target))
        range->error = by_bins_squares_error(&squares, &scale, target, INFINITY);
    else
        by_range_best_pow2(&squares, target, scale, range);
    by_bins_squares_release(&squares);
    return 0;
}

static int minmse_pow2(const struct by_sketch *sketch, const struct by_calib_target *target,
                       const struct by_calib_options *options, struct by_range *range,
                       struct baryon_error *err)
{
    (void)options;
    return by_range_minmse_pow2(sketch, target, NULL, range, err);
}

/* Outliers have no say: neither in the first power of two nor in the error. */
static int minmse_pow2_percentile(const struct by_sketch *sketch,
                                  const struct by_calib_target *target,
                                  const struct by_calib_options *options, struct by_range *range,
                                  struct baryon_error *err)
{
    struct by_range within;
    if (by_calib_percentile.range(sketch, target, options, &within, err) < 0)
        return -1;
    return by_range_minmse_pow2(sketch, target, &within, range, err);
}

static bool suits_minmse_pow2(const struct by_calib_target *target)
{
    return target->power_of_two && !target->is_float;
}

const struct by_calibrator by_calib_minmse_pow2 = {
    .name = "minmse-pow2",
    .alias = "PowerOfTwoMethod.MinMSE",
    .help = "The power of two with the least mean squared error",
    .quark = {{BY_QUARK_METHOD, "MinMSE"}},
    .uses = BY_FOR_ALL,
    .search = BY_SEARCH_MSE,
    .range = minmse_pow2,
    .suits = suits_minmse_pow2,
};

const struct by_calibrator by_calib_minmse_pow2_percentile = {
    .name = "minmse-pow2-percentile",
    .alias = "PowerOfTwoMethod.MinMSE.Percentile",
    .help = "The same of the values that a percentile leaves",
    .quark = {{BY_QUARK_POW2_MODE, "Percentile"}},
    .uses = BY_FOR_ACTIVATIONS,
    .options = &by_percentile_option_set,
    .range = minmse_pow2_percentile,
    .suits = suits_minmse_pow2,
};
