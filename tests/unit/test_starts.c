/* Descent from several starts. */
#include "solve/starts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/descent_case.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SEED         7

static void assert_ran(struct descent_case *c, unsigned starts, uint64_t seed, struct by_pool *pool)
{
    memcpy(c->integers, c->start, c->problem.columns * c->problem.outs * sizeof *c->start);
    if (by_starts_run(&c->problem, starts, seed, pool, c->integers, &err))
        fail_msg("%s", err.message);
}

static void assert_neighbours(const struct descent_case *c)
{
    for (size_t i = 0; i < c->problem.outs * c->problem.columns; i++) {
        int32_t low, high;
        neighbours(&c->problem, i / c->problem.columns, i % c->problem.columns, &low, &high);
        assert_in_range(c->integers[i] - low, 0, high - low);
    }
}

static void find_errors(const struct descent_case *c, double *errors)
{
    for (size_t out = 0; out < c->problem.outs; out++)
        errors[out] = plain_error(&c->problem, out, c->integers + out * c->problem.columns);
}

static void one_is_descent(void **state)
{
    const struct descent_shape shape = {
        .columns = 150, .outs = 20, .rows = 200, .low = -8, .high = 7, .zeros = true};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    for (unsigned starts = 0; starts < 2; starts++) {
        assert_ran(&c, starts, SEED, NULL);
        int32_t *found = descent_room(3000, sizeof *found);
        memcpy(found, c.integers, 3000 * sizeof *found);
        memcpy(c.integers, c.start, 3000 * sizeof *found);
        assert_int_equal(by_descent_run(&c.problem, NULL, c.integers, NULL, &err), 0);
        assert_memory_equal(found, c.integers, 3000 * sizeof *found);
        by_free(found);
    }
    descent_close(&c);
}

/* No output gets worse by a further start, and all together get better. */
static void more_are_better(void **state)
{
    static const unsigned counts[] = {1, 2, 4, 16};
    double sums[COUNT(counts)] = {0}, nearest = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        const struct descent_shape shape = {.columns = 10 + 15 * seed,
                                            .outs = 18,
                                            .rows = seed % 3 ? 400 : 20,
                                            .group = seed % 2 ? 32 : 0,
                                            .low = -8,
                                            .high = 7,
                                            .zeros = seed % 2,
                                            .seed = seed};
        struct descent_case c;
        double errors[COUNT(counts)][18], start[18];
        descent_open(&c, &shape);
        find_errors(&c, start);
        for (size_t k = 0; k < COUNT(counts); k++) {
            assert_ran(&c, counts[k], SEED, NULL);
            assert_neighbours(&c);
            find_errors(&c, errors[k]);
            for (size_t out = 0; out < 18; out++) {
                const double before = k ? errors[k - 1][out] : start[out];
                assert_true(errors[k][out] <= before + 1e-9 * fabs(before));
                sums[k] += errors[k][out];
                nearest += k ? 0 : start[out];
            }
        }
        descent_close(&c);
    }
    for (size_t k = 1; k < COUNT(counts); k++) {
        print_message("%u starts gain %.1f%% of what one gains besides\n", counts[k],
                      100 * (sums[0] - sums[k]) / (nearest - sums[0]));
        assert_true(sums[k] < sums[k - 1]);
    }
}

static void free_ones_go_farther(void **state)
{
    struct descent_shape shape = {.columns = 60, .outs = 20, .rows = 100, .low = -8, .high = 7};
    double errors[20], sums[2] = {0};
    (void)state;
    for (int free = 0; free < 2; free++) {
        struct descent_case c;
        shape.free = free;
        descent_open(&c, &shape);
        assert_ran(&c, 3, SEED, NULL);
        find_errors(&c, errors);
        for (size_t out = 0; out < 20; out++)
            sums[free] += errors[out];
        for (size_t i = 0; i < 1200; i++)
            assert_in_range(c.integers[i] + 8, 0, 15);
        descent_close(&c);
    }
    assert_true(sums[1] < sums[0]);
}

static void lots_follow_from_the_seed(void **state)
{
    const struct descent_shape shape = {
        .columns = 140, .outs = 20, .rows = 300, .low = -8, .high = 7};
    const size_t size = 2800 * sizeof(int32_t);
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    int32_t *first = descent_room(2800, sizeof *first);
    assert_ran(&c, 4, SEED, NULL);
    memcpy(first, c.integers, size);
    assert_ran(&c, 4, SEED, NULL);
    assert_memory_equal(first, c.integers, size);
    assert_ran(&c, 4, SEED + 1, NULL);
    assert_memory_not_equal(first, c.integers, size);
    by_free(first);
    descent_close(&c);
}

static void same_for_any_threads(void **state)
{
    const struct descent_shape shape = {
        .columns = 150, .outs = 300, .rows = 200, .low = -128, .high = 127, .group = 64};
    const size_t size = (size_t)150 * 300 * sizeof(int32_t);
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    int32_t *first = descent_room(150 * 300, sizeof *first);
    assert_ran(&c, 5, SEED, NULL);
    memcpy(first, c.integers, size);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct by_pool *pool;
        assert_int_equal(by_pool_open(&pool, threads, &err), 0);
        assert_ran(&c, 5, SEED, pool);
        assert_memory_equal(first, c.integers, size);
        by_pool_close(pool);
    }
    by_free(first);
    descent_close(&c);
}

/* Where GPTQ finds nothing, and where nothing is to be found. */
static void dead_columns_stay(void **state)
{
    const struct descent_shape shape = {
        .columns = 40, .outs = 3, .rows = 100, .low = -8, .high = 7};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    for (size_t i = 0; i < 40; i++)
        c.gram[i * 40 + 7] = c.gram[7 * 40 + i] = 0;
    for (size_t out = 0; out < 3; out++)
        c.cross[out * 40 + 7] = 0;
    assert_ran(&c, 8, SEED, NULL);
    assert_neighbours(&c);
    for (size_t out = 0; out < 3; out++)
        assert_int_equal(c.integers[out * 40 + 7], c.start[out * 40 + 7]);
    memset(c.gram, 0, 40 * 40 * sizeof *c.gram);
    memset(c.cross, 0, 3 * 40 * sizeof *c.cross);
    assert_ran(&c, 8, SEED, NULL);
    assert_memory_equal(c.integers, c.start, 120 * sizeof *c.start);
    c.gram[5] = NAN;
    assert_int_equal(by_starts_run(&c.problem, 8, SEED, NULL, c.integers, &err), -1);
    assert_non_null(strstr(err.message, "gram"));
    descent_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_descent),       cmocka_unit_test(more_are_better),
        cmocka_unit_test(free_ones_go_farther), cmocka_unit_test(lots_follow_from_the_seed),
        cmocka_unit_test(same_for_any_threads), cmocka_unit_test(dead_columns_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
