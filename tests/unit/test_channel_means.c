/* Means of channels: sums in any layout and type, added in any order. */
#include "stats/channel_means.h"

#include "base/half.h"
#include "base/rng.h"
#include "ir/tensor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"

#define MOST 200000

static float values[MOST], blocked[MOST];
static float sums[4096], others[4096];

static void draw_values(size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((double)(int64_t)by_rng_bits(seed, 0, i) * 0x1p-60 + 3.0);
}

static double plain_sum(const struct by_channel_values *all, size_t channel, double *magnitude)
{
    double sum = 0;
    *magnitude = 0;
    for (size_t o = 0; o < all->outer; o++)
        for (size_t i = 0; i < all->inner; i++) {
            const double value = (double)values[(o * all->channels + channel) * all->inner + i];
            sum += value;
            *magnitude += fabs(value);
        }
    return sum;
}

static void assert_sums(const struct by_channel_values *all)
{
    for (size_t c = 0; c < all->channels; c++) {
        double magnitude;
        const double wanted = plain_sum(all, c, &magnitude);
        if (!(fabs((double)sums[c] - wanted) <= 1e-6 * magnitude))
            fail_msg("[%zu][%zu][%zu] channel %zu: %.17g, not %.17g", all->outer, all->channels,
                     all->inner, c, (double)sums[c], wanted);
    }
}

static void shapes_of_all_kinds(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {{1, 1, 1},    {1, 3, 49},    {2, 5, 16},   {1, 7, 512},
                                       {3, 4, 513},  {1, 2, 9000},  {4, 1000, 1}, {1, 4096, 1},
                                       {1, 5, 4097}, {2, 96, 1000}, {1, 0, 5},    {0, 4, 5}};
    struct by_pool *pool;
    struct by_pool_team team;
    assert_ok(by_pool_open(&pool, 3, &err));
    by_pool_team(&team, pool);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct by_channel_values all = {.at = values,
                                              .elem = BY_ELEM_FLOAT,
                                              .outer = shapes[i][0],
                                              .channels = shapes[i][1],
                                              .inner = shapes[i][2]};
        draw_values(all.outer * all.channels * all.inner, i);
        assert_ok(by_channel_sums(&all, NULL, sums, &err));
        assert_sums(&all);
        assert_ok(by_channel_sums(&all, &team.team, others, &err));
        assert_memory_equal(sums, others, all.channels * sizeof *sums);
    }
    by_pool_close(pool);
}

/* The padding of the last block is NaN, which nobody may see. */
static void put_in_blocks(const struct by_channel_values *all)
{
    const struct by_blocks *blocks = all->blocks;
    const size_t count = (blocks->channels + blocks->block - 1) / blocks->block;
    for (size_t o = 0; o < all->outer; o++)
        for (size_t c = 0; c < count * blocks->block; c++)
            for (size_t i = 0; i < all->inner; i++)
                blocked[((o * count + c / blocks->block) * all->inner + i) * blocks->block +
                        c % blocks->block] =
                    c < all->channels ? values[(o * all->channels + c) * all->inner + i] : NAN;
}

static void blocks_of_all_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {4, 8, 16, 24, 32};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t channels = 1; channels < 70; channels += 11)
            for (size_t inner = 1; inner < 600; inner += 149) {
                const struct by_blocks blocks = {channels, sizes[s], inner};
                const struct by_channel_values all = {.at = blocked,
                                                      .elem = BY_ELEM_FLOAT,
                                                      .outer = 2,
                                                      .channels = channels,
                                                      .inner = inner,
                                                      .blocks = &blocks};
                draw_values(2 * channels * inner, s);
                put_in_blocks(&all);
                assert_ok(by_channel_sums(&all, NULL, sums, &err));
                assert_sums(&all);
            }
}

