/* Number formats: rows, known answers, ties, limits, packing, threads. */
#include "dtype/family.h"

#include "base/rng.h"
#include "ir/tensor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct baryon_error err;

static float round_one(const char *format, float value, const struct by_cast *cast)
{
    float out;
    assert_int_equal(by_dtype_round(by_dtype_find(format), &value, 1, cast, NULL, &out, &err), 0);
    return out;
}

static void assert_same_float(float a, float b)
{
    assert_memory_equal(&a, &b, sizeof a);
}

/* --- Rows --- */

static void rows_agree_with_themselves(void **state)
{
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    (void)state;
    assert_true(count >= 32);
    for (size_t i = 0; i < count; i++) {
        const struct by_dtype *row = rows[i];
        assert_ptr_equal(by_dtype_find(row->name), row);
        assert_true(*row->help && row->bits && !row->does == (row->block.size > 0));
        assert_true(by_dtype_max(row) >= 1 && by_dtype_least(row) > 0);
        assert_int_equal(!row->elem, row->block.size > 0);
        if (row->elem)
            assert_int_equal(by_elem_info(row->elem)->bits, row->bits);
    }
    assert_null(by_dtype_find("fp7"));
}

static void known_limits(void **state)
{
    static const struct {
        const char *name;
        double max, least, bits;
        unsigned opset;
    } cases[] = {
        {"fp16", 65504, 0x1p-24, 16, 1},
        {"bf16", 0x1.fep127, 0x1p-133, 16, 13},
        {"fp8_e4m3", 448, 0x1p-9, 8, 19},
        {"fp8_e5m2", 57344, 0x1p-16, 8, 19},
        {"fp8_e4m3fnuz", 240, 0x1p-10, 8, 19},
        {"fp8_e5m2fnuz", 57344, 0x1p-17, 8, 19},
        {"fp6_e3m2", 28, 0x1p-4, 6, 28},
        {"fp6_e2m3", 7.5, 0.125, 6, 28},
        {"fp4_e2m1", 6, 0.5, 4, 23},
        {"e8m0", 0x1p127, 0x1p-127, 8, 24},
        {"int4", 8, 1, 4, 21},
        {"uint32", 4294967295.0, 1, 32, 1},
        {"bfp16", 127.0 / 64, 0x1p-6, 9, 0},
        {"mx4", 1.5, 0.5, 4, 0},
        {"mx6", 1.875, 0.125, 6, 0},
        {"mx9", 127.0 / 64, 0x1p-6, 9, 0},
        {"mxint8", 127.0 / 64, 0x1p-6, 8.25, 0},
        {"mxfp4_e2m1", 6, 0.5, 4.25, 0},
        {"nvfp4", 6, 0.5, 4.5, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct by_dtype *row = by_dtype_find(cases[i].name);
        assert_true(by_dtype_max(row) == cases[i].max);
        assert_true(by_dtype_least(row) == cases[i].least);
        assert_true(by_dtype_bits(row) == cases[i].bits);
        assert_int_equal(by_dtype_opset(row), cases[i].opset);
    }
}

/* --- Single values --- */

static void ties_go_where_they_are_told(void **state)
{
    static const struct {
        const char *format;
        float value, even, away, up;
    } cases[] = {
        {"int8", 2.5f, 2, 3, 3},          {"int8", -2.5f, -2, -3, -2},
        {"int8", 0.49999997f, 0, 0, 0},   {"uint8", 0.5f, 0, 1, 1},
        {"fp4_e2m1", 2.5f, 2, 3, 3},      {"fp4_e2m1", -2.5f, -2, -3, -2},
        {"fp4_e2m1", 0.25f, 0, .5f, .5f}, {"fp4_e2m1", 5, 4, 6, 6},
        {"fp8_e4m3", 17, 16, 18, 18},     {"fp8_e4m3", -17, -16, -18, -16},
        {"fp16", 2049, 2048, 2050, 2050}, {"bf16", -257, -256, -258, -256},
    };
    (void)state;
    struct by_cast cast = by_cast_default;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const float wanted[] = {cases[i].even, cases[i].away, cases[i].up};
        for (int ties = 0; ties < 3; ties++) {
            cast.ties = (enum by_ties)ties;
            assert_float_equal(round_one(cases[i].format, cases[i].value, &cast), wanted[ties], 0);
        }
    }
}

