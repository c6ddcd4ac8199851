/* Sums of products, beside the plain ones; with the greatest products that there are. */
#include "src/ops/dot.c" /* no library of tests has it */

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MANY 1000

static int16_t a[MANY], b[MANY];

static void compare(void)
{
    for (size_t count = 0; count < MANY; count += count < 40 ? 1 : 97) {
        const int64_t wanted = by_dot_plain(a, b, count);
        assert_true(by_dot(a, b, count) == wanted);
#if defined(__x86_64__)
        assert_true(dot_sse2(a, b, count) == wanted);
        assert_true(!__builtin_cpu_supports("avx2") || dot_avx2(a, b, count) == wanted);
#endif
    }
}

static void any_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        a[i] = (int16_t)by_rng_bits(1, 0, i);
        b[i] = (int16_t)by_rng_bits(1, 1, i);
    }
    compare();
}

static void ends(void **state)
{
    (void)state;
    static const int16_t limits[] = {INT16_MIN, INT16_MAX};
    for (size_t left = 0; left < 2; left++)
        for (size_t right = 0; right < 2; right++) {
            for (size_t i = 0; i < MANY; i++) {
                a[i] = limits[left];
                b[i] = limits[right];
            }
            compare();
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_numbers),
        cmocka_unit_test(ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
