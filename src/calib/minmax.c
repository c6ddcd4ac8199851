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
    by_range_minmax(sketch, options->moving_average, range);
    return 0;
}

const struct by_calibrator by_calib_minmax = {
    .name = "minmax",
    .alias = "MinMax",
    .help = "From the least to the greatest value",
    .range = minmax,
};
