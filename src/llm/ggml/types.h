/*
 * Element and block types of GGUF tensors, one row each.
 *
 * A tensor's rows are cut into blocks of `block` consecutive elements, `bytes` bytes each, so a
 * row's width is a multiple of `block`. Numbers and names are ggml's. Types that a file may hold
 * but that this library cannot decode have their sizes here all the same.
 */
#ifndef BY_LLM_GGML_TYPES_H
#define BY_LLM_GGML_TYPES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum by_ggml_number {
    BY_GGML_F32 = 0,
    BY_GGML_F16 = 1,
    BY_GGML_Q4_0 = 2,
    BY_GGML_Q4_1 = 3,
    BY_GGML_Q5_0 = 6,
    BY_GGML_Q5_1 = 7,
    BY_GGML_Q8_0 = 8,
    BY_GGML_Q8_1 = 9,
    BY_GGML_Q2_K = 10,
    BY_GGML_Q3_K = 11,
    BY_GGML_Q4_K = 12,
    BY_GGML_Q5_K = 13,
    BY_GGML_Q6_K = 14,
    BY_GGML_Q8_K = 15,
    BY_GGML_IQ2_XXS = 16,
    BY_GGML_IQ2_XS = 17,
    BY_GGML_IQ3_XXS = 18,
    BY_GGML_IQ1_S = 19,
    BY_GGML_IQ4_NL = 20,
    BY_GGML_IQ3_S = 21,
    BY_GGML_IQ2_S = 22,
    BY_GGML_IQ4_XS = 23,
    BY_GGML_I8 = 24,
    BY_GGML_I16 = 25,
    BY_GGML_I32 = 26,
    BY_GGML_I64 = 27,
    BY_GGML_F64 = 28,
    BY_GGML_IQ1_M = 29,
    BY_GGML_BF16 = 30,
    BY_GGML_TQ1_0 = 34,
    BY_GGML_TQ2_0 = 35,
    BY_GGML_MXFP4 = 39,
    BY_GGML_NVFP4 = 40,
    BY_GGML_Q1_0 = 41,
    BY_GGML_Q2_0 = 42,
};

/* Blocks to floats: any bytes are something. */
typedef void by_ggml_decode_row(const uint8_t *in, size_t count, float *out);
/* A row of count finite floats to blocks. importance: of each element (its column's mean square of
 * activations), or NULL; types that search nothing ignore it. */
typedef void by_ggml_encode_row(const float *in, size_t count, const float *importance,
                                uint8_t *out);

struct by_ggml_type {
    enum by_ggml_number number;
    const char *name;           /* "q4_K", as in ggml */
    uint32_t block;             /* elements */
    uint32_t bytes;             /* of a block */
    uint32_t halves;            /* scales in float16 in a block */
    uint32_t halves_at;         /* byte of the first one */
    by_ggml_decode_row *decode; /* NULL: only the size is known */
    by_ggml_encode_row *encode; /* NULL: read only */
};

/* NULL for a number or name without a row; names in upper or lower case. */
const struct by_ggml_type *by_ggml_type(uint32_t number);
const struct by_ggml_type *by_ggml_type_named(const char *name);
/* The rows in order, for lists; NULL past the last. */
const struct by_ggml_type *by_ggml_type_at(size_t index);

/* 4.5 for q4_0. */
double by_ggml_bits_per_weight(const struct by_ggml_type *type);
/* Bytes of count elements, whole blocks; fails when they do not divide or do not fit. */
int by_ggml_bytes(const struct by_ggml_type *type, uint64_t count, size_t *bytes,
                  struct baryon_error *err);

#endif
