/* Rows of the two kinds of elements. */
#ifndef BY_LLM_GROUP_H
#define BY_LLM_GROUP_H

#include "llm/scheme/scale.h"

/* Where one row goes; members as in struct by_llm_coded, never NULL. */
struct by_llm_row {
    uint8_t *codes;
    float *scales;
    uint8_t *scale_codes;
    int32_t *zeros;
    struct by_llm_errors sums;
};

/* Memory for a row, and what all rows need. */
struct by_llm_scratch {
    float *scaled, *rounded;   /* columns */
    int32_t *levels;           /* columns */
    float *peaks, *trial;      /* groups */
    uint8_t *trial_codes;      /* groups */
    double *errors;            /* groups, twice */
    struct by_float_grid grid; /* of elements that are floats; a zero has no sign without NaN */
    struct by_llm_scales scales;
};

int by_llm_int_row(const struct by_llm_tensor *tensor, const float *values,
                   struct by_llm_scratch *scratch, struct by_llm_row *row,
                   struct baryon_error *err);
void by_llm_float_row(const struct by_llm_tensor *tensor, const float *values,
                      struct by_llm_scratch *scratch, struct by_llm_row *row);
/* Sum of importance * (a - b)^2, in 8 lanes, element i in lane i mod 8. */
double by_llm_weighted(const float *a, const float *b, const float *importance, size_t count);
/* The same with b = (levels - zero) * scale. */
double by_llm_weighted_levels(const float *a, const int32_t *levels, int64_t zero, float scale,
                              const float *importance, size_t count);
/* Squared error of a row when the tensor has this scale. */
double by_llm_int_error(const struct by_llm_tensor *tensor, const float *values, float scale,
                        int64_t zero, struct by_llm_scratch *scratch);
/* The part of it beyond the greatest and the least level, without importance. */
double by_llm_int_cut(const struct by_llm_tensor *tensor, const float *values, float scale,
                      int64_t zero);
double by_llm_float_error(const struct by_llm_tensor *tensor, const float *values, float scale,
                          struct by_llm_scratch *scratch);

#endif
