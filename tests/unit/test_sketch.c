/* Tests histograms and compares every vector path with the plain one. */
#include "base/half.h"
#include "ir/tensor.h"
#include "stats/sketch.h"
#include "stats/sketch_scratch.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "scratch.h"
#include "sketch_case.h"

#define MANY 100000u

static float values[MANY];

/* --- What a sketch says of a few values --- */

static void look_ref(struct by_sketch *sketch, const float *at, size_t count, uint64_t sample)
{
    assert_ok(by_sketch_look_ref(sketch, at, BY_ELEM_FLOAT, count, sample, &err));
}

static void an_empty_sketch(void **state)
{
    (void)state;
    struct by_sketch sketch;
    struct by_sketch_bin *bins;
    size_t count;
    by_sketch_init(&sketch);
    look_ref(&sketch, values, 0, 3);
    assert_int_equal(sketch.samples, 0);
    assert_int_equal(sketch.top, -1);
    assert_true(by_sketch_mean(&sketch) == 0 && by_sketch_rms(&sketch) == 0);
    assert_ok(by_sketch_bins(&sketch, &bins, &count, &err));
    assert_int_equal(count, 0);
    by_free(bins);
    by_sketch_release(&sketch);
}

static void a_few_values(void **state)
{
    (void)state;
    static const float first[] = {-0.0f, 1, -2, 1.5f, 0}, second[] = {NAN, 8, -INFINITY, 0x1p-149f};
    struct by_sketch sketch;
    by_sketch_init(&sketch);
    look_ref(&sketch, second, 4, 7);
    look_ref(&sketch, first, 5, 2);
    assert_int_equal(sketch.count, 9);
    assert_int_equal(sketch.zeros, 2);
    assert_int_equal(sketch.nans, 1);
    assert_int_equal(sketch.infinities, 1);
    assert_int_equal(by_sketch_finite(&sketch), 7);
    assert_int_equal(sketch.samples, 2);
    assert_int_equal(sketch.nonfinite_sample, 7);
    assert_int_equal(sketch.top, 130);
    assert_true(sketch.min == -2 && sketch.max == 8);
    assert_true(by_exact_value(&sketch.sample_min) == -2 + 0x1p-149);
    assert_true(by_exact_value(&sketch.sample_max) == 9.5);
    assert_true(by_sketch_mean(&sketch) == 8.5 / 7);
    assert_true(by_sketch_rms(&sketch) == sqrt((1 + 4 + 2.25 + 64) / 7));
    by_sketch_release(&sketch);
}

static void expect_bins(const struct by_sketch_bin *bins, size_t count,
                        const struct by_sketch_bin *want, size_t wanted)
{
    assert_int_equal(count, wanted);
    for (size_t i = 0; i < count; i++) {
        assert_true(bins[i].low == want[i].low && bins[i].high == want[i].high);
        assert_int_equal(bins[i].count, want[i].count);
    }
}

static void bins_are_in_order(void **state)
{
    (void)state;
    static const float at[] = {4, -4, -4.0039f, 0.25f, 0, 0, 3.5f, -0.1f, 0x1p-149f, 4.001f};
    static const struct by_sketch_bin all[] = {
        {-(4 + 0x1p-8), -(4 + 0x1p-9), 1},
        {-(4 + 0x1p-9), -4, 1},
        {-0.10009765625, -0.099609375, 1},
        {0, 0, 2},
        {0, 0x1p-130, 1},
        {0.25, 0.25 + 0x1p-9, 1},
        {3.5, 3.5 + 0x1p-9, 1},
        {4, 4 + 0x1p-9, 2},
    };
    static const struct by_sketch_bin sizes[] = {
        {0, 0, 2},
        {0, 0x1p-130, 1},
        {0.099609375, 0.10009765625, 1},
        {0.25, 0.25 + 0x1p-9, 1},
        {3.5, 3.5 + 0x1p-9, 1},
        {4, 4 + 0x1p-9, 3},
        {4 + 0x1p-9, 4 + 0x1p-8, 1},
    };
    struct by_sketch sketch;
    struct by_sketch_bin *bins;
    size_t count;
    by_sketch_init(&sketch);
    look_ref(&sketch, at, 10, 0);
    assert_ok(by_sketch_bins(&sketch, &bins, &count, &err));
    expect_bins(bins, count, all, sizeof all / sizeof *all);
    by_free(bins);
    assert_ok(by_sketch_magnitudes(&sketch, &bins, &count, &err));
    expect_bins(bins, count, sizes, sizeof sizes / sizeof *sizes);
    by_free(bins);
    by_sketch_release(&sketch);
}

