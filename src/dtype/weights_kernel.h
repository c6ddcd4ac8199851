/*
 * The loops of the vector paths, in the compiler's own vectors. Whoever includes this says
 *
 *   LANES                floats of a vector: 4, 8 or 16
 *   TARGET               attribute of the functions
 *   MIN(a, b), MAX(a, b) of vectors of floats without NaN
 *   LOW(x), HIGH(x)      halves of a vector of floats
 *
 * and gets the functions of a path. The last block is filled up with zeros, which have no error.
 */
#ifndef BY_WEIGHTS_KERNEL_H
#define BY_WEIGHTS_KERNEL_H

#include <math.h>
#include <string.h>

#define INLINE TARGET static inline __attribute__((always_inline))
#define BLOCK  BY_WEIGHT_LANES
#define SETS   (BLOCK / LANES)

typedef float floats __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));
typedef float half_floats __attribute__((vector_size(2 * LANES)));
typedef double doubles __attribute__((vector_size(4 * LANES)));
typedef uint8_t bytes __attribute__((vector_size(LANES)));

INLINE floats load(const float *at)
{
    floats x;
    memcpy(&x, at, sizeof x);
    return x;
}

INLINE floats fill(float value)
{
    return value - (floats){0};
}

/* The lanes n further on, around the end. */
#if LANES == 16
#define TURN4_DOUBLES(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3)
#define TURN2_DOUBLES(x) __builtin_shufflevector(x, x, 2, 3, 4, 5, 6, 7, 0, 1)
#define TURN8(x) __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
#define TURN4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3)
#define TURN2(x) __builtin_shufflevector(x, x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1)
#define TURN1(x) __builtin_shufflevector(x, x, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0)
#elif LANES == 8
#define TURN2_DOUBLES(x) __builtin_shufflevector(x, x, 2, 3, 0, 1)
#define TURN4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3)
#define TURN2(x) __builtin_shufflevector(x, x, 2, 3, 4, 5, 6, 7, 0, 1)
#define TURN1(x) __builtin_shufflevector(x, x, 1, 2, 3, 4, 5, 6, 7, 0)
#else
#define TURN2(x) __builtin_shufflevector(x, x, 2, 3, 0, 1)
#define TURN1(x) __builtin_shufflevector(x, x, 1, 2, 3, 0)
#endif

INLINE float least_of(floats x)
{
#if LANES == 16
    x = MIN(x, TURN8(x));
#endif
#if LANES >= 8
    x = MIN(x, TURN4(x));
#endif
    x = MIN(x, TURN2(x));
    x = MIN(x, TURN1(x));
    return x[0];
}

INLINE float greatest_of(floats x)
{
#if LANES == 16
    x = MAX(x, TURN8(x));
#endif
#if LANES >= 8
    x = MAX(x, TURN4(x));
#endif
    x = MAX(x, TURN2(x));
    x = MAX(x, TURN1(x));
    return x[0];
}

INLINE bool is_any(ints mask)
{
#if LANES == 16
    mask |= TURN8(mask);
#endif
#if LANES >= 8
    mask |= TURN4(mask);
#endif
    mask |= TURN2(mask);
    mask |= TURN1(mask);
    return mask[0] != 0;
}

INLINE floats nearest(floats value, floats scale, floats low, floats high)
{
    floats level = MIN(MAX(value / scale, low), high);
    return (level + BY_WEIGHT_ROUNDER) - BY_WEIGHT_ROUNDER;
}

/* --- Extremes --- */

/* An exponent of all ones: not finite. */
INLINE ints strange(floats x)
{
    return ((ints)x & 0x7f800000) == 0x7f800000;
}