static void past_the_limit(void **state)
{
    static const struct {
        const char *format;
        float saturated, past;
    } cases[] = {
        {"fp16", 65504, INFINITY},
        {"bf16", 0x1.fep127f, INFINITY},
        {"fp8_e5m2", 57344, INFINITY},
        {"fp8_e4m3", 448, NAN},
        {"fp8_e4m3fnuz", 240, NAN},
        {"fp8_e5m2fnuz", 57344, NAN},
        {"fp6_e3m2", 28, 28},
        {"fp4_e2m1", 6, 6},
        {"int8", 127, 127},
        {"uint32", 4294967295.0f, 4294967295.0f},
        {"e8m0", 0x1p127f, NAN},
    };
    (void)state;
    struct by_cast cast = by_cast_default, open = by_cast_default;
    open.saturate = false;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int k = 0; k < 2; k++) {
            const float value = k ? INFINITY : 3.4e38f, past = cases[i].past;
            assert_float_equal(round_one(cases[i].format, value, &cast), cases[i].saturated, 0);
            const float got = round_one(cases[i].format, value, &open);
            assert_true(isnan(past) ? isnan(got) : got == past);
        }
    }
    assert_float_equal(round_one("int8", NAN, &cast), -128, 0);
    assert_float_equal(round_one("uint4", -INFINITY, &cast), 0, 0);
    assert_true(isnan(round_one("fp8_e4m3", NAN, &cast)));
    assert_same_float(round_one("fp4_e2m1", NAN, &cast), -0.0f);
    assert_same_float(round_one("fp8_e4m3", -1e-20f, &cast), -0.0f);
    assert_same_float(round_one("fp8_e4m3fnuz", -1e-20f, &cast), 0.0f);
    assert_true(isnan(round_one("e8m0", -1, &cast)) && isnan(round_one("e8m0", 0, &cast)));
}

/* The row's own functions, which stochastic rounding takes, beside the paths that others take. */
static void plain_codes_are_those_of_paths(void **state)
{
    static const float special[] = {0,     -0.0f, 1,     -1,        1.5f,      -1.5f,  1.49f,
                                    2.5f,  3,     -2.5f, 0x1p-130f, 0x1p-126f, 3e38f,  -3e38f,
                                    6e-5f, 448,   464,   INFINITY,  -INFINITY, 0.375f, 24};
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (int ties = 0; rows[i]->does && ties < 3; ties++) {
            uint32_t plain[COUNT(special)] = {0}, fast[COUNT(special)] = {0};
            struct by_cast cast = by_cast_default;
            cast.ties = (enum by_ties)ties;
            cast.zero = rows[i]->does == &by_family_int ? 1 : 0;
            rows[i]->does->encode(rows[i], special, COUNT(special), 0, &cast, plain);
            assert_int_equal(
                by_dtype_encode(rows[i], special, COUNT(special), &cast, NULL, fast, &err), 0);
            assert_memory_equal(plain, fast, sizeof plain);
        }
}

/* Each level with the chance that its nearness gives, the same ones for the same seed. */
static void stochastic_rounding_is_fair(void **state)
{
    enum { MANY = 20000 };
    static float values[MANY], out[MANY], again[MANY];
    static const struct {
        const char *format;
        float value, below, above;
    } cases[] = {{"int8", 3.25f, 3, 4}, {"fp4_e2m1", -2.25f, -3, -2}, {"e8m0", 1.25f, 1, 2}};
    struct by_cast cast = by_cast_default;
    (void)state;
    cast.ties = BY_TIES_STOCHASTIC;
    cast.seed = 11;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct by_dtype *row = by_dtype_find(cases[i].format);
        size_t above = 0;
        for (size_t k = 0; k < MANY; k++)
            values[k] = cases[i].value;
        assert_int_equal(by_dtype_round(row, values, MANY, &cast, NULL, out, &err), 0);
        for (size_t k = 0; k < MANY; k++) {
            assert_true(out[k] == cases[i].below || out[k] == cases[i].above);
            above += out[k] == cases[i].above;
        }
        const float chance = (cases[i].value - cases[i].below) / (cases[i].above - cases[i].below);
        assert_true(fabsf((float)above / MANY - chance) < 0.015f);
        cast.seed++;
        assert_int_equal(by_dtype_round(row, values, MANY, &cast, NULL, again, &err), 0);
        assert_memory_not_equal(out, again, sizeof out);
    }
}

/* --- Arrays --- */

