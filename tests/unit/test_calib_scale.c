/* Scale and zero point of ranges, and ranges of scales. */
#include "calib/calib.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { PLAIN = 0, MIDDLE = 1, POWER = 2 };

static const struct case_of_scale {
    int64_t qmin, qmax;
    int how;
    double low, high, scale;
    int64_t zero_point;
    int position;
} cases[] = {
    {-128, 127, PLAIN, -1, 1, 2 / 255.0, 0, 0}, /* -0.5 to even */
    {-128, 127, PLAIN, 0, 2.55, 0.01, -128, 0},
    {-128, 127, PLAIN, -2.55, 0, 0.01, 127, 0},
    {-128, 127, PLAIN, 1, 2.55, 0.01, -128, 0}, /* 0 is in every range */
    {-128, 127, PLAIN, -2.55, -1, 0.01, 127, 0},
    {0, 255, PLAIN, -1, 1, 2 / 255.0, 128, 0}, /* 127.5 to even */
    {0, 255, PLAIN, -0.51, 2.04, 0.01, 51, 0},
    {-127, 127, MIDDLE, -1.27, 0.3, 0.01, 0, 0},
    {-127, 127, MIDDLE, -0.3, 1.27, 0.01, 0, 0},
    {0, 255, MIDDLE, -0.3, 2.55, 0.02, 128, 0},
    {0, 65535, MIDDLE, -1, 1, 2 / 65535.0, 32768, 0},
    {-32767, 32767, MIDDLE, -32767, 1, 1, 0, 0},
    {-64, 64, MIDDLE, -6.4, 0, 0.1, 0, 0},
    {0, 127, MIDDLE, -1.27, 0, 0.02, 64, 0},
    {-(INT64_C(1) << 31) + 1, (INT64_C(1) << 31) - 1, MIDDLE, -2147483647.0, 0, 1, 0, 0},
    {-127, 127, MIDDLE | POWER, -1.27, 1, 0x1p-7, 0, 7},  /* 0.01 is nearest to 2^-7 */
    {-127, 127, MIDDLE | POWER, -1.403, 1, 0x1p-7, 0, 7}, /* 2^-6.5 times 127 is 1.4032 */
    {-127, 127, MIDDLE | POWER, -1.404, 1, 0x1p-6, 0, 6},
    {0, 255, MIDDLE | POWER, -1, 1, 0x1p-7, 128, 7},
    {0, 255, POWER, 0, 1, 0x1p-8, 0, 8},
    {0, 255, POWER, -0.5, 0.5, 0x1p-8, 128, 8},
    {-128, 127, PLAIN, 0, 0, 1, 0, 0}, /* nothing but zeros */
    {0, 255, MIDDLE, 0, 0, 1, 0, 0},
    {0, 255, MIDDLE | POWER, 0, 0, 1, 0, 0},
    {0, 255, PLAIN, -1e-37, 0, 1, 0, 0}, /* below the least normal float */
    {-127, 127, MIDDLE | POWER, -0x1p-120, 0, 1, 0, 0},
    {-127, 127, MIDDLE | POWER, -127 * 0x1p-126, 0, 0x1p-126, 0, 126},
};

static struct by_calib_target target_of(const struct case_of_scale *at)
{
    return (struct by_calib_target){.qmin = at->qmin,
                                    .qmax = at->qmax,
                                    .symmetric = at->how & MIDDLE,
                                    .power_of_two = at->how & POWER};
}

static void scales(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct by_calib_target target = target_of(&cases[i]);
        const struct by_range range = {.low = cases[i].low, .high = cases[i].high};
        struct by_scale scale;
        assert_ok(by_scale_of_range(&range, &target, &scale, &err));
        if (scale.scale != (double)(float)cases[i].scale ||
            scale.zero_point != cases[i].zero_point || scale.position != cases[i].position)
            fail_msg("case %zu: %.9g %lld %d", i, scale.scale, (long long)scale.zero_point,
                     scale.position);
    }
}

