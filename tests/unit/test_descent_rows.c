/* Descent on rows beside descent on the Gram matrix of the same rows. */
#include "solve/descent_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/descent_case.h"

#define DAMPING 0.25f
#define SPARE   3 /* places after the rows of a column */

struct rows_case {
    struct descent_case of_gram, of_rows;
    struct by_descent_rows rows;
    float *values;
};

static void rows_open(struct rows_case *c, const struct descent_shape *shape)
{
    const size_t columns = shape->columns, stride = shape->rows + SPARE;
    double *x = descent_room(columns, sizeof *x);
    descent_open(&c->of_gram, shape);
    descent_open(&c->of_rows, shape);
    c->values = descent_room(columns * stride, sizeof *c->values);
    for (size_t row = 0; row < shape->rows; row++) {
        fill_row(x, shape, row);
        for (size_t i = 0; i < columns; i++)
            c->values[i * stride + row] = (float)x[i];
    }
    for (size_t i = 0; i < columns; i++)
        c->of_gram.gram[i * columns + i] += DAMPING;
    c->rows = (struct by_descent_rows){shape->rows, stride, c->values, DAMPING};
    c->of_rows.problem.gram = NULL;
    c->of_rows.problem.rows = &c->rows;
    by_free(x);
}

static void rows_close(struct rows_case *c)
{
    descent_close(&c->of_gram);
    descent_close(&c->of_rows);
    by_free(c->values);
}

static void assert_near(double found, double wanted, double most)
{
    if (!(fabs(found - wanted) <= most))
        fail_msg("%.9g is not %.9g", found, wanted);
}

static void run(struct descent_case *c, struct by_pool *pool)
{
    if (by_descent_run(&c->problem, pool, c->integers, c->errors, &err))
        fail_msg("%s", err.message);
}

static const struct descent_shape shapes[] = {
    {.columns = 1, .outs = 1, .rows = 1, .low = -8, .high = 7},
    {.columns = 60, .outs = 9, .rows = 7, .low = -8, .high = 7, .seed = 1},
    {.columns = 150,
     .outs = 21,
     .rows = 90,
     .low = 0,
     .high = 15,
     .zeros = true,
     .group = 32,
     .seed = 2},
    {.columns = 90, .outs = 8, .rows = 300, .low = -128, .high = 127, .seed = 3},
    {.columns = 90, .outs = 3, .rows = 40, .low = -2, .high = 1, .free = true, .seed = 4},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

/* Each output is as much better as it says, and by about as much as with the Gram matrix. */
static void as_good_as_with_gram(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        struct rows_case c;
        double with_gram = 0, with_rows = 0;
        rows_open(&c, &shapes[s]);
        run(&c.of_gram, NULL);
        run(&c.of_rows, NULL);
        for (size_t out = 0; out < shapes[s].outs; out++) {
            const size_t place = out * shapes[s].columns;
            const double before = plain_error(&c.of_gram.problem, out, c.of_rows.start + place);
            const double after = plain_error(&c.of_gram.problem, out, c.of_rows.integers + place);
            assert_near(before - after, c.of_rows.errors[out], 1e-5 * (fabs(before) + 1e-6));
            assert_true(c.of_rows.errors[out] >= 0);
            with_gram += c.of_gram.errors[out];
            with_rows += c.of_rows.errors[out];
        }
        assert_near(with_rows, with_gram, 1e-2 * with_gram);
        rows_close(&c);
    }
}

/* Integers stay next to their weights, and no output gets worse wherever it starts. */
static void within_neighbours(void **state)
{
    struct rows_case c;
    (void)state;
    rows_open(&c, &shapes[2]);
    const struct by_descent *p = &c.of_rows.problem;
    run(&c.of_rows, NULL);
    for (size_t i = 0; i < p->outs * p->columns; i++) {
        int32_t low, high;
        neighbours(p, i / p->columns, i % p->columns, &low, &high);
        assert_in_range(c.of_rows.integers[i] - low, 0, high - low);
    }
    memcpy(c.of_rows.start, c.of_rows.integers, p->outs * p->columns * sizeof *c.of_rows.start);
    run(&c.of_rows, NULL);
    for (size_t out = 0; out < p->outs; out++)
        assert_true(c.of_rows.errors[out] >= 0 && c.of_rows.errors[out] < 1e-3);
    rows_close(&c);
}

