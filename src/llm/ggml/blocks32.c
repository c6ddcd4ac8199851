/* Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0: blocks of 32 elements with one scale, and a minimum or none. */
#include "llm/ggml/block.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define BLOCK 32
#define HALF  (BLOCK / 2)

/* What differs between the four types of 4 and 5 bits. */
struct form {
    uint32_t bytes;
    int bits;
    bool has_min;
};

static const struct form q4_0 = {18, 4, false}, q4_1 = {20, 4, true};
static const struct form q5_0 = {22, 5, false}, q5_1 = {24, 5, true};

/* --- Bits: levels' low four in halves of a block, the fifth ones before them --- */

static uint8_t *codes_at(const struct form *form, uint8_t *block)
{
    return block + (form->has_min ? 4 : 2);
}

static void put_levels(const struct form *form, const uint8_t *levels, uint8_t *block)
{
    uint8_t *at = codes_at(form, block);
    if (form->bits == 5) {
        for (size_t i = 0; i < BLOCK; i += 8) {
            unsigned fifth = 0;
            for (size_t k = 0; k < 8; k++)
                fifth |= (unsigned)(levels[i + k] >> 4 & 1) << k;
            *at++ = (uint8_t)fifth;
        }
    }
    for (size_t i = 0; i < HALF; i++)
        at[i] = (uint8_t)((levels[i] & 15) | (levels[HALF + i] & 15) << 4);
}

static void get_levels(const struct form *form, const uint8_t *block, uint8_t *levels)
{
    const uint8_t *fifth = block + (form->has_min ? 4 : 2);
    const uint8_t *at = fifth + (form->bits == 5 ? 4 : 0);
    for (size_t i = 0; i < HALF; i++) {
        levels[i] = at[i] & 15;
        levels[HALF + i] = at[i] >> 4;
    }
    if (form->bits == 5)
        for (size_t i = 0; i < BLOCK; i++)
            levels[i] = (uint8_t)(levels[i] | (fifth[i / 8] >> i % 8 & 1) << 4);
}

/* --- Decoding --- */

static void decode_blocks(const struct form *form, const uint8_t *in, size_t count, float *out)
{
    const int half = form->has_min ? 0 : 1 << (form->bits - 1);
    uint8_t levels[BLOCK];
    for (size_t i = 0; i < count; i += BLOCK, in += form->bytes) {
        const float scale = by_half_get(in), min = form->has_min ? by_half_get(in + 2) : 0;
        get_levels(form, in, levels);
        if (form->has_min)
            for (size_t k = 0; k < BLOCK; k++)
                out[i + k] = (float)levels[k] * scale + min;
        else
            for (size_t k = 0; k < BLOCK; k++)
                out[i + k] = (float)(levels[k] - half) * scale;
    }
}

/* --- Encoding without importance --- */

/* Towards zero, in eight bits as x86 converts: what does not fit into an int is 0. */
static uint8_t whole(float value)
{
    return fabsf(value) < 0x1p31f ? (uint8_t)(int)value : 0;
}

static float inverse_of(float scale)
{
    return scale != 0 ? 1 / scale : 0;
}

/* The value of greatest magnitude is level 0. */
static void round_signed(const struct form *form, const float *x, uint8_t *levels, uint8_t *block)
{
    const int half = 1 << (form->bits - 1), top = 2 * half - 1;
    float size = 0, most = 0;
    for (size_t i = 0; i < BLOCK; i++)
        if (size < fabsf(x[i])) {
            size = fabsf(x[i]);
            most = x[i];
        }
    const float scale = most / (float)-half, inverse = inverse_of(scale);
    by_half_put(block, scale);
    for (size_t i = 0; i < BLOCK; i++) {
        int level = (int8_t)whole(x[i] * inverse + ((float)half + 0.5f));
        levels[i] = (uint8_t)(level > top ? top : level);
    }
}

static void round_with_min(const struct form *form, const float *x, uint8_t *levels, uint8_t *block)
{
    const int top = (1 << form->bits) - 1;
    float min = FLT_MAX, max = -FLT_MAX;
    for (size_t i = 0; i < BLOCK; i++) {
        min = x[i] < min ? x[i] : min;
        max = x[i] > max ? x[i] : max;
    }
    const float scale = (max - min) / (float)top, inverse = inverse_of(scale);
    by_half_put(block, scale);
    by_half_put(block + 2, min);
    for (size_t i = 0; i < BLOCK; i++) {
        int level = (int8_t)whole((x[i] - min) * inverse + 0.5f);
        levels[i] = (uint8_t)(level > top && form->bits == 4 ? top : level);
    }
}

