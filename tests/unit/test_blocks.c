/* Values in blocks of channels, beside the layout's definition. */
#include "base/blocks.h"

#include "ir/tensor.h"
#include "stats/sketch_part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ITEMS  2
#define PLACES 37
#define MOST   (ITEMS * 32 * PLACES)

static const size_t channel_counts[] = {1, 7, 8, 9, 12, 16, 17, 31, 32};
static const size_t block_sizes[] = {8, 16};

/* Value i of the plain image is i; the padding is something else. */
static size_t fill(const struct by_blocks *blocks, float *values)
{
    const size_t block = blocks->block, padded = (blocks->channels + block - 1) / block * block;
    for (size_t i = 0; i < ITEMS * padded * PLACES; i++) {
        const size_t channel = i / (block * PLACES) % (padded / block) * block + i % block;
        const size_t item = i / (padded * PLACES), place = i / block % PLACES;
        values[i] = channel < blocks->channels
                        ? (float)((item * blocks->channels + channel) * PLACES + place)
                        : -1;
    }
    return ITEMS * blocks->channels * PLACES;
}

static void each(void (*check)(const struct by_blocks *blocks, const float *values, size_t count))
{
    static float values[MOST];
    for (size_t c = 0; c < sizeof channel_counts / sizeof *channel_counts; c++)
        for (size_t b = 0; b < 2; b++) {
            const struct by_blocks blocks = {channel_counts[c], block_sizes[b], PLACES};
            check(&blocks, values, fill(&blocks, values));
        }
}

static void check_order(const struct by_blocks *blocks, const float *values, size_t count)
{
    static float plain[MOST];
    memset(plain, 0, sizeof plain);
    for (size_t plane = 0; plane < ITEMS * blocks->channels; plane += 3) {
        const size_t end = plane + 3, all = ITEMS * blocks->channels;
        by_blocks_planes(blocks, values, plane, end < all ? end : all, plain);
    }
    for (size_t i = 0; i < count; i++)
        assert_true(plain[i] == (float)i);
}

static void test_planes_come_in_order(void **state)
{
    (void)state;
    each(check_order);
}

/* Every value once, whatever the pieces are. */
static void check_pieces(const struct by_blocks *blocks, const float *values, size_t count)
{
    static bool seen[MOST];
    static float buffer[MOST];
    for (size_t step = 1; step < count; step = step * 3 + 1) {
        memset(seen, 0, sizeof seen);
        for (size_t at = 0; at < count; at += step) {
            const size_t size = count - at < step ? count - at : step;
            const float *piece = by_blocks_floats(blocks, values, at, size, buffer);
            for (size_t i = 0; i < size; i++) {
                assert_true(piece[i] >= 0 && piece[i] < (float)count);
                assert_false(seen[(size_t)piece[i]]);
                seen[(size_t)piece[i]] = true;
            }
        }
    }
}

static void test_pieces_leave_padding_out(void **state)
{
    (void)state;
    each(check_pieces);
}

/* A sketch of blocks counts what one of the plain image counts. */
static void check_sketch(const struct by_blocks *blocks, const float *values, size_t count)
{
    static float plain[MOST];
    struct baryon_error err;
    struct by_sketch_scratch *scratch;
    struct by_sketch one, other;
    const struct by_sketch_values in_blocks = {
        .at = values, .elem = BY_ELEM_FLOAT, .count = count, .blocks = blocks};
    by_sketch_init(&one);
    by_sketch_init(&other);
    assert_int_equal(by_sketch_scratch_open(&scratch, 1, &err), 0);
    by_blocks_planes(blocks, values, 0, ITEMS * blocks->channels, plain);
    assert_int_equal(by_sketch_look_at(&one, scratch, &in_blocks, 0, NULL, &err), 0);
    assert_int_equal(by_sketch_look(&other, scratch, plain, BY_ELEM_FLOAT, count, 0, NULL, &err),
                     0);
    assert_true(one.count == count && one.zeros == other.zeros && one.top == other.top);
    assert_true(one.min == 0 && one.max == (float)(count - 1));
    assert_true(by_exact_value(&one.sum) == by_exact_value(&other.sum));
    for (int e = 0; e <= one.top; e++) {
        assert_true(!one.rows[0][e] == !other.rows[0][e] && !one.rows[1][e]);
        if (one.rows[0][e])
            assert_memory_equal(one.rows[0][e], other.rows[0][e],
                                sizeof(uint32_t) << by_sketch_bits(one.top - e));
    }
    by_sketch_scratch_close(scratch);
    by_sketch_release(&one);
    by_sketch_release(&other);
}

static void test_sketches_of_blocks(void **state)
{
    (void)state;
    each(check_sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planes_come_in_order),
        cmocka_unit_test(test_pieces_leave_padding_out),
        cmocka_unit_test(test_sketches_of_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
