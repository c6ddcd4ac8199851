/* All that was seen; or the means over samples of their least and greatest values. */
#include "calib/bins.h"
#include "calib/methods.h"

#include <math.h>

void by_range_minmax(const struct by_sketch *sketch, bool moving_average, struct by_range *range)
{
    by_range_seen(sketch, range);
    if (!moving_average || !sketch->finite_samples)
        return;
    range->low = by_exact_value(&sketch->sample_min) / (double)sketch->finite_samples;
    range->high = by_exact_value(&sketch->sample_max) / (double)sketch->finite_samples;
    by_range_limit(range, sketch);
}

static int minmax(const struct by_sketch *sketch, const struct by_calib_target *target,
                  const struct by_calib_options *options, struct by_range *range,
                  struct baryon_error *err)
{
    (void)target;
    (void)err;
    const struct by_average_options *own = options->own;
    by_range_minmax(sketch, own->moving, range);
    return 0;
}

static const struct by_average_options defaults = {.moving = false};

static const struct by_calib_option rows[] = {{
    .row = {.name = "moving-average",
            .type = BY_OPT_FLAG,
            .fallback = "false",
            .offset = offsetof(struct by_average_options, moving),
            .help = "average the extremes of the samples"},
    .quark = "CalibMovingAverage",
}};

const struct by_calib_option_set by_average_option_set = BY_CALIB_OPTION_SET(rows, defaults);

const struct by_calibrator by_calib_minmax = {
    .name = "minmax",
    .alias = "MinMax",
    .help = "From the least to the greatest value",
    .quark = {{BY_QUARK_METHOD, "MinMax"}, {BY_QUARK_WEIGHT_METHOD, "MinMax"}},
    .uses = BY_FOR_ALL,
    .search = BY_SEARCH_EXTREMES,
    .options = &by_average_option_set,
    .options_last = true,
    .range = minmax,
};