static void round_blocks(const struct form *form, const float *in, size_t count, uint8_t *out)
{
    uint8_t levels[BLOCK];
    for (size_t i = 0; i < count; i += BLOCK, out += form->bytes) {
        if (form->has_min)
            round_with_min(form, in + i, levels, out);
        else
            round_signed(form, in + i, levels, out);
        put_levels(form, levels, out);
    }
}

/* --- Encoding with importance: a search, eight blocks at once --- */

#define SET (BY_GGML_GROUPS * BLOCK)

static void put_found(const struct form *form, const float *x, const struct by_ggml_fit *fit,
                      size_t g, uint8_t *block)
{
    uint8_t levels[BLOCK];
    by_half_put(block, fit->scale[g]);
    if (form->has_min) {
        by_half_put(block + 2, fit->min[g]);
        by_ggml_affine_levels(x, BLOCK, fit->inverse[g], fit->base[g], (1 << form->bits) - 1,
                              levels);
    } else {
        by_ggml_symmetric_levels(x, BLOCK, fit->inverse[g], 1 << (form->bits - 1), levels);
    }
    put_levels(form, levels, block);
}

static void search_blocks(const struct form *form, const float *in, size_t count,
                          const float *importance, uint8_t *out)
{
    const struct by_ggml_affine how = {(1 << form->bits) - 1, -0.9f, 0.05f, 36, false};
    const struct by_ggml_search *search = by_ggml_search();
    const float power = by_ggml_power(in, count) / (float)count;
    struct by_ggml_set set;
    struct by_ggml_fit fit;
    float weights[SET];
    for (size_t i = 0; i < count; i += SET) {
        const size_t some = count - i < SET ? count - i : SET, groups = some / BLOCK;
        by_ggml_weigh(in + i, importance + i, some, power, weights);
        by_ggml_gather(&set, BLOCK, groups, in + i, weights);
        if (form->has_min)
            search->affine(&set, &how, &fit);
        else
            search->symmetric(&set, 1 << (form->bits - 1), &fit);
        for (size_t g = 0; g < groups; g++, out += form->bytes)
            put_found(form, in + i + g * BLOCK, &fit, g, out);
    }
}

static void encode_blocks(const struct form *form, const float *in, size_t count,
                          const float *importance, uint8_t *out)
{
    if (importance)
        search_blocks(form, in, count, importance, out);
    else
        round_blocks(form, in, count, out);
}

#define TYPE(name)                                                                                 \
    void by_decode_##name(const uint8_t *in, size_t count, float *out)                             \
    {                                                                                              \
        decode_blocks(&name, in, count, out);                                                      \
    }                                                                                              \
    void by_encode_##name(const float *in, size_t count, const float *importance, uint8_t *out)    \
    {                                                                                              \
        encode_blocks(&name, in, count, importance, out);                                          \
    }

TYPE(q4_0)
TYPE(q4_1)
TYPE(q5_0)
TYPE(q5_1)

/* --- Q8_0 --- */

#define Q8_BYTES (2 + BLOCK)

void by_decode_q8_0(const uint8_t *in, size_t count, float *out)
{
    int8_t levels[BLOCK];
    for (size_t i = 0; i < count; i += BLOCK, in += Q8_BYTES) {
        const float scale = by_half_get(in);
        memcpy(levels, in + 2, sizeof levels);
        for (size_t k = 0; k < BLOCK; k++)
            out[i + k] = (float)levels[k] * scale;
    }
}

/* The nearest whole number, ties away from zero, of |value| < 2^22. */
static float nearest_away(float value)
{
    const float size = fabsf(value), even = (size + 0x1p23f) - 0x1p23f;
    return copysignf(size - even == 0.5f ? even + 1 : even, value);
}

void by_encode_q8_0(const float *in, size_t count, const float *importance, uint8_t *out)
{
    (void)importance;
    for (size_t i = 0; i < count; i += BLOCK, out += Q8_BYTES) {
        float most = 0;
        for (size_t k = 0; k < BLOCK; k++)
            most = most > fabsf(in[i + k]) ? most : fabsf(in[i + k]);
        const float scale = most / 127, inverse = inverse_of(scale);
        by_half_put(out, scale);
        for (size_t k = 0; k < BLOCK; k++) {
            float level = nearest_away(in[i + k] * inverse);
            out[2 + k] = whole(level);
        }
    }
}
