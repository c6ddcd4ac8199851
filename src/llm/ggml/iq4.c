/* IQ4_NL and IQ4_XS: four bits that choose one of sixteen uneven levels. */
#include "llm/ggml/block.h"

#include <string.h>

#define GROUP 32
#define SUPER BY_GGML_SUPER

static void get_codes(const uint8_t *in, uint8_t *codes)
{
    for (size_t i = 0; i < GROUP / 2; i++) {
        codes[i] = in[i] & 15;
        codes[i + GROUP / 2] = in[i] >> 4;
    }
}

static void pack_codes(const uint8_t *codes, uint8_t *out)
{
    for (size_t i = 0; i < GROUP / 2; i++)
        out[i] = (uint8_t)(codes[i] | codes[i + GROUP / 2] << 4);
}

static void put_codes(const float *x, float inverse, uint8_t *out)
{
    uint8_t codes[GROUP];
    for (size_t i = 0; i < GROUP; i++)
        codes[i] = (uint8_t)by_ggml_iq4_index(inverse * x[i]);
    pack_codes(codes, out);
}

static void get_values(const uint8_t *in, float scale, float *out)
{
    for (size_t i = 0; i < GROUP / 2; i++) {
        out[i] = scale * (float)by_ggml_iq4[in[i] & 15];
        out[i + GROUP / 2] = scale * (float)by_ggml_iq4[in[i] >> 4];
    }
}

/* 'span' elements have one mean square, of which importance's weights add two. */
static void weigh(const float *x, const float *importance, size_t count, size_t span, float *out)
{
    for (size_t at = 0; at < count; at += span) {
        if (importance) {
            const float power = by_ggml_power(x + at, span) * (2.0f / (float)span);
            by_ggml_weigh(x + at, importance + at, span, power, out + at);
            continue;
        }
        for (size_t i = at; i < at + span; i++)
            out[i] = x[i] * x[i];
    }
}

static void search_scales(const float *x, const float *importance, size_t count, size_t span,
                          float *scales)
{
    struct by_ggml_set set;
    float weights[SUPER];
    weigh(x, importance, count, span, weights);
    by_ggml_gather(&set, GROUP, count / GROUP, x, weights);
    by_ggml_search()->table(&set, scales);
}

/* --- IQ4_NL: a scale for each group --- */

#define NL_BYTES 18

void by_decode_iq4_nl(const uint8_t *in, size_t count, float *out)
{
    for (size_t i = 0; i < count; i += GROUP, in += NL_BYTES)
        get_values(in + 2, by_half_get(in), out + i);
}

void by_encode_iq4_nl(const float *in, size_t count, const float *importance, uint8_t *out)
{
    float scales[BY_GGML_GROUPS];
    for (size_t i = 0; i < count; i += SUPER) {
        const size_t some = count - i < SUPER ? count - i : SUPER;
        search_scales(in + i, importance ? importance + i : NULL, some, GROUP, scales);
        for (size_t g = 0; g < some / GROUP; g++, out += NL_BYTES) {
            by_half_put(out, scales[g]);
            put_codes(in + i + g * GROUP, scales[g] != 0 ? 1 / scales[g] : 0, out + 2);
        }
    }
}

void by_apart_iq4_nl(const uint8_t *block, struct by_ggml_parts *parts)
{
    parts->scales[0] = 1;
    parts->halves[0] = by_half_get(block);
    get_codes(block + 2, parts->levels);
}

void by_together_iq4_nl(const struct by_ggml_parts *parts, uint8_t *block)
{
    by_half_put(block, parts->halves[0]);
    pack_codes(parts->levels, block + 2);
}

/* --- IQ4_XS: scales of six bits, and one for them --- */

#define XS_BYTES 136

/* Of group g, in six bits. */
static int get_code(const uint8_t *block, size_t g)
{
    const int low = block[4 + g / 2] >> 4 * (g % 2) & 15,
              high = block[2 + g / 4] >> 2 * (g % 4) & 3;
    return (low | high << 4) - 32;
}

/* Where zeros were. */
static void put_code(uint8_t *block, size_t g, int level)
{
    const int code = level + 32;
    block[4 + g / 2] = (uint8_t)(block[4 + g / 2] | (code & 15) << 4 * (g % 2));
    block[2 + g / 4] = (uint8_t)(block[2 + g / 4] | code >> 4 << 2 * (g % 4));
}

void by_apart_iq4_xs(const uint8_t *block, struct by_ggml_parts *parts)
{
    parts->halves[0] = by_half_get(block);
    for (size_t g = 0; g < BY_GGML_GROUPS; g++) {
        parts->scales[g] = (int16_t)get_code(block, g);
        get_codes(block + 8 + g * GROUP / 2, parts->levels + g * GROUP);
    }
}

void by_together_iq4_xs(const struct by_ggml_parts *parts, uint8_t *block)
{
    by_half_put(block, parts->halves[0]);
    memset(block + 2, 0, 6);
    for (size_t g = 0; g < BY_GGML_GROUPS; g++) {
        put_code(block, g, parts->scales[g]);
        pack_codes(parts->levels + g * GROUP, block + 8 + g * GROUP / 2);
    }
}

void by_decode_iq4_xs(const uint8_t *in, size_t count, float *out)
{
    for (size_t i = 0; i < count; i += SUPER, in += XS_BYTES) {
        const float scale = by_half_get(in);
        for (size_t g = 0; g < BY_GGML_GROUPS; g++) {
            const float own = scale * (float)get_code(in, g);
            get_values(in + 8 + g * GROUP / 2, own, out + i + g * GROUP);
        }
    }
}

static void encode_xs_block(const float *x, const float *importance, uint8_t *out)
{
    float scales[BY_GGML_GROUPS];
    search_scales(x, importance, SUPER, SUPER, scales);
    const float scale = -by_ggml_greatest(scales, BY_GGML_GROUPS) / 32,
                inverse = scale != 0 ? 1 / scale : 0;
    by_half_put(out, scale);
    memset(out + 2, 0, 6);
    for (size_t g = 0; g < BY_GGML_GROUPS; g++) {
        const int level = by_ggml_cut(by_ggml_nearest(inverse * scales[g]), -32, 31);
        const float own = scale * (float)level;
        put_codes(x + g * GROUP, own != 0 ? 1 / own : 0, out + 8 + g * GROUP / 2);
        put_code(out, g, level);
    }
}

void by_encode_iq4_xs(const float *in, size_t count, const float *importance, uint8_t *out)
{
    for (size_t i = 0; i < count; i += SUPER, out += XS_BYTES)
        encode_xs_block(in + i, importance ? importance + i : NULL, out);
}