static int look_at_channels(struct by_channels *channels, const void *at, int64_t elem,
                            size_t outer, size_t inner, const struct by_team *team)
{
    const struct by_channel_values all = {
        .at = at, .elem = elem, .outer = outer, .channels = channels->count, .inner = inner};
    return by_channels_look(channels, &all, team, &err);
}

static void other_types_are_refused(void **state)
{
    (void)state;
    struct by_sketch sketch;
    struct by_channels channels;
    by_sketch_init(&sketch);
    assert_error(by_sketch_look_ref(&sketch, values, BY_ELEM_INT32, 1, 0, &err),
                 BARYON_ERR_UNSUPPORTED,
                 "values of type int32, must be floats of 16, 32 or 64 bits");
    assert_ok(by_channels_init(&channels, 1, &err));
    assert_int_equal(look_at_channels(&channels, values, BY_ELEM_INT8, 1, 1, NULL), -1);
    by_channels_release(&channels);
}

/* --- The fast ways are the plain one --- */

static struct by_sketch_scratch *open_scratch(const struct by_sketch_path *path, unsigned workers)
{
    struct by_sketch_scratch *scratch;
    assert_ok(by_sketch_scratch_open(&scratch, workers, &err));
    scratch->path = path;
    return scratch;
}

/* Twice into each, so that the second look begins with a top. */
static void compare(struct by_sketch_scratch *scratch, const void *at, int64_t elem, size_t count,
                    const struct by_team *team)
{
    struct by_sketch have, want;
    by_sketch_init(&have);
    by_sketch_init(&want);
    for (uint64_t sample = 0; sample < 2; sample++) {
        assert_ok(by_sketch_look_ref(&want, at, elem, count, sample, &err));
        assert_ok(by_sketch_look(&have, scratch, at, elem, count, sample, team, &err));
        assert_same_sketch(&have, &want);
    }
    by_sketch_release(&have);
    by_sketch_release(&want);
}

static void compare_kinds(const struct by_sketch_path *path)
{
    static const size_t counts[] = {1,
                                    17,
                                    BY_SKETCH_SMALL - 1,
                                    BY_SKETCH_SMALL,
                                    2049,
                                    2063,
                                    BY_SKETCH_PIECE,
                                    BY_SKETCH_PIECE + 1,
                                    40001,
                                    65533,
                                    MANY};
    struct by_sketch_scratch *scratch = open_scratch(path, 1);
    for (size_t k = 0; k < KINDS; k++) {
        fill(&kinds[k], 0, values, MANY);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            compare(scratch, values + (c % 5 && counts[c] < MANY ? c % 5 : 0), BY_ELEM_FLOAT,
                    counts[c], NULL);
    }
    by_sketch_scratch_close(scratch);
}

/* Fractions at and beside the edges of bins, for every sign and exponent, NaN and infinity too. */
static size_t fill_edges(int top)
{
    size_t count = 0;
    for (int e = 0; e < 256; e++) {
        if (e > top && e < 255)
            continue;
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t fraction = (uint32_t)by_rng_bits(3, (uint64_t)e, i) & 0x7fffff;
            fraction &= ~0u << (12 + i % 11);
            for (uint32_t sign = 0; sign < 2; sign++)
                for (uint32_t beside = 0; beside < 3; beside++)
                    values[count++] = float_of_bits(sign << 31 | (uint32_t)e << 23 |
                                                    ((fraction + beside - 1) & 0x7fffff));
        }
    }
    return count;
}

