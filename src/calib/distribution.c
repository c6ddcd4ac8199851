/*
 * For 8-bit floats: the scale that gives the values the standard deviation of the format's own
 * numbers. Scenario p3 takes the format's numbers for cubes of what is normally distributed, and
 * compares the deviation of the values' cube roots.
 */
#include "calib/bins.h"
#include "calib/methods.h"

#include <float.h>
#include <math.h>

struct format {
    double value_max;
    int mantissa_bits, bias;
};

static const struct format formats[] = {{448, 3, 7}, {57344, 2, 15}};

static const struct format *format_of(const struct by_calib_target *target)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (target->is_float && formats[i].value_max == target->value_max)
            return &formats[i];
    return NULL;
}

/* Numbers of the format from 0 up. */
static double number(const struct format *format, int code)
{
    const int steps = 1 << format->mantissa_bits, power = code / steps;
    const double digits = power ? ldexp(steps + code % steps, power - 1) : code;
    return ldexp(digits, 1 - format->bias - format->mantissa_bits);
}

/* Of all finite numbers of the format, both zeros; their mean is 0. */
static double deviation_of(const struct format *format)
{
    double squares = 0;
    int count = 0;
    for (; number(format, count) <= format->value_max; count++)
        squares += number(format, count) * number(format, count);
    return sqrt(squares / count);
}

static double deviation_seen(const struct by_sketch *sketch)
{
    const double mean = by_sketch_mean(sketch), rms = by_sketch_rms(sketch);
    return sqrt(fmax(rms * rms - mean * mean, 0));
}

static int match(const struct by_sketch *sketch, const struct by_calib_target *target,
                 double deviation, struct by_range *range, struct baryon_error *err)
{
    const struct format *format = format_of(target);
    if (!format)
        return by_fail(err, BARYON_ERR_USAGE, "distribution is a method for 8-bit floats alone");
    by_range_seen(sketch, range);
    /* No scale is small enough for some values: they stay at scale 1. */
    if (deviation > 0 && fmax(-range->low, range->high) / format->value_max >= (double)FLT_MIN) {
        range->high = deviation / deviation_of(format) * format->value_max;
        range->low = -range->high;
    }
    return 0;
}

static int distribution(const struct by_sketch *sketch, const struct by_calib_target *target,
                        const struct by_calib_options *options, struct by_range *range,
                        struct baryon_error *err)
{
    (void)options;
    return match(sketch, target, deviation_seen(sketch), range, err);
}

/* --- Scenario p3 --- */

/* Means over a bin of the cube root and its square, by their integrals 3/4 x^(4/3), 3/5 x^(5/3). */
static void mean_roots(const struct by_sketch_bin *bin, double *root, double *square)
{
    const double a = cbrt(bin->low), b = cbrt(bin->high), middle = (bin->low + bin->high) / 2;
    const double width = bin->high - bin->low;
    *root = cbrt(middle);
    *square = *root * *root;
    if (width <= 1e-6 * fabs(middle)) /* differences of powers would lose digits */
        return;
    *root = 0.75 * (b * b * b * b - a * a * a * a) / width;
    *square = 0.6 * (b * b * b * b * b - a * a * a * a * a) / width;
}

static int distribution_p3(const struct by_sketch *sketch, const struct by_calib_target *target,
                           const struct by_calib_options *options, struct by_range *range,
                           struct baryon_error *err)
{
    struct by_bins bins;
    double root, square, mean = 0, squares = 0;
    (void)options;
    if (by_bins_load(&bins, sketch, err) < 0)
        return -1;
    for (size_t i = 0; i < bins.count; i++) {
        const double share = (double)bins.at[i].count / (double)bins.total;
        mean_roots(&bins.at[i], &root, &square);
        mean += share * root;
        squares += share * square;
    }
    by_bins_release(&bins);
    const double variance = squares - mean * mean;
    return match(sketch, target, variance > 1e-12 * squares ? sqrt(variance) : 0, range, err);
}

static bool suits_distribution(const struct by_calib_target *target)
{
    return format_of(target) != NULL;
}

const struct by_calibrator by_calib_distribution = {
    .name = "distribution",
    .alias = "Distribution",
    .help = "8-bit floats: the scale that matches their own standard deviation",
    .quark = {{BY_QUARK_METHOD, "Distribution"}},
    .uses = BY_FOR_ACTIVATIONS,
    .range = distribution,
    .suits = suits_distribution,
};

const struct by_calibrator by_calib_distribution_p3 = {
    .name = "distribution-p3",
    .alias = "Distribution.p3",
    .help = "8-bit floats: the same for values that are cubes of a normal distribution",
    .uses = BY_FOR_ACTIVATIONS,
    .range = distribution_p3,
    .suits = suits_distribution,
};
