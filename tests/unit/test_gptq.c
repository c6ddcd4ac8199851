/* Rounding with error feedback, against the same as its inventors wrote it; and the factor. */
#include "solve/gptq.h"

#include "solve/cholesky.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/descent_case.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_ran(struct descent_case *c, struct by_pool *pool)
{
    if (by_gptq_run(&c->problem, pool, c->integers, &err))
        fail_msg("%s", err.message);
}

static double total_error(const struct descent_case *c, const int32_t *integers)
{
    double sum = 0;
    for (size_t out = 0; out < c->problem.outs; out++)
        sum += plain_error(&c->problem, out, integers + out * c->problem.columns);
    return sum;
}

/* --- As written: the inverse, of which each column that is done is taken out --- */

static void invert(double *a, double *inverse, size_t n)
{
    for (size_t i = 0; i < n * n; i++)
        inverse[i] = i % (n + 1) ? 0 : 1;
    for (size_t pivot = 0; pivot < n; pivot++) {
        const double by = a[pivot * n + pivot];
        for (size_t j = 0; j < n; j++) {
            a[pivot * n + j] /= by;
            inverse[pivot * n + j] /= by;
        }
        for (size_t i = 0; i < n; i++) {
            const double factor = a[i * n + pivot];
            for (size_t j = 0; i != pivot && j < n; j++) {
                a[i * n + j] -= factor * a[pivot * n + j];
                inverse[i * n + j] -= factor * inverse[pivot * n + j];
            }
        }
    }
}

static size_t next_column(const struct by_descent *p, const bool *done)
{
    size_t best = p->columns;
    for (size_t i = 0; i < p->columns; i++)
        if (!done[i] &&
            (best == p->columns || p->gram[i * p->columns + i] > p->gram[best * p->columns + best]))
            best = i;
    return best;
}

static void round_one(const struct by_descent *p, size_t out, size_t i, double *w, double *inverse,
                      int32_t *integers)
{
    const size_t n = p->columns, at = out * p->groups + i / p->group;
    const double zero = p->zeros ? p->zeros[at] : 0;
    double level = nearbyint(w[i] / (double)p->scales[at]) + zero;
    level = fmin(fmax(level, p->low), p->high);
    integers[i] = (int32_t)level;
    const double off = w[i] - (level - zero) * (double)p->scales[at];
    for (size_t j = 0; j < n; j++)
        w[j] -= off / inverse[i * n + i] * inverse[i * n + j];
}

static void round_plainly(const struct by_descent *p, size_t out, int32_t *integers)
{
    const size_t n = p->columns;
    double *a = descent_room(n * n, sizeof *a), *inverse = descent_room(n * n, sizeof *a);
    double *w = descent_room(n, sizeof *w);
    bool *done = descent_room(n, sizeof *done);
    for (size_t i = 0; i < n * n; i++)
        a[i] = (double)p->gram[i];
    invert(a, inverse, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            w[i] += inverse[i * n + j] * (double)p->cross[out * n + j];
    for (size_t step = 0; step < n; step++) {
        const size_t i = next_column(p, done);
        round_one(p, out, i, w, inverse, integers);
        done[i] = true;
        const double own = inverse[i * n + i];
        memcpy(a, inverse + i * n, n * sizeof *a);
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < n; k++)
                inverse[j * n + k] -= a[j] * a[k] / own;
    }
    by_free(a);
    by_free(inverse);
    by_free(w);
    by_free(done);
}

static void as_its_inventors_wrote_it(void **state)
{
    static const size_t columns[] = {1, 2, 9, 40, 127, 128, 129, 200};
    size_t different = 0, count = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(columns); i++) {
        const struct descent_shape shape = {.columns = columns[i],
                                            .outs = i % 2 ? 3 : 2,
                                            .rows = 400,
                                            .group = i % 3 ? 0 : 16,
                                            .low = -8,
                                            .high = 7,
                                            .free = true,
                                            .zeros = i % 2,
                                            .seed = i};
        struct descent_case c;
        descent_open(&c, &shape);
        assert_ran(&c, NULL);
        for (size_t out = 0; out < shape.outs; out++)
            round_plainly(&c.problem, out, c.start + out * columns[i]);
        for (size_t k = 0; k < columns[i] * shape.outs; k++)
            different += c.start[k] != c.integers[k];
        count += columns[i] * shape.outs;
        const double found = total_error(&c, c.integers), plain = total_error(&c, c.start);
        assert_true(fabs(found - plain) <= 1e-3 * fabs(plain));
        descent_close(&c);
    }
    print_message("%zu of %zu integers differ\n", different, count);
    assert_true(different * 100 <= count); /* all but those that a last bit decides */
}

