/* Computes the integer factors and shifts that replace the scales of a quantized LSTM. */
#include "ops/lstm.h"

#include <math.h>

#define ONE       0x1p24
#define SHIFT_MAX 30

static double clipped(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static double half_away(double value)
{
    return value <= -1 ? value - 0.5 : value + 0.5;
}

int32_t by_lstm_round(double value)
{
    return (int32_t)clipped(half_away(value), INT32_MIN, INT32_MAX);
}

/* 2^15 and more wraps around. */
static int16_t round_short(double value)
{
    return (int16_t)(int32_t)clipped(half_away(value), -65536, 65535);
}

static unsigned bits_for(size_t count)
{
    return (unsigned)ceil(log2((double)count));
}

/* value is factor / 2^(shift + taken). */
static int make_factor(double value, const char *what, unsigned taken,
                       struct by_lstm_factor *factor, struct baryon_error *err)
{
    *factor = (struct by_lstm_factor){0, 0};
    if (value == 0)
        return 0;
    const double shift = 15 - ceil(log2(fabs(value)));
    if (shift < taken || shift > SHIFT_MAX)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "the product of %s is %g times 2^-24, which no 16-bit factor represents",
                       what, value);
    factor->factor = round_short(ldexp(value, (int)shift));
    factor->shift = (unsigned)shift - taken;
    return 0;
}

/* After the point there are 24 bits and those that the scale's inverse lacks to 16. */
static int make_out(const struct by_lstm_scale *y, struct by_lstm_factors *factors,
                    struct baryon_error *err)
{
    const double inverse = 1.0 / y->scale;
    const int more = 16 - (int)ceil(log2(inverse));
    if (more < -24 || more > 7)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "attribute y_scale is %g, must be 2^-40 to 2^-9", (double)y->scale);
    factors->out_factor = (uint16_t)round_short(ldexp(inverse, more));
    factors->out_zero = (int16_t)(int32_t)((double)(y->zero - 32768) + 0.000000001);
    factors->out_shift = (unsigned)(24 + more);
    return 0;
}

int by_lstm_factors(const struct by_lstm_scales *scales, const struct by_lstm_sizes *sizes,
                    struct by_lstm_factors *factors, struct baryon_error *err)
{
    factors->x = (double)(scales->x.scale * scales->w.scale) * ONE;
    factors->h = (double)(scales->y.scale * scales->r.scale) * ONE;
    factors->x_zero = factors->x * (double)(scales->w.zero - 32768);
    factors->h_zero = factors->h * (double)(scales->r.zero - 32768);
    factors->x_shift = bits_for(sizes->inputs);
    factors->h_shift = bits_for(sizes->hidden);
    return make_factor(factors->x, "x_scale and w_scale", factors->x_shift, &factors->to_x, err) ||
                   make_factor(factors->h, "y_scale and r_scale", factors->h_shift, &factors->to_h,
                               err) ||
                   make_factor(factors->x_zero, "x_scale, w_scale and w_zero_point", 0,
                               &factors->of_x, err) ||
                   make_factor(factors->h_zero, "y_scale, r_scale and r_zero_point", 0,
                               &factors->of_h, err) ||
                   make_out(&scales->y, factors, err)
               ? -1
               : 0;
}
