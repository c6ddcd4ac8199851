/*
 * So many standard deviations to both sides of the mean, as far as values were seen. What is
 * normally distributed has its least error at 8 bits with about four.
 */
#include "calib/bins.h"
#include "calib/methods.h"

#include <math.h>

struct stddev_options {
    double count;
};

static int stddev(const struct by_sketch *sketch, const struct by_calib_target *target,
                  const struct by_calib_options *options, struct by_range *range,
                  struct baryon_error *err)
{
    const struct stddev_options *own = options->own;
    const double mean = by_sketch_mean(sketch), rms = by_sketch_rms(sketch);
    const double reach = own->count * sqrt(fmax(rms * rms - mean * mean, 0));
    (void)target;
    (void)err;
    by_range_seen(sketch, range);
    if (!(reach > 0)) /* all values are the same */
        return 0;
    range->low = mean - reach;
    range->high = mean + reach;
    by_range_limit(range, sketch);
    return 0;
}

static const struct stddev_options defaults = {.count = 4};

static const struct by_calib_option rows[] = {{
    .row = {.name = "stddev-count",
            .type = BY_OPT_NUMBER,
            .arg = "COUNT",
            .min = 0.1,
            .max = 1000,
            .fallback = "4",
            .offset = offsetof(struct stddev_options, count),
            .help = "number of standard deviations to each side of the mean"},
    .weight_name = "weight-stddev-count",
    .weight_help = "number of standard deviations to each side of the mean",
}};

static const struct by_calib_option_set option_set = BY_CALIB_OPTION_SET(rows, defaults);

const struct by_calibrator by_calib_stddev = {
    .name = "stddev",
    .alias = "MeanSigmaStd",
    .help = "The mean and some standard deviations to both sides",
    .uses = BY_FOR_ALL,
    .options = &option_set,
    .range = stddev,
};
