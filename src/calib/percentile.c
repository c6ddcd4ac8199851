/*
 * The least range that the given part of all values falls into. Symmetric: of the
 * magnitudes, limited to what was seen. Otherwise each tail loses half of what may be lost.
 */
#include "calib/bins_squares.h"
#include "calib/methods.h"

#include <math.h>

/* How many values make up this part of them; one that is a whole number but for rounding is it. */
static uint64_t rank_of(double part, uint64_t total)
{
    const double rank = ceil(part * (double)total * (1 - 0x1p-40));
    return (uint64_t)fmin(fmax(rank, 1), (double)total);
}

static int symmetric(const struct by_sketch *sketch, double percent, struct by_range *range,
                     struct baryon_error *err)
{
    struct by_bins bins;
    if (by_bins_load_magnitudes(&bins, sketch, err) < 0)
        return -1;
    range->high = by_bins_at_rank(&bins, rank_of(percent / 100, bins.total));
    range->low = -range->high;
    by_bins_release(&bins);
    return 0;
}

static int asymmetric(const struct by_sketch *sketch, double percent, struct by_range *range,
                      struct baryon_error *err)
{
    struct by_bins bins;
    if (by_bins_load(&bins, sketch, err) < 0)
        return -1;
    const uint64_t rank = rank_of(1 - (100 - percent) / 200, bins.total);
    range->low = by_bins_at_rank(&bins, bins.total + 1 - rank);
    range->high = by_bins_at_rank(&bins, rank);
    by_bins_release(&bins);
    return 0;
}

int by_percentile_range(const struct by_sketch *sketch, double percent, bool is_symmetric,
                        struct by_range *range, struct baryon_error *err)
{
    by_range_seen(sketch, range);
    if (range->constant_zero)
        return 0;
    if ((is_symmetric ? symmetric : asymmetric)(sketch, percent, range, err) < 0)
        return -1;
    by_range_limit(range, sketch);
    if (range->low == range->high) /* nearly all are zeros: the others would all be lost */
        by_range_seen(sketch, range);
    return 0;
}

static double error_of(const struct by_bins_squares *squares, const struct by_range *range,
                       const struct by_calib_target *target)
{
    struct by_scale scale;
    return by_scale_of_range(range, target, &scale, NULL) < 0
               ? INFINITY
               : by_bins_squares_error(squares, &scale, target, INFINITY);
}

/* With many levels a few values cut off outweigh all that finer steps gain. */
static int take_whole_if_better(const struct by_sketch *sketch,
                                const struct by_calib_target *target, struct by_range *range,
                                struct baryon_error *err)
{
    struct by_bins_squares squares;
    struct by_range seen;
    by_range_seen(sketch, &seen);
    if (range->constant_zero || (range->low <= seen.low && range->high >= seen.high))
        return 0;
    if (by_bins_squares_of(&squares, sketch, err) < 0)
        return -1;
    if (error_of(&squares, &seen, target) < error_of(&squares, range, target) * BY_BINS_TIE)
        *range = seen;
    by_bins_squares_release(&squares);
    return 0;
}

static int percentile(const struct by_sketch *sketch, const struct by_calib_target *target,
                      const struct by_calib_options *options, struct by_range *range,
                      struct baryon_error *err)
{
    const struct by_percentile_options *own = options->own;
    if (!(own->percent > 0 && own->percent <= 100))
        return by_fail(err, BARYON_ERR_USAGE, "percentile (%g) is not above 0 and at most 100",
                       own->percent);
    if (by_percentile_range(sketch, own->percent, own->symmetric, range, err) < 0)
        return -1;
    return own->guard && !target->is_float ? take_whole_if_better(sketch, target, range, err) : 0;
}

static const struct by_percentile_options defaults = {.percent = 99.999, .symmetric = true};

static const struct by_calib_option rows[] = {
    {
        .row = {.name = "percentile",
                .type = BY_OPT_NUMBER,
                .arg = "PERCENT",
                .min = 1e-9,
                .max = 100,
                .fallback = "99.999",
                .offset = offsetof(struct by_percentile_options, percent),
                .help = "percentage of the values that the range contains"},
        .quark = "Percentile",
        .weight_name = "weight-percentile",
        .weight_help = "percentage of the weights that the range contains",
    },
    BY_PERCENTILE_SYMMETRIC_ROW(struct by_percentile_options),
    {
        .row = {.name = "percentile-guard",
                .type = BY_OPT_FLAG,
                .fallback = "true",
                .offset = offsetof(struct by_percentile_options, guard),
                .help = "keep the whole range where it has the smaller squared error"},
    },
};

const struct by_calib_option_set by_percentile_option_set = BY_CALIB_OPTION_SET(rows, defaults);

const struct by_calibrator by_calib_percentile = {
    .name = "percentile",
    .alias = "Percentile",
    .help = "The range that nearly all values fall into; outliers are cut",
    .quark = {{BY_QUARK_METHOD, "Percentile"}},
    .uses = BY_FOR_ALL,
    .search = BY_SEARCH_PERCENTILE,
    .options = &by_percentile_option_set,
    .range = percentile,
};