/* --- Qronos, by its definition: the best level while all others stay, then the others' best --- */

/* What w[i] has to be for the least error while all others are as they are. */
static double best_alone(const struct by_descent *p, size_t out, size_t i, const double *w)
{
    const size_t n = p->columns;
    double sum = (double)p->cross[out * n + i];
    for (size_t j = 0; j < n; j++)
        sum -= j == i ? 0 : (double)p->gram[i * n + j] * w[j];
    return sum / (double)p->gram[i * n + i];
}

/* Columns that are not done become the best beside those that are. */
static void solve_the_others(const struct by_descent *p, size_t out, const bool *done, double *w)
{
    const size_t n = p->columns;
    double *a = descent_room(n * n, sizeof *a), *inverse = descent_room(n * n, sizeof *a);
    double *aim = descent_room(n, sizeof *aim);
    for (size_t i = 0; i < n; i++) {
        aim[i] = done[i] ? w[i] : (double)p->cross[out * n + i];
        for (size_t j = 0; j < n; j++) {
            const double own = (double)p->gram[i * n + j];
            a[i * n + j] = done[i] || done[j] ? i == j : own;
            aim[i] -= !done[i] && done[j] ? own * w[j] : 0;
        }
    }
    invert(a, inverse, n);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += inverse[i * n + j] * aim[j];
        w[i] = sum;
    }
    by_free(a);
    by_free(inverse);
    by_free(aim);
}

static void round_by_definition(const struct by_descent *p, size_t out, bool in_order,
                                int32_t *integers)
{
    const size_t n = p->columns;
    double *w = descent_room(n, sizeof *w);
    bool *done = descent_room(n, sizeof *done);
    for (size_t i = 0; i < n; i++)
        w[i] = (double)p->weights[out * n + i];
    for (size_t step = 0; step < n; step++) {
        const size_t i = in_order ? step : next_column(p, done);
        const double scale = (double)p->scales[out * p->groups + i / p->group];
        const double level = nearbyint(best_alone(p, out, i, w) / scale);
        integers[i] = (int32_t)fmin(fmax(level, p->low), p->high);
        w[i] = integers[i] * scale;
        done[i] = true;
        solve_the_others(p, out, done, w);
    }
    by_free(w);
    by_free(done);
}

static void run_way(struct descent_case *c, struct by_gptq_way way)
{
    struct by_gptq_factor *factor;
    const struct by_descent *p = &c->problem;
    assert_int_equal(by_gptq_factor_open(&factor, p->gram, p->columns, way, NULL, &err), 0);
    assert_int_equal(by_gptq_round(p, factor, NULL, c->integers, &err), 0);
    by_gptq_factor_close(factor);
}

static size_t count_different(const int32_t *one, const int32_t *other, size_t count)
{
    size_t different = 0;
    for (size_t i = 0; i < count; i++)
        different += one[i] != other[i];
    return different;
}