static void compare_edges(const struct by_sketch_path *path)
{
    static const int tops[] = {0, 1, 3, 4, 5, 10, 11, 15, 16, 17, 100, 127, 167, 168, 253, 254};
    struct by_sketch_scratch *scratch = open_scratch(path, 1);
    for (size_t t = 0; t < sizeof tops / sizeof *tops; t++) {
        size_t count = fill_edges(tops[t]);
        while (count < BY_SKETCH_SMALL)
            values[count++] = 0;
        compare(scratch, values, BY_ELEM_FLOAT, count, NULL);
    }
    by_sketch_scratch_close(scratch);
}

static void compare_types(const struct by_sketch_path *path)
{
    static uint16_t halves[65536];
    static double doubles[MANY];
    static unsigned char odd[sizeof doubles + 1];
    struct by_sketch_scratch *scratch = open_scratch(path, 1);
    for (uint32_t i = 0; i < 65536; i++)
        halves[i] = (uint16_t)(i * 25031);
    compare(scratch, halves, BY_ELEM_FLOAT16, 65536, NULL);
    compare(scratch, halves, BY_ELEM_BFLOAT16, 65536, NULL);
    compare(scratch, halves + 3, BY_ELEM_FLOAT16, 65003, NULL);
    for (size_t i = 0; i < MANY; i++)
        doubles[i] = ldexp(by_rng_normal(5, 0, i), (int)by_rng_range(5, 1, i, -160, 130));
    compare(scratch, doubles, BY_ELEM_DOUBLE, MANY, NULL);
    memcpy(odd + 1, doubles, sizeof doubles);
    compare(scratch, odd + 1, BY_ELEM_DOUBLE, MANY - 1, NULL);
    memcpy(odd + 1, halves, sizeof halves);
    compare(scratch, odd + 1, BY_ELEM_FLOAT16, 65536, NULL);
    compare(scratch, odd + 1, BY_ELEM_BFLOAT16, 65535, NULL);
    fill(&kinds[0], 0, values, MANY);
    memcpy(odd + 1, values, sizeof values);
    compare(scratch, odd + 1, BY_ELEM_FLOAT, MANY, NULL);
    by_sketch_scratch_close(scratch);
}

static void compare_surveys(const struct by_sketch_path *path)
{
    struct by_sketch_range have, want;
    for (size_t k = 0; k < KINDS; k++) {
        fill(&kinds[k], 0, values, 4096);
        for (size_t count = 0; count < 100; count++) {
            const float *at = values + count * 31;
            const bool finite = by_sketch_survey_plain(at, count, &want);
            assert_int_equal(by_sketch_survey(path, at, count, &have), finite);
            if (finite)
                assert_true(have.min == want.min && have.max == want.max);
        }
    }
}

/* Sums of pieces of any size, through a plan whose top is theirs. */
static void compare_sums(const struct by_sketch_path *path)
{
    static const size_t counts[] = {1, 15, 16, 17, 500, 511, 512, 513, 527, 528, 1024, 4095, 4096};
    struct by_sketch_scratch *scratch = open_scratch(path, 1);
    for (size_t k = 0; k < KINDS; k++) {
        fill(&kinds[k], 0, values, 4096);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct by_sketch_range range = {INFINITY, -INFINITY};
            struct by_sketch_sums want;
            struct by_exact sum = {0}, squares = {0};
            struct by_sketch_worker *worker = &scratch->workers[0];
            by_sketch_range_plain(values, counts[c], &range.min, &range.max);
            by_sketch_sums_ref(values, counts[c], by_sketch_range_top(&range), &want);
            by_exact_add(&sum, want.sum);
            by_exact_add(&squares, want.squares);
            by_sketch_worker_look(worker, path, values, counts[c], -1);
            assert_memory_equal(&worker->part.sum, &sum, sizeof sum);
            assert_memory_equal(&worker->part.squares, &squares, sizeof squares);
            by_sketch_worker_reset(worker, true);
        }
    }
    by_sketch_scratch_close(scratch);
}

