/* Small floats: any number of exponent and fraction bits, 16 in all. */
#include "dtype/family.h"

#include "base/half.h"

#include <float.h>
#include <math.h>

static uint32_t sign_bit(const struct by_float_layout *layout)
{
    return 1u << (layout->exponent + layout->mantissa);
}

uint32_t by_float_max_code(const struct by_float_layout *layout)
{
    const uint32_t all = sign_bit(layout) - 1;
    switch (layout->specials) {
    case BY_SPECIAL_NAN:
        return all - 1;
    case BY_SPECIAL_IEEE:
        return all - (1u << layout->mantissa);
    default:
        return all;
    }
}

static uint32_t nan_code(const struct by_float_layout *layout, bool negative)
{
    const uint32_t sign = sign_bit(layout);
    switch (layout->specials) {
    case BY_SPECIAL_NAN:
        return (negative ? sign : 0) | (sign - 1);
    case BY_SPECIAL_NAN_ZERO:
        return sign;
    case BY_SPECIAL_IEEE: /* quiet: the top bit of the fraction */
        return (negative ? sign : 0) | (by_float_max_code(layout) + 1) |
               1u << (layout->mantissa - 1);
    default:
        return negative ? 0 : sign;
    }
}

/* For a magnitude past the greatest number. */
static uint32_t past_code(const struct by_float_layout *layout, bool negative, bool saturate)
{
    const uint32_t sign = negative ? sign_bit(layout) : 0, max = by_float_max_code(layout);
    if (saturate || layout->specials == BY_SPECIAL_NONE)
        return sign | max;
    return layout->specials == BY_SPECIAL_IEEE ? sign | (max + 1) : nan_code(layout, negative);
}

uint32_t by_float_code(const struct by_float_layout *layout, double value,
                       const struct by_draw *draw, bool saturate)
{
    const bool negative = signbit(value);
    const int least = 1 - layout->bias; /* exponent of the least normal number */
    if (isnan(value))
        return nan_code(layout, negative);
    if (isinf(value))
        return past_code(layout, negative, saturate);
    int exponent = value == 0 ? least : ilogb(value);
    if (exponent < least)
        exponent = least;
    /* Numbers near the value are whole multiples of a quantum. */
    const double quantum = ldexp(1, exponent - layout->mantissa);
    const double level = fabs(by_round_level(value / quantum, draw));
    /* The level of a normal number has a leading 1, which adds 1 to the exponent's field. */
    const double code = ldexp(exponent - least, layout->mantissa) + level;
    if (code > by_float_max_code(layout))
        return past_code(layout, negative, saturate);
    if (code == 0 && layout->specials == BY_SPECIAL_NAN_ZERO)
        return 0;
    return (negative ? sign_bit(layout) : 0) | (uint32_t)code;
}

double by_float_value(const struct by_float_layout *layout, uint32_t code)
{
    const uint32_t sign = sign_bit(layout), size = code & (sign - 1);
    const uint32_t fraction = size & ((1u << layout->mantissa) - 1);
    const int exponent = (int)(size >> layout->mantissa);
    double value = ldexp(fraction, 1 - layout->bias - layout->mantissa);
    if (exponent)
        value =
            ldexp(fraction + (1u << layout->mantissa), exponent - layout->bias - layout->mantissa);
    if (size > by_float_max_code(layout))
        value = layout->specials == BY_SPECIAL_IEEE && !fraction ? INFINITY : NAN;
    if (code == sign && layout->specials == BY_SPECIAL_NAN_ZERO)
        return NAN;
    return code & sign ? -value : value;
}

/* --- The grid around a value --- */

void by_float_step(const struct by_dtype *dtype, double unit, float value, float *step, float *held)
{
    const double most = by_dtype_max(dtype) * unit, size = fmin(fabs((double)value), most);
    const int least = 1 - dtype->element.bias, exponent = size > 0 ? ilogb(size / unit) : least;
    const double quantum =
        ldexp(unit, (exponent < least ? least : exponent) - dtype->element.mantissa);
    const bool fits = quantum >= (double)FLT_MIN;
    *step = fits ? (float)quantum : 1;
    *held = fits ? copysignf((float)size, value) : 0;
}

bool by_cast_is_plain(const struct by_cast *cast)
{
    return cast->scale == 1 && !cast->zero;
}

static void encode_float(const struct by_dtype *dtype, const float *in, size_t count, size_t first,
                         const struct by_cast *cast, void *codes)
{
    const size_t bytes = by_dtype_code_bytes(dtype);
    struct by_draw draw = {.ties = cast->ties, .seed = cast->seed};
    for (size_t i = 0; i < count; i++) {
        const float value =
            by_cast_is_plain(cast) ? in[i] : in[i] / cast->scale + (float)cast->zero;
        draw.index = first + i;
        by_code_put(codes, i, bytes, by_float_code(&dtype->element, value, &draw, cast->saturate));
    }
}

/* Floats of 16 bits are read by base/half, which keeps what a NaN carries. */
static void read_codes(const struct by_dtype *dtype, const void *codes, size_t count, float *out)
{
    const size_t bytes = by_dtype_code_bytes(dtype);
    if (dtype == &by_dtype_fp16)
        by_f16_to_f32(out, codes, count);
    else if (dtype == &by_dtype_bf16)
        by_bf16_to_f32(out, codes, count);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = (float)by_float_value(&dtype->element, by_code_get(codes, i, bytes));
}

static void decode_float(const struct by_dtype *dtype, const void *codes, size_t count,
                         const struct by_cast *cast, float *out)
{
    read_codes(dtype, codes, count, out);
    if (!by_cast_is_plain(cast))
        for (size_t i = 0; i < count; i++)
            out[i] = (out[i] - (float)cast->zero) * cast->scale;
}

const struct by_dtype_family by_family_float = {encode_float, decode_float};
