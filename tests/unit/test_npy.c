/* .npy headers, payloads and what is written. */
#include "input/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

/* A file of the given version with this header text and `payload` bytes after it. */
static size_t make(uint8_t *out, unsigned major, const char *text, size_t payload)
{
    const size_t length = strlen(text), wide = major == 1 ? 2 : 4;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (uint8_t)major;
    out[7] = 0;
    for (size_t i = 0; i < wide; i++)
        out[8 + i] = (uint8_t)(length >> (8 * i));
    memcpy(out + 8 + wide, text, length);
    for (size_t i = 0; i < payload; i++)
        out[8 + wide + length + i] = (uint8_t)i;
    return 8 + wide + length + payload;
}

static void test_header(void **state)
{
    (void)state;
    uint8_t bytes[512];
    struct by_npy_header header;
    for (unsigned major = 1; major <= 3; major++) {
        size_t size = make(bytes, major,
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", 24);
        assert_ok(by_npy_parse(bytes, size, &header, &err));
        assert_int_equal(header.elem, BY_ELEM_FLOAT);
        assert_int_equal(header.rank, 2);
        assert_int_equal(header.dims[0], 2);
        assert_int_equal(header.dims[1], 3);
        assert_int_equal(header.count, 6);
        assert_int_equal(header.bytes, 24);
        assert_int_equal(header.data, size - 24);
        assert_false(header.swap || header.fortran);
    }
}

/* Other spacing, quotes and order of keys than NumPy's, as Python would read them. */
static void test_header_forms(void **state)
{
    (void)state;
    uint8_t bytes[512];
    struct by_npy_header header;
    size_t size = make(bytes, 1, "{\"shape\":(4,),\"fortran_order\":True,\"descr\":\">i2\"}", 8);
    assert_ok(by_npy_parse(bytes, size, &header, &err));
    assert_true(header.swap && header.fortran);
    assert_int_equal(header.elem, BY_ELEM_INT16);
    size = make(bytes, 1, "{ 'descr' : '|b1' , 'fortran_order' : False , 'shape' : ( ) }\n", 1);
    assert_ok(by_npy_parse(bytes, size, &header, &err));
    assert_int_equal(header.rank, 0);
    assert_int_equal(header.count, 1);
    size = make(bytes, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0,), }\n", 0);
    assert_ok(by_npy_parse(bytes, size, &header, &err));
    assert_int_equal(header.count, 0);
}

struct bad_row {
    const char *header;
    size_t payload;
    const char *message;
};

#define LATTER ", 'fortran_order': False, 'shape': (2,), }\n"
#define FORMER "{'descr': '<f4', 'fortran_order': False, 'shape': "

