/*
 * For 8-bit floats: the scale that gives the values the standard deviation of the format's own
 * numbers.
 */
#include "calib/bins.h"
#include "calib/methods.h"

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

static int distribution(const struct by_sketch *sketch, const struct by_calib_target *target,
                        const struct by_calib_options *options, struct by_range *range,
                        struct baryon_error *err)
{
    const struct format *format = format_of(target);
    (void)options;
    if (!format)
        return by_fail(err, BARYON_ERR_USAGE, "distribution is a method for 8-bit floats alone");
    by_range_seen(sketch, range);
    const double deviation = deviation_seen(sketch);
    if (deviation > 0) {
        range->high = deviation / deviation_of(format) * format->value_max;
        range->low = -range->high;
    }
    return 0;
}

static bool suits(const struct by_calib_target *target)
{
    return format_of(target) != NULL;
}

const struct by_calibrator by_calib_distribution = {
    .name = "distribution",
    .alias = "Distribution",
    .help = "8-bit floats: the scale that matches their own standard deviation",
    .range = distribution,
    .suits = suits,
};
