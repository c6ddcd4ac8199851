/* One method, one tensor: range, scale, and what they cost. */
#include "calib/calib.h"

#include <math.h>

/* The part of a bin below `low` or above `high`; no value of it is beyond min and max. */
static double beyond(const struct by_sketch *sketch, const struct by_sketch_bin *bin, double low,
                     double high)
{
    double from = fmax(bin->low, (double)sketch->min), to = fmin(bin->high, (double)sketch->max);
    if (to <= from)
        return from > high || from < low ? (double)bin->count : 0;
    double out = fmax(low - from, 0) + fmax(to - high, 0);
    return fmin(out / (to - from), 1) * (double)bin->count;
}

static int find_clipped(const struct by_sketch *sketch, const struct by_calib_type *type,
                        struct by_calib_choice *choice, struct baryon_error *err)
{
    struct by_sketch_bin *bins;
    size_t count;
    double more = type->beyond * choice->scale.scale, sum = 0;
    double low = choice->reached.low - more, high = choice->reached.high + more;
    uint64_t finite = by_sketch_finite(sketch);
    choice->clipped = 0;
    if (!finite || ((double)sketch->min >= low && (double)sketch->max <= high))
        return 0;
    if (by_sketch_bins(sketch, &bins, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        sum += beyond(sketch, &bins[i], low, high);
    by_free(bins);
    choice->clipped = sum / (double)finite;
    return 0;
}

bool by_calib_suits(const struct by_calibrator *method, const struct by_calib_type *type)
{
    return !method->suits || method->suits(&type->target);
}

int by_calib_choose(const struct by_sketch *sketch, const struct by_calib_type *type,
                    const struct by_calibrator *method, const struct by_calib_options *options,
                    struct by_calib_choice *choice, struct baryon_error *err)
{
    struct by_calib_options defaults;
    by_calib_defaults(method, &defaults);
    choice->method = method;
    if (method->range(sketch, &type->target, options ? options : &defaults, &choice->range, err) ||
        by_scale_of_range(&choice->range, &type->target, &choice->scale, err))
        return by_err_in(err, "%s", method->name);
    by_range_of_scale(&choice->scale, &type->target, &choice->reached);
    return find_clipped(sketch, type, choice, err);
}
