/* Rounding by descent: against all choices there are, against descent as it is written, and what
 * holds for any layer. */
#include "solve/descent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/descent_case.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define assert_near(a, b, most) assert_true(fabs((a) - (b)) <= (most))

static int run(struct descent_case *c, struct by_pool *pool)
{
    return by_descent_run(&c->problem, pool, c->integers, c->errors, &err);
}

static void assert_ran(struct descent_case *c, struct by_pool *pool)
{
    if (run(c, pool))
        fail_msg("%s", err.message);
}

/* --- Descent as it is written: one column after the other, in double --- */

static bool step_pays(const struct by_descent *p, size_t out, size_t i, const double *residual,
                      int32_t now, int32_t *then)
{
    int32_t low = p->low, high = p->high;
    if (!p->free)
        neighbours(p, out, i, &low, &high);
    *then = residual[i] > 0 ? now - 1 : now + 1;
    if (residual[i] > 0 ? now <= low : now >= high)
        return false;
    const double step = value_of(p, out, i, *then) - value_of(p, out, i, now);
    const double own = (double)p->gram[i * p->columns + i] * step * step;
    return own > 0 && -2 * step * residual[i] > own * (1 + 0x1p-10);
}

static void descend_plainly(const struct by_descent *p, size_t out, int32_t *integers)
{
    double *residual = descent_room(p->columns, sizeof *residual);
    for (size_t i = 0; i < p->columns; i++) {
        residual[i] = -(double)p->cross[out * p->columns + i];
        for (size_t j = 0; j < p->columns; j++)
            residual[i] += (double)p->gram[i * p->columns + j] * value_of(p, out, j, integers[j]);
    }
    bool any = true;
    for (unsigned sweep = 0; any && sweep < (p->sweeps ? p->sweeps : BY_DESCENT_SWEEPS); sweep++) {
        any = false;
        for (size_t i = 0; i < p->columns; i++) {
            int32_t then;
            if (!step_pays(p, out, i, residual, integers[i], &then))
                continue;
            const double step = value_of(p, out, i, then) - value_of(p, out, i, integers[i]);
            for (size_t j = 0; j < p->columns; j++)
                residual[j] += step * (double)p->gram[i * p->columns + j];
            integers[i] = then;
            any = true;
        }
    }
    by_free(residual);
}

/* --- What holds for any result --- */

static void assert_within(const struct descent_case *c)
{
    const struct by_descent *p = &c->problem;
    for (size_t out = 0; out < p->outs; out++)
        for (size_t i = 0; i < p->columns; i++) {
            const int32_t now = c->integers[out * p->columns + i];
            int32_t low = p->low, high = p->high;
            if (!p->free)
                neighbours(p, out, i, &low, &high);
            assert_in_range(now - low, 0, high - low);
        }
}

/* Each output is as much better as it says. */
static void assert_better(const struct descent_case *c)
{
    const struct by_descent *p = &c->problem;
    for (size_t out = 0; out < p->outs; out++) {
        const double before = plain_error(p, out, c->start + out * p->columns);
        const double after = plain_error(p, out, c->integers + out * p->columns);
        assert_true(c->errors[out] >= 0);
        assert_near(before - after, c->errors[out], 1e-5 * (fabs(before) + 1e-30));
        assert_true(c->errors[out] > 0 ||
                    !memcmp(c->start + out * p->columns, c->integers + out * p->columns,
                            p->columns * sizeof *c->start));
    }
}

/* No single step pays any more, but for noise. */
static void assert_settled(const struct descent_case *c)
{
    const struct by_descent *p = &c->problem;
    for (size_t out = 0; out < p->outs; out++) {
        int32_t *now = c->integers + out * p->columns;
        const double error = plain_error(p, out, now);
        for (size_t i = 0; i < p->columns; i++) {
            int32_t low = p->low, high = p->high;
            if (!p->free)
                neighbours(p, out, i, &low, &high);
            const int32_t kept = now[i];
            const double unit = value_of(p, out, i, 1) - value_of(p, out, i, 0);
            const double noise = 0.01 * unit * unit * (double)p->gram[i * p->columns + i];
            for (int32_t other = kept - 1; other <= kept + 1; other += 2)
                if (other >= low && other <= high) {
                    now[i] = other;
                    assert_true(plain_error(p, out, now) >= error - noise);
                }
            now[i] = kept;
        }
    }
}

