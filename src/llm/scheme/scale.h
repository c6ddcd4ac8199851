/* Scales of one group: candidates, and how they are stored. */
#ifndef BY_LLM_SCALE_H
#define BY_LLM_SCALE_H

#include "dtype/path.h"
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

/* What the scales of a tensor of floats have in common. */
struct by_llm_scales {
    float most;                /* the greatest element */
    int top;                   /* exponent of the greatest power of two that is an element */
    struct by_float_grid grid; /* of scales that are floats of 8 bits */
    float values[256];         /* of their codes */
};

void by_llm_scales_open(struct by_llm_scales *scales, const struct by_llm_tensor *tensor);
/* The stored scales of floats for greatest magnitudes; codes: of types that are codes. */
void by_llm_float_scales(const struct by_llm_scales *scales, const struct by_llm_tensor *tensor,
                         const float *peaks, size_t count, float factor, float *out,
                         uint8_t *codes);
/* What a value is divided by. */
float by_llm_effective(const struct by_llm_tensor *tensor, float stored);
/* What a code of a scale means. */
float by_llm_scale_value(enum by_llm_scale_type type, uint8_t code);

#endif
