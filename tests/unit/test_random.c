/* Random samples. */
#include "input/input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

static char notices[1024];

static void take_notice(void *context, enum by_log_level level, const char *text)
{
    (void)context;
    (void)level;
    snprintf(notices, sizeof notices, "%s", text);
}

static const struct by_log logger = {.write = take_notice, .level = BY_LOG_NOTICE};
static struct by_input_options options;
static struct by_input *input;
static const struct by_array *arrays;
static const char *name;

static int set_up(void **state)
{
    (void)state;
    notices[0] = '\0';
    options = (struct by_input_options){.log = &logger, .random = true};
    input = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    by_input_close(input);
    return 0;
}

static void get(size_t index)
{
    assert_ok(by_input_get(input, index, &arrays, &name, &err));
    assert_non_null(arrays);
}

/* What goes wrong when the source is opened and its first sample asked for. */
static int first_sample(const struct by_port *port)
{
    by_input_close(input);
    input = NULL;
    if (by_input_open(&input, NULL, port, 1, &options, &err) < 0)
        return -1;
    return by_input_get(input, 0, &arrays, &name, &err);
}

static void test_random(void **state)
{
    (void)state;
    const int64_t dims[1] = {1000};
    const int types[] = {BY_ELEM_FLOAT, BY_ELEM_INT64, BY_ELEM_UINT8, BY_ELEM_BOOL,
                         BY_ELEM_FLOAT16};
    const char *const names[] = {"f", "ids", "pixels", "mask", "h"};
    struct by_port ports[5];
    float first[1000];
    char text[100];
    for (size_t i = 0; i < 5; i++)
        ports[i] = (struct by_port){.name = names[i], .elem = types[i], .rank = 1, .dims = dims};
    options.count = 3;
    options.seed = 7;
    assert_ok(by_input_open(&input, NULL, ports, 5, &options, &err));
    assert_int_equal(by_input_count(input), 3);
    assert_string_equal(
        notices,
        "input 'ids': random integers are 0 or 1; set another range with --int-range LOW:HIGH");
    get(1);
    assert_string_equal(name, "random-1");
    memcpy(first, arrays[0].data, sizeof first);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 1000; i++) {
        sum += (double)first[i];
        squares += (double)first[i] * (double)first[i];
    }
    assert_true(sum > -120 && sum < 120 && squares > 850 && squares < 1150);
    size_t ones = 0, least = 255, most = 0;
    for (size_t i = 0; i < 1000; i++) {
        const int64_t id = ((const int64_t *)arrays[1].data)[i];
        const uint8_t pixel = ((const uint8_t *)arrays[2].data)[i];
        assert_true(id == 0 || id == 1);
        assert_true(((const uint8_t *)arrays[3].data)[i] <= 1);
        ones += (size_t)id;
        least = pixel < least ? pixel : least;
        most = pixel > most ? pixel : most;
    }
    assert_true(ones > 400 && ones < 600 && least < 10 && most > 245);
    get(2);
    assert_memory_not_equal(arrays[0].data, first, sizeof first);
    get(1);
    assert_memory_equal(arrays[0].data, first, sizeof first);
    by_input_describe(input, text, sizeof text);
    assert_string_equal(text, "random values, seed 7");
}

static void test_random_range(void **state)
{
    (void)state;
    const int64_t dims[1] = {1};
    struct by_port port = {.name = "ids", .elem = BY_ELEM_INT32, .rank = 1, .dims = dims};
    options.count = 64;
    /* One value alone is never zero as long as the range has another. */
    assert_ok(by_input_open(&input, NULL, &port, 1, &options, &err));
    for (size_t i = 0; i < 64; i++) {
        get(i);
        assert_int_equal(*(const int32_t *)arrays[0].data, 1);
    }
    options.int_range_set = true;
    options.int_low = -3;
    options.int_high = 0;
    notices[0] = '\0';
    by_input_close(input);
    assert_ok(by_input_open(&input, NULL, &port, 1, &options, &err));
    for (size_t i = 0; i < 64; i++) {
        get(i);
        assert_in_range(*(const int32_t *)arrays[0].data + 3, 0, 2);
    }
    assert_string_equal(notices, "");
    options.int_low = 5;
    assert_error(first_sample(&port), BARYON_ERR_USAGE,
                 "range of integers 5:0, the first must not be greater than the second");
    options.int_high = (int64_t)1 << 40;
    assert_error(first_sample(&port), BARYON_ERR_USAGE,
                 "input 'ids': range of integers 5:1099511627776 does not fit int32 "
                 "(-2147483648:2147483647)");
    options.count = 0;
    assert_error(first_sample(&port), BARYON_ERR_USAGE, "0 random samples, must be at least 1");
}

static void test_random_open(void **state)
{
    (void)state;
    const int64_t dims[3] = {-1, -1, 3};
    const char *const names[3] = {"batch", NULL, NULL};
    const struct by_port port = {
        .name = "x", .elem = BY_ELEM_FLOAT, .rank = 3, .dims = dims, .symbols = names};
    options.count = 1;
    notices[0] = '\0';
    assert_ok(first_sample(&port));
    assert_int_equal(arrays[0].dims[0] * 100 + arrays[0].dims[1] * 10 + arrays[0].dims[2], 113);
    assert_non_null(strstr(
        notices, "chosen for random samples: 'batch'=1, 'x:1'=1; set other sizes with --shape"));
    const char *const keys[2] = {"batch", "x:1"};
    const int64_t sizes[2] = {2, 5};
    options.shape_symbols = keys;
    options.shape_sizes = sizes;
    options.shape_count = 2;
    assert_ok(first_sample(&port));
    assert_int_equal(arrays[0].dims[0] * 100 + arrays[0].dims[1] * 10 + arrays[0].dims[2], 253);
    assert_int_equal(arrays[0].size, 120);
}

