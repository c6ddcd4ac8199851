/* Compares exact sums of doubles with known sums and with 128-bit integers. */
#include "base/exact.h"
#include "base/rng.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct known {
    size_t count;
    double values[6], sum;
};

/* Sums of Python's fractions, rounded once: all exponents, cancellation, ties, the ends. */
static const struct known known[] = {
    {4,
     {-0x1.3a4506513270ep-405, 0x1.b2f330c5c7fd0p-727, -0x1.f902bd23f0824p-877,
      0x1.dc9f81818e811p+474},
     0x1.dc9f81818e811p+474},
    {6,
     {-0x0.0000000001333p-1022, 0x0.0000000000004p-1022, 0x0.000000003c877p-1022,
      -0x0.0000000f28c10p-1022, -0x0.00000000093bdp-1022, -0x0.000000000001fp-1022},
     -0x0.0000000ef6aa4p-1022},
    {4,
     {-0x1.288f5635a6592p+996, -0x1.244ecc93be2a8p+947, 0x1.288f5635a6592p+996,
      -0x1.29c77f248e9cdp+892},
     -0x1.244ecc93be2a8p+947},
    {4,
     {-0x1.ce4228c38fb29p-155, -0x1.a70c31012f037p-760, -0x1.769b10f4205b4p-536,
      0x1.5052434b9b5dfp+1010},
     0x1.5052434b9b5dfp+1010},
    {6,
     {0x1.dcc6bc4af3b0ep+2, 0x1.32f61e9fcc712p-7, -0x1.4f4733261add0p-5, 0x1.c0120595fb817p+3,
      0x1.37c979febb2f4p-9, -0x1.061c0f5ac2863p-6},
     0x1.5681a44ff4de4p+4},
    {4,
     {0x0.01afd1b18504cp-1022, -0x0.0p+0, -0x0.00d7e8d8c2826p-1022, 0x0.00000058ff704p-1022},
     0x0.00d7e931c1f2ap-1022},
    {6,
     {0x1.a72d174c9df6ap-742, 0x1.5e837d70820fep-640, 0x1.abd81f1d69ed6p+82,
      -0x1.15945795e8229p-216, 0x1.3d6b2aa05e11ap-757, -0x1.d420f0f88080bp-77},
     0x1.abd81f1d69ed6p+82},
    {4,
     {0x1.236d02dbba75ap+700, 0x1.71abc78672c00p+698, 0x1.5829bf9c65390p+690,
      0x1.e2f460df71db0p+694},
     0x1.87b9d0b0bc066p+700},
    {4,
     {-0x1.97727d320aa3cp+701, 0x1.4a0f9e552df60p+643, 0x1.97727d320aa3cp+700,
      0x1.c44ae288c365dp+595},
     -0x1.97727d320aa3cp+700},
    {6,
     {0x1.0df4db4d66a3ap+678, 0x1.86d40fc891b4ap+446, -0x1.a7605aec6f024p+550,
      -0x1.ddf5d616499c9p+851, 0x1.2c0bd3b1287ffp-405, 0x1.c9af0153e7c2ap-302},
     -0x1.ddf5d616499c9p+851},
    {3,
     {-0x0.0316908f84d08p-1022, -0x0.000010d0d7324p-1022, -0x0.00d68027e236cp-1022},
     -0x0.03ed21883e398p-1022},
    {4,
     {0x1.e7fc7388080d8p+4, -0x1.d39a697323e5cp-51, -0x1.e7fc7388080d8p+3, 0x1.988de83272864p-108},
     0x1.e7fc7388080d8p+3},
    {5,
     {0x1.f792866836886p-769, 0x1.db17d30cbc97dp-748, 0x1.1810afc132d0dp-168,
      0x1.cb3a570ccec31p-359, 0x1.dc1951c2442f9p+369},
     0x1.dc1951c2442f9p+369},
    {6,
     {-0x0.0p+0, -0x0.0000000797727p-1022, -0x0.0000000000048p-1022, 0x0.0000000000260p-1022,
      0x0.000000004d178p-1022, -0x0.000000000ec3ep-1022},
     -0x0.0000000758fd5p-1022},
    {4,
     {0x1.3f56368afe44cp-4, -0x1.7fd54295edbedp-53, -0x1.3f56368afe44cp-5, 0x1.a85fbb6c4aa87p-109},
     0x1.3f56368afe434p-5},
    {6,
     {-0x1.3ca533488f876p+824, -0x1.be078f3b7a50dp-908, 0x1.7be6b5c9bcf35p-423,
      -0x1.d590bb0a844e5p-847, 0x1.c41adea057543p-913, -0x1.22e25c215a82ap-908},
     -0x1.3ca533488f876p+824},
    {4,
     {-0x1.6473e7b61bd03p+697, 0x1.d107438ab0d11p+700, -0x1.10aff362a9092p+705,
      0x1.45dbb74e46509p+708},
     0x1.256a31a8851ccp+708},
    {4,
     {-0x1.a2fc8919a4d00p+1001, -0x1.996e998483f88p+944, 0x1.a2fc8919a4d00p+1000,
      -0x1.faad5241c9b89p+893},
     -0x1.a2fc8919a4d00p+1000},
    {5,
     {-0x1.91e243192b704p-235, -0x1.e2c089aea6429p+846, 0x1.d83495822cb77p+808,
      -0x1.09f07cefe2a1fp+767, -0x1.00fecb91ee9e5p+976},
     -0x1.00fecb91ee9e5p+976},
    {4,
     {-0x1.c381c01a26f88p-506, 0x1.92daae5675f68p-507, 0x1.3f85a17f0e51cp-492,
      -0x1.eafb14f460a3ap-492},
     -0x1.56f2b78dec1b2p-493},
    {4,
     {-0x1.ab5716aa47090p+996, 0x1.908a00ed8919dp+945, 0x1.ab5716aa47090p+995,
      -0x1.bc56dae50263cp+893},
     -0x1.ab5716aa4708ap+995},
    {2, {-0x1.e8831f237e45ap+908, 0x1.5abfeb8c9817ap+598}, -0x1.e8831f237e45ap+908},
    {5,
     {-0x1.7318cf8a2ab29p-6, -0x1.c35c41358e7e0p+2, 0x1.9cedd3e9f994ap-7, 0x1.5085783bff77bp+0,
      -0x1.18e9f823171c5p-7},
     -0x1.706bfa0835599p+2},
    {4, {-0x0.000000000086dp-1022, 0x0.0p+0, 0x0.000000000086dp-1022, -0x0.0p+0}, 0x0.0p+0},
    {2, {0x1.0000000000000p+0, 0x1.0000000000000p-53}, 0x1.0000000000000p+0},
    {2, {0x1.0000000000001p+0, 0x1.0000000000000p-53}, 0x1.0000000000002p+0},
    {3,
     {0x1.0000000000000p+0, 0x1.0000000000000p-53, 0x0.0000000000001p-1022},
     0x1.0000000000001p+0},
    {3,
     {0x1.0000000000000p+0, 0x1.0000000000000p-53, -0x0.0000000000001p-1022},
     0x1.0000000000000p+0},
    {2, {0x1.fffffffffffffp+1023, 0x1.0000000000000p+970}, INFINITY},
    {2, {0x1.fffffffffffffp+1023, 0x1.0000000000000p+969}, 0x1.fffffffffffffp+1023},
    {3,
     {-0x1.0000000000000p+0, -0x1.0000000000000p-53, -0x0.0000000000001p-1022},
     -0x1.0000000000001p+0},
    {2, {0x1.0000000000000p-1022, -0x0.0000000000001p-1022}, 0x0.fffffffffffffp-1022},
    {3,
     {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+1023},
     0x1.fffffffffffffp+1023},
};

