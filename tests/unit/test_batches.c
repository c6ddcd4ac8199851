/* Fixed batches out of files with another number of rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/input_make.h"
#include "tests/unit/png_make.h"

static const int64_t four_dims[2] = {4, 3}, open_dims[2] = {4, -1};
static const int64_t labels_dims[1] = {4}, scale_dims[1] = {2};
static struct by_port port, pair[2];
static struct by_input_options options;
static struct by_input *input;
static const struct by_array *arrays;
static const char *name;

static int set_up(void **state)
{
    (void)state;
    notices[0] = '\0';
    options = (struct by_input_options){.log = &logger};
    port = (struct by_port){
        .name = "x", .elem = BY_ELEM_FLOAT, .kind = "tensor", .rank = 2, .dims = four_dims};
    pair[0] = pair[1] = port;
    pair[1].name = "y";
    pair[1].rank = 1;
    pair[1].dims = labels_dims;
    return mkdir("data", 0777);
}

static int tear_down(void **state)
{
    (void)state;
    by_input_close(input);
    input = NULL;
    return system("rm -rf ./*");
}

static void open_data(size_t count)
{
    by_input_close(input);
    assert_ok(by_input_open(&input, "data", &port, 1, &options, &err));
    assert_int_equal(by_input_count(input), count);
}

static void get(size_t index, const char *wanted)
{
    assert_ok(by_input_get(input, index, &arrays, &name, &err));
    assert_non_null(arrays);
    assert_string_equal(name, wanted);
}

static int open_and_get(const struct by_port *ports, size_t count)
{
    by_input_close(input);
    if (by_input_open(&input, "data", ports, count, &options, &err))
        return -1;
    return by_input_get(input, 0, &arrays, &name, &err);
}

static void test_split(void **state)
{
    (void)state;
    save_rows("data/a.npy", 0, 8);
    save_rows("data/b.npy", 8, 4);
    open_data(3);
    get(2, "b");
    assert_rows(arrays, 8, 4);
    get(1, "a-4");
    assert_rows(arrays, 4, 4);
    get(0, "a-0");
    assert_rows(arrays, 0, 4);
    assert_string_equal(notices, "");
}

static void test_stacked(void **state)
{
    (void)state;
    char path[32], text[64];
    for (size_t i = 0; i < 10; i++) {
        snprintf(path, sizeof path, "data/%zu.npy", i);
        save_rows(path, i, 1);
    }
    open_data(2);
    assert_string_equal(
        notices, "warning: data: the last 2 of 10 samples skipped, the model has a batch of 4\n");
    get(1, "4");
    assert_rows(arrays, 4, 4);
    get(0, "0");
    assert_rows(arrays, 0, 4);
    by_input_describe(input, text, sizeof text);
    assert_string_equal(text, "npy, 4 at a time");
}

/* Rows lie where they like: 3, 1, 7 and 5 of them. */
static void test_across(void **state)
{
    (void)state;
    save_rows("data/a.npy", 0, 3);
    save_rows("data/b.npy", 3, 1);
    save_rows("data/c.npy", 4, 7);
    save_rows("data/d.npy", 11, 5);
    open_data(4);
    const char *const wanted[4] = {"a-0", "c-0", "c-4", "d-1"};
    for (size_t i = 4; i-- > 0;) {
        get(i, wanted[i]);
        assert_rows(arrays, 4 * i, 4);
    }
    assert_string_equal(notices, "");
}

/* A file that is a whole batch, taken apart when the one before was none. */
static void test_whole_but_late(void **state)
{
    (void)state;
    save_rows("data/a.npy", 0, 1);
    save_rows("data/b.npy", 1, 4);
    save_rows("data/c.npy", 5, 3);
    open_data(2);
    get(0, "a");
    assert_rows(arrays, 0, 4);
    get(1, "b-3");
    assert_rows(arrays, 4, 4);
}

static void test_without_batch(void **state)
{
    (void)state;
    const int64_t dims[1] = {3};
    char path[32];
    for (size_t i = 0; i < 4; i++) {
        const float values[3] = {(float)(3 * i), (float)(3 * i + 1), (float)(3 * i + 2)};
        snprintf(path, sizeof path, "data/%zu.npy", i);
        assert_ok(by_npy_save(path, BY_ELEM_FLOAT, dims, 1, values, 12, BY_WRITER_NO_SYNC, &err));
    }
    open_data(1);
    get(0, "0");
    assert_rows(arrays, 0, 4);
}

static void test_limit(void **state)
{
    (void)state;
    save_rows("data/a.npy", 0, 14);
    options.count = 2;
    open_data(2);
    assert_string_equal(notices, "");
    options.count = 5;
    open_data(3);
    assert_string_equal(notices,
                        "warning: data: the last 2 of 14 samples skipped, the model has a batch of "
                        "4\nwarning: data: 3 samples, fewer than the requested 5\n");
}

