/* Blocks, element by element, in double. */
#include "dtype/block_plain.h"

#include "base/half.h"
#include "dtype/family.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define BIAS      127
#define NAN_SCALE 0xff

/* A block that is looked at: the row, how to cast, where its elements are. */
struct block {
    const struct by_dtype *dtype;
    const struct by_block_cast *cast;
    const struct by_block_place *place;
    const float *in;
};

float by_block_plain_value(const struct by_block_cast *cast, float value)
{
    return cast->from_bf16 && !isnan(value) ? by_bf16_to_f32_one(by_f32_to_bf16_one(value)) : value;
}

static float value_at(const struct block *block, size_t i)
{
    const float value = by_block_plain_value(
        block->cast, i < block->place->count ? block->in[i * block->place->stride] : 0);
    return block->dtype->block.flushes && fabsf(value) < FLT_MIN ? copysignf(0, value) : value;
}

static struct by_draw draw_at(const struct block *block, size_t i)
{
    return (struct by_draw){block->cast->ties, block->cast->seed, block->place->first + i};
}

/* --- What a block shares --- */

/* As the bits of a float have it: -127 for zero and for subnormal numbers. */
static int exponent_of(float value)
{
    return fabsf(value) < FLT_MIN ? -BIAS : ilogbf(value);
}

/* The greatest of those that are finite, from `begin` on. */
static int top_exponent(const struct block *block, size_t begin, size_t end)
{
    int top = -BIAS;
    for (size_t i = begin; i < end; i++) {
        const float value = value_at(block, i);
        if (isfinite(value) && exponent_of(value) > top)
            top = exponent_of(value);
    }
    return top;
}

static bool all_finite(const struct block *block)
{
    for (size_t i = 0; i < block->place->count; i++)
        if (!isfinite(value_at(block, i)))
            return false;
    return true;
}

/* Whether a positive element would be rounded to the power of two above all levels. */
static bool is_short(const struct block *block, int exponent)
{
    const int mantissa = block->dtype->element.mantissa;
    for (size_t i = 0; i < block->place->count; i++) {
        const float value = value_at(block, i);
        const struct by_draw draw = draw_at(block, i);
        if (isfinite(value) && value > 0 &&
            by_round_level(ldexp(value, mantissa - exponent), &draw) >= ldexp(1, mantissa + 1))
            return true;
    }
    return false;
}

static int shared_exponent(const struct block *block)
{
    const int top = top_exponent(block, 0, block->place->count);
    return top + (block->dtype->block.raises && is_short(block, top));
}

/* How far the exponent of the sub-block that has element i is below the block's. */
static int shift_at(const struct block *block, size_t i, int exponent)
{
    const struct by_block_layout *layout = &block->dtype->block;
    if (!layout->sub)
        return 0;
    const size_t begin = i - i % layout->sub, left = block->place->size - begin;
    const size_t end = begin + (left < layout->sub ? left : layout->sub);
    const int shift = exponent - top_exponent(block, begin, end), most = (1 << layout->shifts) - 1;
    return shift < most ? shift : most;
}

static float tensor_scale(const struct by_block_cast *cast)
{
    return cast->tensor_scale != 0 ? cast->tensor_scale : 1;
}

/* The scale in E4M3 of formats that have one. */
static uint32_t scale_code(const struct block *block)
{
    const struct by_draw draw = {.ties = BY_TIES_EVEN};
    const float max = (float)by_dtype_max(block->dtype);
    float most = 0;
    for (size_t i = 0; i < block->place->count; i++) {
        const float size = fabsf(value_at(block, i));
        most = isfinite(size) && size > most ? size : most;
    }
    return by_float_code(&by_dtype_fp8_e4m3.element, most / (max * tensor_scale(block->cast)),
                         &draw, true);
}

static float scale_value(const struct by_block_cast *cast, uint32_t code)
{
    return (float)by_float_value(&by_dtype_fp8_e4m3.element, code) * tensor_scale(cast);
}

/* --- Elements --- */

static int element_level(const struct by_dtype *dtype, double scaled, const struct by_draw *draw)
{
    const double level = by_round_level(ldexp(scaled, dtype->element.mantissa), draw);
    const double end = ldexp(1, dtype->element.mantissa + 1);
    return (int)(level < -end ? -end : level > end - 1 ? end - 1 : level);
}

static uint32_t element_code(const struct by_dtype *dtype, double scaled,
                             const struct by_draw *draw)
{
    if (dtype->block.twos)
        return (uint32_t)element_level(dtype, scaled, draw) & ((1u << dtype->bits) - 1);
    return by_float_code(&dtype->element, scaled, draw, true);
}

static double element_value(const struct by_dtype *dtype, uint32_t code)
{
    if (!dtype->block.twos)
        return by_float_value(&dtype->element, code);
    const int end = 1 << dtype->element.mantissa, level = (int)(code ^ (uint32_t)(2 * end));
    return ldexp(level - 2 * end, -dtype->element.mantissa);
}

/* The code of element i, where 1 stands for `scale`. */
static uint32_t code_at(const struct block *block, size_t i, double scale)
{
    const float value = value_at(block, i);
    const struct by_draw draw = draw_at(block, i);
    double scaled = value / scale;
    if (block->dtype->block.scaled)
        scaled = scale > 0 ? value / (float)scale : copysign(0, value);
    return element_code(block->dtype, scaled, &draw);
}

