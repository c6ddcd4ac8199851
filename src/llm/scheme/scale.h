/* Scales of one group: candidates, and how they are stored. */
#ifndef BY_LLM_SCALE_H
#define BY_LLM_SCALE_H

#include "llm/scheme/rows.h"

/* Quark's least scale, which groups of zeros have. */
#define BY_LLM_LEAST_SCALE 1.1920929e-7f

/* What a range is multiplied with to get candidates; the first is 1. */
const float *by_llm_factors(const struct by_llm_tensor *tensor, size_t *count);
/* The nearest that is stored as such; greater than 0 when `scale` is. */
float by_llm_stored(int64_t elem, float scale);
/* An intermediate result: as it is, or as Quark's arithmetic rounds it. */
float by_llm_step(const struct by_llm_tensor *tensor, float value);
/* Scale and zero point of integers for a range. */
float by_llm_int_scale(const struct by_llm_tensor *tensor, float min, float max, float factor,
                       int64_t *zero);
/* The stored scale of floats for a greatest magnitude; *code: of types that are codes. */
float by_llm_float_scale(const struct by_llm_tensor *tensor, float peak, float factor,
                         uint8_t *code);
/* What a value is divided by. */
float by_llm_effective(const struct by_llm_tensor *tensor, float stored);
/* What a code of a scale means. */
float by_llm_scale_value(enum by_llm_scale_type type, uint8_t code);

#endif
