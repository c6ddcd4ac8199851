/*
 * The loops of the vector paths, in the compiler's own vectors. Whoever includes this says
 *
 *   LANES                     floats of a vector: 4, 8 or 16
 *   TARGET                    attribute of the functions
 *   IMAX(a, b), IMIN(a, b)    of vectors of int32_t
 *   ANY(mask)                 whether a lane of the mask is set
 *   LOW(x), HIGH(x)           halves of a vector of floats
 *   WIDE_BYTES(x), BYTES(x)   from LANES bytes, and to the low ones
 *
 * and gets floats(), codes8(), codes16(), powers() and ints().
 */
#ifndef BY_DTYPE_KERNEL_H
#define BY_DTYPE_KERNEL_H

#include <string.h>

#define INLINE   TARGET static inline __attribute__((always_inline))
#define SIZE     0x7fffffff
#define INFINITE 0x7f800000
#define HIDDEN   0x00800000

typedef float vfloats __attribute__((vector_size(4 * LANES)));
typedef int32_t vints __attribute__((vector_size(4 * LANES)));
typedef double vdoubles __attribute__((vector_size(4 * LANES)));
typedef int64_t vlongs __attribute__((vector_size(4 * LANES)));
typedef float vhalf __attribute__((vector_size(2 * LANES)));
typedef uint8_t vbytes __attribute__((vector_size(LANES)));
typedef uint16_t vshorts __attribute__((vector_size(2 * LANES)));

INLINE vints load(const float *at)
{
    vints x;
    memcpy(&x, at, sizeof x);
    return x;
}

INLINE void store(float *at, vints x)
{
    memcpy(at, &x, sizeof x);
}

INLINE vints fill(int32_t value)
{
    return value - (vints){0};
}

/* Lanes of mask are all ones or all zeros. */
INLINE vints choose(vints mask, vints yes, vints no)
{
    return (yes & mask) | (no & ~mask);
}

/* 2 to the power of exponent - 127, for exponents 1 to 254. */
INLINE vfloats power(vints exponent)
{
    return (vfloats)(exponent << 23);
}

/* Levels of the magnitudes, and the exponent whose steps they count (mantissa bits below it). */
INLINE vints level_of(vints bits, vints base, const struct by_float_grid *grid, vints *exponent)
{
    const vints size = bits & SIZE, own = IMAX(size >> 23, fill(1));
    const vints mantissa = (size & (HIDDEN - 1)) | ((size >= HIDDEN) & HIDDEN);
    *exponent = IMAX(own, base);
    const vints shift = IMIN(*exponent - own + (23 - grid->mantissa), fill(25));
    const vints half = (fill(1) << shift) >> 1, odd = mantissa >> shift & grid->tie_even;
    return (mantissa + half + grid->tie + odd + (bits >> 31 & grid->tie_up)) >> shift;
}

INLINE vints round_float(vints bits, const struct by_float_grid *grid)
{
    const vints size = bits & SIZE, sign = bits & ~SIZE;
    const vints number = IMIN(size, fill(INFINITE)) | sign; /* what NaN carries could overflow */
    vints exponent, level = level_of(number, fill(grid->base), grid, &exponent), left;
    if (grid->base == 1) /* steps may be below the least normal float */
        left = ((exponent - 1) << 23) + (level << (23 - grid->mantissa));
    else
        left = (vints)(__builtin_convertvector(level, vfloats) * power(exponent - grid->mantissa));
    const vints beyond = left > grid->limit;
    const vints kept = sign & ((level != 0) | (int32_t)grid->zero_sign);
    left = choose(beyond, (sign & (int32_t)grid->past_sign) | (int32_t)grid->past, left | kept);
    const vints nan = (sign & (int32_t)grid->nan_sign) ^ (int32_t)grid->nan;
    return choose(size > INFINITE, nan, left);
}

INLINE vints code_float(vints bits, const struct by_float_grid *grid)
{
    const vints size = bits & SIZE, sign = (bits >> 31) & grid->sign;
    vints exponent, level = level_of(bits, fill(grid->base), grid, &exponent);
    const vints code = level + ((exponent - grid->base) << grid->mantissa);
    const vints kept = sign & ((code != 0) | (int32_t)grid->zero_sign);
    const vints past = (sign & (int32_t)grid->past_sign) | grid->past_code;
    const vints left = choose(code > grid->max_code, past, code | kept);
    const vints nan = (sign & (int32_t)grid->nan_sign) ^ grid->nan_code;
    return choose(size > INFINITE, nan, left);
}

/* --- Runs of values; the last ones go through a vector of their own --- */