/* Files after the limit are not opened, so nobody knows what is left over in the end. */
static void test_limit_before_the_last_file(void **state)
{
    (void)state;
    save_rows("data/a.npy", 0, 8);
    save_rows("data/b.npy", 8, 7);
    options.count = 2;
    open_data(2);
    assert_string_equal(notices, "");
}

static void test_too_few(void **state)
{
    (void)state;
    save_rows("data/a.npy", 0, 3);
    assert_error(open_and_get(&port, 1), BARYON_ERR_INPUT,
                 "data: 3 samples, must be at least the model's batch of 4");
}

static void test_raw(void **state)
{
    (void)state;
    float values[18];
    for (size_t i = 0; i < 18; i++)
        values[i] = (float)i;
    assert_ok(by_write_file("data/a.raw", values, 60, BY_WRITER_NO_SYNC, &err));
    assert_ok(by_write_file("data/b.raw", values + 15, 12, BY_WRITER_NO_SYNC, &err));
    open_data(1);
    get(0, "a-0");
    assert_rows(arrays, 0, 4);
    assert_ok(by_write_file("data/a.raw", values, 24, BY_WRITER_NO_SYNC, &err));
    assert_ok(by_write_file("data/b.raw", values + 6, 24, BY_WRITER_NO_SYNC, &err));
    open_data(1);
    get(0, "a-0");
    assert_rows(arrays, 0, 4);
}

/* An open dimension is what the rows have; rows of one batch have the same. */
static void test_open_dimension(void **state)
{
    (void)state;
    const int64_t dims[2] = {2, 1};
    const float values[2] = {0};
    port.dims = open_dims;
    save_rows("data/a.npy", 0, 2);
    save_rows("data/b.npy", 2, 2);
    open_data(1);
    get(0, "a-0");
    assert_rows(arrays, 0, 4);
    assert_ok(
        by_npy_save("data/b.npy", BY_ELEM_FLOAT, dims, 2, values, 8, BY_WRITER_NO_SYNC, &err));
    assert_error(open_and_get(&port, 1), BARYON_ERR_INPUT,
                 "data/b.npy: input 'x': float32 [2,1] here, float32 [2,3] before, must be equal "
                 "within a batch");
}

static void save_list(const char *path, size_t count, float first)
{
    float values[8];
    const int64_t dims[1] = {(int64_t)count};
    for (size_t i = 0; i < count; i++)
        values[i] = first + (float)i;
    assert_ok(
        by_npy_save(path, BY_ELEM_FLOAT, dims, 1, values, 4 * count, BY_WRITER_NO_SYNC, &err));
}

static void test_two_inputs(void **state)
{
    (void)state;
    assert_int_equal(mkdir("data/x", 0777) | mkdir("data/y", 0777), 0);
    save_rows("data/x/a.npy", 0, 2);
    save_rows("data/x/b.npy", 2, 2);
    save_list("data/y/a.npy", 2, 10);
    save_list("data/y/b.npy", 2, 12);
    assert_ok(open_and_get(pair, 2));
    assert_int_equal(by_input_count(input), 1);
    assert_rows(&arrays[0], 0, 4);
    const float wanted[4] = {10, 11, 12, 13};
    assert_int_equal(arrays[1].size, 16);
    assert_memory_equal(arrays[1].data, wanted, 16);
    /* A whole batch serves every sample of a file. */
    save_list("data/y/a.npy", 4, 10);
    save_rows("data/x/a.npy", 0, 8);
    save_rows("data/x/b.npy", 8, 2);
    assert_ok(open_and_get(pair, 2));
    assert_int_equal(by_input_count(input), 2);
    assert_ok(by_input_get(input, 1, &arrays, &name, &err));
    assert_rows(&arrays[0], 4, 4);
    assert_memory_equal(arrays[1].data, wanted, 16);
    save_list("data/y/a.npy", 3, 10);
    assert_error(open_and_get(pair, 2), BARYON_ERR_INPUT,
                 "data/x/a.npy: input 'x' has 8 samples, input 'y' has 3");
}

/* An input that has no batch is the same for all rows of one. */
static void test_input_without_batch(void **state)
{
    (void)state;
    pair[1].dims = scale_dims;
    assert_int_equal(mkdir("data/x", 0777) | mkdir("data/y", 0777), 0);
    save_rows("data/x/a.npy", 0, 3);
    save_rows("data/x/b.npy", 3, 1);
    save_list("data/y/a.npy", 2, 1);
    save_list("data/y/b.npy", 2, 1);
    assert_ok(open_and_get(pair, 2));
    assert_rows(&arrays[0], 0, 4);
    assert_int_equal(arrays[1].dims[0], 2);
    save_list("data/y/b.npy", 2, 2);
    assert_error(open_and_get(pair, 2), BARYON_ERR_INPUT,
                 "data/x/b.npy: input 'y': it has no batch dimension, but differs between samples "
                 "of one batch");
}

