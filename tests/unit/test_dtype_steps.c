/* The grid around values: what the formats leave of its points is the points themselves, whichever
 * of its two neighbours each value takes, and nothing lies between these. */
#include "base/rng.h"
#include "dtype/block.h"
#include "dtype/family.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ROOM         4096
#define CHOICES      8

static struct baryon_error err;
static float in[ROOM], nearest[ROOM], steps[ROOM], held[ROOM], chosen[ROOM], left[ROOM];

static const struct by_dtype *const floats[] = {&by_dtype_fp16, &by_dtype_bf16, &by_dtype_fp8_e4m3,
                                                &by_dtype_fp8_e5m2};
static const struct by_dtype *const blocks[] = {
    &by_dtype_bfp16,      &by_dtype_bfp16_raised, &by_dtype_mx4,        &by_dtype_mx6,
    &by_dtype_mx9,        &by_dtype_mxint8,       &by_dtype_mxfp8_e5m2, &by_dtype_mxfp8_e4m3,
    &by_dtype_mxfp6_e3m2, &by_dtype_mxfp6_e2m3,   &by_dtype_mxfp4_e2m1,
};

/* What values are like. */
enum kind { ORDINARY, WIDE, ZEROS, SUBNORMAL, GREATEST, TOPS, KINDS };

static float value_of(enum kind kind, uint64_t seed, size_t i)
{
    const double unit = by_rng_unit(seed, 1, i), sign = by_rng_unit(seed, 2, i) < 0.5 ? -1 : 1;
    const double place = by_rng_unit(seed, 3, i);
    switch (kind) {
    case WIDE: /* blocks whose values differ by far */
        return (float)(sign * ldexp(1 + unit, (int)(place * 60) - 30));
    case ZEROS: /* blocks of zeros, and zeros in others */
        return by_rng_unit(seed, 4, i / 40) < 0.5 || place < 0.3 ? 0 : (float)(sign * unit);
    case SUBNORMAL:
        return (float)(sign * ldexp(unit, (int)(place * 20) - 140));
    case GREATEST:
        return (float)(sign * (double)FLT_MAX * (place < 0.1 ? 1 : unit));
    case TOPS: /* just below powers of two, where elements end */
        return (float)(sign * ldexp(1 - unit / 300, (int)(place * 3)));
    default:
        return (float)(sign * unit * unit);
    }
}

static int compare_ends(float value, float low, float high)
{
    return value == low || value == high;
}

/* Values at random on either side; on a grid that is too fine for floats all are 0. */
static void choose(size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        const float level = held[i] / steps[i];
        const bool up = seed == 0 ? false : seed == 1 ? true : by_rng_unit(seed, 0, i) < 0.5;
        chosen[i] = (up ? ceilf(level) : floorf(level)) * steps[i];
    }
}

/* The nearest is a neighbour, but for what has no room: a least level more, tiny values. */
static void check_nearest(const struct by_dtype *dtype, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float level = held[i] / steps[i], low = floorf(level) * steps[i],
                    high = ceilf(level) * steps[i];
        if (compare_ends(nearest[i], low, high) || fabsf(in[i]) < 0x1p-100f)
            continue;
        if (dtype->block.twos && nearest[i] < 0 && nearest[i] == held[i] - steps[i])
            continue;
        if (dtype->block.twos && nearest[i] < low && nearest[i] >= low - steps[i])
            continue;
        fail_msg("%s: %.9g becomes %.9g, neighbours are %.9g and %.9g", dtype->name, (double)in[i],
                 (double)nearest[i], (double)low, (double)high);
    }
}

static void check_left(const struct by_dtype *dtype, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (left[i] != chosen[i])
            fail_msg("%s: of %.9g for %.9g is left %.9g, step %.9g", dtype->name, (double)chosen[i],
                     (double)in[i], (double)left[i], (double)steps[i]);
}

static void check_floats(const struct by_dtype *dtype, enum kind kind)
{
    for (size_t i = 0; i < ROOM; i++)
        in[i] = value_of(kind, 7, i);
    assert_int_equal(by_dtype_steps(dtype, in, ROOM, steps, held, &err), 0);
    assert_int_equal(by_dtype_round(dtype, in, ROOM, &by_cast_default, NULL, nearest, &err), 0);
    check_nearest(dtype, ROOM);
    for (uint64_t seed = 0; seed < CHOICES; seed++) {
        choose(ROOM, seed);
        assert_int_equal(by_dtype_round(dtype, chosen, ROOM, &by_cast_default, NULL, left, &err),
                         0);
        check_left(dtype, ROOM);
    }
}

