/*
 * Rows of a weight [out, in] to codes and scales, and back.
 *
 * Scales are computed in float32 and rounded to the type they are stored as; codes are made
 * against what is stored then: round(x / scale) + zero point, ties to even. A row does not depend
 * on its neighbours, so rows can be done on any number of threads.
 *
 * What all of a tensor shares is found first: by_llm_look() over all values, in pieces, joined in
 * any order, then by_llm_tensor_scale(). Where that scale is searched, by_llm_try() sums the errors
 * of each candidate and by_llm_tensor_choose() takes the best.
 */
#ifndef BY_LLM_ROWS_H
#define BY_LLM_ROWS_H

#include "llm/scheme/scheme.h"

enum by_llm_search {
    BY_LLM_SEARCH_MSE,      /* of some ranges the one of least squared error */
    BY_LLM_SEARCH_MINMAX,   /* the whole range */
    BY_LLM_SEARCH_UNBIASED, /* the first, then a scale that leaves weights their length: rows_int.c
                             */
};

/* How the power of two of a group follows from its greatest magnitude. */
enum by_llm_even {
    BY_LLM_EXPONENT_EVEN, /* one more where the greatest would round up to the next power */
    BY_LLM_EXPONENT_FLOOR,
    BY_LLM_EXPONENT_CEIL,
};

/* {0}: of nothing yet. */
struct by_llm_range {
    float min, max;
    bool known;
};

#define BY_LLM_CANDIDATES 24

/* What a tensor is quantized to. */
struct by_llm_tensor {
    const struct by_llm_spec *spec;
    size_t columns, group, groups; /* of a row: elements, elements of a group, scales */
    enum by_llm_search search;
    enum by_llm_even exponent;
    int64_t stored;     /* element type of float scales: BY_ELEM_FLOAT, _FLOAT16 or _BFLOAT16 */
    int64_t least_zero; /* zero points of unsigned integers are at least this */
    bool inverse;       /* the global scale divides */
    bool whole_bytes;   /* the layout stores a code in a byte, however few bits it has */
    bool quark;         /* arithmetic of Quark 0.13: rounded to `model` at each step */
    int64_t model;      /* element type of the weights */
    float scale;        /* of the tensor: BY_LLM_TENSOR's, the global one, fp8's before integers */
    int64_t zero;       /* BY_LLM_TENSOR's */
    float candidates[BY_LLM_CANDIDATES]; /* for `scale`; the first is that of the whole range */
    int64_t candidate_zeros[BY_LLM_CANDIDATES];
    size_t candidate_count;
    const struct by_llm_spec *input; /* static inputs, whose scale is in the file; NULL: none */
    float input_scale, cache_scale;
    /* Of columns: what a squared error counts in a search for the least; NULL: all the same. */
    const float *importance;
    const int32_t *group_of; /* to dequantize: the group of each column; NULL: in their order */
};

/* Sums over rows; exact joins are up to the caller, in the order of rows. */
struct by_llm_errors {
    double energy;       /* of values */
    double error;        /* of what the codes mean; not where the tensor has one scale */
    double minmax_error; /* of what those of the whole range would; the same */
};

/* Where codes and scales of rows go. */
struct by_llm_coded {
    uint8_t *codes;       /* [rows][columns], by_dtype_code_bytes() each */
    float *scales;        /* [rows][groups], as stored, without the global one */
    uint8_t *scale_codes; /* the same of types that are no floats: E8M0, E4M3, E5M3 */
    int32_t *zeros;       /* [rows][groups] */
    uint8_t *shared;      /* of block formats: [rows][bytes of a row], as by_block_encode() */
    struct by_llm_errors sums;
};

/* Where the first value that is not finite is; count: there is none. */
size_t by_llm_strange(const float *values, size_t count);
/* Whether floats of 16 bits are all finite, and their range; elem: BY_ELEM_FLOAT16 or _BFLOAT16. */
bool by_llm_look_halves(struct by_llm_range *range, int64_t elem, const uint16_t *values,
                        size_t count);
/* NaN becomes 0, an infinity the greatest finite magnitude of the row. */
void by_llm_clean_row(float *values, size_t count);

/* Refuses columns that groups do not divide, and says which sizes do. */
int by_llm_tensor_init(struct by_llm_tensor *tensor, const struct by_llm_spec *spec, size_t columns,
                       struct baryon_error *err);
/* Whether by_llm_look() has to see all before rows can be quantized. */
bool by_llm_needs_range(const struct by_llm_tensor *tensor);
/* All values are finite; see by_llm_clean_row(). */
void by_llm_look(struct by_llm_range *range, const float *values, size_t count);
void by_llm_range_join(struct by_llm_range *into, const struct by_llm_range *range);
void by_llm_tensor_scale(struct by_llm_tensor *tensor, const struct by_llm_range *range);

/* What a thread needs for rows of one tensor, whose scale was found. */
struct by_llm_scratch;
struct by_llm_scratch *by_llm_scratch_open(const struct by_llm_tensor *tensor,
                                           struct baryon_error *err);
void by_llm_scratch_close(struct by_llm_scratch *scratch);

/* What each candidate makes of values. */
struct by_llm_tries {
    double errors[BY_LLM_CANDIDATES]; /* squared */
    double cut[BY_LLM_CANDIDATES];    /* squared, of what lies beyond the levels of integers */
};

bool by_llm_needs_tries(const struct by_llm_tensor *tensor);
/* Adds those of rows. */
void by_llm_try(const struct by_llm_tensor *tensor, struct by_llm_scratch *scratch,
                const float *values, size_t rows, struct by_llm_tries *tries);
void by_llm_tries_join(struct by_llm_tries *into, const struct by_llm_tries *tries);
/*
 * The number of the candidate that it takes: the one of least squared error where columns have an
 * importance, and of floats. Of integers without one, the one of least error + (columns - 1) * cut:
 * rounding errors spread over the columns, but what is cut off may all lie in the one column whose
 * inputs are large.
 */
size_t by_llm_tensor_choose(struct by_llm_tensor *tensor, const struct by_llm_tries *tries);

/* Memory for codes and scales of rows. */
int by_llm_coded_open(struct by_llm_coded *coded, const struct by_llm_tensor *tensor, size_t rows,
                      struct baryon_error *err);
void by_llm_coded_close(struct by_llm_coded *coded);
/* Bytes of block formats that a row shares. */
size_t by_llm_shared_bytes(const struct by_llm_tensor *tensor);
/* That of the rows from `row` on. */
struct by_llm_coded by_llm_coded_from(const struct by_llm_coded *coded,
                                      const struct by_llm_tensor *tensor, size_t row);
int by_llm_quantize_rows(const struct by_llm_tensor *tensor, struct by_llm_scratch *scratch,
                         const float *values, size_t rows, struct by_llm_coded *coded,
                         struct baryon_error *err);
int by_llm_dequantize_rows(const struct by_llm_tensor *tensor, const struct by_llm_coded *coded,
                           size_t rows, float *out, struct baryon_error *err);

#endif
