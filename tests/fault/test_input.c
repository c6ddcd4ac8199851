/* Every allocation and every call on files fails while samples are read. */
#include "input/ahead.h"
#include "input/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/unit/png_make.h"
#include "tests/unit/scratch.h"
#include "tests/unit/zip_make.h"

#include "sweep.h"

static const int64_t rows[2] = {1, 3}, four[2] = {4, 3}, picture[4] = {1, 3, 5, 4}, two[2] = {2, 3};
static const float floats[6] = {1, 2, 3, 4, 5, 6};
static const int64_t numbers[6] = {1, 2, 3, 4, 5, 6};
static const struct by_port ports[2] = {
    {.name = "x", .elem = BY_ELEM_FLOAT, .rank = 2, .dims = rows},
    {.name = "y", .elem = BY_ELEM_INT64, .rank = 2, .dims = rows},
};
static const struct by_port pixels = {
    .name = "x", .elem = BY_ELEM_FLOAT, .rank = 4, .dims = picture};

static struct by_input_options options;
static const char *source;
static const struct by_port *source_ports;
static size_t source_count;

/* Opens the source and gets every sample. */
static int read_all(void)
{
    struct by_input *input;
    const struct by_array *arrays;
    const char *name;
    if (by_input_open(&input, source, source_ports, source_count, &options, &err))
        return -1;
    int status = 0;
    for (size_t i = 0; i < by_input_count(input) && !status; i++)
        status = by_input_get(input, i, &arrays, &name, &err);
    by_input_close(input);
    return status;
}

static void sweep_source(const char *path, const struct by_port *of, size_t count)
{
    source = path;
    source_ports = of;
    source_count = count;
    sweep_memory(read_all);
    if (path) /* random ones are in no file */
        sweep(BY_FAULT_IO, BARYON_ERR_IO, read_all);
}

static void put_bytes(const char *path, const void *bytes, size_t size)
{
    assert_ok(by_write_file(path, bytes, size, BY_WRITER_NO_SYNC, &err));
}

static void put_png(const char *path)
{
    static struct png_file png;
    png_header(&png, 3, 3, 8, 2);
    png_data(&png, "\0abcdefghi\1abcdefghi\2abcdefghi", 30);
    png_chunk(&png, "IEND", NULL, 0);
    put_bytes(path, png.bytes, png.size);
}

static int set_up(void **state)
{
    static struct zip_file zip;
    static uint8_t x[512], y[512], packed[512];
    if (scratch_enter(state) || mkdir("npy", 0777) || mkdir("png", 0777) || mkdir("two", 0777) ||
        mkdir("two/x", 0777) || mkdir("two/y", 0777))
        return -1;
    const size_t x_size = by_npy_header_write((char *)x, sizeof x, BY_ELEM_FLOAT, two, 2);
    const size_t y_size = by_npy_header_write((char *)y, sizeof y, BY_ELEM_INT64, two, 2);
    memcpy(x + x_size, floats, sizeof floats);
    memcpy(y + y_size, numbers, sizeof numbers);
    put_bytes("npy/a.npy", x, x_size + sizeof floats);
    put_bytes("npy/b.npy", x, x_size + sizeof floats);
    put_bytes("two/x/a.npy", x, x_size + sizeof floats);
    put_bytes("two/y/a.npy", y, y_size + sizeof numbers);
    const struct zip_member members[2] = {
        zip_stored("x.npy", x, x_size + sizeof floats),
        zip_deflated("y.npy", y, y_size + sizeof numbers, packed, sizeof packed),
    };
    zip_make(&zip, members, 2);
    put_bytes("s.npz", zip.bytes, zip.size);
    put_png("png/a.png");
    put_file("list.txt", "npy/a.npy\nnpy/b.npy\n");
    return 0;
}

static void test_arrays(void **state)
{
    (void)state;
    sweep_source("npy", ports, 1);
    sweep_source("list.txt", ports, 1);
    sweep_source("s.npz", ports, 2);
    sweep_source("two", ports, 2);
}

static void test_big_endian(void **state)
{
    (void)state;
    put_bytes("big.npy",
              "\x93NUMPY\1\0\x35\0{'descr':'>f4','fortran_order':True,'shape':(2,3)}  \n"
              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
              10 + 0x35 + 24);
    sweep_source("big.npy", ports, 1);
}

static void test_pictures(void **state)
{
    (void)state;
    for (const struct by_choice *filter = by_filter_names; filter->name; filter++) {
        options.prep = *by_prep_preset(0);
        options.prep.filter = (enum by_filter)filter->value;
        sweep_source("png", &pixels, 1);
    }
    const int64_t dims[4] = {1, 1, 5, 4};
    const struct by_port gray = {.name = "x", .elem = BY_ELEM_FLOAT, .rank = 4, .dims = dims};
    options.prep.colour = BY_COLOUR_GRAY;
    options.prep.resize = BY_RESIZE_LETTERBOX;
    sweep_source("png", &gray, 1);
}

/* A batch of four out of two files. */
static void test_batches(void **state)
{
    (void)state;
    const struct by_port port = {.name = "x", .elem = BY_ELEM_FLOAT, .rank = 2, .dims = four};
    options = (struct by_input_options){0};
    sweep_source("npy", &port, 1);
}

/* Faults in the thread come where the sample is asked for; without a thread it goes on. */
static int read_ahead(void)
{
    struct by_input *input;
    struct by_ahead *ahead;
    const struct by_array *arrays;
    const char *name;
    if (by_input_open(&input, source, source_ports, source_count, &options, &err))
        return -1;
    int status = by_ahead_open(&ahead, input, &err);
    for (size_t i = 0; !status && i < by_ahead_count(ahead); i++) {
        status = by_ahead_get(ahead, i, i + 1, &arrays, &name, &err);
        assert_true(status == (arrays ? 0 : -1));
    }
    by_ahead_close(ahead);
    by_input_close(input);
    return status;
}

static void test_ahead(void **state)
{
    (void)state;
    options = (struct by_input_options){0};
    source = "npy";
    source_ports = ports;
    source_count = 1;
    for (int kind = 0; kind < BY_FAULT_KINDS; kind++)
        for (uint64_t k = 1; k < 100; k++)
            for (int forever = 0; forever < 2; forever++) {
                by_fault_arm((enum by_fault_kind)kind, k, forever);
                by_err_clear(&err);
                const int status = read_ahead();
                by_fault_arm((enum by_fault_kind)kind, 0, false);
                if (status)
                    assert_int_equal(err.code,
                                     kind == BY_FAULT_IO ? BARYON_ERR_IO : BARYON_ERR_NOMEM);
                else
                    assert_true(k > 5);
            }
}

static void test_random(void **state)
{
    (void)state;
    options = (struct by_input_options){.random = true, .count = 2};
    sweep_source(NULL, ports, 2);
}

static int save(void)
{
    return by_npy_save("out.npy", BY_ELEM_FLOAT, two, 2, floats, sizeof floats, 0, &err);
}

static void test_save(void **state)
{
    (void)state;
    sweep_memory(save);
    sweep(BY_FAULT_IO, BARYON_ERR_IO, save);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays),   cmocka_unit_test(test_big_endian),
        cmocka_unit_test(test_pictures), cmocka_unit_test(test_random),
        cmocka_unit_test(test_save),     cmocka_unit_test(test_batches),
        cmocka_unit_test(test_ahead),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_leave);
}
