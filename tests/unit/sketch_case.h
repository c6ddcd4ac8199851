/*
 * For tests of sketches: comparing two of them in everything, and tensors of many kinds.
 * Include cmocka.h first.
 */
#ifndef BY_TEST_SKETCH_CASE_H
#define BY_TEST_SKETCH_CASE_H

#include "base/rng.h"
#include "stats/sketch.h"

#include <math.h>
#include <string.h>

static inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline void assert_same_sketch(const struct by_sketch *a, const struct by_sketch *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->zeros, b->zeros);
    assert_int_equal(a->nans, b->nans);
    assert_int_equal(a->infinities, b->infinities);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->finite_samples, b->finite_samples);
    assert_int_equal(a->nonfinite_sample, b->nonfinite_sample);
    assert_int_equal(bits_of_float(a->min), bits_of_float(b->min));
    assert_int_equal(bits_of_float(a->max), bits_of_float(b->max));
    assert_memory_equal(&a->sum, &b->sum, sizeof a->sum);
    assert_memory_equal(&a->squares, &b->squares, sizeof a->squares);
    assert_memory_equal(&a->sample_min, &b->sample_min, sizeof a->sample_min);
    assert_memory_equal(&a->sample_max, &b->sample_max, sizeof a->sample_max);
    assert_int_equal(a->top, b->top);
    for (int sign = 0; sign < 2; sign++)
        for (int e = 0; e < BY_SKETCH_EXPONENTS; e++) {
            uint64_t buffers[2][BY_SKETCH_ROW];
            const uint64_t *x = by_sketch_row(a, sign, e, buffers[0]);
            const uint64_t *y = by_sketch_row(b, sign, e, buffers[1]);
            assert_int_equal(x != NULL, y != NULL);
            if (x)
                assert_memory_equal(x, y, sizeof *x << by_sketch_bits(a->top - e));
        }
}

/* --- Kinds of tensors: value i of a kind is the same whoever asks. --- */

static inline double draw_normal(uint64_t i)
{
    return by_rng_normal(1, 1, i);
}

static inline double draw_uniform(uint64_t i)
{
    return by_rng_unit(1, 2, i) * 6 - 1;
}

static inline double draw_lognormal(uint64_t i)
{
    return exp(by_rng_normal(1, 3, i) * 2);
}

/* Student's t with two degrees of freedom. */
static inline double draw_student(uint64_t i)
{
    double u = by_rng_unit(1, 4, i) * 2 - 1;
    return u * sqrt(2 / (1 - u * u + 1e-30));
}

static inline double draw_relu(uint64_t i)
{
    double value = by_rng_normal(1, 5, i);
    return value > 0 ? value : 0;
}

static inline double draw_bimodal(uint64_t i)
{
    return by_rng_normal(1, 6, i) * 0.1 + (by_rng_bits(1, 7, i) & 1 ? 3 : -2);
}

static inline double draw_constant(uint64_t i)
{
    (void)i;
    return -0.7;
}

static inline double draw_zero(uint64_t i)
{
    return i % 2 ? 0.0 : -0.0;
}

static inline double draw_powers(uint64_t i)
{
    double value = ldexp(1, (int)by_rng_range(1, 8, i, -30, 30));
    return by_rng_bits(1, 9, i) & 1 ? value : -value;
}

static inline double draw_integers(uint64_t i)
{
    return (double)by_rng_range(1, 10, i, -128, 127);
}

static inline double draw_tiny(uint64_t i)
{
    return ldexp((double)by_rng_range(1, 11, i, -1000000, 1000000), -149);
}

static inline double draw_outliers(uint64_t i)
{
    return by_rng_normal(1, 12, i) * (by_rng_bits(1, 13, i) % 50000 ? 1 : 1e6);
}

/* Any float there is but NaN and infinity. */
static inline double draw_any(uint64_t i)
{
    uint32_t bits = (uint32_t)by_rng_bits(1, 14, i);
    return (double)float_of_bits((bits & 0x7f800000) == 0x7f800000 ? bits ^ 0x800000 : bits);
}

/* Ever greater: the top rises in every piece. */
static inline double draw_rising(uint64_t i)
{
    return by_rng_normal(1, 15, i) * exp2((double)i / 8192 - 40);
}

/* Two values only. */
static inline double draw_saturated(uint64_t i)
{
    return by_rng_bits(1, 16, i) & 1 ? 6 : 1e-3;
}

static inline double draw_strange(uint64_t i)
{
    switch (by_rng_bits(1, 17, i) % 8) {
    case 0:
        return (double)NAN;
    case 1:
        return i % 3 ? (double)INFINITY : -(double)INFINITY;
    case 2:
        return -0.0;
    default:
        return by_rng_normal(1, 18, i);
    }
}

static const struct kind {
    const char *name;
    double (*draw)(uint64_t i);
} kinds[] = {
    {"normal", draw_normal},     {"uniform", draw_uniform}, {"lognormal", draw_lognormal},
    {"student", draw_student},   {"relu", draw_relu},       {"bimodal", draw_bimodal},
    {"constant", draw_constant}, {"zero", draw_zero},       {"powers", draw_powers},
    {"integers", draw_integers}, {"tiny", draw_tiny},       {"outliers", draw_outliers},
    {"any", draw_any},           {"rising", draw_rising},   {"saturated", draw_saturated},
    {"strange", draw_strange},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static inline void fill(const struct kind *kind, uint64_t first, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)kind->draw(first + i);
}

#endif
