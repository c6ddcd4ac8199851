/* Every vector path beside the plain definition of the formats, bit for bit. */
#include "dtype/block_plain.h"
#include "dtype/family.h"
#include "dtype/fast.h"
#include "dtype/linear.h"
#include "dtype/path.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MANY         4099

static struct baryon_error err;
static float in[MANY], got[MANY], wanted[MANY];

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Around exponents of all sizes, with ties, zeros, subnormal numbers and what is not finite. */
static void draw(uint64_t seed, size_t run)
{
    for (size_t i = 0; i < MANY; i++) {
        const uint64_t shape = by_rng_bits(seed, 0, i / run), bits = by_rng_bits(seed, 1, i);
        const uint32_t spread = 1 + (uint32_t)(shape >> 8) % 20;
        uint32_t exponent = (uint32_t)(shape & 0xff), sign = (uint32_t)bits & 0x80000000;
        const uint32_t lower = (uint32_t)(bits >> 32) % spread;
        exponent = exponent > lower ? exponent - lower : 0;
        exponent = exponent > 254 ? 254 : exponent;
        const uint32_t dropped = (uint32_t)(shape >> 16) % 24;
        uint32_t value = exponent << 23 | ((uint32_t)bits & 0x7fffff) >> dropped << dropped;
        const unsigned kind = (unsigned)(bits >> 40) % 64, odd = (unsigned)(shape >> 32) % 8;
        value = kind == 0           ? 0
                : kind == 1 && !odd ? 0x7f800000
                : kind == 2 && !odd ? 0x7fc00000
                                    : value;
        in[i] = from_bits(sign | value);
    }
}

static void each_path(void check(void))
{
    size_t count;
    const struct by_dtype_path *const *paths = by_dtype_paths(&count);
    for (size_t i = 0; i < count; i++)
        if (paths[i]->supported()) {
            by_dtype_path_choose(paths[i]);
            check();
        }
    by_dtype_path_choose(NULL);
}

static void assert_same(size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(&got[i], &wanted[i], sizeof *got))
            fail_msg("%s: %zu: %a becomes %a, not %a", by_dtype_path_chosen()->name, i,
                     (double)in[i], (double)got[i], (double)wanted[i]);
}

/* --- Single elements --- */

static void compare_elements(const struct by_dtype *dtype, const struct by_cast *cast, size_t count)
{
    static uint32_t codes[MANY], others[MANY];
    dtype->does->encode(dtype, in, count, 0, cast, codes);
    dtype->does->decode(dtype, codes, count, cast, wanted);
    assert_int_equal(by_dtype_round(dtype, in, count, cast, NULL, got, &err), 0);
    assert_same(count);
    assert_int_equal(by_dtype_encode(dtype, in, count, cast, NULL, others, &err), 0);
    assert_memory_equal(codes, others, count * by_dtype_code_bytes(dtype));
    assert_int_equal(by_dtype_decode(dtype, codes, count, cast, NULL, got, &err), 0);
    assert_same(count);
}

static void elements(void)
{
    static const struct {
        float scale;
        int zero;
    } casts[] = {{1, 0}, {0.3f, 1}, {2.5e9f, 0}, {1e-7f, -1}};
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; rows[i]->does && k < COUNT(casts) * 3 * 2; k++) {
            const struct by_cast cast = {
                .scale = casts[k % COUNT(casts)].scale,
                .zero = rows[i]->does == &by_family_e8m0 ? 0 : casts[k % COUNT(casts)].zero,
                .ties = (enum by_ties)(k / COUNT(casts) % 3),
                .saturate = k % 2};
            draw(i + 100 * k, 16);
            compare_elements(rows[i], &cast, MANY - k);
            for (size_t j = 0; j < MANY; j++)
                in[j] = (float)by_rng_normal(k, 2, j);
            compare_elements(rows[i], &cast, 1 + k);
        }
}

static void elements_are_the_same(void **state)
{
    (void)state;
    each_path(elements);
}

