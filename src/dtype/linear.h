/*
 * Integers and bf16 by the formula of ONNX, as Quark's operators compute it: a code is
 * round(x / scale) + zero, ties to even; it means (code - zero) * scale. A scale and a zero point
 * hold for a run, or each element of it has its own (channels along the last axis).
 *
 * Integers saturate. What no integer of 64 bits holds (NaN, infinity, 2^63 and more) becomes the
 * least of those before the zero point is added, which wraps around: it comes out as the least
 * level, or as the greatest where the zero point is below 0. Codes of bf16 are x / scale + zero,
 * ties to even, and do not saturate; there is one NaN, 0x7fc1.
 */
#ifndef BY_LINEAR_H
#define BY_LINEAR_H

#include "dtype/dtype.h"

struct by_linear {
    const struct by_dtype *dtype; /* int8 to uint32, or bf16 */
    const float *scales;
    const double *zeros; /* exact: of no more than 32 bits */
    bool each;           /* one for each element; else the first for all */
};

/* On the chosen path. */
void by_linear_quantize(const struct by_linear *linear, const float *in, size_t count, void *codes);
void by_linear_dequantize(const struct by_linear *linear, const void *codes, size_t count,
                          float *out);

/* The definition. */
void by_linear_plain_quantize(const struct by_linear *linear, const float *in, size_t count,
                              void *codes);
void by_linear_plain_dequantize(const struct by_linear *linear, const void *codes, size_t count,
                                float *out);

#endif