TARGET static bool extremes(const float *values, size_t count, float *min, float *max)
{
    floats least = fill(values[0]), most = least;
    ints odd = strange(least);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        floats x = load(values + i);
        odd |= strange(x);
        least = MIN(least, x);
        most = MAX(most, x);
    }
    if (i < count) {
        float last[LANES];
        for (size_t k = 0; k < LANES; k++)
            last[k] = i + k < count ? values[i + k] : values[0];
        floats x = load(last);
        odd |= strange(x);
        least = MIN(least, x);
        most = MAX(most, x);
    }
    *min = least_of(least);
    *max = greatest_of(most);
    return !is_any(odd);
}

/* --- Errors --- */

INLINE void add_block(doubles sums[2 * SETS], const float *values,
                      const struct by_weight_grid *grid)
{
    const floats scale = fill(grid->scale), low = fill(grid->low), high = fill(grid->high);
    for (size_t s = 0; s < SETS; s++) {
        floats x = load(values + s * LANES);
        floats off = nearest(x, scale, low, high) * scale - x;
        doubles first = __builtin_convertvector(LOW(off), doubles);
        doubles second = __builtin_convertvector(HIGH(off), doubles);
        sums[2 * s] += first * first;
        sums[2 * s + 1] += second * second;
    }
}

/* by_weight_join(): the same additions. */
INLINE double join(const doubles sums[2 * SETS])
{
    doubles half[SETS];
    for (size_t s = 0; s < SETS; s++)
        half[s] = sums[s] + sums[s + SETS];
    for (size_t width = SETS / 2; width; width /= 2)
        for (size_t s = 0; s < width; s++)
            half[s] += half[s + width];
#if LANES == 16
    half[0] += TURN4_DOUBLES(half[0]);
#endif
#if LANES >= 8
    half[0] += TURN2_DOUBLES(half[0]);
#endif
    return half[0][0] + half[0][1];
}

TARGET static double error(const float *values, size_t count, const struct by_weight_grid *grid,
                           double limit)
{
    doubles sums[2 * SETS] = {{0}};
    size_t i = 0;
    while (i + BLOCK <= count) {
        const size_t end = count - i < BY_WEIGHT_STRETCH ? count : i + BY_WEIGHT_STRETCH;
        for (; i + BLOCK <= end; i += BLOCK)
            add_block(sums, values + i, grid);
        if (i < count && i % BY_WEIGHT_STRETCH == 0 && limit < INFINITY && join(sums) >= limit)
            return limit;
    }
    if (i < count) {
        float last[BLOCK] = {0};
        memcpy(last, values + i, (count - i) * sizeof *last);
        add_block(sums, last, grid);
    }
    return join(sums);
}

/* --- Sums of squares --- */

INLINE void add_squares(doubles sums[2 * SETS], const float *values)
{
    for (size_t s = 0; s < SETS; s++) {
        floats x = load(values + s * LANES);
        doubles first = __builtin_convertvector(LOW(x), doubles);
        doubles second = __builtin_convertvector(HIGH(x), doubles);
        sums[2 * s] += first * first;
        sums[2 * s + 1] += second * second;
    }
}

INLINE void add_offsets(doubles sums[2 * SETS], const float *a, const float *b, float scale)
{
    float off[BLOCK];
    for (size_t s = 0; s < SETS; s++) {
        floats x = (load(a + s * LANES) - load(b + s * LANES)) * scale;
        memcpy(off + s * LANES, &x, sizeof x);
    }
    add_squares(sums, off);
}

TARGET static double energy(const float *values, size_t count)
{
    doubles sums[2 * SETS] = {{0}};
    size_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK)
        add_squares(sums, values + i);
    if (i < count) {
        float last[BLOCK] = {0};
        memcpy(last, values + i, (count - i) * sizeof *last);
        add_squares(sums, last);
    }
    return join(sums);
}

TARGET static double distance(const float *a, const float *b, size_t count, float scale)
{
    doubles sums[2 * SETS] = {{0}};
    size_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK)
        add_offsets(sums, a + i, b + i, scale);
    if (i < count) {
        float last[2][BLOCK] = {{0}};
        memcpy(last[0], a + i, (count - i) * sizeof(float));
        memcpy(last[1], b + i, (count - i) * sizeof(float));
        add_offsets(sums, last[0], last[1], scale);
    }
    return join(sums);
}