static void equal_values_have_the_same_sums(void **state)
{
    (void)state;
    static const float of[] = {0.1f, -3, 1e-30f, 3e38f};
    struct by_sketch_sums have, want;
    for (size_t v = 0; v < sizeof of / sizeof *of; v++)
        for (size_t count = 1; count < 1200; count++) {
            const struct by_sketch_range range = {of[v], of[v]};
            values[count - 1] = of[v];
            for (size_t i = 0; count == 1 && i < 1200; i++)
                values[i] = of[v];
            by_sketch_sums_ref(values, count, by_sketch_range_top(&range), &want);
            by_sketch_sums_equal(of[v], count, by_sketch_range_top(&range), &have);
            assert_memory_equal(&have, &want, sizeof want);
        }
}

static void compare_ranges(const struct by_sketch_path *path)
{
    float have[2][200], want[2][200];
    for (size_t k = 0; k < KINDS; k++) {
        fill(&kinds[k], 0, values, 4096);
        for (size_t count = 0; count < 200; count++) {
            have[0][0] = want[0][0] = INFINITY;
            have[1][0] = want[1][0] = -INFINITY;
            path->range(values + count, count, have[0], have[1]);
            by_sketch_range_plain(values + count, count, want[0], want[1]);
            assert_true(have[0][0] == want[0][0] && have[1][0] == want[1][0]);
            memset(have, 0, sizeof have);
            memset(want, 0, sizeof want);
            for (size_t row = 0; row < 3; row++) {
                path->ranges(values + row * count, count, have[0], have[1]);
                by_sketch_ranges_plain(values + row * count, count, want[0], want[1]);
            }
            for (size_t i = 0; i < 200; i++)
                assert_true(have[0][i] == want[0][i] && have[1][i] == want[1][i]);
        }
    }
}

static void every_path_gives_the_same(void **state)
{
    (void)state;
    size_t count;
    const struct by_sketch_path *const *paths = by_sketch_paths(&count);
    for (size_t i = 0; i < count; i++) {
        if (!paths[i]->supported())
            continue;
        print_message("path %s\n", paths[i]->name);
        compare_surveys(paths[i]);
        compare_sums(paths[i]);
        compare_ranges(paths[i]);
        compare_kinds(paths[i]);
        compare_edges(paths[i]);
        compare_types(paths[i]);
    }
    assert_string_equal(by_sketch_path(), by_sketch_path_chosen()->name);
}

static void any_team_gives_the_same(void **state)
{
    (void)state;
    static const unsigned teams[] = {1, 2, 3, 8};
    for (size_t t = 0; t < sizeof teams / sizeof *teams; t++) {
        struct by_pool *pool;
        struct by_pool_team team;
        struct by_sketch_scratch *scratch = open_scratch(by_sketch_path_chosen(), teams[t]);
        assert_ok(by_pool_open(&pool, teams[t], &err));
        by_pool_team(&team, pool);
        for (size_t k = 0; k < KINDS; k++) {
            fill(&kinds[k], 0, values, MANY);
            compare(scratch, values, BY_ELEM_FLOAT, MANY, &team.team);
        }
        by_pool_close(pool);
        by_sketch_scratch_close(scratch);
    }
}

static void a_team_needs_as_many_workers(void **state)
{
    (void)state;
    struct by_sketch sketch;
    struct by_team team = {.workers = 3};
    struct by_sketch_scratch *scratch = open_scratch(by_sketch_path_chosen(), 2);
    by_sketch_init(&sketch);
    assert_error(by_sketch_look(&sketch, scratch, values, BY_ELEM_FLOAT, MANY, 0, &team, &err),
                 BARYON_ERR_INTERNAL, "a team of 3 with working memory for 2");
    by_sketch_scratch_close(scratch);
}

/* Tensors that are too big for the workers' counters are done in rounds. */
static void rounds_give_the_same(void **state)
{
    (void)state;
    struct by_sketch_scratch *scratch = open_scratch(by_sketch_path_chosen(), 1);
    scratch->round = 2 * BY_SKETCH_PIECE;
    for (size_t k = 0; k < KINDS; k++) {
        fill(&kinds[k], 0, values, MANY);
        compare(scratch, values, BY_ELEM_FLOAT, MANY, NULL);
    }
    by_sketch_scratch_close(scratch);
}

