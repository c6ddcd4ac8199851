/* MXFP4 and NVFP4: elements of E2M1 with a scale of powers of two, or of E4M3, for each group. */
#include "llm/ggml/block.h"

#include <math.h>
#include <string.h>

/* Twice the elements' values; scales below are halved for that. */
static const int8_t twice[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
static const float middle[7] = {0.5f, 1.5f, 2.5f, 3.5f, 5, 7, 10};

/* Where the differences are rounded, several elements may be the nearest: the first one. */
static uint8_t far_code(float x, float scale)
{
    unsigned best = 0;
    for (unsigned i = 1; i < 16; i++)
        if (fabsf((float)twice[i] * scale - x) < fabsf((float)twice[best] * scale - x))
            best = i;
    return (uint8_t)best;
}

/* The nearest element, the smaller one of two; zeros have no sign. */
static uint8_t code_of(float x, float scale)
{
    const float size = fabsf(x);
    const unsigned sign = x < 0 ? 8 : 0;
    unsigned code = 0;
    for (size_t i = 0; i < 7; i++)
        code += size > middle[i] * scale;
    if (size > 24 * scale)
        return far_code(x, scale);
    return (uint8_t)(code ? code | sign : 0);
}

static void put_codes(const float *x, size_t count, float scale, uint8_t *out)
{
    for (size_t i = 0; i < count / 2; i++)
        out[i] = (uint8_t)(code_of(x[i], scale) | code_of(x[i + count / 2], scale) << 4);
}

static void get_values(const uint8_t *in, size_t count, float scale, float *out)
{
    for (size_t i = 0; i < count / 2; i++) {
        out[i] = (float)twice[in[i] & 15] * scale;
        out[i + count / 2] = (float)twice[in[i] >> 4] * scale;
    }
}

static float greatest_size(const float *x, size_t count)
{
    float most = 0;
    for (size_t i = 0; i < count; i++)
        most = most < fabsf(x[i]) ? fabsf(x[i]) : most;
    return most;
}

/* --- MXFP4 --- */

#define MX_GROUP 32
#define MX_BYTES 17

/* Half of 2^(code - 127). */
static float half_power(uint8_t code)
{
    const uint32_t bits = code < 2 ? UINT32_C(0x00200000) << code : (uint32_t)(code - 1) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* The exponent wraps around where it is below that of the least power: all codes are 0 then. */
static uint8_t power_code(float most)
{
    return most > 0 ? (uint8_t)(int)(floorf(log2f(most)) - 2 + 127) : 0;
}

void by_decode_mxfp4(const uint8_t *in, size_t count, float *out)
{
    for (size_t i = 0; i < count; i += MX_GROUP, in += MX_BYTES)
        get_values(in + 1, MX_GROUP, half_power(in[0]), out + i);
}

static float greatest_of_32(const float *x)
{
    float low, high;
    by_ggml_search()->extremes(x, &low, &high);
    return high > -low ? high : -low;
}

/* No value is so far beyond the greatest element that differences would be rounded. */
static void put_mx_codes(const float *x, float scale, uint8_t *out)
{
    uint8_t codes[MX_GROUP];
    float bounds[7];
    for (size_t i = 0; i < 7; i++)
        bounds[i] = middle[i] * scale;
    by_ggml_search()->passes(x, bounds, codes);
    for (size_t i = 0; i < MX_GROUP / 2; i++)
        out[i] = (uint8_t)(codes[i] | codes[i + MX_GROUP / 2] << 4);
}

void by_encode_mxfp4(const float *in, size_t count, const float *importance, uint8_t *out)
{
    (void)importance;
    for (size_t i = 0; i < count; i += MX_GROUP, out += MX_BYTES) {
        out[0] = power_code(greatest_of_32(in + i));
        put_mx_codes(in + i, half_power(out[0]), out + 1);
    }
}

/* Codes of the ascending values -12 to 12, and back. */
static uint8_t code_of_level(uint8_t level)
{
    return (uint8_t)(level >= 7 ? level - 7 : 15 - level);
}

static uint8_t level_of_code(uint8_t code)
{
    return (uint8_t)(code < 8 ? 7 + code : 15 - code);
}

void by_apart_mxfp4(const uint8_t *block, struct by_ggml_parts *parts)
{
    parts->scales[0] = 1;
    parts->halves[0] = half_power(block[0]);
    for (size_t i = 0; i < MX_GROUP / 2; i++) {
        parts->levels[i] = level_of_code(block[1 + i] & 15);
        parts->levels[i + MX_GROUP / 2] = level_of_code(block[1 + i] >> 4);
    }
}

void by_together_mxfp4(const struct by_ggml_parts *parts, uint8_t *block)
{
    block[0] = (uint8_t)(ilogbf(parts->halves[0]) + 128);
    for (size_t i = 0; i < MX_GROUP / 2; i++)
        block[1 + i] = (uint8_t)(code_of_level(parts->levels[i]) |
                                 code_of_level(parts->levels[i + MX_GROUP / 2]) << 4);
}

/* --- NVFP4: four groups of 16, scales before them --- */

#define NV_BLOCK 64
#define NV_GROUP 16
#define NV_BYTES 36

/* Half of a scale: four bits of exponent, three of mantissa; 0x7f is 0. */
static float half_scale(uint8_t code)
{
    const int exponent = code >> 3 & 15, mantissa = code & 7;
    if (code == 0x7f)
        return 0;
    if (exponent == 0)
        return ldexpf((float)mantissa, -10);
    return ldexpf((float)(8 + mantissa), exponent - 11);
}

/* Ties up; 448 is the greatest. */
static uint8_t scale_code(float scale)
{
    if (!(scale > 0))
        return 0;
    if (scale < 0x1p-6f) {
        const int mantissa = (int)(scale * 512 + 0.5f);
        return (uint8_t)(mantissa > 7 ? 7 : mantissa);
    }
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    /* Of the exponent and three bits of mantissa, rounded by the next bit. */
    const uint32_t code = (bits >> 20) - (UINT32_C(120) << 3) + (bits >> 19 & 1);
    return (uint8_t)(code > 0x77 ? 0x7e : code);
}

void by_decode_nvfp4(const uint8_t *in, size_t count, float *out)
{
    for (size_t i = 0; i < count; i += NV_BLOCK, in += NV_BYTES)
        for (size_t g = 0; g < NV_BLOCK / NV_GROUP; g++)
            get_values(in + 4 + g * NV_GROUP / 2, NV_GROUP, half_scale(in[g]),
                       out + i + g * NV_GROUP);
}

void by_encode_nvfp4(const float *in, size_t count, const float *importance, uint8_t *out)
{
    (void)importance;
    for (size_t i = 0; i < count; i += NV_BLOCK, out += NV_BYTES)
        for (size_t g = 0; g < NV_BLOCK / NV_GROUP; g++) {
            const float *x = in + i + g * NV_GROUP;
            out[g] = scale_code(greatest_size(x, NV_GROUP) / 6);
            put_codes(x, NV_GROUP, half_scale(out[g]), out + 4 + g * NV_GROUP / 2);
        }
}
