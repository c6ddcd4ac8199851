/*
 * What the files of the block types share: scales in float16, groups for a search, and the bits of
 * the K types.
 */
#ifndef BY_LLM_GGML_BLOCK_H
#define BY_LLM_GGML_BLOCK_H

#include "base/half.h"
#include "llm/ggml/parts.h"
#include "llm/ggml/search.h"
#include "llm/ggml/types.h"

#define BY_GGML_SUPER 256 /* elements of a block of the K types */

/* The rows' functions, in the files of their families. */
by_ggml_decode_row by_decode_f32, by_decode_f16, by_decode_bf16, by_decode_f64, by_decode_i8,
    by_decode_i16, by_decode_i32, by_decode_i64;
by_ggml_encode_row by_encode_f32, by_encode_f16, by_encode_bf16, by_encode_f64;
by_ggml_decode_row by_decode_q4_0, by_decode_q4_1, by_decode_q5_0, by_decode_q5_1, by_decode_q8_0;
by_ggml_encode_row by_encode_q4_0, by_encode_q4_1, by_encode_q5_0, by_encode_q5_1, by_encode_q8_0;
by_ggml_decode_row by_decode_q2_k, by_decode_q3_k, by_decode_q4_k, by_decode_q5_k, by_decode_q6_k,
    by_decode_q8_k;
by_ggml_encode_row by_encode_q2_k, by_encode_q3_k, by_encode_q4_k, by_encode_q5_k, by_encode_q6_k;
by_ggml_decode_row by_decode_iq4_nl, by_decode_iq4_xs, by_decode_mxfp4, by_decode_nvfp4;
by_ggml_encode_row by_encode_iq4_nl, by_encode_iq4_xs, by_encode_mxfp4, by_encode_nvfp4;
by_ggml_decode_row by_decode_iq3_xxs, by_decode_iq3_s;
by_ggml_encode_row by_encode_iq3_xxs, by_encode_iq3_s;
by_ggml_decode_row by_decode_tq1_0, by_decode_tq2_0, by_decode_q1_0, by_decode_q2_0;

/* Blocks apart and together, in the files of their families. */
by_ggml_take_apart by_apart_q4_0, by_apart_q4_1, by_apart_q5_0, by_apart_q5_1, by_apart_q8_0,
    by_apart_iq3_xxs, by_apart_iq3_s, by_apart_iq4_nl, by_apart_iq4_xs, by_apart_mxfp4;
by_ggml_put_together by_together_q4_0, by_together_q4_1, by_together_q5_0, by_together_q5_1,
    by_together_q8_0, by_together_iq3_xxs, by_together_iq3_s, by_together_iq4_nl,
    by_together_iq4_xs, by_together_mxfp4;

static inline float by_half_get(const uint8_t *at)
{
    return by_f16_to_f32_one((uint16_t)(at[0] | at[1] << 8));
}

/* Gives the value that is kept. */
static inline float by_half_put(uint8_t *at, float value)
{
    const uint16_t half = by_f32_to_f16_one(value);
    at[0] = (uint8_t)half;
    at[1] = (uint8_t)(half >> 8);
    return by_f16_to_f32_one(half);
}

/* The eight groups of `count` elements at x, with weights at w; of the first `groups`, the others
 * are zeros. */
void by_ggml_gather(struct by_ggml_set *set, size_t count, size_t groups, const float *x,
                    const float *weights);

/* importance * sqrt(power + x^2) */
void by_ggml_weigh(const float *x, const float *importance, size_t count, float power, float *out);
float by_ggml_power(const float *x, size_t count); /* sum of squares, in order */
/* Sums of the groups of `count`. */
void by_ggml_sums(const float *x, size_t count, size_t groups, float *sums);

/* The value of greatest magnitude, the first of several. */
float by_ggml_greatest(const float *x, size_t count);

/* Levels of a group by what was found: 0 to top. */
void by_ggml_affine_levels(const float *x, size_t count, float inverse, float base, int top,
                           uint8_t *levels);
/* The same of `symmetric`: 0 to 2 * half - 1. */
void by_ggml_symmetric_levels(const float *x, size_t count, float inverse, int half,
                              uint8_t *levels);

#endif