/* --- All choices --- */

static double best_of_all(const struct by_descent *p, size_t out)
{
    int32_t choice[10] = {0};
    double best = INFINITY;
    for (unsigned bits = 0; bits < 1u << p->columns; bits++) {
        for (size_t i = 0; i < p->columns; i++) {
            int32_t low, high;
            neighbours(p, out, i, &low, &high);
            choice[i] = bits >> i & 1 ? high : low;
        }
        best = fmin(best, plain_error(p, out, choice));
    }
    return best;
}

/* Of what nearest integers lose against the best choice, most comes back. */
static void against_all_choices(void **state)
{
    double lost = 0, left = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        const struct descent_shape shape = {
            .columns = 1 + seed % 10, .outs = 3, .rows = 30, .low = -8, .high = 7, .seed = seed};
        struct descent_case c;
        descent_open(&c, &shape);
        c.problem.sweeps = 100;
        assert_ran(&c, NULL);
        assert_within(&c);
        assert_better(&c);
        assert_settled(&c);
        for (size_t out = 0; out < shape.outs; out++) {
            const double best = best_of_all(&c.problem, out);
            const double found = plain_error(&c.problem, out, c.integers + out * shape.columns);
            assert_true(found >= best - 1e-9 * fabs(best));
            lost += plain_error(&c.problem, out, c.start + out * shape.columns) - best;
            left += found - best;
        }
        descent_close(&c);
    }
    print_message("of what nearest integers lose %.0f%% is left\n", 100 * left / lost);
    assert_true(left < 0.4 * lost);
}

/* --- Against descent as it is written --- */

static void assert_like_plain(const struct descent_shape *shape)
{
    struct descent_case c;
    descent_open(&c, shape);
    assert_ran(&c, NULL);
    assert_within(&c);
    assert_better(&c);
    double before = 0, gained = 0, gained_plainly = 0;
    for (size_t out = 0; out < shape->outs; out++) {
        int32_t *integers = c.start + out * shape->columns;
        before = plain_error(&c.problem, out, integers);
        gained += c.errors[out];
        descend_plainly(&c.problem, out, integers);
        gained_plainly += before - plain_error(&c.problem, out, integers);
    }
    /* Steps are the same but where the residual is within noise of what decides. */
    assert_near(gained, gained_plainly, 0.02 * gained_plainly);
    descent_close(&c);
}

static void against_plain_descent(void **state)
{
    static const size_t columns[] = {1, 2, 63, 64, 65, 127, 128, 129, 300};
    static const size_t outs[] = {1, 15, 16, 17, 40};
    (void)state;
    for (size_t i = 0; i < COUNT(columns); i++)
        for (size_t j = 0; j < COUNT(outs); j++)
            assert_like_plain(&(struct descent_shape){.columns = columns[i],
                                                      .outs = outs[j],
                                                      .rows = 200,
                                                      .low = -128,
                                                      .high = 127,
                                                      .group = j % 2 ? 24 : 0,
                                                      .zeros = j > 1,
                                                      .free = i % 3 == 1,
                                                      .seed = i * 10 + j});
}

static void within_sweeps(void **state)
{
    (void)state;
    for (unsigned sweeps = 1; sweeps < 4; sweeps++) {
        const struct descent_shape shape = {
            .columns = 50, .outs = 2, .rows = 100, .low = 0, .high = 15, .zeros = true};
        struct descent_case c;
        descent_open(&c, &shape);
        c.problem.sweeps = sweeps;
        assert_ran(&c, NULL);
        for (size_t out = 0; out < 2; out++)
            descend_plainly(&c.problem, out, c.start + out * 50);
        assert_memory_equal(c.start, c.integers, 100 * sizeof *c.start);
        descent_close(&c);
    }
}

