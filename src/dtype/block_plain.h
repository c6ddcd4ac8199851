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
/* `size` codes, and what they share. */
void by_block_plain_encode(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           const struct by_block_place *place, const float *in, uint8_t *codes,
                           uint8_t *scale);
void by_block_plain_decode(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           const struct by_block_place *place, const uint8_t *codes,
                           const uint8_t *scale, float *out);

#endif
