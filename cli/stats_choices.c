/* What calibration methods would choose for a tensor. */
#include "cli/stats_view.h"

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

static double clipped_share(const struct by_sketch *sketch, const struct by_sketch_bin *bins,
                            size_t count, const struct by_stats_type *type,
                            const struct by_choice_made *made)
{
    double more = type->beyond * made->scale.scale, sum = 0;
    double low = made->reached.low - more, high = made->reached.high + more;
    uint64_t finite = by_sketch_finite(sketch);
    if (!finite || ((double)sketch->min >= low && (double)sketch->max <= high))
        return 0;
    for (size_t i = 0; i < count; i++)
        sum += beyond(sketch, &bins[i], low, high);
    return sum / (double)finite;
}

static int make_one(const struct by_sketch *sketch, const struct by_calibrator *method,
                    const struct by_calib_target *target, struct by_choice_made *made,
                    struct baryon_error *err)
{
    struct by_calib_options options;
    by_calib_defaults(method, &options);
    made->method = method;
    if (method->range(sketch, target, &options, &made->range, err) ||
        by_scale_of_range(&made->range, target, &made->scale, err))
        return by_err_in(err, "%s", method->name);
    by_range_of_scale(&made->scale, target, &made->reached);
    return 0;
}

int by_choices_make(const struct by_sketch *sketch, const struct by_stats_type *type,
                    struct by_choice_made **made, size_t *count, struct baryon_error *err)
{
    size_t methods, bin_count;
    struct by_sketch_bin *bins;
    const struct by_calibrator *const *all = by_calibrators(&methods);
    *count = 0;
    *made = by_alloc(methods, sizeof **made, err);
    if (!*made || by_sketch_bins(sketch, &bins, &bin_count, err)) {
        by_free(*made);
        return -1;
    }
    int status = 0;
    for (size_t i = 0; i < methods && status == 0; i++) {
        struct by_choice_made *one = &(*made)[*count];
        if (all[i]->suits && !all[i]->suits(&type->target))
            continue;
        status = make_one(sketch, all[i], &type->target, one, err);
        if (status == 0)
            one->clipped = clipped_share(sketch, bins, bin_count, type, one);
        ++*count;
    }
    by_free(bins);
    if (status)
        by_free(*made);
    return status;
}