/* --- Scaling --- */

TARGET static float peak(const float *values, size_t count)
{
    floats most = fill(0);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        most = MAX(most, (floats)((ints)load(values + i) & 0x7fffffff));
    float greatest = greatest_of(most);
    for (; i < count; i++) {
        const float size = __builtin_fabsf(values[i]);
        greatest = size > greatest ? size : greatest;
    }
    return greatest;
}

TARGET static void divide(const float *values, size_t count, float scale, float *out)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const floats x = load(values + i) / scale;
        memcpy(out + i, &x, sizeof x);
    }
    for (; i < count; i++)
        out[i] = values[i] / scale;
}

/* --- Rounding --- */

INLINE void round_block(const float *values, floats scale, floats low, floats high, int32_t zero,
                        int32_t *out)
{
    for (size_t s = 0; s < SETS; s++) {
        floats level = nearest(load(values + s * LANES), scale, low, high);
        ints q = __builtin_convertvector(level, ints) + zero;
        memcpy(out + s * LANES, &q, sizeof q);
    }
}

TARGET static void round_all(const float *values, size_t count, const struct by_weight_grid *grid,
                             int32_t *out)
{
    const floats scale = fill(grid->scale), low = fill(grid->low), high = fill(grid->high);
    size_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK)
        round_block(values + i, scale, low, high, grid->zero, out + i);
    if (i < count) {
        float last[BLOCK] = {0};
        int32_t levels[BLOCK];
        memcpy(last, values + i, (count - i) * sizeof *last);
        round_block(last, scale, low, high, grid->zero, levels);
        memcpy(out + i, levels, (count - i) * sizeof *out);
    }
}

INLINE void code_lanes(const float *values, floats scale, floats low, floats high, int32_t zero,
                       uint8_t *out)
{
    const ints q = __builtin_convertvector(nearest(load(values), scale, low, high), ints) + zero;
    const bytes narrow = __builtin_convertvector(q, bytes);
    memcpy(out, &narrow, sizeof narrow);
}

TARGET static void codes(const float *values, size_t count, const struct by_weight_grid *grid,
                         uint8_t *out)
{
    const floats scale = fill(grid->scale), low = fill(grid->low), high = fill(grid->high);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        code_lanes(values + i, scale, low, high, grid->zero, out + i);
    if (i < count) {
        float last[LANES] = {0};
        uint8_t some[LANES];
        memcpy(last, values + i, (count - i) * sizeof *last);
        code_lanes(last, scale, low, high, grid->zero, some);
        memcpy(out + i, some, count - i);
    }
}

INLINE void round_lanes(const float *values, const float *scales, const float *zeros, float qmin,
                        float qmax, int32_t *out)
{
    floats zero = load(zeros);
    floats level = nearest(load(values), load(scales), qmin - zero, qmax - zero) + zero;
    ints q = __builtin_convertvector(level, ints);
    memcpy(out, &q, sizeof q);
}

TARGET static void round_each(const float *values, size_t count, const float *scales,
                              const float *zeros, float qmin, float qmax, int32_t *out)
{
    size_t i = 0, left;
    for (; i + LANES <= count; i += LANES)
        round_lanes(values + i, scales + i, zeros + i, qmin, qmax, out + i);
    if ((left = count - i)) {
        float last[3][LANES] = {{0}};
        int32_t levels[LANES];
        for (size_t k = 0; k < LANES; k++)
            last[1][k] = 1;
        memcpy(last[0], values + i, left * sizeof(float));
        memcpy(last[1], scales + i, left * sizeof(float));
        memcpy(last[2], zeros + i, left * sizeof(float));
        round_lanes(last[0], last[1], last[2], qmin, qmax, levels);
        memcpy(out + i, levels, left * sizeof *out);
    }
}

#endif