static void qronos_by_its_definition(void **state)
{
    static const size_t columns[] = {1, 2, 9, 40, 130};
    size_t different = 0, count = 0, of_gptaq = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(columns); i++) {
        const struct descent_shape shape = {.columns = columns[i],
                                            .outs = 4,
                                            .rows = 400,
                                            .group = i % 2 ? 16 : 0,
                                            .low = -8,
                                            .high = 7,
                                            .free = true,
                                            .seed = 20 + i};
        struct descent_case c;
        descent_open(&c, &shape);
        for (size_t k = 0; k < columns[i] * shape.outs; k++)
            c.cross[k] += 0.3f * (float)by_rng_normal(99, i, k) * c.scales[0];
        run_way(&c, (struct by_gptq_way){.in_order = i % 3 == 2});
        memcpy(c.start, c.integers, columns[i] * shape.outs * sizeof *c.start);
        run_way(&c, (struct by_gptq_way){.in_order = i % 3 == 2, .first_alone = true});
        of_gptaq += count_different(c.start, c.integers, columns[i] * shape.outs);
        for (size_t out = 0; out < shape.outs; out++)
            round_by_definition(&c.problem, out, i % 3 == 2, c.start + out * columns[i]);
        different += count_different(c.start, c.integers, columns[i] * shape.outs);
        count += columns[i] * shape.outs;
        descent_close(&c);
    }
    print_message("%zu of %zu integers differ, %zu from those of GPTAQ\n", different, count,
                  of_gptaq);
    assert_true(different * 100 <= count); /* all but those that a last bit decides */
    assert_true(of_gptaq > 4 * different);
}

/* gram times the weights, or nothing: the same but for what last bits decide. */
static void cross_of_the_weights_may_be_left_out(void **state)
{
    const struct descent_shape shape = {
        .columns = 200, .outs = 20, .rows = 600, .low = -8, .high = 7, .free = true, .seed = 7};
    struct descent_case c;
    size_t different = 0;
    (void)state;
    descent_open(&c, &shape);
    for (size_t k = 0; k < shape.columns * shape.outs; k++) {
        double sum = 0;
        for (size_t j = 0; j < shape.columns; j++)
            sum += (double)c.gram[k % shape.columns * shape.columns + j] *
                   (double)c.weights[k / shape.columns * shape.columns + j];
        c.cross[k] = (float)sum;
    }
    assert_ran(&c, NULL);
    memcpy(c.start, c.integers, shape.columns * shape.outs * sizeof *c.start);
    c.problem.cross = NULL;
    assert_ran(&c, NULL);
    for (size_t k = 0; k < shape.columns * shape.outs; k++)
        different += c.start[k] != c.integers[k];
    assert_true(different * 100 <= shape.columns * shape.outs);
    descent_close(&c);
}

/* --- What it is good for --- */

static void better_than_nearest(void **state)
{
    (void)state;
    for (size_t columns = 30; columns <= 300; columns += 90) {
        const struct descent_shape shape = {.columns = columns,
                                            .outs = 20,
                                            .rows = 600,
                                            .low = -8,
                                            .high = 7,
                                            .free = true,
                                            .seed = columns};
        struct descent_case c;
        descent_open(&c, &shape);
        assert_ran(&c, NULL);
        assert_true(total_error(&c, c.integers) < total_error(&c, c.start));
        for (size_t i = 0; i < columns * 20; i++)
            assert_in_range(c.integers[i] + 8, 0, 15);
        /* Descent goes on from there. */
        memcpy(c.start, c.integers, columns * 20 * sizeof *c.start);
        assert_int_equal(by_descent_run(&c.problem, NULL, c.integers, c.errors, &err), 0);
        assert_true(total_error(&c, c.integers) <= total_error(&c, c.start));
        descent_close(&c);
    }
}

/* Unless they are free, and then they are worse than those that are. */
static void next_to_the_weights(void **state)
{
    (void)state;
    for (size_t columns = 30; columns <= 300; columns += 90) {
        const struct descent_shape shape = {.columns = columns,
                                            .outs = 20,
                                            .rows = 600,
                                            .low = 0,
                                            .high = 15,
                                            .zeros = true,
                                            .seed = columns};
        struct descent_case c;
        descent_open(&c, &shape);
        assert_ran(&c, NULL);
        for (size_t i = 0; i < columns * 20; i++) {
            int32_t low, high;
            neighbours(&c.problem, i / columns, i % columns, &low, &high);
            assert_in_range(c.integers[i] - low, 0, high - low);
        }
        const double near = total_error(&c, c.integers);
        assert_true(near < total_error(&c, c.start));
        c.problem.free = true;
        assert_ran(&c, NULL);
        assert_true(total_error(&c, c.integers) < near);
        descent_close(&c);
    }
}

