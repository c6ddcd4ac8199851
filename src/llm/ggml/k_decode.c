/* Decodes the K types: blocks of 256 elements in groups with scales of their own. */
#include "llm/ggml/block.h"
#include "llm/ggml/k_bits.h"

#include <string.h>

#define SUPER BY_GGML_SUPER

/* Each group of n: scale * level - min. */
static void put_affine(const uint8_t *levels, size_t n, const float *scales, const float *mins,
                       float *out)
{
    for (size_t g = 0; g < SUPER / n; g++)
        for (size_t i = 0; i < n; i++, levels++)
            *out++ = scales[g] * (float)*levels - mins[g];
}

/* Each group of 16: scale * (level - half). */
static void put_symmetric(const uint8_t *levels, const float *scales, int half, float *out)
{
    for (size_t g = 0; g < SUPER / 16; g++)
        for (size_t i = 0; i < 16; i++, levels++)
            *out++ = scales[g] * (float)(*levels - half);
}

void by_decode_q2_k(const uint8_t *in, size_t count, float *out)
{
    uint8_t levels[SUPER];
    float scales[16], mins[16];
    for (size_t i = 0; i < count; i += SUPER, in += 84, out += SUPER) {
        const float scale = by_half_get(in + 80), min = by_half_get(in + 82);
        for (size_t g = 0; g < 16; g++) {
            scales[g] = scale * (float)(in[g] & 15);
            mins[g] = min * (float)(in[g] >> 4);
        }
        by_k_get_two(in + 16, levels);
        put_affine(levels, 16, scales, mins, out);
    }
}

void by_decode_q3_k(const uint8_t *in, size_t count, float *out)
{
    uint8_t levels[SUPER], codes[16];
    float scales[16];
    for (size_t i = 0; i < count; i += SUPER, in += 110, out += SUPER) {
        const float scale = by_half_get(in + 108);
        by_k_get_scales(in + 96, codes);
        for (size_t g = 0; g < 16; g++)
            scales[g] = scale * (float)(codes[g] - 32);
        by_k_get_two(in + 32, levels);
        by_k_add_third(in, levels);
        put_symmetric(levels, scales, 4, out);
    }
}

static void get_pairs(const uint8_t *in, float *scales, float *mins)
{
    const float scale = by_half_get(in), min = by_half_get(in + 2);
    uint8_t scale_codes[8], min_codes[8];
    by_k_get_pairs(in + 4, scale_codes, min_codes);
    for (size_t g = 0; g < 8; g++) {
        scales[g] = scale * (float)scale_codes[g];
        mins[g] = min * (float)min_codes[g];
    }
}

void by_decode_q4_k(const uint8_t *in, size_t count, float *out)
{
    uint8_t levels[SUPER];
    float scales[8], mins[8];
    for (size_t i = 0; i < count; i += SUPER, in += 144, out += SUPER) {
        get_pairs(in, scales, mins);
        by_k_get_four(in + 16, levels);
        put_affine(levels, 32, scales, mins, out);
    }
}

void by_decode_q5_k(const uint8_t *in, size_t count, float *out)
{
    uint8_t levels[SUPER];
    float scales[8], mins[8];
    for (size_t i = 0; i < count; i += SUPER, in += 176, out += SUPER) {
        get_pairs(in, scales, mins);
        by_k_get_four(in + 48, levels);
        by_k_add_fifth(in + 16, levels);
        put_affine(levels, 32, scales, mins, out);
    }
}

void by_decode_q6_k(const uint8_t *in, size_t count, float *out)
{
    uint8_t levels[SUPER];
    int8_t codes[16];
    float scales[16];
    for (size_t i = 0; i < count; i += SUPER, in += 210, out += SUPER) {
        const float scale = by_half_get(in + 208);
        memcpy(codes, in + 192, sizeof codes);
        for (size_t g = 0; g < 16; g++)
            scales[g] = scale * (float)codes[g];
        by_k_get_six(in, levels);
        put_symmetric(levels, scales, 32, out);
    }
}

/* A scale in float32, eight-bit levels, then sums of groups, which only a product needs. */
void by_decode_q8_k(const uint8_t *in, size_t count, float *out)
{
    int8_t levels[SUPER];
    for (size_t i = 0; i < count; i += SUPER, in += 292, out += SUPER) {
        float scale;
        memcpy(&scale, in, sizeof scale);
        memcpy(levels, in + 4, sizeof levels);
        for (size_t k = 0; k < SUPER; k++)
            out[k] = scale * (float)levels[k];
    }
}
