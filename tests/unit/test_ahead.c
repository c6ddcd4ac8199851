/* Reading ahead gives what reading gives: samples, errors, notices, in their order. */
#include "input/ahead.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/input_make.h"

static const int64_t one_dims[2] = {1, 3};
static const struct by_port port = {
    .name = "x", .elem = BY_ELEM_FLOAT, .kind = "tensor", .rank = 2, .dims = one_dims};
static struct by_input_options options;
static struct by_input *input;
static struct by_ahead *ahead;
static const struct by_array *arrays;
static const char *name;
/* Outlives a test: it is read ahead until the end. */
static struct counter counter;

static int set_up(void **state)
{
    (void)state;
    notices[0] = '\0';
    options = (struct by_input_options){.log = &logger};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    by_ahead_close(ahead);
    by_input_close(input);
    ahead = NULL;
    input = NULL;
    return system("rm -rf ./*");
}

static void open_counter(size_t count)
{
    const struct by_input_callback callback = counting(&counter, count);
    assert_ok(by_input_open_callback(&input, &callback, &port, 1, &options, &err));
    assert_ok(by_ahead_open(&ahead, input, &err));
}

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static void wait_for(size_t *given, size_t wanted)
{
    for (int i = 0; i < 100000 && __atomic_load_n(given, __ATOMIC_SEQ_CST) < wanted; i++)
        wait_a_little();
    wait_a_little();
}

/* A source that takes its time is read on the thread, one that does not where it is asked for. */
static void test_order(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        counter = (struct counter){.count = 40, .nanoseconds = slow ? 2000000 : 0};
        open_counter(40);
        assert_int_equal(by_ahead_count(ahead), 40);
        for (size_t i = 0; i < 40; i++) {
            char wanted[32];
            assert_ok(by_ahead_get(ahead, i, i + 1, &arrays, &name, &err));
            assert_rows(arrays, i, 1);
            snprintf(wanted, sizeof wanted, "row%zu", i);
            assert_string_equal(name, wanted);
        }
        assert_int_equal(counter.given, 40);
        tear_down(NULL);
    }
}

static void test_one_ahead(void **state)
{
    (void)state;
    counter = (struct counter){.count = 10, .nanoseconds = 20000000};
    open_counter(10);
    for (size_t i = 0; i < 5; i++) {
        assert_ok(by_ahead_get(ahead, i, i + 1, &arrays, &name, &err));
        wait_for(&counter.given, i + 2);
        assert_int_equal(__atomic_load_n(&counter.given, __ATOMIC_SEQ_CST), i + 2);
        assert_rows(arrays, i, 1);
    }
    assert_ok(by_ahead_get(ahead, 5, BY_AHEAD_NONE, &arrays, &name, &err));
    wait_a_little();
    assert_int_equal(__atomic_load_n(&counter.given, __ATOMIC_SEQ_CST), 6);
    /* Closed while a sample is read: that one is finished. */
    assert_ok(by_ahead_get(ahead, 6, 7, &arrays, &name, &err));
    by_ahead_close(ahead);
    ahead = NULL;
    assert_true(counter.given <= 8);
    assert_ok(by_input_get(input, 9, &arrays, &name, &err));
    assert_rows(arrays, 9, 1);
}

/* Those that were taken stay whole while others are read. */
static void test_taken(void **state)
{
    (void)state;
    static struct by_sample taken[10];
    counter = (struct counter){.count = 10, .nanoseconds = 20000000};
    open_counter(10);
    for (size_t i = 0; i < 10; i++) {
        assert_ok(by_ahead_get(ahead, i, i + 1, &arrays, &name, &err));
        by_ahead_take(ahead, &taken[i]);
    }
    tear_down(NULL);
    for (size_t i = 0; i < 10; i++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "row%zu", i);
        assert_string_equal(taken[i].name, wanted);
        assert_rows(taken[i].arrays, i, 1);
        by_sample_release(&taken[i]);
    }
}

static void test_other_than_promised(void **state)
{
    (void)state;
    counter = (struct counter){.count = 30, .nanoseconds = 2000000};
    static const size_t wanted[] = {0, 1, 7, 8, 3, 3, 4, 29, 0};
    open_counter(30);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_ok(by_ahead_get(ahead, wanted[i], wanted[i] + 1, &arrays, &name, &err));
        assert_rows(arrays, wanted[i], 1);
    }
    assert_true(counter.rewinds >= 2);
}