/* The batch of a bad file is left out as a whole; rows keep their places. */
static void test_skip_bad(void **state)
{
    (void)state;
    char path[32];
    for (size_t i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "data/%zu.npy", i);
        save_rows(path, i, 1);
    }
    put_file("data/1.npy", "no array");
    put_file("data/6.npy", "");
    options.skip_bad = 0.5;
    open_data(2);
    for (int pass = 0; pass < 2; pass++) {
        assert_ok(by_input_get(input, 0, &arrays, &name, &err));
        assert_null(arrays);
        assert_int_equal(by_input_skipped(input), 1);
    }
    assert_error(
        by_input_get(input, 1, &arrays, &name, &err), BARYON_ERR_INPUT,
        "data/6.npy: the file is empty; bad samples skipped so far: 1, --skip-bad allows no more");
    save_rows("data/6.npy", 6, 1);
    get(1, "4");
    assert_rows(arrays, 4, 4);
}

static void test_skip_bad_across(void **state)
{
    (void)state;
    save_rows("data/a.npy", 0, 3);
    put_file("data/b.npy", "no array");
    save_rows("data/c.npy", 4, 4);
    options.skip_bad = 0.5;
    open_data(2);
    assert_ok(by_input_get(input, 0, &arrays, &name, &err));
    assert_null(arrays);
    get(1, "c");
    assert_rows(arrays, 4, 4);
    assert_string_equal(notices, "warning: skipped: data/b.npy@0: not a .npy file: it begins with "
                                 "'no arr', must begin with '\\x93NUMPY'\n");
}

static void put_pixel(const char *path, uint8_t value)
{
    static struct png_file png;
    const uint8_t row[4] = {0, value, value, value};
    png_header(&png, 1, 1, 8, 2);
    png_data(&png, (const char *)row, 4);
    png_chunk(&png, "IEND", NULL, 0);
    assert_ok(by_write_file(path, png.bytes, png.size, BY_WRITER_NO_SYNC, &err));
}

static void test_pictures(void **state)
{
    (void)state;
    const int64_t dims[4] = {2, 3, 1, 1}, plain[3] = {3, 1, 1};
    char text[200];
    port.rank = 4;
    port.dims = dims;
    put_pixel("data/a.png", 255);
    put_pixel("data/b.png", 0);
    put_pixel("data/c.png", 255);
    open_data(1);
    get(0, "a");
    const float wanted[6] = {1, 1, 1, 0, 0, 0};
    assert_int_equal(arrays[0].rank, 4);
    assert_int_equal(arrays[0].dims[0], 2);
    assert_memory_equal(arrays[0].data, wanted, sizeof wanted);
    by_input_describe(input, text, sizeof text);
    assert_string_equal(text, "image: rgb, stretched to 1x1 (pil-nearest), float32 = x / 255, "
                              "nchw, 2 at a time");
    /* Three dimensions: the first are channels. */
    port.rank = 3;
    port.dims = plain;
    open_data(3);
    get(2, "c");
    assert_int_equal(arrays[0].rank, 3);
    assert_int_equal(arrays[0].dims[0], 3);
}

static void test_packed(void **state)
{
    (void)state;
    const int64_t odd[2] = {4, 3}, even[2] = {4, 2};
    port.elem = BY_ELEM_INT4;
    port.dims = odd;
    assert_ok(by_write_file("data/a.raw", "\x10\x32\x54\x76\x98\xba", 6, 0, &err));
    assert_error(
        open_and_get(&port, 1), BARYON_ERR_UNSUPPORTED,
        "data/a.raw: input 'x': rows of packed int4 values must fill whole bytes to form batches");
    port.dims = even;
    open_data(1);
    get(0, "a-0");
    assert_int_equal(arrays[0].size, 4);
    assert_memory_equal(arrays[0].data, "\x10\x32\x54\x76", 4);
}

/* --shape makes an open batch a fixed one. */
static void test_shape(void **state)
{
    (void)state;
    const int64_t dims[2] = {-1, 3}, sizes[1] = {4};
    const char *const keys[1] = {"x:0"};
    port.dims = dims;
    options.shape_symbols = keys;
    options.shape_sizes = sizes;
    options.shape_count = 1;
    save_rows("data/a.npy", 0, 8);
    open_data(2);
    get(1, "a-4");
    assert_rows(arrays, 4, 4);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_split),
        TEST(test_stacked),
        TEST(test_across),
        TEST(test_limit),
        TEST(test_limit_before_the_last_file),
        TEST(test_whole_but_late),
        TEST(test_without_batch),
        TEST(test_too_few),
        TEST(test_raw),
        TEST(test_open_dimension),
        TEST(test_two_inputs),
        TEST(test_skip_bad),
        TEST(test_input_without_batch),
        TEST(test_pictures),
        TEST(test_skip_bad_across),
        TEST(test_packed),
        TEST(test_shape),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