static void settled_at_the_end(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        const struct descent_shape shape = {.columns = 140,
                                            .outs = 2,
                                            .rows = seed % 3 ? 200 : 30,
                                            .group = seed % 2 ? 32 : 0,
                                            .low = -7,
                                            .high = 7,
                                            .zeros = seed % 2,
                                            .free = seed % 4 > 1,
                                            .seed = seed};
        struct descent_case c;
        descent_open(&c, &shape);
        c.problem.sweeps = 10000;
        assert_ran(&c, NULL);
        assert_within(&c);
        assert_better(&c);
        assert_settled(&c);
        descent_close(&c);
    }
}

static void same_for_any_threads(void **state)
{
    static const struct descent_shape shapes[] = {
        {.columns = 300, .outs = 100, .rows = 350, .low = -128, .high = 127, .seed = 1},
        {.columns = 130,
         .outs = 300,
         .rows = 350,
         .low = 0,
         .high = 15,
         .zeros = true,
         .group = 32},
        {.columns = 20, .outs = 70, .rows = 60, .low = -8, .high = 7, .free = true}};
    (void)state;
    for (size_t s = 0; s < COUNT(shapes); s++) {
        struct descent_case c;
        descent_open(&c, &shapes[s]);
        const size_t count = shapes[s].columns * shapes[s].outs;
        assert_ran(&c, NULL);
        int32_t *first = descent_room(count, sizeof *first);
        memcpy(first, c.integers, count * sizeof *first);
        for (unsigned threads = 1; threads <= 3; threads++) {
            struct by_pool *pool;
            assert_int_equal(by_pool_open(&pool, threads, &err), 0);
            memcpy(c.integers, c.start, count * sizeof *first);
            assert_ran(&c, pool);
            assert_memory_equal(first, c.integers, count * sizeof *first);
            by_pool_close(pool);
        }
        by_free(first);
        descent_close(&c);
    }
}

/* --- Starts --- */

/* Integers beyond the two next to the weight stay or come nearer, and never gain by going away. */
static void start_beyond_the_neighbours(void **state)
{
    const struct descent_shape shape = {
        .columns = 90, .outs = 4, .rows = 100, .low = -20, .high = 20, .zeros = true, .seed = 5};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    for (size_t i = 0; i < 360; i++) {
        int32_t moved = c.start[i] + (int32_t)by_rng_range(1, 1, i, -3, 3);
        moved = moved < -20 ? -20 : moved > 20 ? 20 : moved;
        c.start[i] = c.integers[i] = moved;
    }
    c.problem.sweeps = 100;
    assert_ran(&c, NULL);
    assert_better(&c);
    for (size_t i = 0; i < 360; i++) {
        int32_t low, high;
        neighbours(&c.problem, i / 90, i % 90, &low, &high);
        low = c.start[i] < low ? c.start[i] : low;
        high = c.start[i] > high ? c.start[i] : high;
        assert_in_range(c.integers[i] - low, 0, high - low);
    }
    descent_close(&c);
}

static void free_is_at_least_as_good(void **state)
{
    struct descent_shape shape = {.columns = 60, .outs = 20, .rows = 100, .low = -8, .high = 7};
    double gained[2] = {0};
    (void)state;
    for (int free = 0; free < 2; free++) {
        struct descent_case c;
        shape.free = free;
        descent_open(&c, &shape);
        assert_ran(&c, NULL);
        for (size_t out = 0; out < shape.outs; out++)
            gained[free] += c.errors[out];
        descent_close(&c);
    }
    assert_true(gained[1] > gained[0]);
}

/* --- Odd layers --- */

