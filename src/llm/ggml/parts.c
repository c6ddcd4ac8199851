/* Rows of the blocks that can be taken apart, and the K types of them. */
#include "llm/ggml/block.h"
#include "llm/ggml/k_bits.h"
#include "llm/ggml/points.h"

#include <string.h>

/* --- With minima --- */

static void apart_q2(const uint8_t *block, struct by_ggml_parts *parts)
{
    for (size_t g = 0; g < 16; g++) {
        parts->scales[g] = block[g] & 15;
        parts->mins[g] = block[g] >> 4;
    }
    by_k_get_two(block + 16, parts->levels);
    parts->halves[0] = by_half_get(block + 80);
    parts->halves[1] = by_half_get(block + 82);
}

static void together_q2(const struct by_ggml_parts *parts, uint8_t *block)
{
    for (size_t g = 0; g < 16; g++)
        block[g] = (uint8_t)(parts->scales[g] | parts->mins[g] << 4);
    by_k_put_two(parts->levels, block + 16);
    by_half_put(block + 80, parts->halves[0]);
    by_half_put(block + 82, parts->halves[1]);
}

static void apart_head(const uint8_t *block, struct by_ggml_parts *parts)
{
    uint8_t scales[8], mins[8];
    parts->halves[0] = by_half_get(block);
    parts->halves[1] = by_half_get(block + 2);
    by_k_get_pairs(block + 4, scales, mins);
    for (size_t g = 0; g < 8; g++) {
        parts->scales[g] = scales[g];
        parts->mins[g] = mins[g];
    }
}

static void together_head(const struct by_ggml_parts *parts, uint8_t *block)
{
    uint8_t scales[8], mins[8];
    for (size_t g = 0; g < 8; g++) {
        scales[g] = (uint8_t)parts->scales[g];
        mins[g] = (uint8_t)parts->mins[g];
    }
    by_half_put(block, parts->halves[0]);
    by_half_put(block + 2, parts->halves[1]);
    by_k_put_pairs(scales, mins, block + 4);
}

static void apart_q4(const uint8_t *block, struct by_ggml_parts *parts)
{
    apart_head(block, parts);
    by_k_get_four(block + 16, parts->levels);
}

static void together_q4(const struct by_ggml_parts *parts, uint8_t *block)
{
    together_head(parts, block);
    by_k_put_four(parts->levels, block + 16);
}

static void apart_q5(const uint8_t *block, struct by_ggml_parts *parts)
{
    apart_head(block, parts);
    by_k_get_four(block + 48, parts->levels);
    by_k_add_fifth(block + 16, parts->levels);
}

static void together_q5(const struct by_ggml_parts *parts, uint8_t *block)
{
    together_head(parts, block);
    by_k_put_fifth(parts->levels, block + 16);
    by_k_put_four(parts->levels, block + 48);
}

/* --- With signed scales --- */

static void apart_q3(const uint8_t *block, struct by_ggml_parts *parts)
{
    uint8_t codes[16];
    by_k_get_scales(block + 96, codes);
    for (size_t g = 0; g < 16; g++)
        parts->scales[g] = (int16_t)(codes[g] - 32);
    parts->halves[0] = by_half_get(block + 108);
    by_k_get_two(block + 32, parts->levels);
    by_k_add_third(block, parts->levels);
}

static void together_q3(const struct by_ggml_parts *parts, uint8_t *block)
{
    uint8_t codes[16];
    for (size_t g = 0; g < 16; g++)
        codes[g] = (uint8_t)(parts->scales[g] + 32);
    by_k_put_third(parts->levels, block);
    by_k_put_two(parts->levels, block + 32);
    by_k_put_scales(codes, block + 96);
    by_half_put(block + 108, parts->halves[0]);
}

static void apart_q6(const uint8_t *block, struct by_ggml_parts *parts)
{
    by_k_get_six(block, parts->levels);
    for (size_t g = 0; g < 16; g++)
        parts->scales[g] = (int8_t)block[192 + g];
    parts->halves[0] = by_half_get(block + 208);
}