/* Where something else than the weights is wanted, it is what counts. */
static void aims_at_cross(void **state)
{
    (void)state;
    for (size_t columns = 60; columns <= 160; columns += 100) {
        const struct descent_shape shape = {
            .columns = columns, .outs = 8, .rows = 400, .low = -128, .high = 127, .free = true};
        struct descent_case c;
        descent_open(&c, &shape);
        for (size_t i = 0; i < columns * 8; i++)
            c.weights[i] += (float)by_rng_normal(5, 5, i) * 0.2f;
        by_descent_nearest(&c.problem, c.start);
        assert_ran(&c, NULL);
        float *best = descent_room(columns * 8, sizeof *best);
        for (size_t i = 0; i < columns * 8; i++)
            best[i] = c.weights[i] - (float)by_rng_normal(5, 5, i) * 0.2f;
        struct by_descent known = c.problem;
        known.weights = best;
        int32_t *nearest = descent_room(columns * 8, sizeof *nearest);
        by_descent_nearest(&known, nearest);
        assert_true(total_error(&c, c.integers) < total_error(&c, nearest));
        assert_true(total_error(&c, nearest) < total_error(&c, c.start));
        by_free(best);
        by_free(nearest);
        descent_close(&c);
    }
}

static void same_for_any_threads(void **state)
{
    const struct descent_shape shape = {.columns = 700,
                                        .outs = 70,
                                        .rows = 900,
                                        .low = -128,
                                        .high = 127,
                                        .free = true,
                                        .group = 64};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    assert_ran(&c, NULL);
    memcpy(c.start, c.integers, (size_t)700 * 70 * sizeof *c.start);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct by_pool *pool;
        assert_int_equal(by_pool_open(&pool, threads, &err), 0);
        memset(c.integers, 0, (size_t)700 * 70 * sizeof *c.start);
        assert_ran(&c, pool);
        assert_memory_equal(c.start, c.integers, (size_t)700 * 70 * sizeof *c.start);
        by_pool_close(pool);
    }
    descent_close(&c);
}

/* Chunks of outputs share a factor: the integers of all at once. */
static void same_in_chunks(void **state)
{
    const struct descent_shape shape = {.columns = 300,
                                        .outs = 4 * BY_GPTQ_OUTS + 9,
                                        .rows = 500,
                                        .low = -8,
                                        .high = 7,
                                        .free = true,
                                        .group = 64};
    struct descent_case c;
    struct by_gptq_factor *factor;
    (void)state;
    descent_open(&c, &shape);
    assert_ran(&c, NULL);
    memcpy(c.start, c.integers, shape.columns * shape.outs * sizeof *c.start);
    const struct by_descent whole = c.problem;
    assert_int_equal(by_gptq_factor_open(&factor, whole.gram, shape.columns,
                                         (struct by_gptq_way){0}, NULL, &err),
                     0);
    for (size_t first = 0; first < shape.outs; first += 2 * BY_GPTQ_OUTS) {
        const size_t left = shape.outs - first, at = first * shape.columns;
        struct by_descent chunk = whole;
        chunk.outs = left < 2 * BY_GPTQ_OUTS ? left : 2 * BY_GPTQ_OUTS;
        chunk.weights += at;
        chunk.cross += at;
        chunk.scales += first * chunk.groups;
        memset(c.integers + at, 0, chunk.outs * shape.columns * sizeof *c.integers);
        assert_int_equal(by_gptq_round(&chunk, factor, NULL, c.integers + at, &err), 0);
    }
    assert_memory_equal(c.start, c.integers, shape.columns * shape.outs * sizeof *c.start);
    by_gptq_factor_close(factor);
    descent_close(&c);
}

/* --- Odd layers --- */

static void singular_gram_is_damped(void **state)
{
    (void)state;
    for (size_t columns = 40; columns <= 200; columns += 160) {
        const struct descent_shape shape = {
            .columns = columns, .outs = 4, .rows = 20, .low = -8, .high = 7, .free = true};
        struct descent_case c;
        descent_open(&c, &shape);
        assert_ran(&c, NULL);
        assert_true(total_error(&c, c.integers) < total_error(&c, c.start));
        descent_close(&c);
    }
}

