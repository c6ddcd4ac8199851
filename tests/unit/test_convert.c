/* Values from one element type to another, and those that must not be there. */
#include "input/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

/* Every pair of types, values that all of them have. */
static void test_every_conversion(void **state)
{
    (void)state;
    static const int floating[] = {BY_ELEM_FLOAT, BY_ELEM_DOUBLE, BY_ELEM_FLOAT16,
                                   BY_ELEM_BFLOAT16};
    static const int whole[] = {BY_ELEM_BOOL,   BY_ELEM_INT8,   BY_ELEM_INT16,
                                BY_ELEM_INT32,  BY_ELEM_INT64,  BY_ELEM_UINT8,
                                BY_ELEM_UINT16, BY_ELEM_UINT32, BY_ELEM_UINT64};
    const double values[3] = {1, 0, -0.5};
    const int64_t bits[3] = {1, 0, 1}, dims[1] = {3};
    uint8_t there[24], back[24];
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            double out[3];
            assert_ok(by_convert(BY_ELEM_DOUBLE, (const uint8_t *)values, floating[i], there, 3,
                                 dims, 1, &err));
            assert_ok(by_convert(floating[i], there, floating[j], back, 3, dims, 1, &err));
            assert_ok(by_convert(floating[j], back, BY_ELEM_DOUBLE, out, 3, dims, 1, &err));
            assert_memory_equal(out, values, sizeof values);
        }
    for (size_t i = 0; i < 9; i++)
        for (size_t j = 0; j < 9; j++) {
            int64_t out[3];
            assert_ok(by_convert(BY_ELEM_INT64, (const uint8_t *)bits, whole[i], there, 3, dims, 1,
                                 &err));
            assert_ok(by_convert(whole[i], there, whole[j], back, 3, dims, 1, &err));
            assert_ok(by_convert(whole[j], back, BY_ELEM_INT64, out, 3, dims, 1, &err));
            assert_memory_equal(out, bits, sizeof bits);
            assert_true(by_can_convert(whole[i], whole[j]));
            assert_false(by_can_convert(whole[i], floating[i % 4]));
        }
    assert_int_equal(by_convert(BY_ELEM_FLOAT, there, BY_ELEM_INT8, back, 1, dims, 1, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INTERNAL);
}

/* float64 goes to 16 bits in one rounding: 1 + 2^-11 + 2^-40 is above the middle. */
static void test_one_rounding(void **state)
{
    (void)state;
    const double values[4] = {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11 - 0x1p-40, -1 - 0x1p-11 - 0x1p-40,
                              1 + 0x1p-11};
    const uint16_t wanted[4] = {0x3c01, 0x3c00, 0xbc01, 0x3c00};
    uint16_t out[4];
    const int64_t dims[1] = {4};
    assert_ok(by_convert(BY_ELEM_DOUBLE, (const uint8_t *)values, BY_ELEM_FLOAT16, out, 4, dims, 1,
                         &err));
    assert_memory_equal(out, wanted, sizeof wanted);
}

static void test_finite(void **state)
{
    (void)state;
    const int64_t large[2] = {1, 2000};
    static const struct {
        int elem;
        uint64_t bits;
        const char *value;
    } rows[] = {{BY_ELEM_DOUBLE, 0x7ff0000000000000, "infinity"},
                {BY_ELEM_FLOAT16, 0xfc00, "-infinity"},
                {BY_ELEM_BFLOAT16, 0x7fc0, "NaN"},
                {BY_ELEM_FLOAT, 0xff800000, "-infinity"}};
    static uint8_t values[16000];
    for (size_t i = 0; i < 4; i++) {
        char wanted[100];
        size_t width;
        assert_ok(by_elem_bytes(rows[i].elem, 1, &width, &err));
        memset(values, 0, sizeof values);
        memcpy(values + 1234 * width, &rows[i].bits, width);
        snprintf(wanted, sizeof wanted, "value %s at [0,1234], must be finite", rows[i].value);
        assert_error(by_check_finite(rows[i].elem, values, 2000, large, 2, &err), BARYON_ERR_INPUT,
                     wanted);
        assert_ok(by_check_finite(rows[i].elem, values, 1234, large, 2, &err));
    }
    assert_ok(by_check_finite(BY_ELEM_INT64, values, 2000, large, 2, &err));
}

static void test_index(void **state)
{
    (void)state;
    const int64_t dims[3] = {2, 3, 4};
    char text[32];
    assert_string_equal(by_index_text(23, dims, 3, text, sizeof text), "[1,2,3]");
    assert_string_equal(by_index_text(4, dims, 3, text, sizeof text), "[0,1,0]");
    assert_string_equal(by_index_text(0, dims, 0, text, sizeof text), "[]");
    assert_string_equal(by_index_text(23, dims, 3, text, 4), "[1,");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_conversion),
        cmocka_unit_test(test_one_rounding),
        cmocka_unit_test(test_finite),
        cmocka_unit_test(test_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
