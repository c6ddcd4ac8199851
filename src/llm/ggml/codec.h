/*
 * Arrays of floats to GGUF blocks and back.
 *
 * Blocks are bit for bit those of ggml's reference quantizers, with importance (the mean square of
 * each column's activations) or without. Rows are independent: callers divide a tensor by rows
 * between threads.
 */
#ifndef BY_LLM_GGML_CODEC_H
#define BY_LLM_GGML_CODEC_H

#include "llm/ggml/types.h"

/* Any bytes decode to something; see by_ggml_check_scales(). count: elements, whole blocks. */
int by_ggml_decode(const struct by_ggml_type *type, const void *in, size_t count, float *out,
                   struct baryon_error *err);

/*
 * rows * width floats; width is whole blocks, importance has width numbers >= 0 or is NULL. Types
 * of blocks refuse values that are not finite, and those whose scale is beyond float16. Types of
 * single elements convert any value; what is beyond their range becomes infinite.
 */
int by_ggml_encode(const struct by_ggml_type *type, const float *in, size_t rows, size_t width,
                   const float *importance, void *out, struct baryon_error *err);

/* Refuses blocks with a scale in float16 that is infinite or NaN. count: elements. */
int by_ggml_check_scales(const struct by_ggml_type *type, const void *blocks, size_t count,
                         struct baryon_error *err);

#endif