static float any_float(uint64_t seed, size_t index)
{
    const uint32_t bits = (uint32_t)by_rng_bits(seed, 0, index);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void threads_change_nothing(void **state)
{
    enum { MANY = 70001 };
    static float values[MANY], one[MANY], many[MANY];
    static uint32_t codes[MANY], more[MANY];
    struct by_cast cast = by_cast_default;
    struct by_pool *pool;
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        values[i] = i % 2 ? any_float(1, i) : (float)by_rng_normal(1, 1, i);
    assert_int_equal(by_pool_open(&pool, 3, &err), 0);
    for (size_t i = 0; i < count; i++) {
        if (!rows[i]->does)
            continue;
        for (int ties = 0; ties < BY_TIES_COUNT; ties++) {
            cast.ties = (enum by_ties)ties;
            const size_t bytes = MANY * by_dtype_code_bytes(rows[i]);
            assert_int_equal(by_dtype_round(rows[i], values, MANY, &cast, NULL, one, &err), 0);
            memcpy(many, values, sizeof many);
            assert_int_equal(by_dtype_round(rows[i], many, MANY, &cast, pool, many, &err), 0);
            assert_memory_equal(one, many, sizeof one);
            assert_int_equal(by_dtype_encode(rows[i], values, MANY, &cast, NULL, codes, &err), 0);
            assert_int_equal(by_dtype_encode(rows[i], values, MANY, &cast, pool, more, &err), 0);
            assert_memory_equal(codes, more, bytes);
            assert_int_equal(by_dtype_decode(rows[i], codes, MANY, &cast, pool, many, &err), 0);
            assert_memory_equal(one, many, sizeof one);
        }
    }
    by_pool_close(pool);
}

static void packing_comes_back(void **state)
{
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t n = 0; n < 40; n++) {
            const size_t width = by_dtype_code_bytes(rows[i]);
            uint8_t packed[40 * 4 + 1], codes[40 * 4], back[40 * 4];
            size_t bytes;
            for (size_t k = 0; k < n; k++) {
                uint32_t code =
                    (uint32_t)by_rng_bits(5, i, k) & (uint32_t)((1ull << rows[i]->bits) - 1);
                if (rows[i]->low < 0 && code >> (rows[i]->bits - 1))
                    code |= (uint32_t)-1 << (rows[i]->bits - 1);
                by_code_put(codes, k, width, code);
            }
            assert_int_equal(by_dtype_packed_bytes(rows[i], n, &bytes, &err), 0);
            assert_int_equal(bytes, (n * rows[i]->bits + 7) / 8);
            packed[bytes] = 0x5a;
            by_dtype_pack(rows[i], codes, n, packed);
            assert_int_equal(packed[bytes], 0x5a);
            by_dtype_unpack(rows[i], packed, n, back);
            assert_memory_equal(codes, back, n * width);
        }
}

/* As ONNX has int4, and codes of 6 bits: the first in the low bits. */
static void packing_order(void **state)
{
    const uint8_t nibbles[] = {1, 0xfe, 7}, sixes[] = {0x01, 0x22, 0x33, 0x3f};
    uint8_t packed[3];
    (void)state;
    by_dtype_pack(by_dtype_find("int4"), nibbles, 3, packed);
    assert_memory_equal(packed, ((uint8_t[]){0xe1, 0x07}), 2);
    by_dtype_pack(by_dtype_find("fp6_e3m2"), sixes, 4, packed);
    assert_memory_equal(packed, ((uint8_t[]){0x81, 0x38, 0xff}), 3);
}

static void wrong_casts_are_refused(void **state)
{
    const struct by_dtype *fp8 = by_dtype_find("fp8_e4m3"), *e8m0 = by_dtype_find("e8m0");
    struct by_cast cast = by_cast_default;
    float value = 1;
    size_t bytes;
    (void)state;
    const float scales[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < COUNT(scales); i++) {
        cast.scale = scales[i];
        assert_int_equal(by_dtype_round(fp8, &value, 1, &cast, NULL, &value, &err), -1);
        assert_int_equal(err.code, BARYON_ERR_INPUT);
        assert_non_null(strstr(err.message, "the scale of fp8_e4m3"));
    }
    cast = (struct by_cast){.scale = 1, .zero = 3};
    assert_int_equal(by_dtype_round(e8m0, &value, 1, &cast, NULL, &value, &err), -1);
    assert_non_null(strstr(err.message, "e8m0 has no zero point"));
    cast = by_cast_default;
    assert_int_equal(by_dtype_round(by_dtype_find("mx4"), &value, 1, &cast, NULL, &value, &err),
                     -1);
    assert_int_equal(err.code, BARYON_ERR_INTERNAL);
    assert_int_equal(by_dtype_packed_bytes(fp8, SIZE_MAX / 4, &bytes, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_agree_with_themselves),
        cmocka_unit_test(known_limits),
        cmocka_unit_test(ties_go_where_they_are_told),
        cmocka_unit_test(past_the_limit),
        cmocka_unit_test(plain_codes_are_those_of_paths),
        cmocka_unit_test(stochastic_rounding_is_fair),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(packing_comes_back),
        cmocka_unit_test(packing_order),
        cmocka_unit_test(wrong_casts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
