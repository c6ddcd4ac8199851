/* Every allocation of base/ fails in turn, once and from then on: NOMEM, nothing leaked. */
#include "base/doc.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/par.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#include "sweep.h"

static int parse(const char *path)
{
    struct by_arena arena;
    struct by_doc_node *root;
    by_arena_init(&arena, 0);
    int status = by_doc_load(&arena, path, &root, &err);
    by_arena_release(&arena);
    return status;
}

static int call_yaml(void)
{
    return parse("a.yaml");
}

static int call_json(void)
{
    return parse("a.json");
}

static void documents(void **state)
{
    (void)state;
    put_file("a.yaml", "a: [1, 2, 3, 4, 5, {b: c}]\nd: 'e'\n");
    put_file("a.json", "{\"a\": [1, 2, 3, 4, 5, {\"b\": \"\\u00e9\"}], \"d\": null}");
    sweep_memory(call_yaml);
    sweep_memory(call_json);
}

static int call_writer(void)
{
    return by_write_file("out", "text", 4, BY_WRITER_NO_SYNC, &err);
}

static int call_listing(void)
{
    struct by_listing listing;
    if (by_make_folders("d/e", &err) || by_list_folder(&listing, ".", &err))
        return -1;
    by_listing_release(&listing);
    return 0;
}

static void files(void **state)
{
    (void)state;
    put_file("one", "");
    put_file("two", "");
    sweep_memory(call_writer);
    sweep_memory(call_listing);
}

static int call_map(void)
{
    static char keys[40][4];
    struct by_map map;
    int status = 0;
    by_map_init(&map);
    for (int i = 0; i < 40 && !status; i++) {
        snprintf(keys[i], sizeof keys[i], "%d", i);
        status = by_map_put(&map, keys[i], keys, &err);
        /* What was there before a failure still is. */
        for (int j = 0; j < i; j++)
            assert_ptr_equal(by_map_get(&map, keys[j]), keys);
    }
    by_map_release(&map);
    return status;
}

static int call_text(void)
{
    struct by_str out;
    struct by_json json;
    by_str_init(&out);
    by_json_init(&json, &out, false);
    by_json_open(&json, NULL, '[');
    for (int i = 0; i < 100; i++)
        by_json_int(&json, NULL, i);
    by_json_close(&json, ']');
    int status = by_str_error(&out, &err);
    by_str_release(&out);
    return status;
}

static void maps_and_texts(void **state)
{
    (void)state;
    sweep_memory(call_map);
    sweep_memory(call_text);
}

static int add(void *context, size_t begin, size_t end, unsigned worker, struct baryon_error *e)
{
    (void)worker;
    (void)e;
    for (size_t i = begin; i < end; i++)
        ((int *)context)[i]++;
    return 0;
}

static int call_pool(void)
{
    struct by_pool *pool;
    int sums[100] = {0};
    if (by_pool_open(&pool, 4, &err))
        return -1;
    int status = by_par_for(pool, 100, 3, add, sums, &err);
    by_pool_close(pool);
    for (int i = 0; i < 100; i++)
        assert_int_equal(sums[i], 1);
    return status;
}

static void pools(void **state)
{
    (void)state;
    sweep_memory(call_pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(documents, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(files, scratch_enter, scratch_leave),
        cmocka_unit_test(maps_and_texts),
        cmocka_unit_test(pools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
