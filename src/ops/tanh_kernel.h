/*
 * tanh by the method of fdlibm, with the compiler's vectors, for a file that has said how many
 * LANES it takes at a time and for which TARGET.
 *
 *     below 1:    t = expm1(-2|x|), tanh|x| = -t / (t + 2)
 *     from 1 on:  t = expm1(2|x|),  tanh|x| = 1 - 2 / (t + 2)
 *
 * expm1(a): a = k ln 2 + r with |r| <= ln 2 / 2, a polynomial for expm1(r), and then 2^k. Order and
 * form of each sum decide about the last bit, so nothing here may be rearranged.
 */
#ifndef BY_OPS_TANH_KERNEL_H
#define BY_OPS_TANH_KERNEL_H

#include "ops/tanh_path.h"

#include <stdint.h>
#include <string.h>

typedef float floats __attribute__((vector_size(LANES * 4)));
typedef int32_t words __attribute__((vector_size(LANES * 4)));

#define SIGN     INT32_MIN
#define INFINITE 0x7f800000
#define QUIET    0x00400000
#define ONE_BITS 0x3f800000

/* ln 2 in two parts, the first with zeros at the end, so that its multiples are exact. */
#define LN2_HIGH 0x1.62e3p-1f
#define LN2_LOW  0x1.2fefa2p-17f
#define PER_LN2  0x1.715476p+0f
/* From here on tanh is 1. */
#define ENOUGH 10.0f

/* Lanes of mask are all ones or all zeros. */
TARGET static inline floats choose_floats(words mask, floats yes, floats no)
{
    return (floats)(((words)yes & mask) | ((words)no & ~mask));
}

/* 2^power, of powers that have one. */
TARGET static inline floats two_to(words power)
{
    return (floats)(ONE_BITS + (power << 23));
}

/* expm1(r + rest) = r - what this gives. */
TARGET static inline floats short_of(floats r, floats rest)
{
    const floats half = 0.5f * r, square = r * half;
    const floats ratio =
        1.0f +
        square * (-0x1.111112p-5f +
                  square * (0x1.a01a02p-10f +
                            square * (-0x1.4ce19ap-14f +
                                      square * (0x1.0cfca8p-18f + square * -0x1.afdb76p-23f))));
    const floats t = 3.0f - ratio * half;
    const floats e = square * ((ratio - t) / (6.0f - r * t));
    return (r * (e - rest) - rest) - square;
}

/* Of a from -2 to 20. */
TARGET static inline floats expm1_of(floats a)
{
    const floats halves = (floats)(((words)a & SIGN) | (words)(0.5f + (floats){0}));
    const words k = __builtin_convertvector(PER_LN2 * a + halves, words);
    const floats times = __builtin_convertvector(k, floats);
    const floats high = a - times * LN2_HIGH, low = times * LN2_LOW;
    const floats r = high - low, rest = (high - r) - low;
    const floats e = short_of(r, rest), power = two_to(k), inverse = two_to(-k);
    const floats at_zero = r - e;
    const floats at_one_less = 0.5f * at_zero - 0.5f;
    const floats below = (1.0f - (e - r)) * power - 1.0f;
    const floats above = ((1.0f - inverse) - (e - r)) * power;
    const floats far = ((r - (e + inverse)) + 1.0f) * power;
    const floats negative =
        choose_floats(k == 0, at_zero, choose_floats(k == -1, at_one_less, below));
    return choose_floats(k <= 0, negative, choose_floats(k < 23, above, far));
}

TARGET static inline floats tanh_of(floats x)
{
    const words sign = (words)x & SIGN, bits = (words)x & ~SIGN;
    const floats size = (floats)bits;
    const floats within = choose_floats(size < ENOUGH, size, ENOUGH + (floats){0});
    const words small = within < 1.0f;
    const floats t = expm1_of(choose_floats(small, -2.0f * within, 2.0f * within));
    const floats share = choose_floats(small, -t, 2.0f + (floats){0}) / (t + 2.0f);
    const words result = (words)choose_floats(small, share, 1.0f - share) | sign;
    return choose_floats(bits > INFINITE, (floats)((words)x | QUIET), (floats)result);
}

TARGET static void tanh_all(float *values, size_t count)
{
    for (size_t i = 0; i < count; i += LANES) {
        const size_t bytes = (count - i < LANES ? count - i : LANES) * sizeof *values;
        floats x = {0};
        if (bytes == sizeof x) {
            memcpy(&x, values + i, sizeof x);
            x = tanh_of(x);
            memcpy(values + i, &x, sizeof x);
        } else {
            memcpy(&x, values + i, bytes);
            x = tanh_of(x);
            memcpy(values + i, &x, bytes);
        }
    }
}

#endif