/* --- Adding --- */

/* Samples of all kinds, of different sizes. */
static size_t fill_sample(uint64_t sample)
{
    size_t count = 1 + by_rng_bits(21, 0, sample) % (sample % 3 ? 500 : 30000);
    fill(&kinds[by_rng_bits(22, 0, sample) % KINDS], sample * 65536, values, count);
    return count;
}

static void order_and_merging_do_not_matter(void **state)
{
    (void)state;
    enum { SAMPLES = 40, PARTS = 5 };
    struct by_sketch_scratch *scratch = open_scratch(by_sketch_path_chosen(), 1);
    struct by_sketch all;
    by_sketch_init(&all);
    for (uint64_t s = 0; s < SAMPLES; s++)
        look_ref(&all, values, fill_sample(s), s);
    for (uint64_t round = 0; round < 5; round++) {
        struct by_sketch parts[PARTS];
        for (size_t p = 0; p < PARTS; p++)
            by_sketch_init(&parts[p]);
        for (uint64_t i = 0; i < SAMPLES; i++) {
            uint64_t s = (i * 17 + round * 11) % SAMPLES;
            size_t count = fill_sample(s);
            assert_ok(by_sketch_look(&parts[by_rng_bits(23, round, s) % PARTS], scratch, values,
                                     BY_ELEM_FLOAT, count, s, NULL, &err));
        }
        for (size_t p = PARTS; p-- > 1;) {
            assert_ok(by_sketch_merge(&parts[by_rng_bits(24, round, p) % p], &parts[p], &err));
            by_sketch_release(&parts[p]);
        }
        assert_same_sketch(&parts[0], &all);
        by_sketch_release(&parts[0]);
    }
    by_sketch_release(&all);
    by_sketch_scratch_close(scratch);
}

static void memory_stays_small(void **state)
{
    (void)state;
    struct by_sketch sketch;
    by_sketch_init(&sketch);
    for (uint64_t s = 0; s < 20; s++) {
        fill(&kinds[4], s * MANY, values, MANY); /* half zeros, half of a normal distribution */
        look_ref(&sketch, values, MANY, s);
    }
    assert_in_range(by_sketch_bytes(&sketch), 1, 64 * 1024);
    by_sketch_release(&sketch);
}

/* --- More values than 32 bits can count --- */

/* Each takes the other's counts until both have more; what they have then of what they began with.
 */
static void grow(struct by_sketch sketches[2], uint64_t times[2])
{
    times[0] = times[1] = 1;
    for (int i = 0; sketches[0].count <= UINT32_MAX || sketches[1].count <= UINT32_MAX; i = 1 - i) {
        assert_ok(by_sketch_merge(&sketches[i], &sketches[1 - i], &err));
        times[i] += times[1 - i];
    }
}

static void assert_times(const struct by_sketch *grown, const struct by_sketch *once,
                         uint64_t times)
{
    struct by_sketch_bin *many, *few;
    size_t count, wanted;
    assert_ok(by_sketch_bins(grown, &many, &count, &err));
    assert_ok(by_sketch_bins(once, &few, &wanted, &err));
    assert_int_equal(grown->count, once->count * times);
    assert_int_equal(count, wanted);
    for (size_t i = 0; i < count; i++) {
        assert_true(many[i].low == few[i].low && many[i].high == few[i].high);
        assert_int_equal(many[i].count, few[i].count * times);
    }
    by_free(many);
    by_free(few);
}

