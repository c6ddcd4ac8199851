/*
 * The number that a level stands for, out of a range. Ranges beyond half of the greatest float
 * are cut there; a scale below the least normal float becomes 1.
 */
#include "calib/calib.h"

#include <float.h>
#include <math.h>

#define BETWEEN 0.25 /* steps from the nearest level */

/* The nearest in the logarithm, which may be smaller than the scale. */
static void round_to_power(struct by_scale *scale)
{
    const double clamped = fmin(fmax(scale->scale, 0x1p-127), 0x1p127);
    scale->position = (int)nearbyint(-log2(clamped));
    scale->scale = ldexp(1, -scale->position);
}

static void scale_of_float(double reach, const struct by_calib_target *target,
                           struct by_scale *scale)
{
    scale->scale = reach / target->value_max;
    scale->zero_point = 0;
}

static void scale_of_integer(double low, double high, double reach,
                             const struct by_calib_target *target, struct by_scale *scale)
{
    const double qmin = (double)target->qmin, qmax = (double)target->qmax;
    if (target->symmetric) { /* the middle, whatever is lost in divisions: 128 of 0 to 255 */
        scale->scale = 2 * reach / (qmax - qmin);
        scale->zero_point = (int64_t)nearbyint((qmin + qmax) / 2);
        return;
    }
    scale->scale = (high - low) / (qmax - qmin);
    if (scale->scale >= (double)FLT_MIN)
        scale->zero_point = (int64_t)nearbyint(qmin - low / scale->scale);
}

int by_scale_of_range(const struct by_range *range, const struct by_calib_target *target,
                      struct by_scale *scale, struct baryon_error *err)
{
    const double most = (double)FLT_MAX / 2;
    if (isnan(range->low) || isnan(range->high))
        return by_fail(err, BARYON_ERR_USAGE, "the range is not a number");
    const double low = fmax(fmin(range->low, 0), -most), high = fmin(fmax(range->high, 0), most);
    const double reach = fmax(-low, high);
    if (target->is_float)
        scale_of_float(reach, target, scale);
    else
        scale_of_integer(low, high, reach, target, scale);
    scale->position = 0;
    if (scale->scale < (double)FLT_MIN) {
        scale->scale = 1;
        scale->zero_point = 0;
    } else if (target->power_of_two) {
        round_to_power(scale);
    } else {
        scale->scale = (double)(float)scale->scale;
    }
    return 0;
}

/* The least scale with this zero point whose levels reach both ends. */
static double scale_with_zero(const struct by_range *range, const struct by_calib_target *target,
                              double zero)
{
    const double below = zero - (double)target->qmin, above = (double)target->qmax - zero;
    return fmax(range->low < 0 ? -range->low / below : 0,
                range->high > 0 ? range->high / above : 0);
}

bool by_range_to_whole_zero(struct by_range *range, const struct by_calib_target *target)
{
    const double width = range->high - range->low;
    if (target->is_float || target->symmetric || target->power_of_two || !(width > 0) ||
        target->qmax - target->qmin > UINT8_MAX)
        return false;
    const double zero =
        (double)target->qmin - range->low / width * (double)(target->qmax - target->qmin);
    if (fabs(zero - nearbyint(zero)) < BETWEEN)
        return false;
    const double down = scale_with_zero(range, target, floor(zero));
    const double up = scale_with_zero(range, target, ceil(zero));
    const struct by_scale scale = {fmin(down, up), (int64_t)(down < up ? floor(zero) : ceil(zero)),
                                   0};
    const double error = range->error;
    by_range_of_scale(&scale, target, range);
    range->error = error;
    return true;
}

void by_range_of_scale(const struct by_scale *scale, const struct by_calib_target *target,
                       struct by_range *range)
{
    range->low = target->is_float ? -target->value_max * scale->scale
                                  : (double)(target->qmin - scale->zero_point) * scale->scale;
    range->high = target->is_float ? target->value_max * scale->scale
                                   : (double)(target->qmax - scale->zero_point) * scale->scale;
    range->constant_zero = false;
    range->error = NAN;
}
