/* Decodes the K types: blocks of 256 elements in groups with scales of their own. */
#include "llm/ggml/block.h"
#include "llm/ggml/k_bits.h"

#include <string.h>

#define SUPER BY_GGML_SUPER

typedef uint8_t bytes __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));
typedef float floats __attribute__((vector_size(16)));

/* Bytes, then pairs of them, beside zeros: numbers of 16 and 32 bits, little-endian. */
#define LOW_HALF   0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_HALF  8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define LOW_PAIRS  0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23
#define HIGH_PAIRS 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31

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

/* Sixteen bytes as floats, in vectors that every processor has. */
static inline void put_sixteen(bytes levels, float scale, float min, float *out)
{
    const bytes zero = {0};
    const bytes low = __builtin_shufflevector(levels, zero, LOW_HALF);
    const bytes high = __builtin_shufflevector(levels, zero, HIGH_HALF);
    const bytes parts[4] = {__builtin_shufflevector(low, zero, LOW_PAIRS),
                            __builtin_shufflevector(low, zero, HIGH_PAIRS),
                            __builtin_shufflevector(high, zero, LOW_PAIRS),
                            __builtin_shufflevector(high, zero, HIGH_PAIRS)};
    for (size_t i = 0; i < 4; i++) {
        const floats values = scale * __builtin_convertvector((ints)parts[i], floats) - min;
        memcpy(out + 4 * i, &values, sizeof values);
    }
}

/* Groups 2 k and 2 k + 1 are the low and the high bits of the same 32 bytes; the fifth bits are in
 * 32 bytes for all groups, fifth NULL: there are none. */
static inline void put_four(const uint8_t *in, const uint8_t *fifth, const float *scales,
                            const float *mins, float *out)
{
    for (size_t g = 0; g < SUPER / 32; g++)
        for (size_t half = 0; half < 32; half += 16) {
            bytes four, five;
            memcpy(&four, in + g / 2 * 32 + half, sizeof four);
            four = g % 2 ? four >> 4 : four & 15;
            if (fifth) {
                memcpy(&five, fifth + half, sizeof five);
                four |= (five >> (uint8_t)g & 1) << 4;
            }
            put_sixteen(four, scales[g], mins[g], out + g * 32 + half);
        }
}

void by_decode_q4_k(const uint8_t *in, size_t count, float *out)
{
    float scales[8], mins[8];
    for (size_t i = 0; i < count; i += SUPER, in += 144, out += SUPER) {
        get_pairs(in, scales, mins);
        put_four(in + 16, NULL, scales, mins, out);
    }
}

void by_decode_q5_k(const uint8_t *in, size_t count, float *out)
{
    float scales[8], mins[8];
    for (size_t i = 0; i < count; i += SUPER, in += 176, out += SUPER) {
        get_pairs(in, scales, mins);
        put_four(in + 48, in + 16, scales, mins, out);
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
