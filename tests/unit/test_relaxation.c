/* Rounding by relaxation: against the same as it is written, and what holds for any layer. */
#include "solve/relaxation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/descent_case.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_ran(struct descent_case *c, unsigned iterations, struct by_pool *pool)
{
    if (by_relaxation_run(&c->problem, iterations, pool, c->integers, &err))
        fail_msg("%s", err.message);
}

static double total_error(const struct descent_case *c, const int32_t *integers)
{
    double sum = 0;
    for (size_t out = 0; out < c->problem.outs; out++)
        sum += plain_error(&c->problem, out, integers + out * c->problem.columns);
    return sum;
}

static void assert_neighbours(const struct descent_case *c)
{
    for (size_t i = 0; i < c->problem.outs * c->problem.columns; i++) {
        int32_t low, high;
        neighbours(&c->problem, i / c->problem.columns, i % c->problem.columns, &low, &high);
        assert_in_range(c->integers[i] - low, 0, high - low);
    }
}

/* --- As it is written: every weight and every gradient in double --- */

#define LAMBDA 1.0
#define RATE   0.1

struct plain {
    double v, mean, square, below, room;
};

static double h_of(double v)
{
    return fmin(fmax(1.2 / (1 + exp(-v)) - 0.1, 0), 1);
}

static double plain_gradient(const struct by_descent *p, size_t out, size_t i,
                             const struct plain *all, double norm, double beta)
{
    const double share = 1 / (1 + exp(-all[i].v)), h = 1.2 * share - 0.1, away = 2 * h - 1;
    double slope = -(double)p->cross[out * p->columns + i];
    for (size_t j = 0; j < p->columns; j++)
        slope +=
            (double)p->gram[i * p->columns + j] * (all[j].below + all[j].room * h_of(all[j].v));
    slope *= 2 * all[i].room / norm;
    if (beta > 0)
        slope -= LAMBDA * beta * 2 * pow(fabs(away), beta - 1) * (away < 0 ? -1 : 1);
    return h <= 0 || h >= 1 ? 0 : slope * 1.2 * share * (1 - share);
}

static double begin_plainly(const struct by_descent *p, size_t out, struct plain *all)
{
    double norm = 0;
    for (size_t i = 0; i < p->columns; i++) {
        int32_t low, high;
        neighbours(p, out, i, &low, &high);
        const double unit = value_of(p, out, i, 1) - value_of(p, out, i, 0);
        const double weight = (double)p->weights[out * p->columns + i];
        all[i].below = value_of(p, out, i, low);
        all[i].room = high > low ? unit : 0;
        const double h = high > low ? (weight - all[i].below) / unit : 0;
        all[i].v = -log(1.2 / (h + 0.1) - 1);
        norm += (double)p->gram[i * p->columns + i] * unit * unit / (double)p->columns;
    }
    return norm;
}

static void relax_plainly(const struct by_descent *p, size_t out, unsigned iterations,
                          int32_t *integers)
{
    struct plain *all = descent_room(p->columns, sizeof *all);
    double *gradients = descent_room(p->columns, sizeof *gradients);
    const double norm = begin_plainly(p, out, all), warm = floor(iterations / 5.0);
    for (unsigned t = 0; t < iterations; t++) {
        const double beta = t < warm ? 0 : 20 - 18 * (t - warm) / (iterations - warm);
        for (size_t i = 0; i < p->columns; i++)
            gradients[i] = plain_gradient(p, out, i, all, norm, beta);
        for (size_t i = 0; i < p->columns; i++) {
            all[i].mean = 0.9 * all[i].mean + 0.1 * gradients[i];
            all[i].square = 0.999 * all[i].square + 0.001 * gradients[i] * gradients[i];
            const double mean = all[i].mean / (1 - pow(0.9, t + 1));
            const double square = all[i].square / (1 - pow(0.999, t + 1));
            all[i].v -= RATE * mean / (sqrt(square) + 1e-8);
        }
    }
    for (size_t i = 0; i < p->columns; i++) {
        int32_t low, high;
        neighbours(p, out, i, &low, &high);
        integers[i] = h_of(all[i].v) < 0.5 ? low : high;
    }
    by_free(all);
    by_free(gradients);
}

static void as_it_is_written(void **state)
{
    static const size_t columns[] = {1, 2, 9, 33, 70};
    size_t different = 0, count = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(columns); i++) {
        const struct descent_shape shape = {.columns = columns[i],
                                            .outs = 3,
                                            .rows = 300,
                                            .group = i % 2 ? 16 : 0,
                                            .low = -8,
                                            .high = 7,
                                            .zeros = i % 2,
                                            .seed = i};
        struct descent_case c;
        descent_open(&c, &shape);
        assert_ran(&c, 150, NULL);
        for (size_t out = 0; out < shape.outs; out++)
            relax_plainly(&c.problem, out, 150, c.start + out * columns[i]);
        for (size_t k = 0; k < columns[i] * shape.outs; k++)
            different += c.start[k] != c.integers[k];
        count += columns[i] * shape.outs;
        descent_close(&c);
    }
    print_message("%zu of %zu integers differ\n", different, count);
    assert_true(different * 50 <= count); /* all but those that a last bit decides */
}

/* --- What holds for any result --- */