static void test_failure_comes_in_its_turn(void **state)
{
    (void)state;
    counter = (struct counter){.count = 10, .nanoseconds = 20000000, .fail_at = 4};
    open_counter(10);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(by_ahead_get(ahead, i, i + 1, &arrays, &name, &err));
        wait_for(&counter.given, i + 2 < 3 ? i + 2 : 3);
        assert_rows(arrays, i, 1);
    }
    assert_error(by_ahead_get(ahead, 3, 4, &arrays, &name, &err), BARYON_ERR_IO,
                 "no line to the camera");
    assert_null(arrays);
    counter.fail_at = 0;
    assert_ok(by_ahead_get(ahead, 3, 4, &arrays, &name, &err));
    assert_rows(arrays, 3, 1);
}

static void test_end(void **state)
{
    (void)state;
    size_t i;
    counter = (struct counter){.count = 6, .nanoseconds = 20000000};
    open_counter(BY_COUNT_UNKNOWN);
    assert_true(by_ahead_count(ahead) == BY_COUNT_UNKNOWN);
    for (i = 0; i < by_ahead_count(ahead); i++) {
        assert_ok(by_ahead_get(ahead, i, i + 1, &arrays, &name, &err));
        if (arrays)
            assert_rows(arrays, i, 1);
    }
    assert_int_equal(i, 7);
    assert_int_equal(by_ahead_count(ahead), 6);
    assert_null(arrays);
}

/* Notices of a sample come with it, not when it happened to be read. */
static void test_notices(void **state)
{
    (void)state;
    counter = (struct counter){.count = 6, .nanoseconds = 20000000, .wrong_at = 3};
    options.skip_bad = 0.5;
    open_counter(6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(notices[0] != '\0', i > 2);
        assert_int_equal(by_ahead_skipped(ahead), i > 2);
        assert_ok(by_ahead_get(ahead, i, i + 1, &arrays, &name, &err));
        wait_for(&counter.given, i + 2 < 6 ? i + 2 : 6);
        assert_int_equal(arrays == NULL, i == 2);
    }
    assert_string_equal(notices, "warning: skipped: sample 'row2'.input 'x': the file has float32 "
                                 "[3,1], the model input is float32 [1,3]\n");
    assert_int_equal(by_ahead_skipped(ahead), 1);
}

/* Each sample as a line among the notices. */
static void read_all(bool use_ahead)
{
    notices[0] = '\0';
    assert_ok(by_input_open(&input, "data", &port, 1, &options, &err));
    if (use_ahead)
        assert_ok(by_ahead_open(&ahead, input, &err));
    for (size_t i = 0; i < by_input_count(input); i++) {
        assert_ok(use_ahead ? by_ahead_get(ahead, i, i + 1, &arrays, &name, &err)
                            : by_input_get(input, i, &arrays, &name, &err));
        char line[64];
        snprintf(line, sizeof line, "%s %g\n", name,
                 arrays ? (double)((const float *)arrays->data)[0] : -1.0);
        strcat(notices, line);
    }
    by_ahead_close(ahead);
    ahead = NULL;
    assert_int_equal(by_input_skipped(input), 3);
    by_input_close(input);
    input = NULL;
}

/* With files, bad ones among them: the same as without reading ahead. */
static void test_files(void **state)
{
    (void)state;
    static char wanted[sizeof notices];
    char path[64];
    assert_int_equal(mkdir("data", 0777), 0);
    for (size_t i = 0; i < 20; i++) {
        snprintf(path, sizeof path, "data/%02zu.npy", i);
        if (i % 6 == 2)
            put_file(path, i % 4 ? "no array" : "");
        else
            save_rows(path, 3 * i, 1 + i % 3);
    }
    options.skip_bad = 0.2;
    read_all(false);
    strcpy(wanted, notices);
    read_all(true);
    assert_string_equal(notices, wanted);
    assert_non_null(strstr(notices, "warning: skipped: data/02.npy"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_order),
        TEST(test_one_ahead),
        TEST(test_taken),
        TEST(test_other_than_promised),
        TEST(test_notices),
        TEST(test_end),
        TEST(test_failure_comes_in_its_turn),
        TEST(test_files),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
