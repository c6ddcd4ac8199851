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

/* Memory for a row. */
struct by_llm_scratch {
    float *scaled, *rounded; /* columns */
    int32_t *levels;         /* columns */
    float *trial;            /* groups */
    uint8_t *trial_codes;    /* groups */
    double *errors;          /* groups, twice */
};

int by_llm_scratch_open(struct by_llm_scratch *scratch, const struct by_llm_tensor *tensor,
                        struct baryon_error *err);
void by_llm_scratch_close(struct by_llm_scratch *scratch);

int by_llm_int_row(const struct by_llm_tensor *tensor, const float *values,
                   struct by_llm_scratch *scratch, struct by_llm_row *row,
                   struct baryon_error *err);
int by_llm_float_row(const struct by_llm_tensor *tensor, const float *values,
                     struct by_llm_scratch *scratch, struct by_llm_row *row,
                     struct baryon_error *err);
/* Squared error of a row when the tensor has this scale. */
void by_llm_int_error(const struct by_llm_tensor *tensor, const float *values, float scale,
                      int64_t zero, double *error);
int by_llm_float_error(const struct by_llm_tensor *tensor, const float *values, float scale,
                       struct by_llm_scratch *scratch, double *error, struct baryon_error *err);

/* Sums in 16 lanes, joined as by_weight_join() does: the compiler can use vectors. */
double by_llm_energy(const float *values, size_t count);
/* Of (a - b) * scale. */
double by_llm_distance(const float *a, const float *b, size_t count, float scale);
/* The greatest magnitude of finite values. */
float by_llm_peak(const float *values, size_t count);
/* values / scale. */
void by_llm_divide(const float *values, size_t count, float scale, float *out);

#endif