static void better_than_nearest(void **state)
{
    double nearest = 0, relaxed = 0, descended = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        const struct descent_shape shape = {.columns = 20 + 7 * seed,
                                            .outs = 6,
                                            .rows = seed % 3 ? 400 : 30,
                                            .group = seed % 2 ? 32 : 0,
                                            .low = seed % 4 ? -8 : 0,
                                            .high = seed % 4 ? 7 : 15,
                                            .zeros = seed % 2,
                                            .seed = seed};
        struct descent_case c;
        descent_open(&c, &shape);
        assert_ran(&c, 300, NULL);
        assert_neighbours(&c);
        const double before = total_error(&c, c.start), after = total_error(&c, c.integers);
        assert_true(after < before);
        assert_int_equal(by_descent_run(&c.problem, NULL, c.start, NULL, &err), 0);
        nearest += before;
        relaxed += after;
        descended += total_error(&c, c.start);
        descent_close(&c);
    }
    print_message("of what descent gains the relaxation gains %.0f%%\n",
                  100 * (nearest - relaxed) / (nearest - descended));
    assert_true(nearest - relaxed > 0.5 * (nearest - descended));
}

/* Neither those of weights nor those of inputs. */
static void sizes_do_not_matter(void **state)
{
    const struct descent_shape shape = {
        .columns = 50, .outs = 4, .rows = 100, .low = -8, .high = 7, .seed = 3};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    assert_ran(&c, 200, NULL);
    memcpy(c.start, c.integers, 200 * sizeof *c.start);
    for (size_t i = 0; i < 50 * 50; i++)
        c.gram[i] *= 0x1p20f;
    for (size_t i = 0; i < 200; i++) {
        c.cross[i] *= 0x1p10f;
        c.weights[i] *= 0x1p-10f;
    }
    for (size_t i = 0; i < 4; i++)
        c.scales[i] *= 0x1p-10f;
    assert_ran(&c, 200, NULL);
    assert_memory_equal(c.start, c.integers, 200 * sizeof *c.start);
    descent_close(&c);
}

static void same_for_any_threads(void **state)
{
    const struct descent_shape shape = {
        .columns = 140, .outs = 150, .rows = 200, .low = -128, .high = 127, .group = 64};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    assert_ran(&c, 40, NULL);
    memcpy(c.start, c.integers, (size_t)140 * 150 * sizeof *c.start);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct by_pool *pool;
        assert_int_equal(by_pool_open(&pool, threads, &err), 0);
        memset(c.integers, 0, (size_t)140 * 150 * sizeof *c.start);
        assert_ran(&c, 40, pool);
        assert_memory_equal(c.start, c.integers, (size_t)140 * 150 * sizeof *c.start);
        by_pool_close(pool);
    }
    descent_close(&c);
}

/* --- Odd layers --- */

static void dead_columns_are_nearest(void **state)
{
    const struct descent_shape shape = {
        .columns = 60, .outs = 3, .rows = 200, .low = -8, .high = 7};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    for (size_t i = 0; i < 60; i++)
        c.gram[i * 60 + 7] = c.gram[7 * 60 + i] = 0;
    assert_ran(&c, 100, NULL);
    for (size_t out = 0; out < 3; out++)
        assert_int_equal(c.integers[out * 60 + 7], c.start[out * 60 + 7]);
    assert_true(total_error(&c, c.integers) < total_error(&c, c.start));
    memset(c.gram, 0, 60 * 60 * sizeof *c.gram);
    assert_ran(&c, 100, NULL);
    assert_memory_equal(c.integers, c.start, 180 * sizeof *c.start);
    descent_close(&c);
}

static void weights_on_levels_stay(void **state)
{
    const struct descent_shape shape = {.columns = 40, .outs = 2, .rows = 50, .low = -2, .high = 2};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    c.scales[0] = c.scales[1] = 1;
    for (size_t i = 0; i < 80; i++)
        c.weights[i] = (float)(i % 7) - 3;
    for (unsigned iterations = 1; iterations < 200; iterations += 99) {
        assert_ran(&c, iterations, NULL);
        for (int i = 0; i < 80; i++)
            assert_int_equal(c.integers[i], i % 7 < 1 ? -2 : i % 7 > 5 ? 2 : i % 7 - 3);
    }
    descent_close(&c);
}

static void extreme_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < DESCENT_EXTREMES; i++) {
        struct descent_case c;
        descent_open_extreme(&c, i);
        assert_ran(&c, 20, NULL);
        assert_neighbours(&c);
        descent_close(&c);
    }
}

static void what_is_refused(void **state)
{
    const struct descent_shape shape = {.columns = 20, .outs = 2, .rows = 30, .low = -8, .high = 7};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    c.gram[399] = NAN;
    assert_int_equal(by_relaxation_run(&c.problem, 10, NULL, c.integers, &err), -1);
    assert_non_null(strstr(err.message, "gram contains values that are not finite"));
    assert_memory_equal(c.integers, c.start, 40 * sizeof *c.start);
    descent_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_it_is_written),
                                       cmocka_unit_test(better_than_nearest),
                                       cmocka_unit_test(sizes_do_not_matter),
                                       cmocka_unit_test(same_for_any_threads),
                                       cmocka_unit_test(dead_columns_are_nearest),
                                       cmocka_unit_test(weights_on_levels_stay),
                                       cmocka_unit_test(extreme_sizes),
                                       cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
