/* Tests that equal constants are one copy, for as long as somebody has it. */
#include "base/constant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct by_constant *take(const void *bytes, size_t size)
{
    const struct by_constant *constant;
    struct baryon_error err;
    by_err_clear(&err);
    assert_int_equal(by_constant_take(&constant, bytes, size, &err), 0);
    return constant;
}

static void test_equal_bytes_are_one(void **state)
{
    char first[] = "weights of a layer", same[] = "weights of a layer";
    (void)state;
    const struct by_constant *one = take(first, sizeof first);
    first[0] = 'W'; /* it is a copy */
    const struct by_constant *other = take(same, sizeof same);
    assert_ptr_equal(one, other);
    assert_string_equal(by_constant_bytes(one), same);
    assert_int_equal((uintptr_t)by_constant_bytes(one) % 64, 0);
    by_constant_leave(one);
    assert_string_equal(by_constant_bytes(other), same);
    by_constant_leave(other);
}

static void test_others_differ(void **state)
{
    (void)state;
    const struct by_constant *one = take("12345678", 8), *shorter = take("12345678", 7),
                             *other = take("12345679", 8);
    assert_ptr_not_equal(one, shorter);
    assert_ptr_not_equal(one, other);
    assert_memory_equal(by_constant_bytes(shorter), "1234567", 7);
    assert_memory_equal(by_constant_bytes(other), "12345679", 8);
    by_constant_leave(other);
    by_constant_leave(one);
    by_constant_leave(shorter);
    by_constant_leave(NULL);
}

/* Its own bytes are not copied again. */
static void test_what_is_one_already(void **state)
{
    (void)state;
    const struct by_constant *one = take("a row", 6);
    const struct by_constant *again = take(by_constant_bytes(one), 6);
    assert_ptr_equal(one, again);
    by_constant_leave(one);
    assert_string_equal(by_constant_bytes(again), "a row");
    by_constant_leave(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_bytes_are_one),
        cmocka_unit_test(test_others_differ),
        cmocka_unit_test(test_what_is_one_already),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