TARGET static void floats(float *out, const float *in, size_t count,
                          const struct by_float_grid *grid)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        store(out + i, round_float(load(in + i), grid));
    if (i < count) {
        float last[LANES] = {0};
        memcpy(last, in + i, (count - i) * sizeof *last);
        store(last, round_float(load(last), grid));
        memcpy(out + i, last, (count - i) * sizeof *last);
    }
}

#define SHORTS(x) __builtin_convertvector(x, vshorts)
#define CODES(name, type, vector, narrow)                                                          \
    TARGET static void name(type *out, const float *in, size_t count,                              \
                            const struct by_float_grid *grid)                                      \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + LANES <= count; i += LANES) {                                                   \
            vector codes = narrow(code_float(load(in + i), grid));                                 \
            memcpy(out + i, &codes, sizeof codes);                                                 \
        }                                                                                          \
        if (i < count) {                                                                           \
            float last[LANES] = {0};                                                               \
            memcpy(last, in + i, (count - i) * sizeof *last);                                      \
            vector codes = narrow(code_float(load(last), grid));                                   \
            memcpy(out + i, &codes, (count - i) * sizeof *out);                                    \
        }                                                                                          \
    }

CODES(codes8, uint8_t, vbytes, BYTES)
CODES(codes16, uint16_t, vshorts, SHORTS)

/* --- Powers of two --- */

#define HALF_WAY 0x00400000 /* of a mantissa */
#define LEAST_UP 0x00600000 /* what comes to 2^-126 */

INLINE vints code_power(vints bits, bool saturate)
{
    const vints normal = (IMIN(bits, fill(INFINITE)) + HALF_WAY) >> 23;
    const vints code = choose(bits < HIDDEN, (bits >= LEAST_UP) & 1, normal);
    const vints most = IMIN(code, fill(saturate ? 254 : 255));
    return choose((bits <= 0) | (bits > INFINITE), fill(255), most);
}

TARGET static void powers(uint8_t *out, const float *in, size_t count, bool saturate)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const vbytes codes = BYTES(code_power(load(in + i), saturate));
        memcpy(out + i, &codes, sizeof codes);
    }
    if (i < count) {
        float last[LANES] = {0};
        memcpy(last, in + i, (count - i) * sizeof *last);
        const vbytes codes = BYTES(code_power(load(last), saturate));
        memcpy(out + i, &codes, count - i);
    }
}

/* --- Integers, in double: a level of 32 bits and its half are exact --- */

INLINE vdoubles pick(vlongs mask, vdoubles yes, vdoubles no)
{
    return (vdoubles)(((vlongs)yes & mask) | ((vlongs)no & ~mask));
}

/* Of less than 2^51: the nearest whole number, ties to even. */
INLINE vdoubles nearest(vdoubles x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}

INLINE vdoubles level_int(vhalf scaled, const struct by_int_grid *grid)
{
    const vdoubles low = grid->low - (vdoubles){0}, high = grid->high - (vdoubles){0};
    vdoubles x = __builtin_convertvector(scaled, vdoubles);
    x = pick(x > low, x, low); /* NaN too is the least */
    x = pick(x < high, x, high);
    const vdoubles even = nearest(x), off = x - even;
    if (grid->ties == BY_TIES_UP)
        return even + pick(off == 0.5, 1.0 - (vdoubles){0}, (vdoubles){0});
    if (grid->ties == BY_TIES_AWAY) {
        const vlongs more = (off == 0.5) & (x > 0), less = (off == -0.5) & (x < 0);
        return even +
               pick(more, 1.0 - (vdoubles){0}, pick(less, -1.0 - (vdoubles){0}, (vdoubles){0}));
    }
    return even;
}

INLINE vints round_int(vints bits, const struct by_int_grid *grid)
{
    const vfloats scaled = (vfloats)bits / grid->scale;
    const vhalf low = __builtin_convertvector(level_int(LOW(scaled), grid), vhalf);
    const vhalf high = __builtin_convertvector(level_int(HIGH(scaled), grid), vhalf);
    vfloats level;
    memcpy(&level, &low, sizeof low);
    memcpy((char *)&level + sizeof low, &high, sizeof high);
    return (vints)((level + 0.0f) * grid->scale); /* a level of 0 has no sign */
}

TARGET static void ints(float *out, const float *in, size_t count, const struct by_int_grid *grid)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        store(out + i, round_int(load(in + i), grid));
    if (i < count) {
        float last[LANES] = {0};
        memcpy(last, in + i, (count - i) * sizeof *last);
        store(last, round_int(load(last), grid));
        memcpy(out + i, last, (count - i) * sizeof *last);
    }
}

#endif
