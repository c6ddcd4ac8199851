/* Statistics that a search keeps: found by what they are of, copied, no more than there is room. */
#include "calibrate/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"
#include "tests/unit/stats_make.h"

#define ROOM (UINT64_C(1) << 30)

static const struct by_store_key keys[] = {
    {.stats = {.model = {1, 2}, .settings = {3, 4}}},
    {.stats = {.model = {1, 3}, .settings = {3, 4}}},
    {.stats = {.model = {1, 2}, .settings = {3, 5}}},
    {.stats = {.model = {1, 2}, .settings = {3, 4}}, .first = 8},
    {.stats = {.model = {1, 2}, .settings = {3, 4}}, .aside = 8},
    {.stats = {.model = {1, 2}, .settings = {3, 4}}, .aside = 6},
};
#define KEYS  (sizeof keys / sizeof *keys)
#define ASIDE 4

static void keep(struct by_stats_store *store, size_t key, uint64_t seed, bool parted)
{
    const struct by_calibrate_report report = {.samples = STATS_SAMPLES, .seconds = 7};
    struct by_stats *stats = stats_small(0, STATS_SAMPLES, seed);
    struct by_stats *part = parted ? stats_small(0, STATS_SAMPLES / 2, seed) : NULL;
    assert_ok(by_stats_store_keep(store, &keys[key], stats, part, &report, &err));
    by_stats_close(stats);
    by_stats_close(part);
}

static void assert_bytes(const struct by_stats *stats, uint64_t end, uint64_t seed)
{
    struct by_stats *made = stats_small(0, end, seed);
    struct by_str found, wanted;
    by_str_init(&found);
    by_str_init(&wanted);
    assert_ok(by_stats_save_bytes(stats, &found, &err));
    assert_ok(by_stats_save_bytes(made, &wanted, &err));
    assert_int_equal(found.size, wanted.size);
    assert_memory_equal(found.text, wanted.text, wanted.size);
    by_str_release(&found);
    by_str_release(&wanted);
    by_stats_close(made);
}

static void assert_none(struct by_stats_store *store, size_t key)
{
    struct by_stats *stats;
    assert_ok(by_stats_store_take(store, &keys[key], &stats, NULL, NULL, &err));
    assert_null(stats);
}

static void test_keys_are_told_apart(void **state)
{
    (void)state;
    struct by_stats_store *store;
    struct by_stats *stats, *part;
    struct by_calibrate_report report;
    assert_ok(by_stats_store_open(&store, ROOM, &err));
    keep(store, 0, 1, false);
    for (size_t key = 1; key < KEYS; key++)
        assert_none(store, key);
    for (int turn = 0; turn < 2; turn++) { /* what is taken stays */
        assert_ok(by_stats_store_take(store, &keys[0], &stats, &part, &report, &err));
        assert_bytes(stats, STATS_SAMPLES, 1);
        assert_null(part);
        assert_true(report.samples == STATS_SAMPLES && report.seconds == 0);
        by_stats_close(stats);
    }
    keep(store, ASIDE, 2, true);
    assert_none(store, ASIDE + 1);
    assert_ok(by_stats_store_take(store, &keys[ASIDE], &stats, &part, NULL, &err));
    assert_bytes(stats, STATS_SAMPLES, 2);
    assert_bytes(part, STATS_SAMPLES / 2, 2);
    by_stats_close(stats);
    by_stats_close(part);
    by_stats_store_close(store);
    by_stats_store_close(NULL);
}

/* They are those of all samples, whatever part was gathered beside them. */
static void test_a_part_is_no_obstacle(void **state)
{
    (void)state;
    struct by_stats_store *store;
    struct by_stats *stats;
    assert_ok(by_stats_store_open(&store, ROOM, &err));
    keep(store, ASIDE, 3, true);
    assert_none(store, 3);
    assert_ok(by_stats_store_take(store, &keys[0], &stats, NULL, NULL, &err));
    assert_bytes(stats, STATS_SAMPLES, 3);
    by_stats_close(stats);
    by_stats_store_close(store);
}

static void test_room_is_a_limit(void **state)
{
    (void)state;
    struct by_stats_store *store;
    struct by_stats *stats, *made = stats_small(0, STATS_SAMPLES, 1);
    struct by_str bytes;
    by_str_init(&bytes);
    assert_ok(by_stats_save_bytes(made, &bytes, &err));
    assert_ok(by_stats_store_open(&store, bytes.size, &err));
    keep(store, ASIDE, 1, true); /* a part is too much */
    assert_none(store, ASIDE);
    keep(store, 0, 1, false);
    keep(store, 1, 1, false);
    assert_none(store, 1);
    assert_ok(by_stats_store_take(store, &keys[0], &stats, NULL, NULL, &err));
    assert_non_null(stats);
    by_stats_close(stats);
    by_stats_close(made);
    by_str_release(&bytes);
    by_stats_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_told_apart),
        cmocka_unit_test(test_a_part_is_no_obstacle),
        cmocka_unit_test(test_room_is_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