static void other_types(void **state)
{
    (void)state;
    static uint16_t halves[1200];
    static double doubles[1200];
    struct by_channel_values all = {
        .at = halves, .elem = BY_ELEM_FLOAT16, .outer = 2, .channels = 3, .inner = 200};
    for (size_t i = 0; i < 1200; i++) {
        values[i] = (float)(i % 37) - 11;
        doubles[i] = (double)values[i];
    }
    by_f32_to_f16(halves, values, 1200);
    assert_ok(by_channel_sums(&all, NULL, sums, &err));
    assert_sums(&all);
    all.at = doubles;
    all.elem = BY_ELEM_DOUBLE;
    assert_ok(by_channel_sums(&all, NULL, sums, &err));
    assert_sums(&all);
    all.elem = BY_ELEM_INT8;
    assert_int_equal(by_channel_sums(&all, NULL, sums, &err), -1);
}

/* Sums beyond single precision, and channels with values that are not finite. */
static void extremes(void **state)
{
    (void)state;
    struct by_channel_means means;
    const struct by_channel_values all = {
        .at = values, .elem = BY_ELEM_FLOAT, .outer = 1, .channels = 3, .inner = 100};
    for (size_t i = 0; i < 300; i++)
        values[i] = i < 100 ? 3e38f : 1;
    values[250] = NAN;
    assert_ok(by_channel_sums(&all, NULL, sums, &err));
    assert_true(isinf(sums[0]));
    values[0] = -3e38f;
    for (size_t i = 1; i < 100; i++)
        values[i] = i % 2 ? 3e38f : -3e38f;
    assert_ok(by_channel_sums(&all, NULL, sums, &err));
    assert_true(fabsf(sums[0]) < 1e30f);
    assert_true(isnan(sums[2]));
    assert_ok(by_channel_means_init(&means, 3, &err));
    assert_true(by_channel_mean(&means, 1) == 0);
    by_channel_means_add(&means, sums, 100);
    assert_true(by_channel_mean(&means, 1) == 1);
    assert_true(by_channel_mean(&means, 2) == 0);
    by_channel_means_release(&means);
    assert_ok(by_channel_means_init(&means, 0, &err));
    assert_int_equal(means.sums.count, 0);
}

static void assert_same(const struct by_channel_means *a, const struct by_channel_means *b)
{
    assert_int_equal(a->values, b->values);
    assert_int_equal(a->sums.cell, b->sums.cell);
    assert_memory_equal(a->sums.high, b->sums.high, a->sums.count * sizeof *a->sums.high);
    assert_memory_equal(a->sums.low, b->sums.low, a->sums.count * sizeof *a->sums.low);
}

static void order_does_not_matter(void **state)
{
    (void)state;
    enum { LOOKS = 50, CHANNELS = 7 };
    struct by_channel_means there, back, halves[2];
    assert_ok(by_channel_means_init(&there, CHANNELS, &err));
    assert_ok(by_channel_means_init(&back, CHANNELS, &err));
    assert_ok(by_channel_means_init(&halves[0], CHANNELS, &err));
    assert_ok(by_channel_means_init(&halves[1], CHANNELS, &err));
    static float looks[LOOKS][CHANNELS];
    for (size_t i = 0; i < LOOKS; i++)
        for (size_t c = 0; c < CHANNELS; c++)
            looks[i][c] = (float)ldexp((double)(int64_t)by_rng_bits(5, i, c), (int)(i * 3) - 120);
    for (size_t i = 0; i < LOOKS; i++) {
        by_channel_means_add(&there, looks[i], 1);
        by_channel_means_add(&back, looks[LOOKS - 1 - i], 1);
        by_channel_means_add(&halves[i % 3 == 0], looks[i], 1);
    }
    by_channel_means_merge(&halves[0], &halves[1]);
    assert_same(&there, &back);
    assert_same(&there, &halves[0]);
    by_channel_means_release(&there);
    by_channel_means_release(&back);
    by_channel_means_release(&halves[0]);
    by_channel_means_release(&halves[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_all_kinds),   cmocka_unit_test(blocks_of_all_sizes),
        cmocka_unit_test(other_types),           cmocka_unit_test(extremes),
        cmocka_unit_test(order_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
