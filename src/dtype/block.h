/*
 * Block formats: arrays of values whose neighbours along an axis share a scale.
 *
 * A line is what lies along the axis; it is cut into blocks of `size`, the last one filled up with
 * zeros. An array of rank 1 has one line whatever the axis.
 *
 * What is left of values (by_block_round) is what Quark's operators give: elements that are not
 * finite stay as they are and have no say in what the block shares, but for micro-exponents, where
 * they make all of the block NaN; and an array of one element stays as it is, but for from_bf16.
 *
 * In memory a block is the codes of its elements (by_dtype_pack() packs them) and a few bytes of
 * what they share: an exponent with bias 127, 255 for NaN (nvfp4: a code of fp8_e4m3), after it
 * the shifts of sub-blocks, the first in the low bits. So a block with an infinity or NaN comes
 * back as NaN, and one whose power of two would be below 2^-127 is stored with 2^-127. Codes lie
 * as the values do, what is shared as an array would that has a block for each `size` along the
 * axis: ONNX has codes and scales of DequantizeLinear in this order.
 */
#ifndef BY_BLOCK_H
#define BY_BLOCK_H

#include "base/team.h"
#include "dtype/dtype.h"

struct by_block_cast {
    const int64_t *dims;
    size_t rank;
    int axis;    /* below 0: from the end */
    size_t size; /* of blocks; 0: the format's */
    enum by_ties ties;
    uint64_t seed;      /* of BY_TIES_STOCHASTIC */
    float tensor_scale; /* of formats whose blocks have a scale of E4M3; 0: none, which is 1 */
    bool from_bf16;     /* values are rounded to bf16 first */
};

struct by_block_extent {
    size_t outer, length, inner;        /* the array around its axis */
    size_t size;                        /* elements of a block */
    size_t per_line;                    /* blocks */
    size_t values, blocks, scale_bytes; /* of the array */
    size_t block_bytes;                 /* of what a block shares */
};

int by_block_extent(const struct by_dtype *dtype, const struct by_block_cast *cast,
                    struct by_block_extent *extent, struct baryon_error *err);

/* out may be in; pool NULL: the caller alone; the bytes do not depend on it. */
int by_block_round(const struct by_dtype *dtype, const float *in, const struct by_block_cast *cast,
                   struct by_pool *pool, float *out, struct baryon_error *err);
int by_block_round_team(const struct by_dtype *dtype, const float *in,
                        const struct by_block_cast *cast, const struct by_team *team, float *out,
                        struct baryon_error *err);
/* The grid around finite values, as by_dtype_steps() has it: whichever of its two neighbours each
 * of them takes, what its block shares stays, so that by_block_round() leaves all of them as they
 * are. Formats whose blocks share a power of two. */
int by_block_steps(const struct by_dtype *dtype, const float *in, const struct by_block_cast *cast,
                   struct by_pool *pool, float *steps, float *held, struct baryon_error *err);
int by_block_encode(const struct by_dtype *dtype, const float *in, const struct by_block_cast *cast,
                    struct by_pool *pool, uint8_t *codes, uint8_t *scales,
                    struct baryon_error *err);
int by_block_decode(const struct by_dtype *dtype, const uint8_t *codes, const uint8_t *scales,
                    const struct by_block_cast *cast, struct by_pool *pool, float *out,
                    struct baryon_error *err);

#endif