static void sums_of_fractions(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        struct by_exact sum = {0};
        for (size_t i = 0; i < known[k].count; i++)
            by_exact_add(&sum, known[k].values[i]);
        double have = by_exact_value(&sum);
        if (memcmp(&have, &known[k].sum, sizeof have))
            fail_msg("row %zu: %a, not %a", k, have, known[k].sum);
    }
}

static double random_double(uint64_t stream, uint64_t index)
{
    uint64_t bits = by_rng_bits(11, stream, index);
    double value;
    if ((bits >> 52 & 0x7ff) == 0x7ff)
        bits ^= 1ull << 52;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Whole numbers of 128 bits, which the compiler's own code rounds to double. */
static void sums_of_whole_numbers(void **state)
{
    (void)state;
    static const int scales[] = {-1074, -1000, -137, -64, 0, 1, 63, 500, 860};
    for (uint64_t k = 0; k < 2000; k++) {
        int scale = scales[k % (sizeof scales / sizeof *scales)];
        struct by_exact sum = {0};
        __int128_t whole = 0;
        for (uint64_t i = 0; i < 1 + k % 17; i++) {
            int64_t part = (int64_t)by_rng_bits(12, k, i) >> (11 + by_rng_bits(13, k, i) % 53);
            unsigned shift = (unsigned)(by_rng_bits(14, k, i) % 60);
            whole += (__int128_t)part * ((__int128_t)1 << shift);
            by_exact_add(&sum, ldexp((double)part, (int)shift + scale));
            assert_true(by_exact_value(&sum) == ldexp((double)whole, scale));
        }
    }
}

/* The same in any order, and joined from any parts: word for word. */
static void order_does_not_matter(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    for (uint64_t round = 0; round < 20; round++) {
        struct by_exact forth = {0}, back = {0}, parts[7] = {0};
        for (uint64_t i = 0; i < COUNT; i++) {
            by_exact_add(&forth, random_double(round, i));
            by_exact_add(&back, random_double(round, COUNT - 1 - i));
            by_exact_add(&parts[by_rng_bits(15, round, i) % 7], random_double(round, i));
        }
        for (size_t i = 7; i-- > 1;)
            by_exact_merge(&parts[by_rng_bits(16, round, i) % i], &parts[i]);
        assert_memory_equal(&forth, &back, sizeof forth);
        assert_memory_equal(&forth, &parts[0], sizeof forth);
    }
}

static void what_is_taken_off_is_gone(void **state)
{
    (void)state;
    struct by_exact sum = {0}, zero = {0};
    for (uint64_t i = 0; i < 5000; i++)
        by_exact_add(&sum, random_double(1, i));
    for (uint64_t i = 0; i < 5000; i++)
        by_exact_add(&sum, -random_double(1, i));
    assert_memory_equal(&sum, &zero, sizeof sum);
    assert_true(by_exact_value(&sum) == 0 && !signbit(by_exact_value(&sum)));
}

/* Room for far more than anybody adds. */
static void overflow_is_of_the_value_only(void **state)
{
    (void)state;
    struct by_exact sum = {0};
    by_exact_add(&sum, -DBL_MAX);
    for (int i = 0; i < 40; i++) {
        struct by_exact twice = sum;
        by_exact_merge(&sum, &twice);
        assert_true(by_exact_value(&sum) == -(double)INFINITY);
    }
    struct by_exact other = sum;
    by_exact_add(&other, DBL_TRUE_MIN);
    for (size_t i = 0; i < BY_EXACT_WORDS; i++)
        other.words[i] = ~other.words[i];
    by_exact_merge(&sum, &other); /* x + ~(x + least) = -least - one unit */
    assert_true(by_exact_value(&sum) == -2 * DBL_TRUE_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_fractions),
        cmocka_unit_test(sums_of_whole_numbers),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(what_is_taken_off_is_gone),
        cmocka_unit_test(overflow_is_of_the_value_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
