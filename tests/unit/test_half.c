/* Compares every conversion of 16-bit floats with its definition. */
#include "base/half.h"
#include "base/half_path.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHUNK 65536u

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The value of a half by its definition, in double arithmetic. */
static double half_value(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double size = exponent == 31  ? (double)INFINITY
                  : exponent == 0 ? ldexp(fraction, -24)
                                  : ldexp(1024 + fraction, exponent - 25);
    return half & 0x8000 ? -size : size;
}

static bool is_half_nan(uint16_t half)
{
    return (half & 0x7fff) > 0x7c00;
}

static void every_half_has_its_value(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t half = (uint16_t)h;
        float value = by_f16_to_f32_one(half);
        if (is_half_nan(half)) {
            assert_true(isnan(value));
            assert_int_equal(to_bits(value), (h & 0x8000) << 16 | 0x7fc00000 | (h & 0x3ff) << 13);
            assert_int_equal(by_f32_to_f16_one(value), half | 0x200);
        } else {
            assert_true((double)value == half_value(half));
            assert_int_equal(signbit(value) != 0, h >> 15);
            assert_int_equal(by_f32_to_f16_one(value), half);
        }
        assert_int_equal(to_bits(by_bf16_to_f32_one(half)), h << 16);
    }
}

/* Between every two neighbours: the middle goes to the even one, a hair beside it to the nearer. */
static void halves_round_to_nearest_even(void **state)
{
    (void)state;
    for (uint16_t h = 0; h < 0x7c00; h++) {
        uint16_t next = (uint16_t)(h + 1);
        double above = next == 0x7c00 ? 65536 : half_value(next);
        float middle = (float)((half_value(h) + above) / 2);
        uint16_t even = h & 1 ? next : h;
        for (uint16_t sign = 0; sign <= 1; sign++) {
            uint16_t bit = (uint16_t)(sign << 15);
            float m = sign ? -middle : middle;
            assert_int_equal(by_f32_to_f16_one(m), even | bit);
            assert_int_equal(by_f32_to_f16_one(nextafterf(m, 0)), h | bit);
            assert_int_equal(by_f32_to_f16_one(nextafterf(m, sign ? -INFINITY : INFINITY)),
                             next | bit);
        }
    }
}

static void bfloats_round_to_nearest_even(void **state)
{
    (void)state;
    for (uint32_t top = 0; top < 0x7f80; top++) {
        uint32_t even = top & 1 ? top + 1 : top;
        assert_int_equal(by_f32_to_bf16_one(from_bits(top << 16)), top);
        assert_int_equal(by_f32_to_bf16_one(from_bits(top << 16 | 0x7fff)), top);
        assert_int_equal(by_f32_to_bf16_one(from_bits(top << 16 | 0x8000)), even);
        assert_int_equal(by_f32_to_bf16_one(from_bits(top << 16 | 0x8001)), top + 1);
        assert_int_equal(by_f32_to_bf16_one(from_bits(0x80000000 | top << 16 | 0x8000)),
                         0x8000 | even);
    }
    assert_int_equal(by_f32_to_bf16_one(INFINITY), 0x7f80);
    assert_int_equal(by_f32_to_bf16_one(from_bits(0x7f800001)), 0x7fc0);
    assert_int_equal(by_f32_to_bf16_one(from_bits(0xffa12345)), 0xffe1);
}

static void known_values(void **state)
{
    (void)state;
    assert_int_equal(by_f32_to_f16_one(65504), 0x7bff);
    assert_int_equal(by_f32_to_f16_one(65519.996f), 0x7bff);
    assert_int_equal(by_f32_to_f16_one(65520), 0x7c00);
    assert_int_equal(by_f32_to_f16_one(-INFINITY), 0xfc00);
    assert_int_equal(by_f32_to_f16_one(0x1p-25f), 0);
    assert_int_equal(by_f32_to_f16_one(nextafterf(0x1p-25f, 1)), 1);
    assert_int_equal(by_f32_to_f16_one(from_bits(1)), 0);
    assert_int_equal(by_f32_to_f16_one(-0.0f), 0x8000);
    assert_int_equal(by_f32_to_f16_one(from_bits(0xff812345)), 0xfe09);
    assert_int_equal(by_f32_to_bf16_one(1.0f), 0x3f80);
}

/* One chunk of float bits through a path and through the reference. */
static void compare_narrowing(const struct by_half_path *path, const float *in, size_t count)
{
    static uint16_t want[CHUNK], have[CHUNK];
    by_f32_to_f16_ref(want, in, count);
    path->f32_to_f16(have, in, count);
    assert_memory_equal(want, have, count * sizeof *want);
    by_f32_to_bf16_ref(want, in, count);
    path->f32_to_bf16(have, in, count);
    assert_memory_equal(want, have, count * sizeof *want);
}

static void compare_widening(const struct by_half_path *path)
{
    static uint16_t in[CHUNK];
    static float want[CHUNK], have[CHUNK];
    for (uint32_t h = 0; h < CHUNK; h++)
        in[h] = (uint16_t)h;
    by_f16_to_f32_ref(want, in, CHUNK);
    path->f16_to_f32(have, in, CHUNK);
    assert_memory_equal(want, have, sizeof want);
    by_bf16_to_f32_ref(want, in, CHUNK);
    path->bf16_to_f32(have, in, CHUNK);
    assert_memory_equal(want, have, sizeof want);
}

