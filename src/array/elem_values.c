/* Values of elements, whatever their type, from raw little-endian bytes. */
#include "array/elem.h"
#include "base/half.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A float of few bits: sign, exponent, mantissa, and what its top codes mean. */
struct small_float {
    unsigned exponent_bits, mantissa_bits;
    int bias;
    enum { FINITE, IEEE, FN, FNUZ } kind;
};

static double small_to_double(const struct small_float *format, unsigned code)
{
    unsigned sign = code >> (format->exponent_bits + format->mantissa_bits) & 1;
    unsigned exponent = code >> format->mantissa_bits & ((1u << format->exponent_bits) - 1);
    unsigned mantissa = code & ((1u << format->mantissa_bits) - 1);
    unsigned top = (1u << format->exponent_bits) - 1;
    if (format->kind == IEEE && exponent == top)
        return mantissa ? NAN : sign ? -INFINITY : INFINITY;
    if (format->kind == FN && exponent == top && mantissa == (1u << format->mantissa_bits) - 1)
        return NAN;
    if (format->kind == FNUZ && sign && !exponent && !mantissa)
        return NAN;
    double fraction = (double)mantissa / (double)(1u << format->mantissa_bits);
    double value = exponent ? ldexp(1 + fraction, (int)exponent - format->bias)
                            : ldexp(fraction, 1 - format->bias);
    return sign ? -value : value;
}

static const struct small_float *small_float(int64_t elem)
{
    static const struct small_float formats[BY_ELEM_COUNT] = {
        [BY_ELEM_FLOAT8E4M3FN] = {4, 3, 7, FN},   [BY_ELEM_FLOAT8E4M3FNUZ] = {4, 3, 8, FNUZ},
        [BY_ELEM_FLOAT8E5M2] = {5, 2, 15, IEEE},  [BY_ELEM_FLOAT8E5M2FNUZ] = {5, 2, 16, FNUZ},
        [BY_ELEM_FLOAT4E2M1] = {2, 1, 1, FINITE}, [BY_ELEM_FLOAT6E2M3] = {2, 3, 1, FINITE},
        [BY_ELEM_FLOAT6E3M2] = {3, 2, 3, FINITE},
    };
    return &formats[elem];
}

/* The code of element i, 2, 4, 6, 8 or more bits wide, low bits first. */
static uint64_t code_at(const uint8_t *bytes, unsigned bits, size_t i)
{
    uint64_t code = 0;
    if (bits >= 8) {
        memcpy(&code, bytes + i * (bits / 8), bits / 8);
        return code;
    }
    size_t bit = i * bits;
    unsigned low = bytes[bit / 8];
    unsigned high = bit % 8 + bits > 8 ? bytes[bit / 8 + 1] : 0u;
    return ((high << 8 | low) >> bit % 8) & ((1u << bits) - 1);
}

static int64_t sign_extend(uint64_t code, unsigned bits)
{
    return bits == 64 ? (int64_t)code : (int64_t)(code << (64 - bits)) >> (64 - bits);
}

bool by_elem_is_floats(int64_t elem)
{
    const struct by_elem_info *info = by_elem_info(elem);
    return info && info->class == BY_CLASS_FLOAT;
}

bool by_elem_is_signed(int64_t elem)
{
    return elem == BY_ELEM_INT8 || elem == BY_ELEM_INT16 || elem == BY_ELEM_INT32 ||
           elem == BY_ELEM_INT64 || elem == BY_ELEM_INT4 || elem == BY_ELEM_INT2;
}

static double float_at(int64_t elem, const uint8_t *bytes, unsigned bits, size_t i)
{
    uint64_t code = code_at(bytes, bits, i);
    double value;
    switch (elem) {
    case BY_ELEM_DOUBLE:
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        return value;
    case BY_ELEM_FLOAT16:
        return (double)by_f16_to_f32_one((uint16_t)code);
    case BY_ELEM_BFLOAT16:
        return (double)by_bf16_to_f32_one((uint16_t)code);
    case BY_ELEM_FLOAT8E8M0:
        return code == 255 ? (double)NAN : ldexp(1, (int)code - 127);
    default:
        return small_to_double(small_float(elem), (unsigned)code);
    }
}

static int check_numeric(int64_t elem, const struct by_elem_info **info, struct baryon_error *err)
{
    *info = by_elem_info(elem);
    if (*info && ((*info)->class == BY_CLASS_FLOAT || (*info)->class == BY_CLASS_INT ||
                  elem == BY_ELEM_BOOL))
        return 0;
    return by_fail(err, BARYON_ERR_UNSUPPORTED, "elements of type %s, must be numeric",
                   by_elem_name(elem));
}

static void singles_to_doubles(const uint8_t *bytes, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++) {
        float single;
        memcpy(&single, bytes + i * sizeof single, sizeof single);
        out[i] = (double)single;
    }
}

int by_elem_to_doubles(int64_t elem, const uint8_t *bytes, size_t first, size_t count, double *out,
                       struct baryon_error *err)
{
    const struct by_elem_info *info;
    if (check_numeric(elem, &info, err))
        return -1;
    if (elem == BY_ELEM_FLOAT) { /* samples and outputs are mostly that */
        singles_to_doubles(bytes + first * sizeof(float), count, out);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (info->class == BY_CLASS_FLOAT) {
            out[i] = float_at(elem, bytes, info->bits, first + i);
            continue;
        }
        uint64_t code = code_at(bytes, info->bits, first + i);
        out[i] = by_elem_is_signed(elem) ? (double)sign_extend(code, info->bits) : (double)code;
    }
    return 0;
}

int by_elem_to_floats(int64_t elem, const uint8_t *bytes, size_t first, size_t count, float *out,
                      struct baryon_error *err)
{
    if (elem == BY_ELEM_FLOAT) {
        if (count)
            memcpy(out, bytes + first * sizeof *out, count * sizeof *out);
        return 0;
    }
    for (size_t done = 0; done < count;) {
        double values[256];
        size_t part = count - done < 256 ? count - done : 256;
        if (by_elem_to_doubles(elem, bytes, first + done, part, values, err))
            return -1;
        for (size_t i = 0; i < part; i++)
            out[done + i] = (float)values[i];
        done += part;
    }
    return 0;
}

int by_elem_to_ints(int64_t elem, const uint8_t *bytes, size_t first, size_t count, int64_t *out,
                    struct baryon_error *err)
{
    const struct by_elem_info *info;
    if (check_numeric(elem, &info, err))
        return -1;
    if (info->class == BY_CLASS_FLOAT)
        return by_fail(err, BARYON_ERR_INPUT, "elements of type %s, must be integers", info->name);
    for (size_t i = 0; i < count; i++) {
        uint64_t code = code_at(bytes, info->bits, first + i);
        if (elem == BY_ELEM_UINT64 && code > INT64_MAX)
            return by_fail(err, BARYON_ERR_INPUT, "element %zu is %llu, must be at most 2^63-1",
                           first + i, (unsigned long long)code);
        out[i] = by_elem_is_signed(elem) ? sign_extend(code, info->bits) : (int64_t)code;
    }
    return 0;
}

#define LANES 16

/* So many at once, which compilers turn into vectors. */
static unsigned count_outside(const float *values)
{
    unsigned outside = 0;
    for (size_t i = 0; i < LANES; i++)
        outside += !(fabsf(values[i]) <= FLT_MAX);
    return outside;
}

bool by_floats_are_finite(const float *values, size_t count)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        if (count_outside(values + i))
            return false;
    for (; i < count; i++)
        if (!(fabsf(values[i]) <= FLT_MAX))
            return false;
    return true;
}
