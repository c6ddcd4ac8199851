/*
 * Runs of values by the chosen path. False, and nothing done, where that is only known the plain
 * way: ties that depend on chance, codes of integers.
 */
#ifndef BY_DTYPE_FAST_H
#define BY_DTYPE_FAST_H

#include "dtype/dtype.h"

bool by_fast_round(const struct by_dtype *dtype, const float *in, size_t count,
                   const struct by_cast *cast, float *out);
bool by_fast_encode(const struct by_dtype *dtype, const float *in, size_t count,
                    const struct by_cast *cast, void *codes);
/* Codes of 8 bits, by a table. */
bool by_fast_decode(const struct by_dtype *dtype, const void *codes, size_t count,
                    const struct by_cast *cast, float *out);

#endif