static void together_q6(const struct by_ggml_parts *parts, uint8_t *block)
{
    by_k_put_six(parts->levels, block);
    for (size_t g = 0; g < 16; g++)
        block[192 + g] = (uint8_t)parts->scales[g];
    by_half_put(block + 208, parts->halves[0]);
}

/* --- The rows --- */

static const float iq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                              1,    13,   25,  38,  53,  69,  89,  113};
static const float fp4[15] = {-12, -8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12};

static const struct row {
    enum by_ggml_number number;
    struct by_ggml_form form;
} rows[] = {
    {BY_GGML_Q4_0,
     {.group = 32, .most = 15, .zero = 8, .apart = by_apart_q4_0, .together = by_together_q4_0}},
    {BY_GGML_Q4_1,
     {.group = 32,
      .most = 15,
      .min_high = 1,
      .apart = by_apart_q4_1,
      .together = by_together_q4_1}},
    {BY_GGML_Q5_0,
     {.group = 32, .most = 31, .zero = 16, .apart = by_apart_q5_0, .together = by_together_q5_0}},
    {BY_GGML_Q5_1,
     {.group = 32,
      .most = 31,
      .min_high = 1,
      .apart = by_apart_q5_1,
      .together = by_together_q5_1}},
    {BY_GGML_Q8_0,
     {.group = 32,
      .least = 1,
      .most = 255,
      .zero = 128,
      .apart = by_apart_q8_0,
      .together = by_together_q8_0}},
    {BY_GGML_Q2_K,
     {.group = 16,
      .most = 3,
      .scale_high = 15,
      .min_high = 15,
      .apart = apart_q2,
      .together = together_q2}},
    {BY_GGML_Q3_K,
     {.group = 16,
      .most = 7,
      .zero = 4,
      .scale_low = -32,
      .scale_high = 31,
      .apart = apart_q3,
      .together = together_q3}},
    {BY_GGML_Q4_K,
     {.group = 32,
      .most = 15,
      .scale_high = 63,
      .min_high = 63,
      .apart = apart_q4,
      .together = together_q4}},
    {BY_GGML_Q5_K,
     {.group = 32,
      .most = 31,
      .scale_high = 63,
      .min_high = 63,
      .apart = apart_q5,
      .together = together_q5}},
    {BY_GGML_Q6_K,
     {.group = 16,
      .most = 63,
      .zero = 32,
      .scale_low = -128,
      .scale_high = 127,
      .apart = apart_q6,
      .together = together_q6}},
    {BY_GGML_IQ4_NL,
     {.group = 32,
      .most = 15,
      .table = iq4,
      .apart = by_apart_iq4_nl,
      .together = by_together_iq4_nl}},
    {BY_GGML_IQ4_XS,
     {.group = 32,
      .most = 15,
      .table = iq4,
      .scale_low = -32,
      .scale_high = 31,
      .apart = by_apart_iq4_xs,
      .together = by_together_iq4_xs}},
    {BY_GGML_IQ3_XXS,
     {.group = 32,
      .most = 15,
      .table = by_ggml_levels_xxs,
      .scale_low = 1,
      .scale_high = 31,
      .odd = true,
      .points = by_ggml_points_xxs,
      .apart = by_apart_iq3_xxs,
      .together = by_together_iq3_xxs}},
    {BY_GGML_IQ3_S,
     {.group = 32,
      .most = 15,
      .table = by_ggml_levels_s,
      .scale_low = 1,
      .scale_high = 31,
      .odd = true,
      .points = by_ggml_points_s,
      .apart = by_apart_iq3_s,
      .together = by_together_iq3_s}},
    {BY_GGML_MXFP4,
     {.group = 32,
      .most = 14,
      .table = fp4,
      .power_of_two = true,
      .apart = by_apart_mxfp4,
      .together = by_together_mxfp4}},
};

const struct by_ggml_form *by_ggml_form(const struct by_ggml_type *type)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == type->number)
            return &rows[i].form;
    return NULL;
}
