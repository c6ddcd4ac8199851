/* Random layers for the tests of rounding. */
#ifndef BY_TEST_DESCENT_CASE_H
#define BY_TEST_DESCENT_CASE_H

#include "base/rng.h"
#include "solve/descent.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct descent_case {
    struct by_descent problem;
    float *gram, *cross, *weights, *scales;
    int32_t *zeros, *integers, *start;
    double *errors;
};

struct descent_shape {
    size_t columns, outs, group; /* group 0: one for all columns */
    size_t rows;                 /* samples; fewer than columns: a singular gram */
    int32_t low, high;
    bool zeros, free;
    uint64_t seed;
};

static struct baryon_error err;

static inline void *descent_room(size_t count, size_t size)
{
    void *block = by_alloc_zero(count, size, &err);
    assert_non_null(block);
    return block;
}

/* Inputs that hang together: each is a mix of the one before it and something new. */
static inline void fill_row(double *x, const struct descent_shape *shape, size_t row)
{
    for (size_t i = 0; i < shape->columns; i++)
        x[i] = (i ? 0.7 * x[i - 1] : 0) + by_rng_normal(shape->seed, row, i);
}

static inline void fill_gram(float *gram, const struct descent_shape *shape)
{
    const size_t columns = shape->columns;
    double *x = descent_room(columns, sizeof *x),
           *sums = descent_room(columns * columns, sizeof *x);
    for (size_t row = 0; row < shape->rows; row++) {
        fill_row(x, shape, row);
        for (size_t i = 0; i < columns; i++)
            for (size_t j = 0; j < columns; j++)
                sums[i * columns + j] += x[i] * x[j];
    }
    for (size_t i = 0; i < columns * columns; i++)
        gram[i] = (float)(sums[i] / (double)shape->rows);
    by_free(x);
    by_free(sums);
}

/* What is wanted is not quite what the weights give, as where inputs are quantized. */
static inline void fill_cross(struct descent_case *c, const struct descent_shape *shape)
{
    for (size_t out = 0; out < shape->outs; out++)
        for (size_t i = 0; i < shape->columns; i++) {
            double sum = by_rng_normal(shape->seed, 8, out * shape->columns + i) * 0.01;
            for (size_t j = 0; j < shape->columns; j++)
                sum += (double)c->gram[i * shape->columns + j] *
                       (double)c->weights[out * shape->columns + j];
            c->cross[out * shape->columns + i] = (float)sum;
        }
}

static inline void descent_open(struct descent_case *c, const struct descent_shape *shape)
{
    const size_t count = shape->columns * shape->outs;
    const size_t group = shape->group ? shape->group : shape->columns;
    const size_t groups = (shape->columns - 1) / group + 1;
    c->gram = descent_room(shape->columns * shape->columns, sizeof *c->gram);
    c->cross = descent_room(count, sizeof *c->cross);
    c->weights = descent_room(count, sizeof *c->weights);
    c->scales = descent_room(shape->outs * groups, sizeof *c->scales);
    c->zeros = descent_room(shape->outs * groups, sizeof *c->zeros);
    c->integers = descent_room(count, sizeof *c->integers);
    c->start = descent_room(count, sizeof *c->start);
    c->errors = descent_room(shape->outs, sizeof *c->errors);
    for (size_t i = 0; i < count; i++)
        c->weights[i] = (float)by_rng_normal(shape->seed, 9, i);
    for (size_t i = 0; i < shape->outs * groups; i++) {
        const double spread = exp(by_rng_normal(shape->seed, 10, i) / 4);
        c->scales[i] = (float)(5 * spread / (shape->high - shape->low + 1));
        c->zeros[i] = (int32_t)by_rng_range(shape->seed, 11, i, shape->low, shape->high);
    }
    fill_gram(c->gram, shape);
    fill_cross(c, shape);
    c->problem = (struct by_descent){.columns = shape->columns,
                                     .outs = shape->outs,
                                     .gram = c->gram,
                                     .cross = c->cross,
                                     .weights = c->weights,
                                     .scales = c->scales,
                                     .zeros = shape->zeros ? c->zeros : NULL,
                                     .groups = groups,
                                     .group = group,
                                     .low = shape->low,
                                     .high = shape->high,
                                     .free = shape->free};
    by_descent_nearest(&c->problem, c->start);
    memcpy(c->integers, c->start, count * sizeof *c->start);
}

/* Scales and sums at the ends of what floats hold, in so many pairs. */
#define DESCENT_EXTREMES 25

static inline void descent_open_extreme(struct descent_case *c, size_t pair)
{
    static const float scales[] = {1e-45f, FLT_MIN / 8, 1e-20f, 1e20f, FLT_MAX};
    static const float grams[] = {1e-40f, 1e-20f, 1, 1e20f, 1e36f};
    const struct descent_shape shape = {
        .columns = 140, .outs = 2, .rows = 10, .low = -128, .high = 127};
    descent_open(c, &shape);
    c->scales[0] = c->scales[1] = scales[pair / 5];
    for (size_t k = 0; k < 140 * 140; k++)
        c->gram[k] *= grams[pair % 5];
}

static inline void descent_close(struct descent_case *c)
{
    by_free(c->gram);
    by_free(c->cross);
    by_free(c->weights);
    by_free(c->scales);
    by_free(c->zeros);
    by_free(c->integers);
    by_free(c->start);
    by_free(c->errors);
}

static inline double value_of(const struct by_descent *p, size_t out, size_t i, int32_t integer)
{
    const size_t at = out * p->groups + i / p->group;
    return ((double)integer - (p->zeros ? p->zeros[at] : 0)) * (double)p->scales[at];
}

/* w' gram w - 2 cross' w, as it is written. */
static inline double plain_error(const struct by_descent *p, size_t out, const int32_t *integers)
{
    double sum = 0;
    for (size_t i = 0; i < p->columns; i++) {
        const double w = value_of(p, out, i, integers[i]);
        double row = -2 * (double)p->cross[out * p->columns + i];
        for (size_t j = 0; j < p->columns; j++)
            row += (double)p->gram[i * p->columns + j] * value_of(p, out, j, integers[j]);
        sum += w * row;
    }
    return sum;
}

/* The integers next to the weight, within the levels. */
static inline void neighbours(const struct by_descent *p, size_t out, size_t i, int32_t *low,
                              int32_t *high)
{
    const size_t at = out * p->groups + i / p->group;
    const int32_t zero = p->zeros ? p->zeros[at] : 0;
    float level = p->weights[out * p->columns + i] / p->scales[at];
    level = fminf(fmaxf(level, (float)(p->low - zero)), (float)(p->high - zero));
    *low = (int32_t)floorf(level) + zero;
    *high = (int32_t)ceilf(level) + zero;
}

#endif
