/* What waits comes back as it was, wherever it waits, and takes what it may take. */
#include "base/depot.h"

#include "base/par.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#define PAGE 4096

static struct by_depot *open_depot(const char *folder, uint64_t budget)
{
    const struct by_depot_options options = {.folder = folder, .budget = budget};
    struct by_depot *depot;
    assert_ok(by_depot_open(&depot, &options, &err));
    return depot;
}

/* --- One after the other --- */

static struct by_deposit put(struct by_depot *depot, uint8_t with, size_t size, bool cold)
{
    struct by_deposit deposit;
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    memset(bytes, with, size);
    assert_ok(by_depot_put(depot, bytes, size, cold, &deposit, &err));
    free(bytes);
    return deposit;
}

static void assert_is(struct by_depot *depot, const struct by_deposit *deposit, uint8_t with,
                      size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    assert_int_equal(deposit->size, size);
    assert_ok(by_depot_get(depot, deposit, bytes, &err));
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != with)
            fail_msg("byte %zu is %d instead of %d", i, bytes[i], with);
    free(bytes);
}

static void beyond_the_budget_is_a_file(void **state)
{
    (void)state;
    struct by_depot *depot = open_depot(".", 1000);
    struct by_deposit first = put(depot, 1, 600, false), second = put(depot, 2, 600, false);
    struct by_deposit third = put(depot, 3, 400, false), nothing = put(depot, 4, 0, false);
    assert_true(first.bytes && !second.bytes && third.bytes && nothing.bytes);
    assert_int_equal(by_depot_in_memory(depot), 1000);
    assert_int_equal(by_depot_in_file(depot), 600);
    assert_is(depot, &first, 1, 600);
    assert_is(depot, &second, 2, 600);
    assert_is(depot, &third, 3, 400);
    assert_is(depot, &nothing, 4, 0);
    by_depot_drop(depot, &first);
    struct by_deposit fourth = put(depot, 5, 600, false);
    assert_non_null(fourth.bytes);
    by_depot_drop(depot, &second);
    by_depot_drop(depot, &third);
    by_depot_drop(depot, &fourth);
    by_depot_drop(depot, &nothing);
    assert_int_equal(by_depot_in_memory(depot) + by_depot_in_file(depot), 0);
    by_depot_close(depot);
    by_depot_close(NULL);
    assert_int_equal(system("test -z \"$(ls -A)\""), 0); /* nothing is left */
}

static void cold_ones_leave_room(void **state)
{
    (void)state;
    struct by_depot *depot = open_depot(".", 1000);
    struct by_deposit cold = put(depot, 1, 250, true), colder = put(depot, 2, 1, true);
    struct by_deposit warm = put(depot, 3, 750, false), kept;
    assert_true(cold.bytes && !colder.bytes && warm.bytes);
    assert_ok(by_depot_keep(depot, 5000, &kept, &err)); /* whatever the budget */
    memset(kept.bytes, 4, 5000);
    assert_is(depot, &kept, 4, 5000);
    assert_is(depot, &colder, 2, 1);
    assert_int_equal(by_depot_in_memory(depot), 6000);
    by_depot_drop(depot, &cold);
    by_depot_drop(depot, &colder);
    by_depot_drop(depot, &warm);
    by_depot_drop(depot, &kept);
    by_depot_close(depot);
}

/* Places are used again, and those side by side are one. */
static void the_file_stays_small(void **state)
{
    (void)state;
    struct by_depot *depot = open_depot(".", 0);
    struct by_deposit all[4];
    static const size_t orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 1, 3}, {1, 3, 0, 2}};
    for (size_t round = 0; round < 4; round++) {
        for (size_t i = 0; i < 4; i++)
            all[i] = put(depot, (uint8_t)(i + 7), PAGE - i, false);
        for (size_t i = 0; i < 4; i++)
            assert_is(depot, &all[i], (uint8_t)(i + 7), PAGE - i);
        for (size_t i = 0; i < 4; i++)
            by_depot_drop(depot, &all[orders[round][i]]);
        struct by_deposit whole = put(depot, 9, (size_t)4 * PAGE, false);
        assert_int_equal(by_depot_file_size(depot), 4 * PAGE);
        by_depot_drop(depot, &whole);
    }
    by_depot_close(depot);
}

static void a_folder_that_is_not_there(void **state)
{
    (void)state;
    struct by_depot *depot = open_depot("nowhere", 10);
    struct by_deposit first = put(depot, 1, 10, false), second;
    assert_int_equal(by_depot_put(depot, "x", 1, false, &second, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_IO);
    assert_non_null(strstr(error_text(), "nowhere"));
    by_depot_drop(depot, &first);
    by_depot_close(depot);
}

/* --- Many at once --- */

#define THREADS 4
#define ROUNDS  400
#define HELD    24

static int put_and_drop(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *problem)
{
    struct by_depot *depot = context;
    struct by_deposit held[HELD] = {{0}};
    uint8_t bytes[3 * PAGE], back[3 * PAGE];
    (void)end, (void)worker;
    for (size_t i = 0; i < ROUNDS + HELD; i++) {
        struct by_deposit *at = &held[i % HELD];
        const size_t first = (begin * 31 + i - HELD) % 251;
        if (at->size && by_depot_get(depot, at, back, problem) < 0)
            return -1;
        for (size_t k = 0; k < at->size; k++)
            if (back[k] != (uint8_t)(first + k))
                return by_fail(problem, BARYON_ERR_INTERNAL, "round %zu, byte %zu", i, k);
        by_depot_drop(depot, at);
        const size_t size = 1 + (size_t)(by_rng_bits(5, begin, i) % sizeof bytes);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)((begin * 31 + i) % 251 + k);
        if (i < ROUNDS && by_depot_put(depot, bytes, size, i % 3 == 0, at, problem) < 0)
            return -1;
    }
    return 0;
}

static void threads_do_not_meet(void **state)
{
    struct by_pool *pool;
    (void)state;
    struct by_depot *depot = open_depot(".", (uint64_t)THREADS * HELD * PAGE / 2);
    assert_ok(by_pool_open(&pool, THREADS, &err));
    assert_ok(by_par_for(pool, 8, 1, put_and_drop, depot, &err));
    assert_int_equal(by_depot_in_memory(depot) + by_depot_in_file(depot), 0);
    assert_true(by_depot_file_size(depot) < (uint64_t)8 * HELD * 3 * PAGE);
    by_pool_close(pool);
    by_depot_close(depot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(beyond_the_budget_is_a_file, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(cold_ones_leave_room, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(the_file_stays_small, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(a_folder_that_is_not_there, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(threads_do_not_meet, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests_name("depot", tests, NULL, NULL);
}