static void dead_columns_stay(void **state)
{
    const struct descent_shape shape = {
        .columns = 150, .outs = 3, .rows = 200, .low = -8, .high = 7, .free = true};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    for (size_t i = 0; i < 150; i++)
        c.gram[i * 150 + 7] = c.gram[7 * 150 + i] = 0;
    assert_ran(&c, NULL);
    assert_better(&c);
    for (size_t out = 0; out < 3; out++)
        assert_int_equal(c.integers[out * 150 + 7], c.start[out * 150 + 7]);
    memset(c.gram, 0, 150 * 150 * sizeof *c.gram);
    memcpy(c.integers, c.start, 450 * sizeof *c.start);
    assert_ran(&c, NULL);
    assert_memory_equal(c.integers, c.start, 450 * sizeof *c.start);
    descent_close(&c);
}

static void singular_gram(void **state)
{
    (void)state;
    for (int free = 0; free < 2; free++) {
        const struct descent_shape shape = {
            .columns = 200, .outs = 5, .rows = 1, .low = -128, .high = 127, .free = free};
        struct descent_case c;
        descent_open(&c, &shape);
        assert_ran(&c, NULL);
        assert_within(&c);
        assert_better(&c);
        descent_close(&c);
    }
}

static void one_level_and_exact_weights(void **state)
{
    struct descent_shape shape = {.columns = 40, .outs = 2, .rows = 50, .low = 3, .high = 3};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    assert_ran(&c, NULL);
    for (size_t i = 0; i < 80; i++)
        assert_int_equal(c.integers[i], 3);
    descent_close(&c);
    shape.low = -1000;
    shape.high = 1000;
    descent_open(&c, &shape);
    c.scales[0] = c.scales[1] = 1;
    for (size_t i = 0; i < 80; i++)
        c.weights[i] = (float)(i % 7) - 3;
    by_descent_nearest(&c.problem, c.start);
    memcpy(c.integers, c.start, 80 * sizeof *c.start);
    assert_ran(&c, NULL);
    for (size_t i = 0; i < 80; i++)
        assert_int_equal(c.integers[i], (int)(i % 7) - 3);
    descent_close(&c);
}

static void extreme_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < DESCENT_EXTREMES; i++) {
        struct descent_case c;
        descent_open_extreme(&c, i);
        by_descent_nearest(&c.problem, c.start);
        memcpy(c.integers, c.start, 280 * sizeof *c.start);
        assert_ran(&c, NULL);
        assert_within(&c);
        for (size_t out = 0; out < 2; out++) {
            assert_true(isfinite(c.errors[out]) && c.errors[out] >= 0);
            const double before = plain_error(&c.problem, out, c.start + out * 140);
            const double after = plain_error(&c.problem, out, c.integers + out * 140);
            assert_true(after <= before + 1e-12 * fabs(before));
        }
        descent_close(&c);
    }
}

static void assert_refused(struct descent_case *c, const char *says)
{
    const int32_t before = c->integers[0];
    by_err_clear(&err);
    assert_int_equal(run(c, NULL), -1);
    if (!strstr(err.message, says))
        fail_msg("'%s' is not in '%s'", says, err.message);
    assert_int_equal(c->integers[0], before);
}

static void what_is_refused(void **state)
{
    const struct descent_shape shape = {.columns = 20, .outs = 2, .rows = 30, .low = -8, .high = 7};
    const float odd[] = {NAN, INFINITY, -INFINITY};
    struct descent_case c;
    (void)state;
    descent_open(&c, &shape);
    float *const places[] = {c.gram + 399, c.cross + 39, c.weights + 17, c.scales + 1};
    const char *const names[] = {"gram", "cross", "weights", "scale"};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 3; k++) {
            const float kept = *places[i];
            *places[i] = odd[k];
            assert_refused(&c, names[i]);
            assert_int_equal(err.code, BARYON_ERR_INPUT);
            *places[i] = kept;
        }
    c.scales[0] = 0;
    assert_refused(&c, "scale 0, must be positive");
    c.scales[0] = 1;
    c.integers[39] = 8;
    assert_refused(&c, "start 8");
    c.integers[39] = 0;
    const struct by_descent good = c.problem;