static void test_floats(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(floats); k++)
        for (int kind = 0; kind < KINDS; kind++)
            check_floats(floats[k], (enum kind)kind);
}

static void check_blocks(const struct by_dtype *dtype, const struct by_block_cast *cast,
                         enum kind kind)
{
    size_t count = 1;
    for (size_t i = 0; i < cast->rank; i++)
        count *= (size_t)cast->dims[i];
    assert_true(count <= ROOM);
    for (size_t i = 0; i < count; i++)
        in[i] = value_of(kind, count + 1, i);
    assert_int_equal(by_block_steps(dtype, in, cast, NULL, steps, held, &err), 0);
    assert_int_equal(by_block_round(dtype, in, cast, NULL, nearest, &err), 0);
    if (!cast->from_bf16)
        check_nearest(dtype, count);
    for (uint64_t seed = 0; seed < CHOICES; seed++) {
        choose(count, seed);
        assert_int_equal(by_block_round(dtype, chosen, cast, NULL, left, &err), 0);
        check_left(dtype, count);
    }
}

/* Blocks along any axis, the last ones partial, of other sizes, of one element. */
static void test_blocks(void **state)
{
    static const int64_t line[] = {37}, one[] = {1, 1}, matrix[] = {50, 21},
                         kernel[] = {7, 35, 3, 3};
    static const struct by_block_cast casts[] = {
        {.dims = line, .rank = 1, .axis = 0},
        {.dims = one, .rank = 2, .axis = 1},
        {.dims = matrix, .rank = 2, .axis = 0},
        {.dims = matrix, .rank = 2, .axis = -1},
        {.dims = matrix, .rank = 2, .axis = 1, .size = 6},
        {.dims = kernel, .rank = 4, .axis = 1},
        {.dims = kernel, .rank = 4, .axis = 0, .ties = BY_TIES_AWAY},
        {.dims = kernel, .rank = 4, .axis = 3, .ties = BY_TIES_UP},
    };
    (void)state;
    for (size_t k = 0; k < COUNT(blocks); k++)
        for (size_t i = 0; i < COUNT(casts); i++)
            for (int kind = 0; kind < KINDS; kind++)
                for (int half = 0; half < 2; half++) {
                    struct by_block_cast cast = casts[i];
                    cast.from_bf16 = half && strncmp(blocks[k]->name, "mxfp", 4) != 0;
                    check_blocks(blocks[k], &cast, (enum kind)kind);
                }
}

static void test_known(void **state)
{
    static const int64_t dims[] = {4};
    static const struct by_block_cast cast = {.dims = dims, .rank = 1};
    static const float values[] = {1.999F, -0.3F, 1, 0};
    (void)state;
    assert_int_equal(by_block_steps(&by_dtype_bfp16, values, &cast, NULL, steps, held, &err), 0);
    assert_float_equal(steps[0], 1 / 64.0, 0);
    assert_float_equal(held[0], 127 / 64.0, 0); /* 2 would be another exponent */
    assert_float_equal(held[1], -0.3F, 0);
    assert_int_equal(by_block_steps(&by_dtype_mxfp4_e2m1, values, &cast, NULL, steps, held, &err),
                     0);
    assert_float_equal(steps[0], 0.5, 0); /* 1, 1.5 and nothing above */
    assert_float_equal(held[0], 1.5, 0);
    assert_float_equal(steps[1], 0.125, 0); /* 0.25 and 0.375 */
    assert_int_equal(by_dtype_steps(&by_dtype_fp16, (float[]){1e6F}, 1, steps, held, &err), 0);
    assert_float_equal(held[0], 65504, 0);
}

static void test_refused(void **state)
{
    static const int64_t dims[] = {4};
    static const struct by_block_cast cast = {.dims = dims, .rank = 1};
    (void)state;
    assert_int_equal(by_block_steps(&by_dtype_nvfp4, in, &cast, NULL, steps, held, &err), -1);
    assert_string_equal(err.message, "blocks of nvfp4 do not share a power of two");
    by_err_clear(&err);
    assert_int_equal(by_dtype_steps(&by_dtype_int8, in, 4, steps, held, &err), -1);
    assert_string_equal(err.message, "int8 is not a float format");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
