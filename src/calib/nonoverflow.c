/* MinMax around zero, for scales that are powers of two. */
#include "calib/bins.h"
#include "calib/methods.h"

#include <math.h>

static int nonoverflow(const struct by_sketch *sketch, const struct by_calib_target *target,
                       const struct by_calib_options *options, struct by_range *range,
                       struct baryon_error *err)
{
    (void)target;
    (void)err;
    const struct by_average_options *own = options->own;
    by_range_minmax(sketch, own->moving, range);
    range->high = fmax(-range->low, range->high);
    range->low = -range->high;
    return 0;
}

static bool suits_nonoverflow(const struct by_calib_target *target)
{
    return target->power_of_two && !target->is_float;
}

const struct by_calibrator by_calib_nonoverflow = {
    .name = "nonoverflow",
    .alias = "NonOverflow",
    .help = "The power of two nearest to the scale of the greatest magnitude",
    .quark = {{BY_QUARK_METHOD, "NonOverflow"}},
    .uses = BY_FOR_ALL,
    .search = BY_SEARCH_EXTREMES,
    .options = &by_average_option_set,
    .options_last = true,
    .range = nonoverflow,
    .suits = suits_nonoverflow,
};