/* Levels of each format, and what lies half way between them. */
static void middles(void)
{
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; rows[i]->does == &by_family_float && k < 6; k++) {
            const struct by_cast cast = {
                .scale = 1, .ties = (enum by_ties)(k % 3), .saturate = k > 2};
            const uint32_t max = by_float_max_code(&rows[i]->element);
            for (uint32_t j = 0; j < MANY; j++) {
                const uint32_t code = j / 4 * (max / 2000 + 1) % max;
                const double low = by_float_value(&rows[i]->element, code);
                const double high = by_float_value(&rows[i]->element, code + 1);
                const float middle = (float)((low + high) / 2) * (j % 2 ? 1 : -1);
                in[j] = j % 4 > 1 ? middle : nextafterf(middle, 0);
            }
            compare_elements(rows[i], &cast, MANY);
        }
}

static void middles_are_the_same(void **state)
{
    (void)state;
    each_path(middles);
}

/* --- Integers and bf16 by a scale and a zero point --- */

static const struct by_dtype *const linear_rows[] = {
    &by_dtype_int8,   &by_dtype_uint8, &by_dtype_int16, &by_dtype_uint16,
    &by_dtype_uint32, &by_dtype_int32, &by_dtype_bf16};

static double draw_zero(const struct by_dtype *dtype, size_t i)
{
    const int64_t span = dtype->high - dtype->low + 1;
    const int64_t drawn = (int64_t)(by_rng_bits(9, 0, i) >> 8);
    return span > 1 ? (double)(dtype->low + drawn % span) : (double)(drawn % 9 - 4);
}

static void compare_linear(const struct by_dtype *dtype, bool each, size_t count)
{
    static uint32_t codes[MANY], others[MANY];
    static float scales[MANY];
    static double zeros[MANY];
    const struct by_linear linear = {dtype, scales, zeros, each};
    for (size_t i = 0; i < MANY; i++) {
        scales[i] = (i + count) % 3 ? (float)(by_rng_bits(9, 1, i) % 1000 + 1) / 300 : 1;
        zeros[i] = (i + count / 2) % 5 ? draw_zero(dtype, i + count) : 0;
    }
    by_linear_plain_quantize(&linear, in, count, codes);
    by_linear_quantize(&linear, in, count, others);
    assert_memory_equal(codes, others, count * by_dtype_code_bytes(dtype));
    for (size_t i = 0; i < MANY; i++)
        codes[i] = (uint32_t)by_rng_bits(9, 2, i);
    by_linear_plain_dequantize(&linear, codes, count, wanted);
    by_linear_dequantize(&linear, codes, count, got);
    assert_same(count);
}

static void linear(void)
{
    for (size_t i = 0; i < COUNT(linear_rows); i++)
        for (size_t k = 0; k < 20; k++) {
            draw(i + 100 * k, 16);
            compare_linear(linear_rows[i], k % 2, MANY - k);
            for (size_t j = 0; j < MANY; j++)
                in[j] = (float)(by_rng_bits(k, 2, j) % 4001) / 8 - 250;
            compare_linear(linear_rows[i], k % 2, 1 + k);
        }
}

static void linear_is_the_same(void **state)
{
    (void)state;
    each_path(linear);
}

/* What a processor makes of a float that is too great for 64 bits. */
static void lost_values(void **state)
{
    (void)state;
    static const float lost[] = {NAN, INFINITY, -INFINITY, 0x1p63f, -0x1p64f};
    const float scale = 1;
    for (size_t i = 0; i < COUNT(lost); i++)
        for (int zero = -5; zero <= 5; zero += 5) {
            const double zeros = zero;
            const struct by_linear linear = {&by_dtype_int8, &scale, &zeros, false};
            int8_t code;
            by_linear_quantize(&linear, &lost[i], 1, &code);
            assert_int_equal(code, zero < 0 ? 127 : -128);
        }
}

/* --- Blocks --- */

typedef void each_block(const struct by_dtype *dtype, const struct by_block_cast *cast,
                        const struct by_block_place *place, size_t at, size_t block);

/* block: its number in an array of blocks. */
static void plain_blocks(const struct by_dtype *dtype, const struct by_block_cast *cast,
                         size_t size, each_block *act)
{
    const size_t outer = (size_t)cast->dims[0], length = (size_t)cast->dims[1];
    const size_t inner = (size_t)cast->dims[2], per_line = (length + size - 1) / size;
    for (size_t line = 0; line < outer * inner; line++)
        for (size_t i = 0; i < length; i += size) {
            const struct by_block_place place = {
                .count = length - i < size ? length - i : size, .stride = inner, .size = size};
            const size_t at = (line / inner * length + i) * inner + line % inner;
            act(dtype, cast, &place, at,
                (line / inner * per_line + i / size) * inner + line % inner);
        }
}