static void counts_go_beyond_32_bits(void **state)
{
    (void)state;
    struct by_sketch once, grown[2], copy;
    struct by_sketch_scratch *scratch = open_scratch(by_sketch_path_chosen(), 1);
    uint64_t times[2];
    fill(&kinds[0], 0, values, MANY);
    for (int i = 0; i < 3; i++) {
        struct by_sketch *sketch = i < 2 ? &grown[i] : &once;
        by_sketch_init(sketch);
        look_ref(sketch, values, MANY, 0);
    }
    assert_false(once.wide);
    grow(grown, times);
    for (int i = 0; i < 2; i++) {
        assert_true(grown[i].wide);
        assert_times(&grown[i], &once, times[i]);
    }
    by_sketch_init(&copy);
    assert_ok(by_sketch_merge(&copy, &grown[0], &err));
    for (size_t i = 0; i < MANY; i++)
        values[i] *= 5; /* rows become coarser */
    look_ref(&copy, values, MANY, 1);
    assert_ok(by_sketch_look(&grown[0], scratch, values, BY_ELEM_FLOAT, MANY, 1, NULL, &err));
    assert_same_sketch(&copy, &grown[0]);
    by_sketch_scratch_close(scratch);
    by_sketch_release(&once);
    by_sketch_release(&copy);
    by_sketch_release(&grown[0]);
    by_sketch_release(&grown[1]);
}

/* --- Channels --- */

static void look_slowly(const float *at, size_t count, size_t outer, size_t inner, float *min,
                        float *max, bool *seen)
{
    for (size_t i = 0; i < outer * count * inner; i++) {
        size_t c = i / inner % count;
        if (!isfinite(at[i]))
            continue;
        min[c] = seen[c] && min[c] <= at[i] ? min[c] : at[i];
        max[c] = seen[c] && max[c] >= at[i] ? max[c] : at[i];
        seen[c] = true;
    }
}

static void compare_channels(size_t outer, size_t count, size_t inner, const struct by_team *team)
{
    float min[1000] = {0}, max[1000] = {0};
    bool seen[1000] = {0};
    struct by_channels channels, twice;
    assert_ok(by_channels_init(&channels, count, &err));
    assert_ok(by_channels_init(&twice, count, &err));
    for (size_t k = 0; k < KINDS; k += 5) {
        fill(&kinds[k], 0, values, outer * count * inner);
        assert_ok(look_at_channels(&channels, values, BY_ELEM_FLOAT, outer, inner, team));
        look_slowly(values, count, outer, inner, min, max, seen);
    }
    by_channels_merge(&twice, &channels);
    by_channels_merge(&twice, &channels);
    for (size_t c = 0; c < count; c++) {
        assert_true(channels.min[c] == min[c] && channels.max[c] == max[c]);
        assert_true(!signbit(channels.min[c]) || min[c] < 0);
        assert_int_equal(channels.seen[c], seen[c]);
        assert_true(twice.min[c] == min[c] && twice.max[c] == max[c]);
    }
    by_channels_release(&channels);
    by_channels_release(&twice);
}

static void channels_are_exact(void **state)
{
    (void)state;
    struct by_pool *pool;
    struct by_pool_team team;
    assert_ok(by_pool_open(&pool, 3, &err));
    by_pool_team(&team, pool);
    static const size_t shapes[][3] = {{1, 1, 1},    {3, 5, 7},      {100, 768, 1}, {2, 3, 15000},
                                       {4, 64, 196}, {20000, 1, 1},  {1, 1000, 49}, {5000, 3, 1},
                                       {0, 4, 4},    {1, 1, 100000}, {7, 130, 1}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        compare_channels(shapes[s][0], shapes[s][1], shapes[s][2], NULL);
        compare_channels(shapes[s][0], shapes[s][1], shapes[s][2], &team.team);
    }
    by_pool_close(pool);
}

/* [item][channel][place] as blocks; what fills them up is to have no effect. */
static void put_in_blocks(const float *plain, size_t items, const struct by_blocks *blocks,
                          float *out)
{
    const size_t each = (blocks->channels + blocks->block - 1) / blocks->block;
    for (size_t i = 0; i < items * each * by_block_size(blocks); i++)
        out[i] = i % 2 ? INFINITY : -1e30f;
    for (size_t i = 0; i < items * blocks->channels * blocks->places; i++) {
        const size_t place = i % blocks->places, plane = i / blocks->places;
        const size_t channel = plane % blocks->channels, item = plane / blocks->channels;
        out[((item * each + channel / blocks->block) * blocks->places + place) * blocks->block +
            channel % blocks->block] = plain[i];
    }
}