/* Inputs alike in everything but their name have values of their own. */
static void test_inputs_differ(void **state)
{
    (void)state;
    const int64_t dims[1] = {100};
    const struct by_port ports[2] = {
        {.name = "a", .elem = BY_ELEM_FLOAT, .rank = 1, .dims = dims},
        {.name = "b", .elem = BY_ELEM_FLOAT, .rank = 1, .dims = dims},
    };
    options.count = 1;
    assert_ok(by_input_open(&input, NULL, ports, 2, &options, &err));
    get(0);
    const float *a = arrays[0].data, *b = arrays[1].data;
    for (size_t i = 0; i < 100; i++)
        assert_true(a[i] != b[i]);
}

static void test_range_of_an_input(void **state)
{
    (void)state;
    const int64_t dims[1] = {1000};
    const struct by_port port = {.name = "x", .elem = BY_ELEM_FLOAT, .rank = 1, .dims = dims};
    const struct by_value_range range = {.input = "x", .low = -3, .high = 5};
    options.count = 1;
    options.ranges = &range;
    options.range_count = 1;
    assert_ok(first_sample(&port));
    const float *values = arrays[0].data;
    float least = values[0], most = values[0];
    for (size_t i = 0; i < 1000; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    assert_true(least >= -3 && least < -2.9f && most <= 5 && most > 4.9f);
}

/* A symbol stands for one size in all inputs, also where another place would choose another. */
static void test_one_size_of_a_symbol(void **state)
{
    (void)state;
    const int64_t open[2] = {1, -1}, turned[2] = {-1, -1};
    const char *const one[2] = {NULL, "S"}, *const other[2] = {"S", "T"};
    const struct by_port ports[2] = {
        {.name = "a", .elem = BY_ELEM_FLOAT, .rank = 2, .dims = open, .symbols = one},
        {.name = "b", .elem = BY_ELEM_FLOAT, .rank = 2, .dims = turned, .symbols = other},
    };
    options.count = 1;
    assert_ok(by_input_open(&input, NULL, ports, 2, &options, &err));
    get(0);
    assert_int_equal(arrays[0].dims[1], 16);
    assert_int_equal(arrays[1].dims[0], 16);
    assert_int_equal(arrays[1].dims[1], 16);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* Quark's sizes, and one for a symbol wherever it stands. */
static void test_random_sizes(void **state)
{
    (void)state;
    const int64_t open[4] = {-1, -1, -1, -1};
    const char *const image[4] = {"N", "C", "H", "W"}, *const ids[2] = {"N", "L"};
    const char *const hidden[3] = {"N", "L", "D"};
    const struct by_port ports[3] = {
        {.name = "image", .elem = BY_ELEM_FLOAT, .rank = 4, .dims = open, .symbols = image},
        {.name = "ids", .elem = BY_ELEM_INT64, .rank = 2, .dims = open, .symbols = ids},
        {.name = "hidden", .elem = BY_ELEM_FLOAT, .rank = 3, .dims = open, .symbols = hidden}};
    options.count = 1;
    assert_ok(by_input_open(&input, NULL, ports, 3, &options, &err));
    get(0);
    const int64_t wanted[3][4] = {{1, 3, 32, 32}, {1, 16}, {1, 16, 1}};
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(arrays[i].dims, wanted[i], ports[i].rank * sizeof(int64_t));
}

static void test_random_value_range(void **state)
{
    (void)state;
    const int64_t dims[1] = {1000};
    const struct by_port ports[2] = {{.name = "x", .elem = BY_ELEM_FLOAT, .rank = 1, .dims = dims},
                                     {.name = "n", .elem = BY_ELEM_INT32, .rank = 1, .dims = dims}};
    const struct by_value_range ranges[2] = {{"x", 2, 3}, {"n", -1.5, 1.5}};
    options.count = 1;
    options.ranges = ranges;
    options.range_count = 2;
    assert_ok(by_input_open(&input, NULL, ports, 2, &options, &err));
    get(0);
    double sum = 0;
    bool seen[3] = {false};
    for (size_t i = 0; i < 1000; i++) {
        const float x = ((const float *)arrays[0].data)[i];
        const int32_t n = ((const int32_t *)arrays[1].data)[i];
        assert_true(x >= 2 && x <= 3 && n >= -1 && n <= 1);
        sum += (double)x;
        seen[n + 1] = true;
    }
    assert_true(sum > 2450 && sum < 2550 && seen[0] && seen[1] && seen[2]);
    assert_string_equal(notices, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_random),
        TEST(test_random_range),
        TEST(test_random_open),
        TEST(test_random_sizes),
        TEST(test_random_value_range),
        TEST(test_random),
        TEST(test_random_range),
        TEST(test_random_open),
        TEST(test_inputs_differ),
        TEST(test_range_of_an_input),
        TEST(test_one_size_of_a_symbol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
