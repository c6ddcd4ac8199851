/* One block, its elements `stride` apart: the definition of what block formats do. */
#ifndef BY_BLOCK_PLAIN_H
#define BY_BLOCK_PLAIN_H

#include "dtype/block.h"

struct by_block_place {
    size_t count, stride; /* elements that are there */
    size_t size;          /* with those that would be zero */
    uint64_t first;       /* for stochastic rounding: number of the first element */
};

/* As a block sees it. */
float by_block_plain_value(const struct by_block_cast *cast, float value);
void by_block_plain_round(const struct by_dtype *dtype, const struct by_block_cast *cast,
                          const struct by_block_place *place, const float *in, float *out);
void by_block_plain_steps(const struct by_dtype *dtype, const struct by_block_cast *cast,
                          const struct by_block_place *place, const float *in, float *steps,
                          float *held);
/* Codes as far apart as the values; scale: zeros, to be filled. */
void by_block_plain_encode(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           const struct by_block_place *place, const float *in, uint8_t *codes,
                           uint8_t *scale);
void by_block_plain_decode(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           const struct by_block_place *place, const uint8_t *codes,
                           const uint8_t *scale, float *out);
/* Of element i, by what its block shares. */
int by_block_plain_shift(const struct by_dtype *dtype, const uint8_t *scale, size_t i);
/* What the code of 1 stands for; NaN where that is stored. */
double by_block_plain_step(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           uint8_t scale, int shift);

#endif