static const struct bad_row bad_rows[] = {
    {"{'descr': '|O'" LATTER, 8,
     "header.descr: type '|O' contains Python objects (pickle), which are never loaded; save an "
     "array of numbers, with numpy.save(..., allow_pickle=False)"},
    {"{'descr': 'O'" LATTER, 8,
     "header.descr: type 'O' contains Python objects (pickle), which are never loaded; save an "
     "array of numbers, with numpy.save(..., allow_pickle=False)"},
    {"{'descr': [('a', '<f4')]" LATTER, 8,
     "header.descr: the type is a record of several fields, must be numeric or bool; save each "
     "field in a separate array"},
    {"{'descr': '|V2'" LATTER, 4,
     "header.descr: type '|V2' is a record or raw bytes, must be numeric or bool; save each field "
     "in a separate array, and bfloat16 as float32"},
    {"{'descr': '<U5'" LATTER, 40, "header.descr: type '<U5' is text, must be numeric or bool"},
    {"{'descr': '|S5'" LATTER, 10, "header.descr: type '|S5' is text, must be numeric or bool"},
    {"{'descr': '<M8[ns]'" LATTER, 16,
     "header.descr: type '<M8[ns]' is a date, must be numeric or bool"},
    {"{'descr': '<m8[s]'" LATTER, 16,
     "header.descr: type '<m8[s]' is a time span, must be numeric or bool"},
    {"{'descr': '<f16'" LATTER, 32,
     "header.descr: type '<f16', must be one of bool, int8 to int64, uint8 to uint64, float16 to "
     "float64, complex64, complex128"},
    {"{'descr': '|f4'" LATTER, 8,
     "header.descr: type '|f4', must be one of bool, int8 to int64, uint8 to uint64, float16 to "
     "float64, complex64, complex128"},
    {"{'descr': ''" LATTER, 8,
     "header.descr: type '', must be one of bool, int8 to int64, uint8 to uint64, float16 to "
     "float64, complex64, complex128"},
    {"{'descr': <f4" LATTER, 8,
     "header.descr: expected a quoted text, not '<f4, 'fortran_order': False, 'shape': (2'"},
    {"{'descr': '<f4", 8, "header.descr: expected a quoted text, not ''<f4'"},
    {"{'descr': '<f\\x34'" LATTER, 8,
     "header.descr: expected a quoted text, not ''<f\\x34', 'fortran_order': False, 'shape'"},
    {FORMER "(-1,), }\n", 0,
     "header.shape: a dimension must be a whole number, 0 or more, not "
     "'-1,), }\\x0a'"},
    {FORMER "(2.0,), }\n", 8, "header.shape: expected ',' before '.0,), }\\x0a'"},
    {FORMER "(2L,), }\n", 8, "header.shape: expected ',' before 'L,), }\\x0a'"},
    {FORMER "(2), }\n", 8, "header.shape: expected ',' before '), }\\x0a'"},
    {FORMER "2, }\n", 8, "header.shape: expected '(' before '2, }\\x0a'"},
    {FORMER "(2 3), }\n", 24, "header.shape: expected ',' before '3), }\\x0a'"},
    {FORMER "(,), }\n", 24,
     "header.shape: a dimension must be a whole number, 0 or more, not ',), }\\x0a'"},
    {FORMER "(9999999999999999999,), }\n", 0,
     "header.shape: a dimension is larger than 2^63 - 1: '9999999999999999999,), }\\x0a'"},
    {FORMER "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }\n", 4, "header.shape: more than 16 dimensions"},
    {FORMER "(2,), 'more': 1, }\n", 8, "unknown key 'more', must be descr, fortran_order or shape"},
    {FORMER "(2,), 'shape': (2,), }\n", 8, "key 'shape' appears twice"},
    {"{'descr': '<f4', 'shape': (2,), }\n", 8, "key 'fortran_order' is missing"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }\n", 8,
     "header.fortran_order: expected True or False, not '0, 'shape': (2,), }\\x0a'"},
    {FORMER "(2,), } x\n", 8, "'x\\x0a' after the header"},
    {FORMER "(2,) ", 8, "expected '}' before ''"},
    {"", 8, "expected '{' before ''"},
    {FORMER "(2,), }\n", 7, "7 bytes after the header, but shape and type (2 x float32) require 8"},
    {FORMER "(2,), }\n", 9, "9 bytes after the header, but shape and type (2 x float32) require 8"},
    {FORMER "(), }\n", 0, "0 bytes after the header, but shape and type (1 x float32) require 4"},
};

static void test_bad_headers(void **state)
{
    (void)state;
    uint8_t bytes[512];
    struct by_npy_header header;
    for (size_t i = 0; i < sizeof bad_rows / sizeof *bad_rows; i++) {
        size_t size = make(bytes, 1, bad_rows[i].header, bad_rows[i].payload);
        assert_error(by_npy_parse(bytes, size, &header, &err), BARYON_ERR_INPUT,
                     bad_rows[i].message);
        assert_true(err.offset >= 8 && (size_t)err.offset <= size);
    }
}