/* Every sign, exponent and top fraction with low bits at, just below and just above the ties. */
static void compare_floats(const struct by_half_path *path)
{
    static float in[CHUNK];
    static const uint32_t low[] = {0,      1,      0x7ff,  0x0800, 0x0801, 0x0fff, 0x1000, 0x1001,
                                   0x17ff, 0x1fff, 0x2000, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff};
    for (size_t l = 0; l < sizeof low / sizeof *low; l++) {
        for (uint32_t top = 0; top < CHUNK; top++)
            in[top] = from_bits(top << 16 | low[l]);
        compare_narrowing(path, in, CHUNK);
    }
    /* And 16 million spread evenly over all bit patterns. */
    uint32_t bits = 12345;
    for (int chunk = 0; chunk < 256; chunk++) {
        for (uint32_t i = 0; i < CHUNK; i++)
            in[i] = from_bits(bits += 0x9e3779b1u);
        compare_narrowing(path, in, CHUNK);
    }
}

/* Every length up to three vectors, at odd places; what lies after stays untouched. */
static void compare_tails(const struct by_half_path *path)
{
    uint16_t halves[64], out16[66];
    float floats[64], out32[66];
    for (uint16_t i = 0; i < 64; i++) {
        halves[i] = (uint16_t)(i * 991 + 7);
        floats[i] = by_f16_to_f32_one(halves[i]);
    }
    for (size_t count = 0; count <= 50; count++) {
        out32[count + 1] = 77;
        path->f16_to_f32(out32 + 1, halves + 3, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(to_bits(out32[1 + i]), to_bits(floats[3 + i]));
        assert_true(out32[count + 1] == 77);
        path->bf16_to_f32(out32 + 1, halves + 3, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(to_bits(out32[1 + i]), (uint32_t)halves[3 + i] << 16);
        assert_true(out32[count + 1] == 77);
        out16[count + 1] = 77;
        path->f32_to_f16(out16 + 1, floats + 5, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(out16[1 + i], by_f32_to_f16_one(floats[5 + i]));
        assert_int_equal(out16[count + 1], 77);
        path->f32_to_bf16(out16 + 1, floats + 5, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(out16[1 + i], by_f32_to_bf16_one(floats[5 + i]));
        assert_int_equal(out16[count + 1], 77);
    }
}

/* Keys rise with the values, and their key is the float again. */
static void keys_have_the_order_of_values(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < CHUNK; h++) {
        const uint16_t half = (uint16_t)h;
        assert_int_equal((uint16_t)by_half_key((uint16_t)by_half_key(half)), half);
        if (is_half_nan(half) || half == 0x7c00)
            continue;
        const uint16_t next = (uint16_t)by_half_key((uint16_t)(by_half_key(half) + 1));
        if (!is_half_nan(half) && !is_half_nan(next))
            assert_true(by_f16_to_f32_one(half) <= by_f16_to_f32_one(next));
    }
    assert_true(by_half_key(0xff80) == -32641 && by_half_key(0x7f80) == 0x7f80);
}

/* Every length up to three vectors, the extremes at every place. */
static void compare_extremes(const struct by_half_path *path)
{
    uint16_t in[100];
    int16_t least, most, want_least, want_most;
    for (size_t count = 1; count <= sizeof in / sizeof *in; count++)
        for (size_t at = 0; at < count; at++) {
            for (size_t i = 0; i < count; i++)
                in[i] = (uint16_t)((i * 40503 + count) & 0xbfff);
            in[at] = at % 2 ? 0x7f12 : 0xff12;
            by_half_extremes_ref(in, count, &want_least, &want_most);
            path->extremes(in, count, &least, &most);
            assert_int_equal(least, want_least);
            assert_int_equal(most, want_most);
            assert_true(at % 2 ? most == 0x7f12 : least == by_half_key(0xff12));
        }
}

static void every_path_equals_the_reference(void **state)
{
    (void)state;
    size_t count;
    const struct by_half_path *const *paths = by_half_paths(&count);
    assert_string_equal(paths[count - 1]->name, "plain");
    for (size_t i = 0; i < count; i++) {
        if (!paths[i]->supported())
            continue;
        print_message("path %s\n", paths[i]->name);
        compare_widening(paths[i]);
        compare_floats(paths[i]);
        compare_tails(paths[i]);
        compare_extremes(paths[i]);
    }
}

static void the_best_supported_path_is_chosen(void **state)
{
    (void)state;
    size_t count;
    const struct by_half_path *const *paths = by_half_paths(&count);
    while (!(*paths)->supported())
        paths++;
    assert_string_equal(by_half_path(), (*paths)->name);
    uint16_t halves[5] = {0x3c00, 0xc000, 0x7c00, 0, 0x3555}, back[5];
    float floats[5];
    by_f16_to_f32(floats, halves, 5);
    assert_true(floats[0] == 1 && floats[1] == -2 && isinf(floats[2]) && floats[3] == 0);
    by_f32_to_f16(back, floats, 5);
    assert_memory_equal(back, halves, sizeof back);
    by_f32_to_bf16(back, floats, 5);
    assert_int_equal(back[1], 0xc000);
    by_bf16_to_f32(floats, back, 5);
    assert_true(floats[0] == 1 && floats[1] == -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_has_its_value),
        cmocka_unit_test(halves_round_to_nearest_even),
        cmocka_unit_test(bfloats_round_to_nearest_even),
        cmocka_unit_test(known_values),
        cmocka_unit_test(keys_have_the_order_of_values),
        cmocka_unit_test(every_path_equals_the_reference),
        cmocka_unit_test(the_best_supported_path_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
