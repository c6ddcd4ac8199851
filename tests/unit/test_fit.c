/* Tests solve/fit.h against plain arithmetic. */
#include "solve/fit.h"

#include "solve/gptq.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define COLUMNS 12
#define GROUP   4
#define GROUPS  3
#define OUTS    20

static float gram[COLUMNS * COLUMNS], cross[OUTS * COLUMNS], weights[OUTS * COLUMNS];
static float scales[OUTS * GROUPS];
static int32_t integers[OUTS * COLUMNS];

static float lot(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / (float)(1u << 23) - 1;
}

static void fill(unsigned seed)
{
    float rows[40][COLUMNS];
    for (size_t r = 0; r < 40; r++)
        for (size_t i = 0; i < COLUMNS; i++)
            rows[r][i] = lot(&seed) + (i ? rows[r][i - 1] / 2 : 0);
    for (size_t i = 0; i < COLUMNS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            gram[i * COLUMNS + j] = 0;
            for (size_t r = 0; r < 40; r++)
                gram[i * COLUMNS + j] += rows[r][i] * rows[r][j] / 40;
        }
    for (size_t k = 0; k < OUTS * COLUMNS; k++)
        weights[k] = lot(&seed);
    for (size_t k = 0; k < OUTS; k++)
        for (size_t i = 0; i < COLUMNS; i++) {
            cross[k * COLUMNS + i] = 0;
            for (size_t j = 0; j < COLUMNS; j++)
                cross[k * COLUMNS + i] += gram[i * COLUMNS + j] * weights[k * COLUMNS + j];
        }
    for (size_t k = 0; k < OUTS * GROUPS; k++)
        scales[k] = 0.14f;
}

static struct by_descent problem_of(void)
{
    return (struct by_descent){.columns = COLUMNS,
                               .outs = OUTS,
                               .gram = gram,
                               .cross = cross,
                               .weights = weights,
                               .scales = scales,
                               .groups = GROUPS,
                               .group = GROUP,
                               .low = -8,
                               .high = 7,
                               .free = true};
}

static void keep(void *context, size_t out, float *row)
{
    (void)context, (void)out, (void)row;
}

static void to_eighths(void *context, size_t out, float *row)
{
    (void)context, (void)out;
    for (size_t g = 0; g < GROUPS; g++)
        row[g] = roundf(row[g] * 8) / 8;
}

static void fit_scales(const struct by_descent *problem, const struct by_fit *fit)
{
    struct baryon_error err = {0};
    float residuals[OUTS * COLUMNS];
    assert_int_equal(by_descent_residuals(problem, NULL, integers, residuals, &err), 0);
    assert_int_equal(by_fit_run(problem, integers, residuals, fit, NULL, scales, &err), 0);
}

/* d' gram d of all outputs. */
static double error_of(void)
{
    double sum = 0;
    for (size_t k = 0; k < OUTS; k++)
        for (size_t i = 0; i < COLUMNS; i++)
            for (size_t j = 0; j < COLUMNS; j++) {
                const size_t a = k * COLUMNS + i, b = k * COLUMNS + j;
                const double x = (double)((float)integers[a] * scales[k * GROUPS + i / GROUP]);
                const double y = (double)((float)integers[b] * scales[k * GROUPS + j / GROUP]);
                sum += (x - (double)weights[a]) * (double)gram[i * COLUMNS + j] *
                       (y - (double)weights[b]);
            }
    return sum;
}

/* Moving any scale by a little makes the error greater. */
static void test_least(void **state)
{
    const struct by_fit fit = {keep, NULL};
    (void)state;
    fill(1);
    const struct by_descent problem = problem_of();
    by_descent_nearest(&problem, integers);
    const double before = error_of();
    fit_scales(&problem, &fit);
    const double after = error_of();
    assert_true(after < before);
    for (size_t k = 0; k < OUTS * GROUPS; k++)
        for (int way = -1; way <= 1; way += 2) {
            const float was = scales[k];
            scales[k] = was * (1 + 0.01f * (float)way);
            assert_true(error_of() > after - 1e-9);
            scales[k] = was;
        }
}

/* What can be stored is never worse than what was there. */
static void test_stored(void **state)
{
    const struct by_fit fit = {to_eighths, NULL};
    (void)state;
    fill(2);
    const struct by_descent problem = problem_of();
    by_descent_nearest(&problem, integers);
    const double before = error_of();
    fit_scales(&problem, &fit);
    assert_true(error_of() <= before + 1e-9);
    for (size_t k = 0; k < OUTS * GROUPS; k++)
        assert_true(scales[k] == 0.14f || scales[k] == 0.125f || scales[k] == 0.25f);
}

/* Rows of zeros leave their scales alone. */
static void test_zeros(void **state)
{
    const struct by_fit fit = {keep, NULL};
    (void)state;
    fill(3);
    const struct by_descent problem = problem_of();
    for (size_t k = 0; k < OUTS * COLUMNS; k++)
        integers[k] = 0;
    fit_scales(&problem, &fit);
    for (size_t k = 0; k < OUTS * GROUPS; k++)
        assert_true(scales[k] == 0.14f);
}

/* GPTQ and nearest of a table take its levels, and columns as they come are another start. */
static void test_table(void **state)
{
    static const float levels[] = {-6, -3, -1.5f, -0.5f, 0, 0.5f, 1.5f, 3, 6};
    const struct by_descent_grid grid = {.table = levels};
    struct baryon_error err = {0};
    double nearest[OUTS], found[OUTS], sums[2] = {0};
    (void)state;
    fill(4);
    struct by_descent problem = problem_of();
    problem.low = 0;
    problem.high = 8;
    problem.grid = &grid;
    by_descent_nearest(&problem, integers);
    assert_int_equal(by_descent_distance(&problem, integers, nearest, &err), 0);
    for (int order = 0; order < 2; order++) {
        struct by_gptq_factor *factor;
        assert_int_equal(by_gptq_factor_open(&factor, problem.gram, COLUMNS,
                                             (struct by_gptq_way){.in_order = order}, NULL, &err),
                         0);
        assert_int_equal(by_gptq_round(&problem, factor, NULL, integers, &err), 0);
        by_gptq_factor_close(factor);
        assert_int_equal(by_descent_distance(&problem, integers, found, &err), 0);
        for (size_t k = 0; k < OUTS; k++)
            sums[order] += found[k];
    }
    double sum = 0;
    for (size_t k = 0; k < OUTS; k++)
        sum += nearest[k];
    assert_true(sums[0] < sum && sums[1] < sum);
    assert_true(sums[0] != sums[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_stored),
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
