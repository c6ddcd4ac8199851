/* Samples that the caller makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/input_make.h"

static const int64_t one_dims[2] = {1, 3}, four_dims[2] = {4, 3}, open_dims[2] = {-1, 3};
static struct by_port ports[2];
static struct by_input_options options;
static struct by_input *input;
static const struct by_array *arrays;
static const char *name;

static int set_up(void **state)
{
    (void)state;
    notices[0] = '\0';
    options = (struct by_input_options){.log = &logger};
    ports[0] = (struct by_port){
        .name = "x", .elem = BY_ELEM_FLOAT, .kind = "tensor", .rank = 2, .dims = one_dims};
    ports[1] = ports[0];
    ports[1].name = "y";
    ports[1].elem = BY_ELEM_INT64;
    ports[1].dims = open_dims;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    by_input_close(input);
    input = NULL;
    return 0;
}

static void open_counter(struct counter *counter, size_t count)
{
    const struct by_input_callback callback = counting(counter, count);
    by_input_close(input);
    assert_ok(by_input_open_callback(&input, &callback, ports, 1, &options, &err));
    assert_int_equal(by_input_count(input), count);
}

static int get(size_t index)
{
    return by_input_get(input, index, &arrays, &name, &err);
}

static void test_in_order(void **state)
{
    (void)state;
    struct counter counter = {.count = 5};
    char text[64];
    open_counter(&counter, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_ok(get(i));
        assert_int_equal(counter.given, i + 1);
        assert_rows(arrays, i, 1);
        /* The caller's memory is free again at the next call. */
        memset(counter.values, 0, sizeof counter.values);
        assert_rows(arrays, i, 1);
    }
    assert_string_equal(name, "row4");
    by_input_describe(input, text, sizeof text);
    assert_string_equal(text, "given by the caller");
}

static void test_left_out_and_again(void **state)
{
    (void)state;
    struct counter counter = {.count = 9, .nameless = true};
    open_counter(&counter, 9);
    assert_ok(get(6));
    assert_rows(arrays, 6, 1);
    assert_string_equal(name, "sample-6");
    assert_int_equal(counter.rewinds, 0);
    assert_ok(get(2));
    assert_rows(arrays, 2, 1);
    assert_int_equal(counter.rewinds, 1);
    struct by_input_callback once = counting(&counter, 9);
    once.rewind = NULL;
    counter.given = 0;
    by_input_close(input);
    assert_ok(by_input_open_callback(&input, &once, ports, 1, &options, &err));
    assert_ok(get(1));
    assert_error(get(1), BARYON_ERR_USAGE,
                 "the samples can be read only once, but are needed again");
}

static void test_unknown_count(void **state)
{
    (void)state;
    struct counter counter = {.count = 4};
    size_t i, got = 0;
    open_counter(&counter, BY_COUNT_UNKNOWN);
    for (i = 0; i < by_input_count(input); i++) {
        assert_ok(get(i));
        got += arrays != NULL;
    }
    assert_int_equal(got, 4);
    assert_int_equal(by_input_count(input), 4);
    assert_ok(get(0));
    assert_rows(arrays, 0, 1);
}

static void test_limit(void **state)
{
    (void)state;
    struct counter counter = {.count = 9};
    options.count = 3;
    open_counter(&counter, BY_COUNT_UNKNOWN);
    for (size_t i = 0; i < by_input_count(input); i++)
        assert_ok(get(i));
    assert_int_equal(by_input_count(input), 3);
    assert_int_equal(counter.given, 3);
    const struct by_input_callback callback = counting(&counter, 2);
    by_input_close(input);
    assert_ok(by_input_open_callback(&input, &callback, ports, 1, &options, &err));
    assert_int_equal(by_input_count(input), 2);
    assert_string_equal(notices, "warning: 2 samples, fewer than the requested 3\n");
}

static void test_too_few(void **state)
{
    (void)state;
    struct counter counter = {.count = 2};
    open_counter(&counter, 3);
    assert_ok(get(1));
    assert_error(get(2), BARYON_ERR_INPUT, "the source of samples ended after 2 of 3");
    counter = (struct counter){0};
    open_counter(&counter, BY_COUNT_UNKNOWN);
    assert_error(get(0), BARYON_ERR_INPUT, "the source of samples is empty");
    const struct by_input_callback none = counting(&counter, 0);
    by_input_close(input);
    assert_error(by_input_open_callback(&input, &none, ports, 1, &options, &err), BARYON_ERR_INPUT,
                 "the source of samples is empty");
}