/* Sweeps that hardly gain are left out. */
static void hardly_less_where_it_ends_early(void **state)
{
    struct rows_case whole, early;
    double with_all = 0, with_few = 0;
    (void)state;
    rows_open(&whole, &shapes[2]);
    rows_open(&early, &shapes[2]);
    early.of_rows.problem.least_gain = 0.02;
    run(&whole.of_rows, NULL);
    run(&early.of_rows, NULL);
    for (size_t out = 0; out < shapes[2].outs; out++) {
        assert_true(early.of_rows.errors[out] >= 0);
        with_all += whole.of_rows.errors[out];
        with_few += early.of_rows.errors[out];
    }
    assert_true(with_few < with_all && with_few > 0.95 * with_all);
    rows_close(&whole);
    rows_close(&early);
}

static void same_for_any_threads(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        struct rows_case a, b;
        struct by_pool *pool;
        assert_int_equal(by_pool_open(&pool, threads, &err), 0);
        rows_open(&a, &shapes[2]);
        rows_open(&b, &shapes[2]);
        run(&a.of_rows, NULL);
        run(&b.of_rows, pool);
        assert_memory_equal(a.of_rows.integers, b.of_rows.integers,
                            150 * 21 * sizeof *a.of_rows.integers);
        assert_memory_equal(a.of_rows.errors, b.of_rows.errors, 21 * sizeof *a.of_rows.errors);
        rows_close(&a);
        rows_close(&b);
        by_pool_close(pool);
    }
}

static void errors_and_products(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        const size_t columns = shapes[s].columns, outs = shapes[s].outs;
        struct rows_case c;
        double trace = 0;
        rows_open(&c, &shapes[s]);
        const struct by_descent *p = &c.of_gram.problem;
        float *products = descent_room(outs * columns, sizeof *products);
        assert_int_equal(
            by_descent_error(&c.of_rows.problem, c.of_rows.start, c.of_rows.errors, &err), 0);
        assert_int_equal(
            by_descent_rows_product(&c.rows, columns, outs, p->weights, NULL, products, &err), 0);
        for (size_t out = 0; out < outs; out++) {
            const double error = plain_error(p, out, c.of_rows.start + out * columns);
            assert_near(c.of_rows.errors[out], error, 1e-5 * (fabs(error) + 1));
            for (size_t i = 0; i < columns; i++) {
                double sum = 0;
                for (size_t k = 0; k < columns; k++)
                    sum += (double)p->gram[i * columns + k] * (double)p->weights[out * columns + k];
                assert_near((double)products[out * columns + i], sum, 1e-4 * (fabs(sum) + 1));
            }
        }
        for (size_t i = 0; i < columns; i++)
            trace += (double)p->gram[i * columns + i];
        assert_near(by_descent_rows_size(&c.rows, columns), trace / (double)columns, 1e-5 * trace);
        by_free(products);
        rows_close(&c);
    }
}

/* A column without values never steps where nothing is damped. */
static void dead_columns_stay(void **state)
{
    struct rows_case c;
    (void)state;
    rows_open(&c, &shapes[3]);
    memset(c.values + 7 * c.rows.stride, 0, c.rows.stride * sizeof *c.values);
    c.rows.damping = 0;
    run(&c.of_rows, NULL);
    for (size_t out = 0; out < 8; out++)
        assert_int_equal(c.of_rows.integers[out * 90 + 7], c.of_rows.start[out * 90 + 7]);
    rows_close(&c);
}

static void assert_refused(struct rows_case *c, const char *says)
{
    struct descent_case *of_rows = &c->of_rows;
    assert_int_equal(
        by_descent_run(&of_rows->problem, NULL, of_rows->integers, of_rows->errors, &err), -1);
    assert_non_null(strstr(err.message, says));
}

static void what_is_refused(void **state)
{
    struct rows_case c;
    (void)state;
    rows_open(&c, &shapes[1]);
    c.values[59 * c.rows.stride + 6] = NAN;
    assert_refused(&c, "rows contains values that are not finite");
    c.values[59 * c.rows.stride + 6] = 0;
    c.rows.stride = 6;
    assert_refused(&c, "either a Gram matrix or rows");
    c.rows.count = 0;
    assert_refused(&c, "either a Gram matrix or rows");
    rows_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_good_as_with_gram),
                                       cmocka_unit_test(within_neighbours),
                                       cmocka_unit_test(hardly_less_where_it_ends_early),
                                       cmocka_unit_test(same_for_any_threads),
                                       cmocka_unit_test(errors_and_products),
                                       cmocka_unit_test(dead_columns_stay),
                                       cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