static void round_plain(const struct by_dtype *dtype, const struct by_block_cast *cast,
                        const struct by_block_place *place, size_t at, size_t block)
{
    (void)block;
    by_block_plain_round(dtype, cast, place, in + at, wanted + at);
}

/* --- Blocks in memory --- */

#define SHARED_MOST (MANY * 20)

static uint8_t codes[MANY], shared[SHARED_MOST];
static size_t block_bytes;

static void encode_plain(const struct by_dtype *dtype, const struct by_block_cast *cast,
                         const struct by_block_place *place, size_t at, size_t block)
{
    memset(shared + block * block_bytes, 0, block_bytes);
    by_block_plain_encode(dtype, cast, place, in + at, codes + at, shared + block * block_bytes);
}

static void decode_plain(const struct by_dtype *dtype, const struct by_block_cast *cast,
                         const struct by_block_place *place, size_t at, size_t block)
{
    by_block_plain_decode(dtype, cast, place, codes + at, shared + block * block_bytes,
                          wanted + at);
}

static void compare_memory(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           uint64_t seed)
{
    static uint8_t own[MANY], own_shared[SHARED_MOST];
    struct by_block_extent extent;
    assert_int_equal(by_block_extent(dtype, cast, &extent, &err), 0);
    assert_true(extent.scale_bytes <= SHARED_MOST);
    block_bytes = extent.block_bytes;
    plain_blocks(dtype, cast, extent.size, encode_plain);
    memset(own, 0xaa, sizeof own);
    memset(own_shared, 0xaa, sizeof own_shared);
    assert_int_equal(by_block_encode(dtype, in, cast, NULL, own, own_shared, &err), 0);
    assert_memory_equal(own, codes, extent.values);
    assert_memory_equal(own_shared, shared, extent.scale_bytes);
    for (size_t i = 0; seed % 3 == 0 && i < extent.values; i++) /* any codes and scales */
        codes[i] = (uint8_t)(by_rng_bits(seed, 4, i) & ((1u << dtype->bits) - 1));
    for (size_t i = 0; seed % 3 == 0 && i < extent.scale_bytes; i++)
        shared[i] = (uint8_t)by_rng_bits(seed, 5, i);
    plain_blocks(dtype, cast, extent.size, decode_plain);
    assert_int_equal(by_block_decode(dtype, codes, shared, cast, NULL, got, &err), 0);
    assert_same(extent.values);
}

static void compare_blocks(const struct by_dtype *dtype, size_t k)
{
    static const int64_t shapes[][3] = {{1, MANY, 1}, {16, 256, 1}, {17, 100, 1}, {3, 40, 33},
                                        {2, 64, 32},  {50, 9, 9},   {300, 13, 1}, {1, 3, 1300}};
    static const size_t sizes[] = {0, 0, 0, 2, 4, 8, 16, 32, 64, 12, 48, 300};
    const int64_t *dims = shapes[k % COUNT(shapes)];
    const struct by_block_cast cast = {.dims = dims,
                                       .rank = 3,
                                       .axis = 1,
                                       .size = sizes[k % COUNT(sizes)],
                                       .ties = (enum by_ties)(k % 3),
                                       .tensor_scale = dtype->block.scaled && k % 2 ? 0.01f : 0,
                                       .from_bf16 = k % 5 == 0};
    const size_t size = cast.size ? cast.size : dtype->block.size;
    const size_t count = (size_t)(dims[0] * dims[1] * dims[2]);
    draw(k, k % 2 ? 1 : size);
    if (k % 4 == 0) /* none that the plain way has to do */
        for (size_t i = 0; i < MANY; i++)
            in[i] = i % 300 < 20 ? 0 : (float)by_rng_normal(k, 2, i);
    plain_blocks(dtype, &cast, size, round_plain);
    assert_int_equal(by_block_round(dtype, in, &cast, NULL, got, &err), 0);
    assert_same(count);
    compare_memory(dtype, &cast, k);
}

static void blocks(void)
{
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; rows[i]->block.size && k < 240; k++)
            compare_blocks(rows[i], k);
}

static void blocks_are_the_same(void **state)
{
    (void)state;
    each_path(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_the_same), cmocka_unit_test(middles_are_the_same),
        cmocka_unit_test(linear_is_the_same),    cmocka_unit_test(lost_values),
        cmocka_unit_test(blocks_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