#define REFUSED(member, value, says)                                                               \
    c.problem.member = value;                                                                      \
    assert_refused(&c, says);                                                                      \
    c.problem = good
    REFUSED(columns, 0, "0 columns");
    REFUSED(outs, 0, "0 outputs");
    REFUSED(group, 19, "groups");
    REFUSED(group, 0, "groups");
    REFUSED(groups, 2, "groups");
    REFUSED(low, 9, "levels 9 to 7, must be in ascending order");
    REFUSED(high, 1 << 22, "levels");
    REFUSED(gram, NULL, "either a Gram matrix or rows");
    descent_close(&c);
}

static void nearest_integers(void **state)
{
    const float weights[] = {0.5f, 1.5f, -2.5f, 100, -100, NAN, INFINITY, 0.25f};
    const float scales[] = {1, 0.5f};
    const int32_t zeros[] = {0, 1};
    const struct by_descent p = {.columns = 4,
                                 .outs = 2,
                                 .weights = weights,
                                 .scales = scales,
                                 .zeros = zeros,
                                 .groups = 1,
                                 .group = 4,
                                 .low = -8,
                                 .high = 7};
    int32_t integers[8];
    (void)state;
    by_descent_nearest(&p, integers);
    assert_memory_equal(integers, ((const int32_t[]){0, 2, -2, 7, -8, 1, 7, 1}), sizeof integers);
}

static void errors_as_written(void **state)
{
    (void)state;
    for (size_t columns = 1; columns < 40; columns += 6) {
        const struct descent_shape shape = {.columns = columns,
                                            .outs = 18,
                                            .rows = 50,
                                            .low = 0,
                                            .high = 15,
                                            .zeros = true,
                                            .group = 5,
                                            .seed = columns};
        struct descent_case c;
        descent_open(&c, &shape);
        assert_int_equal(by_descent_error(&c.problem, c.start, c.errors, &err), 0);
        for (size_t out = 0; out < 18; out++) {
            const double error = plain_error(&c.problem, out, c.start + out * columns);
            assert_near(c.errors[out], error, 1e-5 * fabs(error));
        }
        descent_close(&c);
    }
}

/* d' gram d, whatever cross is; 150 columns are more than a block. */
static void distances_as_written(void **state)
{
    (void)state;
    for (size_t columns = 1; columns < 160; columns += 149) {
        const struct descent_shape shape = {.columns = columns,
                                            .outs = 5,
                                            .rows = 50,
                                            .low = 0,
                                            .high = 15,
                                            .zeros = true,
                                            .group = 5,
                                            .seed = columns};
        struct descent_case c;
        descent_open(&c, &shape);
        const struct by_descent *p = &c.problem;
        assert_int_equal(by_descent_distance(p, c.start, c.errors, &err), 0);
        for (size_t out = 0; out < 5; out++) {
            double d[160], sum = 0;
            for (size_t i = 0; i < columns; i++) {
                const size_t at = out * p->groups + i / p->group;
                d[i] = (double)(c.start[out * columns + i] - p->zeros[at]) * (double)p->scales[at] -
                       (double)p->weights[out * columns + i];
            }
            for (size_t i = 0; i < columns; i++)
                for (size_t k = 0; k < columns; k++)
                    sum += d[i] * (double)p->gram[i * columns + k] * d[k];
            assert_near(c.errors[out], sum, 1e-5 * fabs(sum) + 1e-30);
        }
        descent_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_all_choices),
                                       cmocka_unit_test(against_plain_descent),
                                       cmocka_unit_test(within_sweeps),
                                       cmocka_unit_test(settled_at_the_end),
                                       cmocka_unit_test(same_for_any_threads),
                                       cmocka_unit_test(start_beyond_the_neighbours),
                                       cmocka_unit_test(free_is_at_least_as_good),
                                       cmocka_unit_test(dead_columns_stay),
                                       cmocka_unit_test(singular_gram),
                                       cmocka_unit_test(one_level_and_exact_weights),
                                       cmocka_unit_test(extreme_sizes),
                                       cmocka_unit_test(what_is_refused),
                                       cmocka_unit_test(nearest_integers),
                                       cmocka_unit_test(errors_as_written),
                                       cmocka_unit_test(distances_as_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
