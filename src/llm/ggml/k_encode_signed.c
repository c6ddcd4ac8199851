/*
 * Encodes the K types that have a signed scale and no minimum for each group of 16: Q3_K, Q6_K.
 * As in k_encode.c, levels are rounded anew by the scales that are kept.
 */
#include "llm/ggml/block.h"
#include "llm/ggml/k_bits.h"

#include <math.h>
#include <string.h>

#define SUPER  BY_GGML_SUPER
#define GROUPS 16
#define GROUP  16

/* Groups whose scale is 0 keep their levels. */
static void round_levels(const float *x, const float *scales, int half, uint8_t *levels)
{
    for (size_t g = 0; g < GROUPS; g++, x += GROUP, levels += GROUP) {
        if (scales[g] == 0)
            continue;
        for (size_t i = 0; i < GROUP; i++) {
            int level = by_ggml_cut(by_ggml_nearest(x[i] / scales[g]), -half, half - 1);
            levels[i] = (uint8_t)(level + half);
        }
    }
}

static void search_symmetric(const float *x, const float *weights, int half, float *scales,
                             uint8_t *levels)
{
    struct by_ggml_set set;
    struct by_ggml_fit fit;
    for (size_t first = 0; first < GROUPS; first += BY_GGML_GROUPS) {
        const size_t at = first * GROUP;
        by_ggml_gather(&set, GROUP, BY_GGML_GROUPS, x + at, weights + at);
        by_ggml_search()->symmetric(&set, half, &fit);
        for (size_t g = 0; g < BY_GGML_GROUPS; g++) {
            scales[first + g] = fit.scale[g];
            by_ggml_symmetric_levels(x + at + g * GROUP, GROUP, fit.inverse[g], half,
                                     levels + at + g * GROUP);
        }
    }
}

static void square(const float *x, float *out)
{
    for (size_t i = 0; i < SUPER; i++)
        out[i] = x[i] * x[i];
}

/* --- Q3_K --- */

#define Q3_BYTES 110
#define Q3_HALF  4

static void descend_groups(const float *x, float *scales, uint8_t *levels)
{
    struct by_ggml_set set;
    int8_t found[GROUP * BY_GGML_GROUPS];
    for (size_t first = 0; first < GROUPS; first += BY_GGML_GROUPS) {
        const size_t at = first * GROUP;
        by_ggml_gather(&set, GROUP, BY_GGML_GROUPS, x + at, x + at);
        by_ggml_search()->descent(&set, Q3_HALF, scales + first, found);
        for (size_t i = 0; i < BY_GGML_GROUPS * GROUP; i++)
            levels[at + i] = (uint8_t)found[i % GROUP * BY_GGML_GROUPS + i / GROUP];
    }
}

/* Codes of the scales, 32 more than what they count; returns the scale of the scales. */
static float round_q3_scales(const float *scales, uint8_t *codes)
{
    const float most = by_ggml_greatest(scales, GROUPS), inverse = -32 / most;
    memset(codes, 0, GROUPS);
    if (most == 0)
        return 0;
    for (size_t g = 0; g < GROUPS; g++)
        codes[g] =
            (uint8_t)(by_ggml_cut((int8_t)by_ggml_nearest(inverse * scales[g]), -32, 31) + 32);
    return 1 / inverse;
}

static float search_q3(const float *x, const float *importance, uint8_t *levels, uint8_t *codes)
{
    float weights[SUPER], scales[GROUPS], sums[GROUPS];
    if (!importance) {
        descend_groups(x, scales, levels);
        return round_q3_scales(scales, codes);
    }
    by_ggml_weigh(x, importance, SUPER, 2 * by_ggml_power(x, SUPER) / SUPER, weights);
    by_ggml_sums(weights, GROUP, GROUPS, sums);
    search_symmetric(x, weights, Q3_HALF, scales, levels);
    return by_ggml_symmetric(scales, sums, GROUPS, 32, codes);
}

void by_encode_q3_k(const float *in, size_t count, const float *importance, uint8_t *out)
{
    uint8_t levels[SUPER], codes[GROUPS];
    float scales[GROUPS];
    for (size_t i = 0; i < count; i += SUPER, out += Q3_BYTES) {
        float scale = search_q3(in + i, importance ? importance + i : NULL, levels, codes);
        scale = by_half_put(out + 108, scale);
        for (size_t g = 0; g < GROUPS; g++)
            scales[g] = scale * (float)(codes[g] - 32);
        round_levels(in + i, scales, Q3_HALF, levels);
        by_k_put_third(levels, out);
        by_k_put_two(levels, out + 32);
        by_k_put_scales(codes, out + 96);
    }
}

/* --- Q6_K --- */

#define Q6_BYTES 210
#define Q6_HALF  32

static void encode_q6_block(const float *x, const float *importance, uint8_t *out)
{
    uint8_t levels[SUPER];
    int8_t codes[GROUPS];
    float weights[SUPER], scales[GROUPS];
    if (!importance)
        square(x, weights);
    search_symmetric(x, importance ? importance : weights, Q6_HALF, scales, levels);
    const float most = by_ggml_greatest(scales, GROUPS);
    if (fabsf(most) < BY_GGML_NOTHING) {
        memset(out, 0, Q6_BYTES);
        return;
    }
    const float inverse = -128 / most, scale = by_half_put(out + 208, 1 / inverse);
    for (size_t g = 0; g < GROUPS; g++) {
        int code = by_ggml_nearest(inverse * scales[g]);
        codes[g] = (int8_t)(code > 127 ? 127 : code);
        scales[g] = scale * (float)codes[g];
    }
    round_levels(x, scales, Q6_HALF, levels);
    by_k_put_six(levels, out);
    memcpy(out + 192, codes, sizeof codes);
}

void by_encode_q6_k(const float *in, size_t count, const float *importance, uint8_t *out)
{
    for (size_t i = 0; i < count; i += SUPER, out += Q6_BYTES)
        encode_q6_block(in + i, importance ? importance + i : NULL, out);
}
