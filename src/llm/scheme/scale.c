/* Computes scales and zero points of groups and rounds them to what is stored. */
#include "llm/scheme/scale.h"

#include "array/elem.h"
#include "base/half.h"
#include "dtype/family.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Above 1 where it pays: the lowest level of integers has no partner above, and a float's levels
 * next to the limit are far apart. */
static const float int_factors[] = {1,     1.0667f, 0.97f, 0.94f, 0.91f, 0.88f, 0.85f, 0.82f,
                                    0.79f, 0.76f,   0.73f, 0.7f,  0.66f, 0.62f, 0.58f, 0.54f,
                                    0.5f,  0.45f,   0.4f,  0.35f, 0.3f,  0.25f};
static const float float_factors[] = {1,    1.5f,  0.95f, 0.9f,  0.85f, 0.8f, 0.7f,
                                      1.1f, 1.15f, 1.2f,  1.25f, 1.3f,  1.4f};
static const float power_factors[] = {1, 0.5f, 2};

#define LIST(name) (*count = sizeof(name) / sizeof *(name), name)

const float *by_llm_factors(const struct by_llm_tensor *tensor, size_t *count)
{
    if (by_llm_spec_is_int(tensor->spec))
        return LIST(int_factors);
    if (tensor->spec->scale != BY_LLM_SCALE_E8M0)
        return LIST(float_factors);
    /* Half the power cuts off the greatest value of a group for a hundredth of the squared error of
     * the others. That only pays where it is known what inputs meet it. */
    *count = tensor->search == BY_LLM_SEARCH_UNBIASED && !tensor->importance ? 1 : 3;
    return power_factors;
}

float by_llm_stored(int64_t elem, float scale)
{
    float stored = scale;
    if (elem == BY_ELEM_FLOAT16)
        stored = by_f16_to_f32_one(by_f32_to_f16_one(fmaxf(fminf(scale, 65504), -65504)));
    else if (elem == BY_ELEM_BFLOAT16)
        stored = by_bf16_to_f32_one(by_f32_to_bf16_one(scale));
    if (stored == 0 && scale != 0)
        return copysignf(elem == BY_ELEM_FLOAT16 ? 0x1p-24f : FLT_MIN, scale);
    return stored;
}

float by_llm_step(const struct by_llm_tensor *tensor, float value)
{
    if (tensor->quark && tensor->model == BY_ELEM_FLOAT16)
        return by_f16_to_f32_one(by_f32_to_f16_one(value));
    if (tensor->quark && tensor->model == BY_ELEM_BFLOAT16)
        return by_bf16_to_f32_one(by_f32_to_bf16_one(value));
    return value;
}

/* --- Integers --- */

static float cut_below(float scale)
{
    return scale < BY_LLM_LEAST_SCALE ? BY_LLM_LEAST_SCALE : scale;
}

static int64_t type_of(const struct by_llm_tensor *tensor)
{
    return tensor->spec->scale == BY_LLM_SCALE_MODEL ? tensor->stored : BY_ELEM_FLOAT;
}

float by_llm_int_scale(const struct by_llm_tensor *tensor, float min, float max, float factor,
                       int64_t *zero)
{
    const int64_t low = tensor->spec->dtype->low, high = tensor->spec->dtype->high;
    const float levels = (float)(high - low);
    const float below = (min < 0 ? min : 0) * factor, above = (max > 0 ? max : 0) * factor;
    *zero = 0;
    if (!tensor->spec->asymmetric) {
        const float scale = by_llm_step(tensor, (-below > above ? -below : above) / (levels / 2));
        return by_llm_stored(type_of(tensor), cut_below(scale));
    }
    const float span = by_llm_step(tensor, above - below);
    const float scale =
        by_llm_stored(type_of(tensor), cut_below(by_llm_step(tensor, span / levels)));
    const int64_t first = low < tensor->least_zero ? tensor->least_zero : low;
    const int64_t place = low - (int64_t)nearbyintf(by_llm_step(tensor, below / scale));
    *zero = place < first ? first : place > high ? high : place;
    return scale;
}

/* --- Powers of two --- */

/* By the bits of float: what is added makes the exponent one more where the rule says so. */
static int exponent_of(const struct by_llm_tensor *tensor, float peak)
{
    const struct by_float_layout *element = &tensor->spec->dtype->element;
    uint32_t bits;
    memcpy(&bits, &peak, sizeof bits);
    if (tensor->exponent == BY_LLM_EXPONENT_EVEN)
        bits += 1u << (22 - element->mantissa);
    else if (tensor->exponent == BY_LLM_EXPONENT_CEIL)
        bits += (1u << 23) - 1;
    return (int)(bits >> 23) - 127;
}

