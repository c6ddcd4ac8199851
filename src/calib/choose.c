/* One method, one tensor: range, scale, and what they cost. */
#include "calib/calib.h"

static int find_clipped(const struct by_sketch *sketch, const struct by_calib_type *type,
                        struct by_calib_choice *choice, struct baryon_error *err)
{
    const double more = type->beyond * choice->scale.scale;
    return by_sketch_outside(sketch, choice->reached.low - more, choice->reached.high + more,
                             &choice->clipped, err);
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
