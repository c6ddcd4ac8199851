/* Tests maps and interned names against a plain array. */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct baryon_error err;

static void an_empty_map_has_nothing(void **state)
{
    (void)state;
    struct by_map map;
    by_map_init(&map);
    assert_null(by_map_get(&map, "a"));
    assert_null(by_map_remove(&map, "a"));
    assert_int_equal(map.count, 0);
    by_map_release(&map);
}

static void entries_are_put_replaced_and_removed(void **state)
{
    (void)state;
    int one, two;
    struct by_map map;
    by_map_init(&map);
    assert_int_equal(by_map_put(&map, "a", &one, &err), 0);
    assert_int_equal(by_map_put(&map, "", &two, &err), 0);
    assert_ptr_equal(by_map_get(&map, "a"), &one);
    assert_ptr_equal(by_map_get(&map, ""), &two);
    assert_null(by_map_get(&map, "aa"));
    assert_int_equal(by_map_put(&map, "a", &two, &err), 0);
    assert_int_equal(map.count, 2);
    assert_ptr_equal(by_map_remove(&map, "a"), &two);
    assert_null(by_map_remove(&map, "a"));
    assert_null(by_map_get(&map, "a"));
    assert_int_equal(map.count, 1);
    assert_int_equal(by_map_put(&map, "a", &one, &err), 0);
    assert_ptr_equal(by_map_get(&map, "a"), &one);
    by_map_release(&map);
    assert_null(by_map_get(&map, "a"));
}

/* A map that is written to at random gives what a plain array gives. */
static void it_agrees_with_an_array(void **state)
{
    (void)state;
    enum { KEYS = 3000 };
    static char keys[KEYS][8];
    static void *model[KEYS];
    struct by_map map;
    by_map_init(&map);
    for (int i = 0; i < KEYS; i++)
        snprintf(keys[i], sizeof keys[i], "k%d", i);
    size_t count = 0;
    uint32_t random = 1;
    for (int step = 0; step < 60000; step++) {
        random = random * 1664525u + 1013904223u;
        size_t i = (random >> 8) % KEYS;
        if (random >> 31) {
            assert_int_equal(by_map_put(&map, keys[i], &keys[step % KEYS], &err), 0);
            count += !model[i];
            model[i] = &keys[step % KEYS];
        } else {
            assert_ptr_equal(by_map_remove(&map, keys[i]), model[i]);
            count -= model[i] != NULL;
            model[i] = NULL;
        }
        assert_int_equal(map.count, count);
    }
    for (int i = 0; i < KEYS; i++)
        assert_ptr_equal(by_map_get(&map, keys[i]), model[i]);
    assert_true(map.cap <= 32768);
    by_map_release(&map);
}

/* Putting and removing one key for ever must neither fill the table nor make it grow. */
static void removed_entries_make_room(void **state)
{
    (void)state;
    char key[16];
    struct by_map map;
    by_map_init(&map);
    static char keys[5000][8];
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "%d", i);
        snprintf(keys[i], sizeof keys[i], "%d", i);
        assert_int_equal(by_map_put(&map, keys[i], &map, &err), 0);
        assert_ptr_equal(by_map_remove(&map, key), &map);
    }
    assert_int_equal(map.count, 0);
    assert_true(map.cap <= 16);
    by_map_release(&map);
}

/* No key is a part of another, and a growing map takes at most four places an entry. */
static void keys_may_be_any_bytes(void **state)
{
    (void)state;
    enum { KEYS = 5000 };
    static uint32_t keys[KEYS];
    struct by_map map;
    by_map_init(&map);
    for (uint32_t i = 0; i < KEYS; i++) {
        keys[i] = i << 8;
        assert_int_equal(by_map_put_bytes(&map, &keys[i], sizeof keys[i], &keys[i], &err), 0);
        assert_true(map.cap <= 4 * map.count || map.cap <= 16);
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t key = i << 8;
        assert_ptr_equal(by_map_get_bytes(&map, &key, sizeof key), &keys[i]);
        assert_null(by_map_get_bytes(&map, &key, sizeof key - 1));
    }
    by_map_release(&map);
}

static void equal_names_are_one(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_names_table table;
    by_arena_init(&arena, 0);
    by_names_table_init(&table, &arena);
    const char *a = by_intern(&table, "conv", 4, &err);
    char other[] = "convolution";
    assert_string_equal(a, "conv");
    assert_ptr_equal(by_intern(&table, other, 4, &err), a);
    assert_ptr_not_equal(by_intern(&table, other, 11, &err), a);
    const char *empty = by_intern(&table, "", 0, &err);
    assert_ptr_equal(by_intern(&table, other, 0, &err), empty);
    by_names_table_release(&table);
    by_arena_release(&arena);
}

static void names_may_hold_a_nul(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_names_table table;
    by_arena_init(&arena, 0);
    by_names_table_init(&table, &arena);
    const char *a = by_intern(&table, "a", 1, &err);
    const char *b = by_intern(&table, "a\0b", 3, &err);
    const char *c = by_intern(&table, "a\0c", 3, &err);
    assert_ptr_not_equal(a, b);
    assert_ptr_not_equal(b, c);
    assert_memory_equal(b, "a\0b", 4);
    assert_ptr_equal(by_intern(&table, "a\0b", 3, &err), b);
    assert_ptr_equal(by_intern(&table, "a", 1, &err), a);
    by_names_table_release(&table);
    by_arena_release(&arena);
}

static void hashes_are_the_same_everywhere(void **state)
{
    (void)state;
    assert_true(by_hash("", 0, 0) == 0x2d06800538d394c2u);
    assert_true(by_hash("a", 1, 0) != by_hash("b", 1, 0));
    assert_true(by_hash("a", 1, 0) != by_hash("a", 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(entries_are_put_replaced_and_removed),
        cmocka_unit_test(it_agrees_with_an_array),
        cmocka_unit_test(removed_entries_make_room),
        cmocka_unit_test(keys_may_be_any_bytes),
        cmocka_unit_test(equal_names_are_one),
        cmocka_unit_test(names_may_hold_a_nul),
        cmocka_unit_test(hashes_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
