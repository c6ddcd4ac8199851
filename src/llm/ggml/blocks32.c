/* Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0: blocks of 32 elements with one scale, and a minimum or none. */
#include "llm/ggml/block.h"

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

/* Bit 4 of eight bytes, the first one's lowest. */
static uint8_t fifth_bits(const uint8_t *levels)
{
    uint64_t eight;
    memcpy(&eight, levels, sizeof eight);
    return (uint8_t)((eight >> 4 & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >>
                     56);
}

static void put_nibbles(const uint8_t *levels, uint8_t *out)
{
    for (size_t i = 0; i < HALF; i += 8) {
        uint64_t low, high;
        memcpy(&low, levels + i, sizeof low);
        memcpy(&high, levels + HALF + i, sizeof high);
        low = (low & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (high & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
        memcpy(out + i, &low, sizeof low);
    }
}

static void put_levels(const struct form *form, const uint8_t *levels, uint8_t *block)
{
    uint8_t *at = block + (form->has_min ? 4 : 2);
    for (size_t i = 0; form->bits == 5 && i < BLOCK; i += 8)
        *at++ = fifth_bits(levels + i);
    put_nibbles(levels, at);
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

static float inverse_of(float scale)
{
    return scale != 0 ? 1 / scale : 0;
}

/* The first of the values that is the number: of zeros, the sign is that one's. */
static float first_of(const float *x, float number)
{
    size_t i = 0;
    while (i + 1 < BLOCK && x[i] != number)
        i++;
    return x[i];
}

/* The value of greatest magnitude, the first of several; 0 has no sign. */
static float peak_of(const float *x, float low, float high)
{
    if (low == 0 && high == 0)
        return 0;
    if (high != -low)
        return high > -low ? high : low;
    for (size_t i = 0; i < BLOCK; i++)
        if (x[i] == low || x[i] == high)
            return x[i];
    return high;
}

/* Eight blocks at once, so that divisions and float16 come in vectors. */
#define SIDE BY_GGML_GROUPS

struct rounded {
    float low[SIDE], high[SIDE];
    float scale[SIDE], inverse[SIDE];
    uint16_t halves[2][SIDE]; /* of the scale, of the minimum */
};

static void invert_scales(struct rounded *r)
{
    for (size_t g = 0; g < SIDE; g++)
        r->inverse[g] = inverse_of(r->scale[g]);
    by_f32_to_f16(r->halves[0], r->scale, SIDE);
}

/* The value of greatest magnitude is level 0. */
static void scale_signed(const struct form *form, const float *x, size_t groups, struct rounded *r)
{
    const float half = (float)(1 << (form->bits - 1));
    for (size_t g = 0; g < groups; g++)
        r->scale[g] = peak_of(x + g * BLOCK, r->low[g], r->high[g]);
    for (size_t g = 0; g < SIDE; g++) {
        r->scale[g] = r->scale[g] / -half;
        r->low[g] = 0;
    }
    invert_scales(r);
}

static void scale_with_min(const struct form *form, const float *x, size_t groups,
                           struct rounded *r)
{
    const float top = (float)((1 << form->bits) - 1);
    for (size_t g = 0; g < groups; g++) {
        const float low = r->low[g], min = low == 0 ? first_of(x + g * BLOCK, low) : low;
        r->high[g] = r->high[g] == low ? min : r->high[g];
        r->low[g] = min;
    }
    for (size_t g = 0; g < SIDE; g++)
        r->scale[g] = (r->high[g] - r->low[g]) / top;
    by_f32_to_f16(r->halves[1], r->low, SIDE);
    invert_scales(r);
}

static void put_half(uint8_t *at, uint16_t half)
{
    at[0] = (uint8_t)half;
    at[1] = (uint8_t)(half >> 8);
}

static void round_set(const struct form *form, const float *x, size_t groups, uint8_t *out)
{
    const struct by_ggml_search *path = by_ggml_search();
    const int top = (1 << form->bits) - 1;
    const float add = form->has_min ? 0.5f : (float)(1 << (form->bits - 1)) + 0.5f;
    struct rounded r = {0};
    uint8_t levels[BLOCK];
    for (size_t g = 0; g < groups; g++)
        path->extremes(x + g * BLOCK, &r.low[g], &r.high[g]);
    if (form->has_min)
        scale_with_min(form, x, groups, &r);
    else
        scale_signed(form, x, groups, &r);
    for (size_t g = 0; g < groups; g++, out += form->bytes) {
        put_half(out, r.halves[0][g]);
        if (form->has_min)
            put_half(out + 2, r.halves[1][g]);
        path->round(x + g * BLOCK, &(struct by_ggml_rounding){r.low[g], r.inverse[g], add, top},
                    levels);
        put_levels(form, levels, out);
    }
}

static void round_blocks(const struct form *form, const float *in, size_t count, uint8_t *out)
{
    for (size_t i = 0; i < count; i += SIDE * BLOCK) {
        const size_t groups = count - i < SIDE * BLOCK ? (count - i) / BLOCK : SIDE;
        round_set(form, in + i, groups, out);
        out += groups * form->bytes;
    }
}

/* --- Encoding with importance: a search, eight blocks at once --- */

#define SET (SIDE * BLOCK)

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

/* --- Parts --- */

static void take_apart(const struct form *form, const uint8_t *block, struct by_ggml_parts *parts)
{
    parts->scales[0] = parts->mins[0] = 1;
    parts->halves[0] = by_half_get(block);
    parts->halves[1] = form->has_min ? -by_half_get(block + 2) : 0;
    get_levels(form, block, parts->levels);
}

static void put_together(const struct form *form, const struct by_ggml_parts *parts, uint8_t *block)
{
    by_half_put(block, parts->halves[0]);
    if (form->has_min)
        by_half_put(block + 2, -parts->halves[1]);
    put_levels(form, parts->levels, block);
}

#define TYPE(name)                                                                                 \
    void by_decode_##name(const uint8_t *in, size_t count, float *out)                             \
    {                                                                                              \
        decode_blocks(&name, in, count, out);                                                      \
    }                                                                                              \
    void by_encode_##name(const float *in, size_t count, const float *importance, uint8_t *out)    \
    {                                                                                              \
        encode_blocks(&name, in, count, importance, out);                                          \
    }                                                                                              \
    void by_apart_##name(const uint8_t *block, struct by_ggml_parts *parts)                        \
    {                                                                                              \
        take_apart(&name, block, parts);                                                           \
    }                                                                                              \
    void by_together_##name(const struct by_ggml_parts *parts, uint8_t *block)                     \
    {                                                                                              \
        put_together(&name, parts, block);                                                         \
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

void by_encode_q8_0(const float *in, size_t count, const float *importance, uint8_t *out)
{
    const struct by_ggml_search *path = by_ggml_search();
    (void)importance;
    for (size_t i = 0; i < count; i += BLOCK, out += Q8_BYTES) {
        float low, high;
        path->extremes(in + i, &low, &high);
        const float most = high > -low ? high : -low, scale = fabsf(most) / 127;
        by_half_put(out, scale);
        path->round_away(in + i, inverse_of(scale), out + 2);
    }
}

void by_apart_q8_0(const uint8_t *block, struct by_ggml_parts *parts)
{
    parts->scales[0] = 1;
    parts->halves[0] = by_half_get(block);
    for (size_t i = 0; i < BLOCK; i++)
        parts->levels[i] = block[2 + i] ^ 0x80;
}

void by_together_q8_0(const struct by_ggml_parts *parts, uint8_t *block)
{
    by_half_put(block, parts->halves[0]);
    for (size_t i = 0; i < BLOCK; i++)
        block[2 + i] = parts->levels[i] ^ 0x80;
}
