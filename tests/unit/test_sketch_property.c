/*
 * A million values of each of many distributions, against exact computation; a quarter of them
 * without LONG=1.
 */
#include "ir/tensor.h"
#include "stats/sketch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "scratch.h"
#include "sketch_case.h"

#define COUNT_MAX 1000000u
#define SAMPLES   8u

static float values[COUNT_MAX], sizes[COUNT_MAX];
static size_t total = COUNT_MAX;

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Values sorted, those that are not finite left out; how many are left. */
static size_t sort_finite(float *at, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(at[i]))
            at[kept++] = at[i];
    qsort(at, kept, sizeof *at, by_value);
    return kept;
}

static void look_at_all(struct by_sketch *sketch)
{
    struct by_sketch_scratch *scratch;
    struct by_pool *pool;
    struct by_pool_team team;
    assert_ok(by_pool_open(&pool, 3, &err));
    by_pool_team(&team, pool);
    assert_ok(by_sketch_scratch_open(&scratch, 3, &err));
    by_sketch_init(sketch);
    for (size_t s = 0; s < SAMPLES; s++)
        assert_ok(by_sketch_look(sketch, scratch, values + s * (total / SAMPLES), BY_ELEM_FLOAT,
                                 total / SAMPLES, s, &team.team, &err));
    by_sketch_scratch_close(scratch);
    by_pool_close(pool);
}

/* Narrow near the top, as the header promises; the promise is looked up, not computed anew. */
static void expect_narrow(const struct by_sketch_bin *bin, double top)
{
    double size = fmax(fabs(bin->low), fabs(bin->high)), width = bin->high - bin->low;
    if (size == 0 || size <= 0x1p-126)
        return;
    if (size > top / 16)
        assert_true(width <= top / 2048);
    else if (size > top / 32768)
        assert_true(width <= size * 0x1p-7);
    else
        assert_true(width <= size * 0x1p-4);
}

/* Each value in its turn lies in the bin that its rank says. */
static void expect_quantiles(const struct by_sketch *sketch, const struct by_sketch_bin *bins,
                             size_t bin_count, const float *sorted, size_t count)
{
    size_t rank = 0;
    double top = sketch->top < 0 ? 0 : ldexp(1, sketch->top - 127);
    for (size_t b = 0; b < bin_count; b++) {
        const struct by_sketch_bin *bin = &bins[b];
        assert_true(bin->count > 0 && bin->count <= count - rank);
        assert_true(!b || bins[b - 1].high <= bin->low);
        expect_narrow(bin, top);
        double first = (double)sorted[rank], last = (double)sorted[rank + bin->count - 1];
        if (bin->low == 0 && bin->high == 0)
            assert_true(first == 0 && last == 0);
        else if (bin->low < 0)
            assert_true(bin->low < first && last <= bin->high && last < 0);
        else
            assert_true(bin->low <= first && last < bin->high && first > 0);
        rank += bin->count;
    }
    assert_int_equal(rank, count);
}

static void expect_moments(const struct by_sketch *sketch, size_t count)
{
    long double sum = 0, sizes_sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (long double)values[i];
        sizes_sum += fabsl((long double)values[i]);
        squares += (long double)values[i] * (long double)values[i];
    }
    if (!count)
        return;
    long double n = (long double)count, rms = sqrtl(squares / n);
    assert_true(fabsl((long double)by_sketch_mean(sketch) - sum / n) <= 1e-6L * sizes_sum / n);
    assert_true(fabsl((long double)by_sketch_rms(sketch) - rms) <= 1e-6L * rms);
}

static void try_kind(const struct kind *kind)
{
    struct by_sketch sketch;
    struct by_sketch_bin *bins;
    size_t bin_count, zeros = 0;
    fill(kind, 0, values, total);
    look_at_all(&sketch);
    size_t count = sort_finite(values, total);
    for (size_t i = 0; i < count; i++) {
        zeros += values[i] == 0;
        sizes[i] = fabsf(values[i]);
    }
    assert_int_equal(sketch.count, total);
    assert_int_equal(by_sketch_finite(&sketch), count);
    assert_int_equal(sketch.zeros, zeros);
    assert_true(sketch.min == values[0] && sketch.max == values[count - 1]);
    expect_moments(&sketch, count);
    assert_ok(by_sketch_bins(&sketch, &bins, &bin_count, &err));
    expect_quantiles(&sketch, bins, bin_count, values, count);
    by_free(bins);
    sort_finite(sizes, count);
    assert_ok(by_sketch_magnitudes(&sketch, &bins, &bin_count, &err));
    expect_quantiles(&sketch, bins, bin_count, sizes, count);
    by_free(bins);
    by_sketch_release(&sketch);
}

static void every_quantile_is_in_its_bin(void **state)
{
    (void)state;
    if (!getenv("LONG"))
        total = COUNT_MAX / 4;
    for (size_t k = 0; k < KINDS; k++) {
        print_message("%s\n", kinds[k].name);
        try_kind(&kinds[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_quantile_is_in_its_bin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
