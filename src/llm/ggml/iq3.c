/* IQ3_XXS and IQ3_S: the bits of their points, signs and scales. */
#include "llm/ggml/block.h"
#include "llm/ggml/points.h"

#include <string.h>

#define SUPER BY_GGML_SUPER
#define GROUP 32
#define EIGHT 8

/* Signs of eight values and what their magnitudes' points are. */
static void get_eight(const struct by_ggml_points *points, const size_t numbers[2], unsigned signs,
                      uint8_t *levels)
{
    for (size_t i = 0; i < EIGHT; i++)
        levels[i] = by_point_level(
            by_point_step_at(points->cells[numbers[i / BY_POINT_VALUES]], i % BY_POINT_VALUES),
            signs >> i & 1);
}

static unsigned signs_of(const uint8_t *levels)
{
    unsigned signs = 0;
    for (size_t i = 0; i < EIGHT; i++)
        signs |= (levels[i] < BY_POINT_STEPS ? 1u : 0u) << i;
    return signs;
}

static uint16_t point_of(const struct by_ggml_points *points, const uint8_t *levels)
{
    unsigned steps[BY_POINT_VALUES];
    for (size_t i = 0; i < BY_POINT_VALUES; i++)
        steps[i] = by_point_step(levels[i]);
    return points->of_cell[by_point_cell(steps)];
}

static void decode_parts(const struct by_ggml_points *points, const struct by_ggml_parts *parts,
                         float *out)
{
    for (size_t i = 0; i < SUPER; i++)
        out[i] =
            parts->halves[0] * (float)parts->scales[i / GROUP] * points->levels[parts->levels[i]];
}

/* --- IQ3_XXS: a word of each group has four times seven signs, and four bits of the scale. The
 * eighth sign makes the number of negative ones even. --- */

#define XXS_BYTES 98
#define XXS_WORDS 66

static uint32_t get_word(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_word(uint8_t *at, uint32_t word)
{
    for (size_t i = 0; i < 4; i++)
        at[i] = (uint8_t)(word >> 8 * i);
}

static unsigned with_eighth(unsigned seven)
{
    unsigned odd = seven ^ seven >> 4;
    odd ^= odd >> 2;
    odd ^= odd >> 1;
    return seven | (odd & 1) << 7;
}

void by_apart_iq3_xxs(const uint8_t *block, struct by_ggml_parts *parts)
{
    const struct by_ggml_points *points = by_ggml_points_xxs();
    const uint8_t *numbers = block + 2;
    parts->halves[0] = by_half_get(block);
    for (size_t g = 0; g < SUPER / GROUP; g++) {
        const uint32_t word = get_word(block + XXS_WORDS + 4 * g);
        parts->scales[g] = (int16_t)(2 * (word >> 28) + 1);
        for (size_t i = 0; i < GROUP / EIGHT; i++, numbers += 2)
            get_eight(points, (const size_t[]){numbers[0], numbers[1]},
                      with_eighth(word >> 7 * i & 127), parts->levels + g * GROUP + i * EIGHT);
    }
}

void by_together_iq3_xxs(const struct by_ggml_parts *parts, uint8_t *block)
{
    const struct by_ggml_points *points = by_ggml_points_xxs();
    by_half_put(block, parts->halves[0]);
    for (size_t i = 0; i < SUPER / BY_POINT_VALUES; i++)
        block[2 + i] = (uint8_t)point_of(points, parts->levels + i * BY_POINT_VALUES);
    for (size_t g = 0; g < SUPER / GROUP; g++) {
        uint32_t word = (uint32_t)(parts->scales[g] / 2) << 28;
        for (size_t i = 0; i < GROUP / EIGHT; i++)
            word |= (signs_of(parts->levels + g * GROUP + i * EIGHT) & 127) << 7 * i;
        put_word(block + XXS_WORDS + 4 * g, word);
    }
}

void by_decode_iq3_xxs(const uint8_t *in, size_t count, float *out)
{
    struct by_ggml_parts parts;
    for (size_t i = 0; i < count; i += SUPER, in += XXS_BYTES) {
        by_apart_iq3_xxs(in, &parts);
        decode_parts(by_ggml_points_xxs(), &parts, out + i);
    }
}

/* --- IQ3_S: ninth bits of the points, all signs, scales of four bits --- */

#define S_BYTES  110
#define S_NINTHS 66
#define S_SIGNS  74
#define S_SCALES 106

void by_apart_iq3_s(const uint8_t *block, struct by_ggml_parts *parts)
{
    const struct by_ggml_points *points = by_ggml_points_s();
    parts->halves[0] = by_half_get(block);
    for (size_t g = 0; g < SUPER / GROUP; g++)
        parts->scales[g] = (int16_t)(2 * (block[S_SCALES + g / 2] >> 4 * (g % 2) & 15) + 1);
    for (size_t i = 0; i < SUPER / EIGHT; i++) {
        const uint8_t *numbers = block + 2 + 2 * i;
        const unsigned ninths = (unsigned)block[S_NINTHS + i / 4] >> 2 * (i % 4);
        get_eight(points,
                  (const size_t[]){numbers[0] | (ninths & 1) << 8, numbers[1] | (ninths & 2) << 7},
                  block[S_SIGNS + i], parts->levels + i * EIGHT);
    }
}

void by_together_iq3_s(const struct by_ggml_parts *parts, uint8_t *block)
{
    const struct by_ggml_points *points = by_ggml_points_s();
    by_half_put(block, parts->halves[0]);
    memset(block + S_NINTHS, 0, S_BYTES - S_NINTHS);
    for (size_t i = 0; i < SUPER / BY_POINT_VALUES; i++) {
        const unsigned number = point_of(points, parts->levels + i * BY_POINT_VALUES);
        block[2 + i] = (uint8_t)number;
        block[S_NINTHS + i / 8] |= (uint8_t)((number >> 8 & 1) << i % 8);
    }
    for (size_t i = 0; i < SUPER / EIGHT; i++)
        block[S_SIGNS + i] = (uint8_t)signs_of(parts->levels + i * EIGHT);
    for (size_t g = 0; g < SUPER / GROUP; g++)
        block[S_SCALES + g / 2] |= (uint8_t)(parts->scales[g] / 2 << 4 * (g % 2));
}

void by_decode_iq3_s(const uint8_t *in, size_t count, float *out)
{
    struct by_ggml_parts parts;
    for (size_t i = 0; i < count; i += SUPER, in += S_BYTES) {
        by_apart_iq3_s(in, &parts);
        decode_parts(by_ggml_points_s(), &parts, out + i);
    }
}
