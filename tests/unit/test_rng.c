/* Tests that random numbers never change and are distributed as they should be. */
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Values that must never change: files made from a seed are compared between versions. */
static void the_numbers_are_fixed(void **state)
{
    (void)state;
    assert_true(by_rng_bits(0, 0, 0) == 0x85c61a300ec70fa1u);
    assert_true(by_rng_bits(1, 2, 3) == 0xbde71b46aed8c907u);
    assert_true(by_rng_normal(1, 2, 3) == 0x1.9730553b219b7p+0);
    assert_true(by_rng_range(1, 2, 3, -1000000, 1000000) == 483616);
}

static void seeds_streams_and_indices_differ(void **state)
{
    (void)state;
    uint64_t ones[64] = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t base = by_rng_bits(i, i, i);
        assert_true(base != by_rng_bits(i + 1, i, i));
        assert_true(base != by_rng_bits(i, i + 1, i));
        assert_true(base != by_rng_bits(i, i, i + 1));
        for (int bit = 0; bit < 64; bit++)
            ones[bit] += base >> bit & 1;
    }
    /* 500 expected, deviation 16. */
    for (int bit = 0; bit < 64; bit++)
        assert_in_range(ones[bit], 420, 580);
}

static void units_fill_the_interval(void **state)
{
    (void)state;
    unsigned tenths[10] = {0};
    for (uint64_t i = 0; i < 100000; i++) {
        double unit = by_rng_unit(7, 1, i);
        assert_true(unit >= 0 && unit < 1);
        tenths[(int)(unit * 10)]++;
    }
    for (int t = 0; t < 10; t++)
        assert_in_range(tenths[t], 9500, 10500);
}

static void normals_have_the_right_moments(void **state)
{
    (void)state;
    const unsigned count = 200000;
    double sum = 0, squares = 0, fourth = 0;
    unsigned beyond[3] = {0};
    for (uint64_t i = 0; i < count; i++) {
        double x = by_rng_normal(3, 5, i);
        assert_true(isfinite(x));
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        for (int k = 0; k < 3; k++)
            beyond[k] += fabs(x) > k + 1;
    }
    assert_true(fabs(sum / count) < 0.01);
    assert_true(fabs(squares / count - 1) < 0.015);
    assert_true(fabs(fourth / count - 3) < 0.12);
    /* 31.73, 4.55 and 0.27 of a hundred lie beyond 1, 2 and 3. */
    assert_in_range(beyond[0], 62600, 64300);
    assert_in_range(beyond[1], 8700, 9500);
    assert_in_range(beyond[2], 450, 630);
}

static void ranges_have_both_ends(void **state)
{
    (void)state;
    unsigned seen[5] = {0};
    for (uint64_t i = 0; i < 50000; i++) {
        int64_t value = by_rng_range(1, 1, i, -2, 2);
        assert_true(value >= -2 && value <= 2);
        seen[value + 2]++;
    }
    for (int v = 0; v < 5; v++)
        assert_in_range(seen[v], 9600, 10400);
    assert_true(by_rng_range(1, 1, 1, 9, 9) == 9);
    assert_true(by_rng_range(1, 1, 1, INT64_MIN, INT64_MAX) == (int64_t)by_rng_bits(1, 1, 1));
}

/* Three quarters of all 64-bit numbers: taking a remainder would favour the low third. */
static void wide_ranges_have_no_bias(void **state)
{
    (void)state;
    int64_t low = INT64_MIN, high = (int64_t)(0xc000000000000000u - 0x8000000000000000u - 1);
    unsigned thirds[3] = {0};
    for (uint64_t i = 0; i < 30000; i++) {
        int64_t value = by_rng_range(5, 5, i, low, high);
        assert_true(value >= low && value <= high);
        thirds[((uint64_t)value - (uint64_t)low) / 0x4000000000000000u]++;
    }
    for (int t = 0; t < 3; t++)
        assert_in_range(thirds[t], 9600, 10400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_are_fixed),
        cmocka_unit_test(seeds_streams_and_indices_differ),
        cmocka_unit_test(units_fill_the_interval),
        cmocka_unit_test(normals_have_the_right_moments),
        cmocka_unit_test(ranges_have_both_ends),
        cmocka_unit_test(wide_ranges_have_no_bias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