static void compare_blocks(size_t items, size_t count, size_t places, size_t block,
                           const struct by_team *team)
{
    const struct by_blocks blocks = {count, block, places};
    const size_t padded = (count + block - 1) / block * block;
    struct by_channels plain, found;
    float *blocked = test_malloc(items * padded * places * sizeof *blocked);
    const struct by_channel_values all = {blocked, BY_ELEM_FLOAT, items, count, places, &blocks};
    assert_ok(by_channels_init(&plain, count, &err));
    assert_ok(by_channels_init(&found, count, &err));
    for (size_t k = 0; k < KINDS; k += 3) {
        fill(&kinds[k], 0, values, items * count * places);
        put_in_blocks(values, items, &blocks, blocked);
        assert_ok(look_at_channels(&plain, values, BY_ELEM_FLOAT, items, places, NULL));
        assert_ok(by_channels_look(&found, &all, team, &err));
    }
    assert_memory_equal(found.min, plain.min, count * sizeof *plain.min);
    assert_memory_equal(found.max, plain.max, count * sizeof *plain.max);
    assert_memory_equal(found.seen, plain.seen, count * sizeof *plain.seen);
    assert_int_equal(found.squares.count, plain.squares.count);
    for (size_t c = 0; c < plain.squares.count; c++)
        assert_true(by_fold_value(&found.squares, c) == by_fold_value(&plain.squares, c));
    by_channels_release(&plain);
    by_channels_release(&found);
    test_free(blocked);
}

static void channels_in_blocks_are_the_same(void **state)
{
    (void)state;
    struct by_pool *pool;
    struct by_pool_team team;
    assert_ok(by_pool_open(&pool, 3, &err));
    by_pool_team(&team, pool);
    static const size_t shapes[][3] = {{1, 8, 49}, {1, 1, 4},    {2, 30, 196}, {3, 17, 1},
                                       {1, 64, 1}, {1, 100, 13}, {2, 16, 3000}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t block = 8; block <= 24; block += 8) {
            compare_blocks(shapes[s][0], shapes[s][1], shapes[s][2], block, NULL);
            compare_blocks(shapes[s][0], shapes[s][1], shapes[s][2], block, &team.team);
        }
    by_pool_close(pool);
}

static void channels_of_strange_values(void **state)
{
    (void)state;
    static const uint16_t halves[] = {0x7c00, 0xfe00, 0x8000, 0x7c00, 0x3c00, 0xbc00};
    struct by_channels channels, other;
    assert_ok(by_channels_init(&channels, 3, &err));
    assert_ok(look_at_channels(&channels, halves, BY_ELEM_FLOAT16, 2, 1, NULL));
    assert_false(channels.seen[0]);
    assert_true(channels.min[0] == 0 && channels.max[0] == 0);
    assert_true(channels.min[1] == 1 && channels.max[1] == 1);
    assert_true(channels.min[2] == -1 && channels.max[2] == 0 && !signbit(channels.max[2]));
    assert_ok(by_channels_init(&other, 2, &err));
    by_channels_merge(&channels, &other);
    assert_int_equal(channels.count, 0);
    by_channels_release(&channels);
    by_channels_release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_sketch),
        cmocka_unit_test(a_few_values),
        cmocka_unit_test(bins_are_in_order),
        cmocka_unit_test(other_types_are_refused),
        cmocka_unit_test(every_path_gives_the_same),
        cmocka_unit_test(equal_values_have_the_same_sums),
        cmocka_unit_test(any_team_gives_the_same),
        cmocka_unit_test(a_team_needs_as_many_workers),
        cmocka_unit_test(rounds_give_the_same),
        cmocka_unit_test(order_and_merging_do_not_matter),
        cmocka_unit_test(memory_stays_small),
        cmocka_unit_test(channels_are_exact),
        cmocka_unit_test(counts_go_beyond_32_bits),
        cmocka_unit_test(channels_in_blocks_are_the_same),
        cmocka_unit_test(channels_of_strange_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