static void test_its_own_errors(void **state)
{
    (void)state;
    struct counter counter = {.count = 5, .fail_at = 2};
    options.skip_bad = 1;
    open_counter(&counter, 5);
    assert_ok(get(0));
    assert_error(get(1), BARYON_ERR_IO, "no line to the camera");
    assert_string_equal(notices, "");
}

static void test_skip_bad(void **state)
{
    (void)state;
    struct counter counter = {.count = 4, .wrong_at = 2};
    options.skip_bad = 0.25;
    open_counter(&counter, 4);
    assert_ok(get(1));
    assert_null(arrays);
    assert_ok(get(2));
    assert_rows(arrays, 2, 1);
    assert_int_equal(by_input_skipped(input), 1);
    /* Where nobody knows how many there will be, the share is judged at the end. */
    counter = (struct counter){.count = 3, .wrong_at = 1};
    open_counter(&counter, BY_COUNT_UNKNOWN);
    for (size_t i = 0; i < 3; i++)
        assert_ok(get(i));
    assert_error(get(3), BARYON_ERR_INPUT, "1 of 3 samples were bad, at most 0 may be skipped");
}

static void test_shapes(void **state)
{
    (void)state;
    struct counter counter = {.count = 4, .wrong_at = 1};
    open_counter(&counter, 4);
    assert_error(
        get(0), BARYON_ERR_INPUT,
        "sample 'row0'.input 'x': the file has float32 [3,1], the model input is float32 [1,3]");
    /* A fixed batch has to come whole. */
    counter = (struct counter){.count = 4};
    ports[0].dims = four_dims;
    open_counter(&counter, 4);
    assert_error(
        get(0), BARYON_ERR_INPUT,
        "sample 'row0'.input 'x': the file has float32 [1,3], the model input is float32 [4,3]");
}

static struct by_array given[3];

static int give(void *context, const struct by_array **all, size_t *count, const char **of,
                struct baryon_error *problem)
{
    (void)of, (void)problem;
    *all = given;
    *count = *(size_t *)context;
    return 0;
}

static void test_two_inputs(void **state)
{
    (void)state;
    const float x[3] = {1, 2, 3};
    const int32_t y[6] = {1, 2, 3, 4, 5, 6};
    const int64_t wide[6] = {1, 2, 3, 4, 5, 6};
    size_t count = 2;
    const struct by_input_callback callback = {.next = give, .context = &count, .count = 9};
    given[0] = (struct by_array){
        .elem = BY_ELEM_FLOAT, .rank = 1, .dims = {3}, .data = x, .size = sizeof x};
    given[1] = (struct by_array){
        .elem = BY_ELEM_INT32, .rank = 2, .dims = {2, 3}, .data = y, .size = sizeof y};
    assert_ok(by_input_open_callback(&input, &callback, ports, 2, &options, &err));
    assert_ok(get(0));
    assert_int_equal(arrays[0].rank, 2);
    assert_memory_equal(arrays[0].data, x, sizeof x);
    assert_memory_equal(arrays[1].data, wide, sizeof wide);
    assert_string_equal(notices, "input 'y': int32 values are converted to int64\n");
    given[2] = given[0];
    given[0] = given[1];
    given[1] = given[2];
    given[0].name = "y";
    given[1].name = "x";
    count = 3;
    assert_ok(get(1));
    assert_memory_equal(arrays[0].data, x, sizeof x);
    count = 1;
    assert_error(get(2), BARYON_ERR_INPUT,
                 "sample 'sample-2': no array for the model input 'x'; the file has 'y'");
    count = 2;
    given[1].size = 11;
    assert_error(get(3), BARYON_ERR_INPUT,
                 "sample 'sample-3'.array 1: 11 bytes, must have 12 for its type and shape");
    given[1].rank = 17;
    assert_error(get(4), BARYON_ERR_INPUT,
                 "sample 'sample-4'.array 1: rank 17, must be at most 16");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_in_order),      TEST(test_left_out_and_again),
        TEST(test_unknown_count), TEST(test_limit),
        TEST(test_too_few),       TEST(test_its_own_errors),
        TEST(test_skip_bad),      TEST(test_shapes),
        TEST(test_two_inputs),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
