/*
 * Encodes the K types that have a scale and a minimum for each group: Q2_K, Q4_K, Q5_K.
 *
 * A search gives each group a scale and a minimum; these are rounded to a few bits for the block,
 * and the levels are rounded anew by what is kept of them. A group whose scale is rounded to 0
 * keeps the levels of the search.
 */
#include "llm/ggml/block.h"
#include "llm/ggml/k_bits.h"

#include <math.h>

#define SUPER  BY_GGML_SUPER
#define GROUPS 16 /* of a block, at most */

struct k_form {
    size_t bytes, group;
    int scale_top;                          /* of the scales and minima */
    float powers;                           /* mean squares that importance's weights add */
    bool by_mean;                           /* weights without importance add a root mean square */
    struct by_ggml_affine alone, important; /* searches without and with importance */
    void (*put)(const uint8_t *levels, const uint8_t *scales, const uint8_t *mins,
                const float halves[2], uint8_t *block);
};

/* What is found out about a block. */
struct block_fit {
    float scales[GROUPS], mins[GROUPS], inverses[GROUPS], bases[GROUPS];
    float sums[GROUPS]; /* of weights */
};

static void weigh_alone(const struct k_form *form, const float *x, float *out)
{
    for (size_t at = 0; at < SUPER; at += form->group) {
        float mean = 0;
        if (form->by_mean)
            mean = sqrtf(by_ggml_power(x + at, form->group) / (float)form->group);
        for (size_t i = at; i < at + form->group; i++)
            out[i] = mean + fabsf(x[i]);
    }
}

static void search_groups(const struct k_form *form, const struct by_ggml_affine *how,
                          const float *x, const float *weights, struct block_fit *out)
{
    const struct by_ggml_search *search = by_ggml_search();
    const size_t groups = SUPER / form->group;
    struct by_ggml_set set;
    struct by_ggml_fit fit;
    for (size_t first = 0; first < groups; first += BY_GGML_GROUPS) {
        const size_t at = first * form->group;
        by_ggml_gather(&set, form->group, BY_GGML_GROUPS, x + at, weights + at);
        search->affine(&set, how, &fit);
        for (size_t g = 0; g < BY_GGML_GROUPS; g++) {
            out->scales[first + g] = fit.scale[g];
            out->mins[first + g] = -fit.min[g];
            out->inverses[first + g] = fit.inverse[g];
            out->bases[first + g] = fit.base[g];
        }
    }
}

/* Codes 0 to top of the values >= 0; returns the scale of the codes. */
static float round_scales(const float *values, size_t count, int top, uint8_t *codes)
{
    float max = 0;
    for (size_t i = 0; i < count; i++)
        max = values[i] > max ? values[i] : max;
    const float inverse = max > 0 ? (float)top / max : 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t code = (uint8_t)by_ggml_nearest(inverse * values[i]);
        codes[i] = code > top ? (uint8_t)top : code;
    }
    return max / (float)top;
}

static void round_levels(const struct k_form *form, const float *x, const struct block_fit *fit,
                         const uint8_t *scales, const uint8_t *mins, const float *halves,
                         uint8_t *levels)
{
    const int top = form->alone.top;
    for (size_t g = 0; g < SUPER / form->group; g++, x += form->group, levels += form->group) {
        const float scale = halves[0] * (float)scales[g], min = halves[1] * (float)mins[g];
        if (scale == 0) {
            by_ggml_affine_levels(x, form->group, fit->inverses[g], fit->bases[g], top, levels);
            continue;
        }
        for (size_t i = 0; i < form->group; i++)
            levels[i] = (uint8_t)by_ggml_cut(by_ggml_nearest((x[i] + min) / scale), 0, top);
    }
}

static void encode_block(const struct k_form *form, const float *x, const float *importance,
                         uint8_t *out)
{
    const size_t groups = SUPER / form->group;
    uint8_t levels[SUPER], scales[GROUPS], mins[GROUPS], kept[4];
    float weights[SUPER], halves[2];
    struct block_fit fit;
    if (importance) {
        const float power = form->powers * by_ggml_power(x, SUPER) / SUPER;
        by_ggml_weigh(x, importance, SUPER, power, weights);
        search_groups(form, &form->important, x, weights, &fit);
        by_ggml_sums(weights, form->group, groups, fit.sums);
        halves[0] = by_ggml_positive(fit.scales, fit.sums, groups, form->scale_top, scales);
        halves[1] = by_ggml_positive(fit.mins, fit.sums, groups, form->scale_top, mins);
    } else {
        weigh_alone(form, x, weights);
        search_groups(form, &form->alone, x, weights, &fit);
        halves[0] = round_scales(fit.scales, groups, form->scale_top, scales);
        halves[1] = round_scales(fit.mins, groups, form->scale_top, mins);
    }
    const float used[2] = {by_half_put(kept, halves[0]), by_half_put(kept + 2, halves[1])};
    round_levels(form, x, &fit, scales, mins, used, levels);
    form->put(levels, scales, mins, halves, out);
}

static void encode_blocks(const struct k_form *form, const float *in, size_t count,
                          const float *importance, uint8_t *out)
{
    for (size_t i = 0; i < count; i += SUPER, out += form->bytes)
        encode_block(form, in + i, importance ? importance + i : NULL, out);
}

/* --- The types --- */

static void put_q2(const uint8_t *levels, const uint8_t *scales, const uint8_t *mins,
                   const float halves[2], uint8_t *block)
{
    for (size_t g = 0; g < 16; g++)
        block[g] = (uint8_t)(scales[g] | mins[g] << 4);
    by_k_put_two(levels, block + 16);
    by_half_put(block + 80, halves[0]);
    by_half_put(block + 82, halves[1]);
}

static void put_head(const uint8_t *scales, const uint8_t *mins, const float halves[2],
                     uint8_t *block)
{
    by_half_put(block, halves[0]);
    by_half_put(block + 2, halves[1]);
    by_k_put_pairs(scales, mins, block + 4);
}

static void put_q4(const uint8_t *levels, const uint8_t *scales, const uint8_t *mins,
                   const float halves[2], uint8_t *block)
{
    put_head(scales, mins, halves, block);
    by_k_put_four(levels, block + 16);
}

static void put_q5(const uint8_t *levels, const uint8_t *scales, const uint8_t *mins,
                   const float halves[2], uint8_t *block)
{
    put_head(scales, mins, halves, block);
    by_k_put_fifth(levels, block + 16);
    by_k_put_four(levels, block + 48);
}

static const struct k_form q2_k = {
    84, 16, 15, 1, false, {3, -0.5f, 0.1f, 15, true}, {3, -0.9f, 0.05f, 36, false}, put_q2};
static const struct k_form q4_k = {
    144, 32, 63, 2, true, {15, -1, 0.1f, 20, false}, {15, -0.9f, 0.05f, 36, false}, put_q4};
static const struct k_form q5_k = {
    176, 32, 63, 2, true, {31, -0.5f, 0.1f, 15, false}, {31, -0.9f, 0.05f, 36, false}, put_q5};

void by_encode_q2_k(const float *in, size_t count, const float *importance, uint8_t *out)
{
    encode_blocks(&q2_k, in, count, importance, out);
}

void by_encode_q4_k(const float *in, size_t count, const float *importance, uint8_t *out)
{
    encode_blocks(&q4_k, in, count, importance, out);
}

void by_encode_q5_k(const float *in, size_t count, const float *importance, uint8_t *out)
{
    encode_blocks(&q5_k, in, count, importance, out);
}