/* What becomes zero; 1 stands for `scale`. */
static float signed_zero(const struct block *block, float value, double scale)
{
    const enum by_zero_sign rule = block->dtype->block.zero;
    const double step = ldexp(scale, -block->dtype->element.mantissa);
    const float quotient = (float)(value / (rule == BY_ZERO_BY_STEP ? step : scale));
    if (rule == BY_ZERO_LOSES)
        return 0;
    if (rule != BY_ZERO_KEEPS && block->cast->ties == BY_TIES_EVEN && quotient != 0)
        return 0;
    return copysignf(0, value);
}

static float rounded_at(const struct block *block, size_t i, double scale)
{
    const float value = value_at(block, i);
    if (!isfinite(value))
        return value;
    const double left = element_value(block->dtype, code_at(block, i, scale)) * scale;
    return left == 0 ? signed_zero(block, value, scale) : (float)left;
}

static float bits_of_nan(void)
{
    const uint32_t bits = 0x7fffffff;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void by_block_plain_round(const struct by_dtype *dtype, const struct by_block_cast *cast,
                          const struct by_block_place *place, const float *in, float *out)
{
    const struct block block = {dtype, cast, place, in};
    const bool nan = dtype->block.poisons && !all_finite(&block);
    const int exponent = dtype->block.scaled ? 0 : shared_exponent(&block);
    const float scale = dtype->block.scaled ? scale_value(cast, scale_code(&block)) : 0;
    int shift = 0;
    for (size_t i = 0; i < place->count; i++) {
        /* Before the first element of a sub-block is written, for out may be in. */
        if (dtype->block.sub && i % dtype->block.sub == 0)
            shift = shift_at(&block, i, exponent);
        const double step =
            dtype->block.scaled ? (double)scale : ldexp(1, exponent - shift - dtype->block.top);
        out[i * place->stride] = nan ? bits_of_nan() : rounded_at(&block, i, step);
    }
}

/* --- The grid --- */

void by_block_plain_steps(const struct by_dtype *dtype, const struct by_block_cast *cast,
                          const struct by_block_place *place, const float *in, float *steps,
                          float *held)
{
    const struct block block = {dtype, cast, place, in};
    const int exponent = shared_exponent(&block);
    for (size_t i = 0; i < place->count; i++) {
        const int shift = shift_at(&block, i, exponent);
        by_float_step(dtype, ldexp(1, exponent - shift - dtype->block.top), value_at(&block, i),
                      &steps[i * place->stride], &held[i * place->stride]);
    }
}

/* --- In memory --- */

static void put_shift(const struct by_dtype *dtype, uint8_t *scale, size_t i, int shift)
{
    const size_t bit = i / dtype->block.sub * dtype->block.shifts;
    for (unsigned k = 0; k < dtype->block.shifts; k++)
        scale[1 + (bit + k) / 8] |= (uint8_t)((shift >> k & 1) << (bit + k) % 8);
}

int by_block_plain_shift(const struct by_dtype *dtype, const uint8_t *scale, size_t i)
{
    if (!dtype->block.sub)
        return 0;
    const size_t bit = i / dtype->block.sub * dtype->block.shifts;
    int shift = 0;
    for (unsigned k = 0; k < dtype->block.shifts; k++)
        shift |= (scale[1 + (bit + k) / 8] >> (bit + k) % 8 & 1) << k;
    return shift;
}

static uint8_t stored_scale(const struct block *block, int exponent)
{
    const uint32_t nan = block->dtype->block.scaled ? NAN_SCALE >> 1 : NAN_SCALE;
    if (!all_finite(block))
        return (uint8_t)nan;
    if (block->dtype->block.scaled)
        return (uint8_t)scale_code(block);
    const int stored = exponent - block->dtype->block.top + BIAS;
    return (uint8_t)(stored < 0 ? 0 : stored > 2 * BIAS ? 2 * BIAS : stored);
}

/* What a block stores of its values: the code of a zero has the sign that rounding leaves it. */
static uint8_t stored_code(const struct block *block, size_t i, double step)
{
    const struct by_dtype *dtype = block->dtype;
    const uint32_t code = code_at(block, i, step), sign = 1u << (dtype->bits - 1);
    if (dtype->block.twos || (code & ~sign))
        return (uint8_t)code;
    return (uint8_t)(signbit(signed_zero(block, value_at(block, i), step)) ? sign : 0);
}

double by_block_plain_step(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           uint8_t scale, int shift)
{
    if (dtype->block.scaled) {
        const float step = scale_value(cast, scale);
        return isnan(step) ? NAN : (double)step;
    }
    return scale == NAN_SCALE ? NAN : ldexp(1, scale - BIAS - shift);
}

void by_block_plain_encode(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           const struct by_block_place *place, const float *in, uint8_t *codes,
                           uint8_t *scale)
{
    const struct block block = {dtype, cast, place, in};
    const int exponent = dtype->block.scaled ? 0 : shared_exponent(&block);
    const bool nan = !all_finite(&block);
    *scale = stored_scale(&block, exponent);
    for (size_t i = 0; i < place->count; i++) {
        const int shift = nan ? 0 : shift_at(&block, i, exponent);
        const double step = by_block_plain_step(dtype, cast, *scale, shift);
        if (dtype->block.sub && i % dtype->block.sub == 0)
            put_shift(dtype, scale, i, shift);
        codes[i * place->stride] = nan ? 0 : stored_code(&block, i, step);
    }
}

void by_block_plain_decode(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           const struct by_block_place *place, const uint8_t *codes,
                           const uint8_t *scale, float *out)
{
    for (size_t i = 0; i < place->count; i++) {
        const int shift = by_block_plain_shift(dtype, scale, i);
        const double step = by_block_plain_step(dtype, cast, *scale, shift);
        const double value = element_value(dtype, codes[i * place->stride]) * step;
        out[i * place->stride] = isnan(step) ? NAN : (float)value;
    }
}
