/* Moments of inputs that linear layers share, beside plain sums. */
#include "llm/solve/inputs.h"

#include "base/half.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COLUMNS 300
#define WINDOWS 3
#define TOKENS  40
#define ALL     (WINDOWS * TOKENS)
#define HELD    2 /* from this window on */
#define LIMIT   8

static struct baryon_error err;
static float x[ALL * COLUMNS], f[ALL * COLUMNS];
static uint16_t halves[2][ALL * COLUMNS];

static void fill(float massive)
{
    for (size_t t = 0; t < ALL; t++)
        for (size_t i = 0; i < COLUMNS; i++) {
            const float size = t % TOKENS ? 1 : massive;
            x[t * COLUMNS + i] = size * (float)by_rng_normal(3, t, i);
            f[t * COLUMNS + i] = x[t * COLUMNS + i] + 0.1f * (float)by_rng_normal(4, t, i);
        }
}

static void as_halves(void)
{
    for (size_t i = 0; i < ALL * COLUMNS; i++) {
        halves[0][i] = by_f32_to_bf16_one(x[i]);
        halves[1][i] = by_f32_to_bf16_one(f[i]);
        x[i] = by_bf16_to_f32_one(halves[0][i]);
        f[i] = by_bf16_to_f32_one(halves[1][i]);
    }
}

static void gather(struct by_llm_inputs *inputs, bool halved, unsigned threads)
{
    struct by_llm_input_rows rows[WINDOWS];
    struct by_pool *pool = NULL;
    for (size_t w = 0; w < WINDOWS; w++) {
        const size_t at = w * TOKENS * COLUMNS;
        rows[w] = (struct by_llm_input_rows){x + at, f + at, TOKENS, halved};
        if (halved)
            rows[w].x = halves[0] + at, rows[w].f = halves[1] + at;
    }
    assert_int_equal(by_pool_open(&pool, threads, &err), 0);
    assert_int_equal(by_llm_inputs_gather(inputs, COLUMNS, rows, WINDOWS, HELD, pool, &err), 0);
    by_pool_close(pool);
}

static int by_size(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* What each token counts: no more than the limit of medians. */
static void find_shares(double *shares)
{
    double sorted[ALL];
    for (size_t t = 0; t < ALL; t++) {
        shares[t] = 0;
        for (size_t i = 0; i < COLUMNS; i++)
            shares[t] += (double)x[t * COLUMNS + i] * (double)x[t * COLUMNS + i];
        sorted[t] = shares[t];
    }
    qsort(sorted, ALL, sizeof *sorted, by_size);
    for (size_t t = 0; t < ALL; t++)
        shares[t] = fmin(1, LIMIT * sorted[ALL / 2] / shares[t]);
}

static double mean_of(const float *left, const double *shares, size_t first, size_t end, size_t i,
                      size_t j)
{
    double sum = 0;
    for (size_t t = first; t < end; t++)
        sum += shares[t] * (double)left[t * COLUMNS + i] * (double)x[t * COLUMNS + j];
    return sum / (double)(end - first);
}

static void assert_near(float found, double wanted)
{
    assert_true(fabs((double)found - wanted) < 1e-4);
}

static void assert_means(const struct by_llm_inputs *inputs)
{
    double shares[ALL];
    find_shares(shares);
    for (size_t i = 0; i < COLUMNS; i += 7)
        for (size_t j = 0; j < COLUMNS; j += 11) {
            const size_t at = i * COLUMNS + j;
            const double all = mean_of(x, shares, 0, ALL, i, j);
            assert_near(inputs->gram[at], mean_of(x, shares, 0, HELD * TOKENS, i, j));
            assert_near(inputs->held[at], mean_of(x, shares, HELD * TOKENS, ALL, i, j));
            assert_near(inputs->drift[at], mean_of(f, shares, 0, ALL, i, j) - all);
        }
}

static void means_are_those_of_tokens(void **state)
{
    (void)state;
    for (unsigned halved = 0; halved < 2; halved++) {
        struct by_llm_inputs inputs;
        fill(1);
        if (halved)
            as_halves();
        gather(&inputs, halved, 2);
        assert_means(&inputs);
        by_llm_inputs_release(&inputs);
    }
}

/* The first token of each window has a million times the square of others. */
static void massive_tokens_are_limited(void **state)
{
    (void)state;
    for (unsigned halved = 0; halved < 2; halved++) {
        struct by_llm_inputs inputs, again;
        float peak = 0;
        fill(1000);
        if (halved)
            as_halves();
        gather(&inputs, halved, 1);
        assert_means(&inputs);
        assert_true(inputs.gram[0] < 2);
        for (size_t i = 0; i < ALL; i++)
            peak = fmaxf(peak, fabsf(x[i * COLUMNS]));
        assert_true(inputs.peaks[0] == peak); /* ranges are those of all tokens as they are */
        gather(&again, halved, 3);
        const size_t bytes = COLUMNS * COLUMNS * sizeof(float);
        assert_memory_equal(inputs.gram, again.gram, bytes);
        assert_memory_equal(inputs.held, again.held, bytes);
        assert_memory_equal(inputs.drift, again.drift, bytes);
        by_llm_inputs_release(&inputs);
        by_llm_inputs_release(&again);
    }
}

static void strange_tokens_are_refused(void **state)
{
    struct by_llm_inputs inputs;
    struct by_llm_input_rows rows = {x, NULL, ALL, false};
    (void)state;
    fill(1);
    x[5 * COLUMNS + 17] = NAN;
    assert_int_equal(by_llm_inputs_gather(&inputs, COLUMNS, &rows, 1, 1, NULL, &err), -1);
    assert_non_null(strstr(err.message, "input 17 has values that are NaN"));
    by_llm_inputs_release(&inputs);
    x[5 * COLUMNS + 17] = INFINITY;
    assert_int_equal(by_llm_inputs_gather(&inputs, COLUMNS, &rows, 1, 1, NULL, &err), -1);
    by_llm_inputs_release(&inputs);
    rows.tokens = 0;
    assert_int_equal(by_llm_inputs_gather(&inputs, COLUMNS, &rows, 1, 1, NULL, &err), 0);
    by_llm_inputs_release(&inputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_those_of_tokens),
        cmocka_unit_test(massive_tokens_are_limited),
        cmocka_unit_test(strange_tokens_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
