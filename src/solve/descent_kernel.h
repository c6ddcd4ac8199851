/*
 * The loops of the vector paths, in the compiler's own vectors. Whoever includes this says
 *
 *   LANES            floats of a vector: 4, 8 or 16
 *   TARGET           attribute of the functions
 *   BITS(mask)       of a vector of integers, all ones or zeros: a bit for each, the first lowest
 *   LOW(x), HIGH(x)  halves of a vector of floats
 *
 * and gets sweep(), add_weighted(), dot(), project() and push().
 */
#ifndef BY_DESCENT_KERNEL_H
#define BY_DESCENT_KERNEL_H

#include <string.h>

#define INLINE TARGET static inline __attribute__((always_inline))
#define SETS   (BY_DESCENT_LANES / LANES)
#define ALL    ((1u << LANES) - 1)
#define ROWS   4

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

INLINE void store(float *at, floats x)
{
    memcpy(at, &x, sizeof x);
}

INLINE floats fill(float value)
{
    return value - (floats){0};
}

/* --- Steps --- */

/* Those of the columns from `at` on that want to step. */
INLINE unsigned wanting(const struct by_descent_line *line, size_t at, floats scale)
{
    const floats residual = load(line->residual + at), reach = scale * load(line->reach + at);
    const ints fall = (residual > reach) & (load(line->down + at) > 0);
    const ints rise = (-residual > reach) & (load(line->up + at) > 0);
    return BITS(fall | rise);
}

/* The same where levels are those of a table. */
INLINE unsigned wanting_far(const struct by_descent_line *line, size_t at, floats scale)
{
    const floats residual = load(line->residual + at), reach = scale * load(line->reach + at);
    const floats down = load(line->down + at), up = load(line->up + at);
    const ints fall = (residual > reach * down) & (down > 0);
    const ints rise = (-residual > reach * up) & (up > 0);
    return BITS(fall | rise);
}

INLINE void add_row(float *to, const float *row, float factor, size_t count)
{
    const floats factors = fill(factor);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        store(to + i, load(to + i) + factors * load(row + i));
    for (; i < count; i++)
        to[i] += factor * row[i];
}

INLINE void step_column(struct by_descent_line *line, size_t column, float scale)
{
    const float delta = by_descent_step(line, column, scale);
    add_row(line->residual, line->gram + column * line->stride, delta, line->count);
}

INLINE void sweep_levels(struct by_descent_line *line, size_t begin, size_t end, float scale,
                         bool far)
{
    const floats scales = fill(scale);
    for (size_t at = begin; at < end; at += LANES) {
        unsigned left = end - at < LANES ? (1u << (end - at)) - 1 : ALL, bits;
        while ((bits = (far ? wanting_far(line, at, scales) : wanting(line, at, scales)) & left)) {
            const unsigned lane = (unsigned)__builtin_ctz(bits);
            step_column(line, at + lane, scale);
            left &= ALL << lane << 1;
        }
    }
}

TARGET static void sweep(struct by_descent_line *line, size_t begin, size_t end, float scale)
{
    if (line->table)
        sweep_levels(line, begin, end, scale, true);
    else
        sweep_levels(line, begin, end, scale, false);
}

/* --- Adding rows --- */

/* A few rows at once: what is added to is read and written less often. */
INLINE void add_rows(float *to, size_t count, const float *const rows[ROWS],
                     const float factors[ROWS])
{
    const floats f0 = fill(factors[0]), f1 = fill(factors[1]), f2 = fill(factors[2]),
                 f3 = fill(factors[3]);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        floats sum = load(to + i);
        sum += f0 * load(rows[0] + i);
        sum += f1 * load(rows[1] + i);
        sum += f2 * load(rows[2] + i);
        sum += f3 * load(rows[3] + i);
        store(to + i, sum);
    }
    for (; i < count; i++)
        for (size_t k = 0; k < ROWS; k++)
            to[i] += factors[k] * rows[k][i];
}

TARGET static void add_weighted(float *to, size_t count, const float *rows, size_t stride,
                                const uint32_t *which, size_t which_count, const float *factors)
{
    size_t k = 0;
    for (; k + ROWS <= which_count; k += ROWS) {
        const float *few[ROWS];
        float few_factors[ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            few[i] = rows + which[k + i] * stride;
            few_factors[i] = factors[which[k + i]];
        }
        add_rows(to, count, few, few_factors);
    }
    for (; k < which_count; k++)
        add_row(to, rows + which[k] * stride, factors[which[k]], count);
}

/* --- Dot products --- */

INLINE doubles load_doubles(const double *at)
{
    doubles x;
    memcpy(&x, at, sizeof x);
    return x;
}

INLINE void add_products(doubles sums[2 * SETS], const float *row, const double *with)
{
    for (size_t s = 0; s < SETS; s++) {
        const floats x = load(row + s * LANES);
        const double *y = with + s * LANES;
        sums[2 * s] += __builtin_convertvector(LOW(x), doubles) * load_doubles(y);
        sums[2 * s + 1] += __builtin_convertvector(HIGH(x), doubles) * load_doubles(y + LANES / 2);
    }
}

TARGET static double dot(const float *row, const double *with, size_t count)
{
    doubles sums[2 * SETS] = {{0}};
    double lanes[BY_DESCENT_LANES];
    size_t i = 0;
    for (; i + BY_DESCENT_LANES <= count; i += BY_DESCENT_LANES)
        add_products(sums, row + i, with + i);
    memcpy(lanes, sums, sizeof lanes);
    for (size_t k = 0; i + k < count; k++)
        lanes[k] += (double)row[i + k] * with[i + k];
    return by_descent_join(lanes);
}

/* --- Rows --- */

typedef float side_floats __attribute__((vector_size(4 * BY_DESCENT_SIDE)));

/* Not returned: half of the paths have no registers for it. */
INLINE void add_side(side_floats *to, float factor, const float *at)
{
    side_floats x;
    memcpy(&x, at, sizeof x);
    *to += factor * x;
}

TARGET static void project(const float *column, const float *lines, size_t count,
                           float sums[BY_DESCENT_SIDE])
{
    side_floats lanes[4] = {{0}};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++)
            add_side(lanes + k, column[i + k], lines + (i + k) * BY_DESCENT_SIDE);
    for (; i < count; i++)
        add_side(lanes + i % 4, column[i], lines + i * BY_DESCENT_SIDE);
    const side_floats sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
    memcpy(sums, &sum, sizeof sum);
}

TARGET static void push(float *lines, const float *column, size_t count,
                        const float factors[BY_DESCENT_SIDE])
{
    for (size_t i = 0; i < count; i++) {
        side_floats line;
        memcpy(&line, lines + i * BY_DESCENT_SIDE, sizeof line);
        add_side(&line, column[i], factors);
        memcpy(lines + i * BY_DESCENT_SIDE, &line, sizeof line);
    }
}

#endif