static void test_overflow(void **state)
{
    (void)state;
    uint8_t bytes[512];
    struct by_npy_header header;
    size_t size = make(bytes, 1, FORMER "(4294967296, 4294967296, 4294967296), }\n", 16);
    by_err_clear(&err);
    assert_int_equal(by_npy_parse(bytes, size, &header, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_non_null(strstr(err.place, "header.shape"));
}

static void test_preamble(void **state)
{
    (void)state;
    uint8_t bytes[512] = "\x93NUMPY";
    struct by_npy_header header;
    assert_error(by_npy_parse((const uint8_t *)"PK\3\4abcd", 8, &header, &err), BARYON_ERR_INPUT,
                 "not a .npy file: it begins with 'PK\\x03\\x04ab', must begin with '\\x93NUMPY'");
    assert_error(by_npy_parse(bytes, 0, &header, &err), BARYON_ERR_INPUT,
                 "not a .npy file: it begins with '', must begin with '\\x93NUMPY'");
    for (size_t size = 6; size < 10; size++) {
        by_err_clear(&err);
        assert_int_equal(by_npy_parse(bytes, size, &header, &err), -1);
        assert_string_equal(err.place, "");
        assert_non_null(strstr(err.message, "the file ends in its first 10 bytes"));
    }
    bytes[6] = 4;
    assert_error(by_npy_parse(bytes, 64, &header, &err), BARYON_ERR_INPUT,
                 "version 4.0 of the format, must be 1.0, 2.0 or 3.0");
    bytes[6] = 1;
    bytes[7] = 1;
    assert_error(by_npy_parse(bytes, 64, &header, &err), BARYON_ERR_INPUT,
                 "version 1.1 of the format, must be 1.0, 2.0 or 3.0");
    memcpy(bytes + 6, "\2\0\0\0", 4);
    assert_error(by_npy_parse(bytes, 11, &header, &err), BARYON_ERR_INPUT,
                 "the file ends in its first 12 bytes (11 bytes)");
    memcpy(bytes + 6, "\2\0\1\0\1\0", 6);
    assert_error(by_npy_parse(bytes, 512, &header, &err), BARYON_ERR_INPUT,
                 "the header has 65537 bytes, must have at most 65536");
    memcpy(bytes + 6, "\1\0\xff\0", 4);
    assert_error(by_npy_parse(bytes, 20, &header, &err), BARYON_ERR_INPUT,
                 "the header has 255 bytes, but 10 are left");
}

/* Every cut of a file is refused, and without an error struct too. */
static void test_cuts(void **state)
{
    (void)state;
    uint8_t bytes[512];
    struct by_npy_header header;
    size_t size = make(bytes, 2, FORMER "(2,), }\n", 8);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(by_npy_parse(bytes, cut, &header, NULL), -1);
    assert_ok(by_npy_parse(bytes, size, &header, &err));
}

static void test_copy(void **state)
{
    (void)state;
    uint8_t bytes[512];
    uint16_t shorts[6];
    struct by_npy_header header;
    size_t size =
        make(bytes, 1, "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3), }\n", 12);
    assert_ok(by_npy_parse(bytes, size, &header, &err));
    by_npy_copy(&header, bytes, shorts);
    /* The file holds 0x0001, 0x0203, ...; columns of 2 first. */
    const uint16_t wanted[6] = {0x0001, 0x0405, 0x0809, 0x0203, 0x0607, 0x0a0b};
    assert_memory_equal(shorts, wanted, sizeof wanted);
    uint64_t eight;
    size = make(bytes, 1, "{'descr': '>c8', 'fortran_order': True, 'shape': (), }\n", 8);
    assert_ok(by_npy_parse(bytes, size, &header, &err));
    by_npy_copy(&header, bytes, &eight);
    assert_memory_equal(&eight, "\3\2\1\0\7\6\5\4", 8);
}

static void check_saved(int64_t elem, const int64_t *dims, size_t rank, const void *data,
                        size_t size, int64_t stored, const void *values, size_t bytes)
{
    char *file;
    size_t length;
    struct by_npy_header header;
    assert_ok(by_npy_save("out.npy", elem, dims, rank, data, size, BY_WRITER_NO_SYNC, &err));
    assert_ok(by_read_file("out.npy", 1 << 20, &file, &length, &err));
    assert_ok(by_npy_parse((const uint8_t *)file, length, &header, &err));
    assert_int_equal(header.data % 64, 0);
    assert_int_equal(header.elem, stored);
    assert_int_equal(header.rank, rank);
    assert_int_equal(header.bytes, bytes);
    assert_memory_equal(file + header.data, values, bytes);
    by_free(file);
}

static void test_save(void **state)
{
    (void)state;
    const int64_t dims[2] = {2, 2};
    const float floats[4] = {1.5f, -2, 0, 1e30f};
    check_saved(BY_ELEM_FLOAT, dims, 2, floats, 16, BY_ELEM_FLOAT, floats, 16);
    check_saved(BY_ELEM_BOOL, dims, 2, "\0\1\1\0", 4, BY_ELEM_BOOL, "\0\1\1\0", 4);
    const uint16_t brains[4] = {0x3fc0, 0xc000, 0, 0x7f80};
    const float as_floats[4] = {1.5f, -2, 0, __builtin_inff()};
    check_saved(BY_ELEM_BFLOAT16, dims, 2, brains, 8, BY_ELEM_FLOAT, as_floats, 16);
    check_saved(BY_ELEM_INT4, dims, 2, "\x87\xf1", 2, BY_ELEM_INT8, "\7\xf8\1\xff", 4);
    check_saved(BY_ELEM_UINT4, dims, 2, "\x87\xf1", 2, BY_ELEM_UINT8, "\7\10\1\17", 4);
    check_saved(BY_ELEM_INT2, dims, 2, "\x1b", 1, BY_ELEM_INT8, "\xff\xfe\1\0", 4);
}

static void test_save_header(void **state)
{
    (void)state;
    char out[BY_NPY_WRITE_MAX];
    const int64_t dims[16] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX,
                              INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX,
                              INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    assert_int_equal(by_npy_header_write(out, sizeof out, BY_ELEM_FLOAT, dims, 0), 128);
    assert_memory_equal(out + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (), } ", 56);
    assert_int_equal(out[127], '\n');
    assert_int_equal(by_npy_header_write(out, sizeof out, BY_ELEM_COMPLEX128, dims, 16) % 64, 0);
    assert_int_equal(by_npy_header_write(out, 127, BY_ELEM_FLOAT, dims, 0), 0);
    assert_int_equal(by_npy_header_write(out, sizeof out, BY_ELEM_STRING, dims, 0), 0);
    assert_int_equal(by_npy_header_write(out, sizeof out, BY_ELEM_FLOAT, dims, 17), 0);
}

static void test_save_refused(void **state)
{
    (void)state;
    const int64_t dims[2] = {2, -2};
    assert_error(by_npy_save("s.npy", BY_ELEM_STRING, dims, 1, "", 0, 0, &err),
                 BARYON_ERR_UNSUPPORTED, "s.npy: a string tensor cannot be stored in a .npy file");
    assert_error(by_npy_save("s.npy", BY_ELEM_FLOAT, dims, 1, "", 0, 0, &err), BARYON_ERR_INTERNAL,
                 "s.npy: an array of 2 float32 must have 8 bytes, not 0");
    assert_int_equal(by_npy_save("s.npy", BY_ELEM_FLOAT, dims, 2, "", 0, 0, NULL), -1);
    assert_int_equal(access("s.npy", F_OK), -1);
    assert_int_equal(by_npy_save("no/s.npy", BY_ELEM_INT8, dims, 1, "ab", 2, 0, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header),      cmocka_unit_test(test_header_forms),
        cmocka_unit_test(test_bad_headers), cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_preamble),    cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_copy),        cmocka_unit_test(test_save),
        cmocka_unit_test(test_save_header), cmocka_unit_test(test_save_refused),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
