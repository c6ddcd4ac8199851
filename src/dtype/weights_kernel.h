/*
 * The loops of the vector paths, in the compiler's own vectors. Whoever includes this says
 *
 *   LANES                floats of a vector: 4, 8 or 16
 *   TARGET               attribute of the functions
 *   MIN(a, b), MAX(a, b) of vectors of floats; b where a is NaN
 *   LOW(x), HIGH(x)      halves of a vector of floats
 *
 * and gets extremes(), error(), round_all(), there_and_back() and round_each(). The last block is
 * filled up with zeros, which have no error.
 */
#ifndef BY_WEIGHTS_KERNEL_H
#define BY_WEIGHTS_KERNEL_H

#include <string.h>

#define INLINE TARGET static inline __attribute__((always_inline))
#define BLOCK  BY_WEIGHT_LANES
#define SETS   (BLOCK / LANES)

typedef float floats __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));
typedef float half_floats __attribute__((vector_size(2 * LANES)));
typedef double doubles __attribute__((vector_size(4 * LANES)));

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
    float last[LANES], low[LANES], high[LANES];
    for (size_t k = 0; k < LANES; k++)
        last[k] = i + k < count ? values[i + k] : values[0];
    floats x = load(last);
    odd |= strange(x);
    least = MIN(least, x);
    most = MAX(most, x);
    memcpy(low, &least, sizeof low);
    memcpy(high, &most, sizeof high);
    bool finite = true;
    *min = low[0];
    *max = high[0];
    for (size_t k = 0; k < LANES; k++) {
        finite = finite && !odd[k];
        *min = low[k] < *min ? low[k] : *min;
        *max = high[k] > *max ? high[k] : *max;
    }
    return finite;
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

TARGET static double error(const float *values, size_t count, const struct by_weight_grid *grid)
{
    doubles sums[2 * SETS] = {{0}};
    double lanes[BLOCK];
    size_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK)
        add_block(sums, values + i, grid);
    if (i < count) {
        float last[BLOCK] = {0};
        memcpy(last, values + i, (count - i) * sizeof *last);
        add_block(sums, last, grid);
    }
    memcpy(lanes, sums, sizeof lanes);
    return by_weight_join(lanes);
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

TARGET static void there_and_back(const float *values, size_t count,
                                  const struct by_weight_grid *grid, float *out)
{
    const floats scale = fill(grid->scale), low = fill(grid->low), high = fill(grid->high);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const floats back = nearest(load(values + i), scale, low, high) * scale;
        memcpy(out + i, &back, sizeof back);
    }
    if (i < count) {
        float last[LANES] = {0};
        memcpy(last, values + i, (count - i) * sizeof *last);
        const floats back = nearest(load(last), scale, low, high) * scale;
        memcpy(out + i, &back, (count - i) * sizeof *out);
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