static void hopeless_gram_gives_nearest(void **state)
{
    const struct descent_shape shape = {
        .columns = 140, .outs = 4, .rows = 200, .low = -8, .high = 7, .free = true};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    c.gram[140] = c.gram[1] = 1000;
    assert_ran(&c, NULL);
    assert_memory_equal(c.integers, c.start, 560 * sizeof *c.start);
    memset(c.gram, 0, 140 * 140 * sizeof *c.gram);
    memset(c.integers, 1, 560 * sizeof *c.start);
    assert_ran(&c, NULL);
    assert_memory_equal(c.integers, c.start, 560 * sizeof *c.start);
    c.gram[5] = NAN;
    assert_int_equal(by_gptq_run(&c.problem, NULL, c.integers, &err), -1);
    assert_non_null(strstr(err.message, "gram"));
    descent_close(&c);
}

static void dead_columns_are_nearest(void **state)
{
    const struct descent_shape shape = {
        .columns = 150, .outs = 3, .rows = 200, .low = -8, .high = 7, .free = true};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    for (size_t i = 0; i < 150; i++)
        c.gram[i * 150 + 7] = c.gram[7 * 150 + i] = 0;
    assert_ran(&c, NULL);
    for (size_t out = 0; out < 3; out++)
        assert_int_equal(c.integers[out * 150 + 7], c.start[out * 150 + 7]);
    assert_true(total_error(&c, c.integers) < total_error(&c, c.start));
    descent_close(&c);
}

/* --- The factor --- */

static void assert_factor(const float *l, const float *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k <= j; k++)
                sum += (double)l[i * n + k] * (double)l[j * n + k];
            assert_true(fabs(sum - (double)a[i * n + j]) < 1e-5 * (double)a[0]);
        }
}

static void factor_times_itself(void **state)
{
    static const size_t sizes[] = {1, 2, 127, 128, 129, 256, 300, 600};
    const struct by_blas *blas;
    struct by_pool *pool;
    (void)state;
    assert_int_equal(by_blas_open(&blas, &err), 0);
    assert_int_equal(by_pool_open(&pool, 3, &err), 0);
    for (size_t s = 0; s < COUNT(sizes); s++) {
        const size_t n = sizes[s];
        float *a = descent_room(n * n, sizeof *a), *l = descent_room(n * n, sizeof *l),
              *again = descent_room(n * n, sizeof *l);
        bool positive;
        fill_gram(a, &(struct descent_shape){.columns = n, .rows = 2 * n + 10});
        memcpy(l, a, n * n * sizeof *a);
        memcpy(again, a, n * n * sizeof *a);
        const struct by_blas *needed = n > BY_CHOLESKY_BLOCK ? blas : NULL;
        assert_int_equal(by_cholesky(l, n, needed, NULL, &positive, &err), 0);
        assert_true(positive);
        assert_factor(l, a, n);
        assert_int_equal(by_cholesky(again, n, needed, pool, &positive, &err), 0);
        assert_memory_equal(l, again, n * n * sizeof *a);
        memcpy(l, a, n * n * sizeof *a);
        l[n * n - 1] = n > 1 ? 1e-3f : 0;
        assert_int_equal(by_cholesky(l, n, needed, NULL, &positive, &err), 0);
        assert_false(positive);
        by_free(a);
        by_free(l);
        by_free(again);
    }
    by_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cross_of_the_weights_may_be_left_out),
                                       cmocka_unit_test(as_its_inventors_wrote_it),
                                       cmocka_unit_test(qronos_by_its_definition),
                                       cmocka_unit_test(better_than_nearest),
                                       cmocka_unit_test(next_to_the_weights),
                                       cmocka_unit_test(aims_at_cross),
                                       cmocka_unit_test(same_for_any_threads),
                                       cmocka_unit_test(same_in_chunks),
                                       cmocka_unit_test(singular_gram_is_damped),
                                       cmocka_unit_test(hopeless_gram_gives_nearest),
                                       cmocka_unit_test(dead_columns_are_nearest),
                                       cmocka_unit_test(factor_times_itself)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