static void ranges_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct by_calib_target target = target_of(&cases[i]);
        struct by_range range = {.low = cases[i].low, .high = cases[i].high};
        struct by_scale scale, again;
        if (cases[i].scale == 1 || (cases[i].how == MIDDLE && target.qmin == 0))
            continue; /* of 0 to 255 the middle reaches a level further down than up */
        assert_ok(by_scale_of_range(&range, &target, &scale, &err));
        by_range_of_scale(&scale, &target, &range);
        assert_ok(by_scale_of_range(&range, &target, &again, &err));
        assert_true(again.scale == scale.scale);
        assert_int_equal(again.zero_point, scale.zero_point);
        assert_int_equal(again.position, scale.position);
    }
}

static void great_ranges_are_cut(void **state)
{
    (void)state;
    const double most = (double)FLT_MAX / 2;
    const struct by_calib_target plain = {.qmin = -128, .qmax = 127},
                                 power = {.qmin = -127,
                                          .qmax = 127,
                                          .symmetric = true,
                                          .power_of_two = true};
    const struct by_range range = {.low = -(double)FLT_MAX, .high = (double)FLT_MAX};
    struct by_scale scale;
    assert_ok(by_scale_of_range(&range, &plain, &scale, &err));
    assert_true(scale.scale == (double)(float)(2 * most / 255));
    assert_ok(by_scale_of_range(&range, &power, &scale, &err));
    assert_int_equal(scale.position, -120);
}

static void floats(void **state)
{
    (void)state;
    const struct by_calib_target e4m3 = {.is_float = true, .value_max = 448};
    struct by_range range = {.low = -0.5, .high = 896};
    struct by_scale scale;
    assert_ok(by_scale_of_range(&range, &e4m3, &scale, &err));
    assert_true(scale.scale == 2);
    assert_int_equal(scale.zero_point, 0);
    by_range_of_scale(&scale, &e4m3, &range);
    assert_true(range.low == -896 && range.high == 896);
    range = (struct by_range){.low = NAN, .high = 1};
    assert_error(by_scale_of_range(&range, &e4m3, &scale, &err), BARYON_ERR_USAGE,
                 "the range is not a number");
}

static void zero_becomes_a_level(void **state)
{
    (void)state;
    const struct by_calib_target bytes = {.qmax = 255}, middle = {.qmax = 255, .symmetric = true},
                                 words = {.qmax = 65535};
    const struct {
        double low, high, new_low, new_high;
        int64_t zero;
    } found[] = {
        {-1, 1, -128.0 / 127, 1, 128},   /* 127.5: pixels brought to -1 to 1 */
        {-1, 2.4, -1, 2.4, 75},          /* 75: is one */
        {-1, 1.0079, -1, 1.0079, 127},   /* 126.997: as good as one */
        {-0.001, 1, -1.0 / 254, 1, 1},   /* 0.25: not above the first level */
        {-1, 0.001, -1, 1.0 / 254, 254}, /* 254.75 */
    };
    for (size_t i = 0; i < COUNT(found); i++) {
        struct by_range range = {.low = found[i].low, .high = found[i].high, .error = 7};
        struct by_scale scale;
        const bool moved = found[i].low > found[i].new_low || found[i].high < found[i].new_high;
        assert_int_equal(by_range_to_whole_zero(&range, &bytes), moved);
        assert_true(fabs(range.low - found[i].new_low) < 1e-12);
        assert_true(fabs(range.high - found[i].new_high) < 1e-12);
        assert_true(range.error == 7);
        assert_ok(by_scale_of_range(&range, &bytes, &scale, &err));
        assert_int_equal(scale.zero_point, found[i].zero);
    }
    struct by_range range = {.low = -1, .high = 1}, nothing = {0};
    assert_false(by_range_to_whole_zero(&range, &middle));
    assert_false(by_range_to_whole_zero(&range, &words));
    assert_false(by_range_to_whole_zero(&nothing, &bytes));
    assert_true(range.low == -1 && range.high == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales),
        cmocka_unit_test(ranges_come_back),
        cmocka_unit_test(great_ranges_are_cut),
        cmocka_unit_test(floats),
        cmocka_unit_test(zero_becomes_a_level),
    };
    return cmocka_run_group_tests_name("calib scale", tests, NULL, NULL);
}