static float power_of_two(int exponent)
{
    const uint32_t bits = exponent == -127 ? 1u << 22 : (uint32_t)(exponent + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static void power_scales(const struct by_llm_scales *scales, const struct by_llm_tensor *tensor,
                         const float *peaks, size_t count, float factor, float *out, uint8_t *codes)
{
    const int more = ilogbf(factor) - scales->top;
    for (size_t i = 0; i < count; i++) {
        /* Quark takes the least normal number for a group of zeros. */
        int exponent = exponent_of(tensor, peaks[i] == 0 ? FLT_MIN : peaks[i]) + more;
        exponent = exponent < -127 ? -127 : exponent > 127 ? 127 : exponent;
        codes[i] = (uint8_t)(exponent + 127);
        out[i] = power_of_two(exponent);
    }
}

/* --- Scales that are floats of 8 bits --- */

static const struct by_float_layout *layout_of(enum by_llm_scale_type type)
{
    return type == BY_LLM_SCALE_E4M3 ? &by_dtype_fp8_e4m3.element : &by_llm_fp8_e5m3.element;
}

static float wanted_scale(const struct by_llm_scales *scales, const struct by_llm_tensor *tensor,
                          float peak)
{
    if (!tensor->spec->global)
        return peak / scales->most;
    return tensor->inverse ? peak / scales->most * tensor->scale
                           : peak / (scales->most * tensor->scale);
}

static void small_scales(const struct by_llm_scales *scales, const struct by_llm_tensor *tensor,
                         const float *peaks, size_t count, float factor, float *out, uint8_t *codes)
{
    const struct by_float_layout *layout = layout_of(tensor->spec->scale);
    const uint8_t one = (uint8_t)(layout->bias << layout->mantissa);
    for (size_t i = 0; i < count; i++)
        out[i] = wanted_scale(scales, tensor, peaks[i] * factor);
    by_dtype_path_chosen()->codes8(codes, out, count, &scales->grid);
    for (size_t i = 0; i < count; i++) {
        if (codes[i] == 0)
            codes[i] = tensor->quark ? one : 1;
        out[i] = scales->values[codes[i]];
    }
}

float by_llm_scale_value(enum by_llm_scale_type type, uint8_t code)
{
    if (type == BY_LLM_SCALE_E8M0)
        return code == 255 ? NAN : ldexpf(1, (int)code - 127);
    return (float)by_float_value(layout_of(type), code);
}

void by_llm_scales_open(struct by_llm_scales *scales, const struct by_llm_tensor *tensor)
{
    const struct by_dtype *dtype = tensor->spec->dtype;
    const enum by_llm_scale_type type = tensor->spec->scale;
    *scales = (struct by_llm_scales){.most = (float)by_dtype_max(dtype)};
    scales->top = ilogb(by_dtype_max(dtype)); /* that of E5M2 is OCP's */
    if (type != BY_LLM_SCALE_E4M3 && type != BY_LLM_SCALE_E5M3)
        return;
    by_float_grid(layout_of(type), BY_TIES_EVEN, true, &scales->grid);
    for (unsigned code = 0; code < 256; code++)
        scales->values[code] = by_llm_scale_value(type, (uint8_t)code);
}

void by_llm_float_scales(const struct by_llm_scales *scales, const struct by_llm_tensor *tensor,
                         const float *peaks, size_t count, float factor, float *out, uint8_t *codes)
{
    switch (tensor->spec->scale) {
    case BY_LLM_SCALE_E8M0:
        power_scales(scales, tensor, peaks, count, factor, out, codes);
        return;
    case BY_LLM_SCALE_E4M3:
    case BY_LLM_SCALE_E5M3:
        small_scales(scales, tensor, peaks, count, factor, out, codes);
        return;
    default:
        break;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = by_llm_stored(type_of(tensor),
                               peaks[i] == 0 ? BY_LLM_LEAST_SCALE
                                             : fmaxf(peaks[i] * factor / scales->most, FLT_MIN));
}

float by_llm_effective(const struct by_llm_tensor *tensor, float stored)
{
    if (!tensor->spec->global)
        return stored;
    return tensor->inverse ? stored / tensor->scale : stored * tensor->scale;
}
