/* Tests checked sizes, arenas and growing lists. */
#include "base/mem.h"

#include "base/par.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct baryon_error err;

static void sizes_are_checked(void **state)
{
    (void)state;
    size_t result;
    assert_true(by_mul_overflow(SIZE_MAX / 2, 3, &result));
    assert_false(by_mul_overflow(1000, 1000, &result));
    assert_int_equal(result, 1000000);
    assert_true(by_add_overflow(SIZE_MAX, 1, &result));
    assert_null(by_alloc(SIZE_MAX / 2, 4, &err));
    assert_int_equal(err.code, BARYON_ERR_NOMEM);
    assert_null(by_alloc_zero(SIZE_MAX, 1, &err));
    assert_null(by_alloc((size_t)PTRDIFF_MAX + 1, 1, NULL));
}

static void blocks_come_and_go(void **state)
{
    (void)state;
    void *none = by_alloc(0, 8, &err);
    assert_non_null(none);
    by_free(none);
    by_free(NULL);
    uint8_t *zeros = by_alloc_zero(100, 10, &err);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(zeros[i], 0);
    zeros[999] = 7;
    uint8_t *grown = by_realloc(zeros, 200, 10, &err);
    assert_int_equal(grown[999], 7);
    assert_null(by_realloc(grown, SIZE_MAX, 2, &err));
    assert_int_equal(grown[999], 7);
    by_free(grown);
    char *copy = by_strdup("text", &err);
    assert_string_equal(copy, "text");
    by_free(copy);
}

static void arenas_give_zeroed_aligned_memory(void **state)
{
    (void)state;
    struct by_arena arena;
    by_arena_init(&arena, 0);
    for (size_t size = 1; size < 70000; size = size * 2 + 1) {
        uint8_t *object = by_arena_alloc(&arena, 1, size, &err);
        assert_non_null(object);
        assert_int_equal((uintptr_t)object % alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(object[i], 0);
        memset(object, 0xff, size);
    }
    char *text = by_arena_text(&arena, "ab\0cd", 5, &err);
    assert_memory_equal(text, "ab\0cd", 6);
    assert_string_equal(by_arena_text(&arena, NULL, 0, &err), "");
    assert_null(by_arena_alloc(&arena, SIZE_MAX / 4, 8, &err));
    assert_null(by_arena_text(&arena, "", SIZE_MAX, &err));
    by_arena_release(&arena);
    assert_int_equal(arena.used, 0);
}

/* A large object must not throw away the room left after the small ones. */
static void large_objects_leave_the_current_block_alone(void **state)
{
    (void)state;
    struct by_arena arena;
    by_arena_init(&arena, 0);
    uint8_t *first = by_arena_alloc(&arena, 16, 1, &err);
    assert_non_null(by_arena_alloc(&arena, 100000, 1, &err));
    uint8_t *second = by_arena_alloc(&arena, 16, 1, &err);
    assert_ptr_equal(second, first + 16);
    by_arena_release(&arena);
}

static void arenas_keep_to_their_limit(void **state)
{
    (void)state;
    struct by_arena arena;
    by_arena_init(&arena, 10000);
    size_t objects = 0;
    while (by_arena_alloc(&arena, 1, 100, &err))
        objects++;
    assert_int_equal(err.code, BARYON_ERR_NOMEM);
    assert_non_null(strstr(err.message, "10000 bytes"));
    assert_in_range(objects, 70, 100);
    assert_in_range(arena.used, 9000, 10000);
    assert_null(by_arena_alloc(&arena, 1, 20000, &err));
    by_arena_release(&arena);
    assert_int_equal(arena.limit, 10000);
    assert_non_null(by_arena_alloc(&arena, 1, 9000, &err));
    by_arena_release(&arena);
}

static void lists_grow_and_keep_their_items(void **state)
{
    (void)state;
    struct {
        uint32_t *at;
        size_t count, cap;
    } list = {0};
    struct by_arena arena;
    by_arena_init(&arena, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(by_list_reserve(&arena, &list, 1, sizeof *list.at, &err), 0);
        list.at[list.count++] = i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(list.at[i], i);
    assert_true(list.cap >= 1000 && list.cap < 2100);
    assert_int_equal(by_list_reserve(&arena, &list, SIZE_MAX, 1, &err), -1);
    assert_int_equal(by_list_reserve(&arena, &list, SIZE_MAX / 2, 8, &err), -1);
    assert_int_equal(list.count, 1000);
    assert_int_equal(list.at[999], 999);
    by_arena_release(&arena);
}

#ifdef __GLIBC__
#include <malloc.h>

static int hold_some(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *error)
{
    void **blocks = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        blocks[i] = by_alloc(100000, 1, error);
    return 0;
}

static size_t count_heaps(void)
{
    char *text = NULL;
    size_t size, count = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_int_equal(malloc_info(0, file), 0);
    assert_int_equal(fclose(file), 0);
    for (const char *at = text; (at = strstr(at, "<heap nr=")); at++)
        count++;
    free(text);
    return count;
}

/* Runs first, since heaps stay. */
static void threads_share_a_heap(void **state)
{
    (void)state;
    struct by_pool *pool;
    void *blocks[64];
    by_keep_memory(4);
    assert_int_equal(by_pool_open(&pool, 4, &err), 0);
    assert_int_equal(by_par_for(pool, 64, 1, hold_some, blocks, &err), 0);
    assert_int_equal(count_heaps(), 1);
    for (size_t i = 0; i < 64; i++)
        by_free(blocks[i]);
    by_pool_close(pool);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef __GLIBC__
        cmocka_unit_test(threads_share_a_heap),
#endif
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(blocks_come_and_go),
        cmocka_unit_test(arenas_give_zeroed_aligned_memory),
        cmocka_unit_test(large_objects_leave_the_current_block_alone),
        cmocka_unit_test(arenas_keep_to_their_limit),
        cmocka_unit_test(lists_grow_and_keep_their_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
