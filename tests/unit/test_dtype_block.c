/* Block formats: known answers, layouts, what memory keeps, threads. */
#include "dtype/block.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct baryon_error err;

static const struct by_dtype *block_format(size_t index)
{
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    for (size_t i = 0; i < count; i++)
        if (rows[i]->block.size && !index--)
            return rows[i];
    return NULL;
}

static void draw(float *values, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)by_rng_normal(seed, 1, i);
}

/* --- Known answers --- */

static void known_answers(void **state)
{
    static const struct {
        const char *format;
        enum by_ties ties;
        float in[8], out[8];
    } cases[] = {
        /* steps of 2^-6 below 2; the last level is 127 */
        {"bfp16",
         BY_TIES_EVEN,
         {1.99f, 1.999f, 0.0078125f, -0.0078125f, -0.0f, 0.0234375f},
         {1.984375f, 1.984375f, 0, 0, -0.0f, 0.03125f}},
        {"bfp16", BY_TIES_AWAY, {1.5f, 0.0078125f, -0.0078125f}, {1.5f, 0.015625f, -0.015625f}},
        {"bfp16", BY_TIES_UP, {1.5f, 0.0078125f, -0.0078125f}, {1.5f, 0.015625f, -0.0f}},
        {"bfp16", BY_TIES_EVEN, {1, INFINITY, -INFINITY, 300}, {0, INFINITY, -INFINITY, 300}},
        {"bfp16_raised", BY_TIES_EVEN, {1.999f, -1.999f, 0.5f}, {2, -2, 0.5f}},
        {"bfp16_raised", BY_TIES_EVEN, {1.99f, -1.999f, 0.5f}, {1.984375f, -2, 0.5f}},
        /* pairs whose greatest is below half of the block's have steps of half the size */
        {"mx6",
         BY_TIES_EVEN,
         {1.9f, 1.3f, 0.30001f, 0.13f, -0.0f, 0.01f, -0.51f, 0.52f},
         {1.875f, 1.25f, 0.3125f, 0.125f, -0.0f, 0, -0.5f, 0.5f}},
        {"mx4", BY_TIES_EVEN, {3, 2.5f, 1.3f, 0.2f}, {3, 2, 1.5f, 0}},
        {"mxint8", BY_TIES_EVEN, {1.9999f, -1.9999f, 0.0078125f}, {1.984375f, -2, 0}},
        {"mxfp4_e2m1", BY_TIES_EVEN, {7, -5, 2.5f, 0.2f, -0.1f, -0.0f}, {6, -4, 2, 0, 0, 0}},
        {"mxfp4_e2m1", BY_TIES_AWAY, {7, -5, 2.5f, 0.25f, -0.1f}, {6, -6, 3, 0.5f, 0}},
        {"mxfp8_e4m3", BY_TIES_EVEN, {500, 17, -0.01f}, {448, 16, -0.009765625f}},
        {"nvfp4", BY_TIES_EVEN, {6, -2.6f, 0.1f, -0.0f}, {6, -3, 0, -0.0f}},
        {"nvfp4", BY_TIES_EVEN, {0x1p-30f, -0x1p-30f}, {0, -0.0f}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const int64_t dims[] = {8};
        const struct by_block_cast cast = {.dims = dims, .rank = 1, .ties = cases[i].ties};
        float out[8];
        assert_int_equal(
            by_block_round(by_dtype_find(cases[i].format), cases[i].in, &cast, NULL, out, &err), 0);
        assert_memory_equal(out, cases[i].out, sizeof out);
    }
}

static void micro_exponents_are_all_nan_with_one(void **state)
{
    float values[17] = {[3] = INFINITY, [16] = 1};
    const int64_t dims[] = {17};
    const struct by_block_cast cast = {.dims = dims, .rank = 1};
    (void)state;
    assert_int_equal(by_block_round(by_dtype_find("mx9"), values, &cast, NULL, values, &err), 0);
    for (size_t i = 0; i < 16; i++)
        assert_true(isnan(values[i]));
    assert_float_equal(values[16], 1, 0);
}

static void one_element_stays(void **state)
{
    const float value = 1.2345f;
    const int64_t dims[] = {1, 1};
    struct by_block_cast cast = {.dims = dims, .rank = 2};
    float out;
    (void)state;
    for (size_t i = 0; block_format(i); i++)
        for (cast.rank = 0; cast.rank <= 2; cast.rank++) {
            assert_int_equal(by_block_round(block_format(i), &value, &cast, NULL, &out, &err), 0);
            assert_memory_equal(&out, &value, sizeof out);
        }
}

static void values_can_be_bf16_first(void **state)
{
    const float in[4] = {1.00390625f * 1.01171875f, 1, 0x1.ffp0f, 0}; /* the third is 2 in bf16 */
    const int64_t dims[] = {4};
    const struct by_block_cast cast = {.dims = dims, .rank = 1, .from_bf16 = true};
    float out[4];
    (void)state;
    assert_int_equal(by_block_round(by_dtype_find("bfp16"), in, &cast, NULL, out, &err), 0);
    assert_memory_equal(out, ((float[]){1, 1, 2, 0}), sizeof out);
}

/* --- Layouts --- */

struct shape {
    size_t rank;
    int64_t dims[4];
    int axis;
};

static const struct shape shapes[] = {
    {1, {100}, 5},        {1, {7}, 0},         {2, {9, 50}, 1},       {2, {50, 9}, 0},
    {3, {3, 37, 5}, 1},   {3, {2, 3, 70}, -1}, {4, {2, 33, 3, 3}, 1}, {4, {2, 5, 4, 17}, -2},
    {3, {40, 3, 11}, -3}, {2, {0, 4}, 1},      {2, {3, 64}, 1},       {3, {2, 64, 20}, 1},
};

static size_t count_of(const struct shape *shape)
{
    size_t count = 1;
    for (size_t i = 0; i < shape->rank; i++)
        count *= (size_t)shape->dims[i];
    return count;
}

/* Each line is taken out, filled up with zeros, and rounded as an array of its own. */
static void round_by_lines(const struct by_dtype *dtype, const struct shape *shape,
                           const struct by_block_cast *cast, const float *in, float *out)
{
    const size_t rank = shape->rank;
    const size_t axis = rank == 1 ? 0 : (size_t)(shape->axis + (shape->axis < 0 ? (int)rank : 0));
    const size_t length = (size_t)shape->dims[axis],
                 size = cast->size ? cast->size : dtype->block.size;
    size_t inner = 1;
    for (size_t i = axis + 1; i < rank; i++)
        inner *= (size_t)shape->dims[i];
    float line[256];
    for (size_t at = 0; at < count_of(shape); at++) {
        if (at / inner % length)
            continue;
        memset(line, 0, sizeof line);
        for (size_t i = 0; i < length; i++)
            line[i] = in[at + i * inner];
        const int64_t whole = (int64_t)((length + size - 1) / size * size + size);
        const struct by_block_cast alone = {
            .dims = &whole, .rank = 1, .size = size, .ties = cast->ties};
        assert_int_equal(by_block_round(dtype, line, &alone, NULL, line, &err), 0);
        for (size_t i = 0; i < length; i++)
            out[at + i * inner] = line[i];
    }
}

static void any_axis_and_size(void **state)
{
    static const size_t sizes[] = {0, 2, 6, 8, 16, 32, 48};
    float in[4096], got[4096], wanted[4096];
    (void)state;
    for (size_t f = 0; block_format(f); f++)
        for (size_t s = 0; s < COUNT(shapes); s++)
            for (size_t k = 0; k < COUNT(sizes); k++) {
                const struct shape *shape = &shapes[s];
                const size_t bytes = count_of(shape) * sizeof *in;
                const struct by_block_cast cast = {.dims = shape->dims,
                                                   .rank = shape->rank,
                                                   .axis = shape->axis,
                                                   .size = sizes[k],
                                                   .ties = (enum by_ties)((f + s + k) % 3)};
                draw(in, count_of(shape), s);
                round_by_lines(block_format(f), shape, &cast, in, wanted);
                assert_int_equal(by_block_round(block_format(f), in, &cast, NULL, got, &err), 0);
                assert_memory_equal(got, wanted, bytes);
                assert_int_equal(by_block_round(block_format(f), in, &cast, NULL, in, &err), 0);
                assert_memory_equal(in, wanted, bytes);
            }
}

static void threads_change_nothing(void **state)
{
    enum { MANY = 6 * 700 * 12 };
    static float in[MANY], one[MANY], many[MANY];
    static uint8_t codes[6 * MANY], more[6 * MANY], scales[MANY], others[MANY];
    const int64_t dims[] = {6, 700, 12};
    struct by_block_cast cast = {.dims = dims, .rank = 3, .seed = 4};
    struct by_block_extent extent;
    struct by_pool *pool;
    (void)state;
    draw(in, MANY, 9);
    assert_int_equal(by_pool_open(&pool, 3, &err), 0);
    for (size_t f = 0; block_format(f); f++)
        for (int k = 0; k < 3 * BY_TIES_COUNT; k++) {
            const struct by_dtype *dtype = block_format(f);
            cast.axis = k / BY_TIES_COUNT;
            cast.ties = (enum by_ties)(k % BY_TIES_COUNT);
            assert_int_equal(by_block_round(dtype, in, &cast, NULL, one, &err), 0);
            assert_int_equal(by_block_round(dtype, in, &cast, pool, many, &err), 0);
            assert_memory_equal(one, many, sizeof one);
            assert_int_equal(by_block_extent(dtype, &cast, &extent, &err), 0);
            assert_true(extent.values <= sizeof codes && extent.scale_bytes <= sizeof scales);
            assert_int_equal(by_block_encode(dtype, in, &cast, NULL, codes, scales, &err), 0);
            assert_int_equal(by_block_encode(dtype, in, &cast, pool, more, others, &err), 0);
            assert_memory_equal(codes, more, extent.values);
            assert_memory_equal(scales, others, extent.scale_bytes);
            assert_int_equal(by_block_decode(dtype, codes, scales, &cast, pool, many, &err), 0);
            for (size_t i = 0; i < MANY; i++)
                assert_true(one[i] == many[i]);
        }
    by_pool_close(pool);
}

static void extents(void **state)
{
    const int64_t dims[] = {2, 33, 5};
    const struct by_block_cast cast = {.dims = dims, .rank = 3, .axis = 1};
    struct by_block_extent extent;
    (void)state;
    assert_int_equal(by_block_extent(by_dtype_find("mx6"), &cast, &extent, &err), 0);
    assert_int_equal(extent.per_line, 3);
    assert_int_equal(extent.blocks, 30);
    assert_int_equal(extent.values, 330);
    assert_int_equal(extent.block_bytes, 2);
    assert_int_equal(extent.scale_bytes, 60);
    assert_int_equal(by_block_extent(by_dtype_find("mxint8"), &cast, &extent, &err), 0);
    assert_int_equal(extent.block_bytes, 1);
    assert_int_equal(extent.scale_bytes, 20);
}

/* --- In memory --- */

/* Two columns of three: codes as the values, scales as blocks lie in the array. */
static void memory_is_in_order(void **state)
{
    const float in[6] = {1, 8, 2, -16, 0.5f, 64};
    const int64_t dims[] = {3, 2};
    const struct by_block_cast cast = {.dims = dims, .rank = 2, .axis = 0, .size = 2};
    uint8_t codes[6], scales[4];
    float back[6];
    (void)state;
    const struct by_dtype *dtype = by_dtype_find("mxfp4_e2m1");
    assert_int_equal(by_block_encode(dtype, in, &cast, NULL, codes, scales, &err), 0);
    assert_memory_equal(codes, ((uint8_t[]){4, 4, 6, 14, 6, 6}), sizeof codes);
    assert_memory_equal(scales, ((uint8_t[]){126, 129, 124, 131}), sizeof scales);
    assert_int_equal(by_block_decode(dtype, codes, scales, &cast, NULL, back, &err), 0);
    assert_memory_equal(back, in, sizeof in);
}

/* What rounding leaves, signs of zeros too; a block with NaN is NaN. */
static void memory_keeps_what_is_left(void **state)
{
    const float in[8] = {-0.0f, 0, -1e-3f, 1e-3f, 1, -1, 1.3f, -0.7f};
    const int64_t dims[] = {8};
    const struct by_block_cast cast = {.dims = dims, .rank = 1};
    uint8_t codes[8], scales[8];
    float rounded[8], back[8];
    (void)state;
    for (size_t f = 0; block_format(f); f++) {
        const struct by_dtype *dtype = block_format(f);
        float bad[8] = {1, [3] = NAN};
        assert_int_equal(by_block_round(dtype, in, &cast, NULL, rounded, &err), 0);
        assert_int_equal(by_block_encode(dtype, in, &cast, NULL, codes, scales, &err), 0);
        assert_int_equal(by_block_decode(dtype, codes, scales, &cast, NULL, back, &err), 0);
        for (size_t i = 0; i < 8; i++) {
            assert_true(back[i] == rounded[i]);
            assert_true(dtype->block.twos || signbit(back[i]) == signbit(rounded[i]));
        }
        assert_int_equal(by_block_encode(dtype, bad, &cast, NULL, codes, scales, &err), 0);
        assert_int_equal(by_block_decode(dtype, codes, scales, &cast, NULL, back, &err), 0);
        for (size_t i = 0; i < 8; i++)
            assert_true(isnan(back[i]));
    }
}

static void zeros_are_the_least_scale(void **state)
{
    const float in[32] = {0};
    const int64_t dims[] = {32};
    const struct by_block_cast cast = {.dims = dims, .rank = 1};
    uint8_t codes[32], scales[32], wanted[32] = {0};
    (void)state;
    for (size_t f = 0; block_format(f); f++) {
        struct by_block_extent extent;
        assert_int_equal(by_block_extent(block_format(f), &cast, &extent, &err), 0);
        assert_int_equal(by_block_encode(block_format(f), in, &cast, NULL, codes, scales, &err), 0);
        assert_memory_equal(codes, wanted, sizeof codes);
        assert_memory_equal(scales, wanted, extent.scale_bytes);
    }
}

/* --- Refusals --- */

static void assert_refused(const char *format, struct by_block_cast cast, const char *part)
{
    const int64_t dims[] = {2, 3};
    struct by_block_extent extent;
    if (!cast.dims)
        cast.dims = dims, cast.rank = 2;
    assert_int_equal(by_block_extent(by_dtype_find(format), &cast, &extent, &err), -1);
    assert_non_null(strstr(err.message, part));
}

static void wrong_casts_are_refused(void **state)
{
    const int64_t negative[] = {-1};
    (void)state;
    assert_refused("bfp16", (struct by_block_cast){.axis = 2},
                   "block axis 2, must be an axis of the 2 dimensions");
    assert_refused("bfp16", (struct by_block_cast){.axis = -3}, "axis -3");
    assert_refused("mxint8", (struct by_block_cast){.tensor_scale = 1}, "no tensor scale");
    assert_refused("nvfp4", (struct by_block_cast){.tensor_scale = -1},
                   "is -1, must be greater than 0 and at most");
    assert_refused("nvfp4", (struct by_block_cast){.tensor_scale = NAN}, "must be greater than 0");
    assert_refused("bfp16", (struct by_block_cast){.dims = negative, .rank = 1},
                   "dimension 0 is -1");
    assert_refused("bfp16", (struct by_block_cast){.size = SIZE_MAX / 2}, "overflow");
    assert_refused("int8", (struct by_block_cast){.axis = 0}, "int8 is not a block format");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(micro_exponents_are_all_nan_with_one),
        cmocka_unit_test(one_element_stays),
        cmocka_unit_test(values_can_be_bf16_first),
        cmocka_unit_test(any_axis_and_size),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(extents),
        cmocka_unit_test(memory_is_in_order),
        cmocka_unit_test(memory_keeps_what_is_left),
        cmocka_unit_test(zeros_are_the_least_scale),
        cmocka_unit_test(wrong_casts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
