/*
 * Weights of MatMulNBits: for each output channel blocks of neighbouring inputs, each with a
 * scale and a zero point. A level q means (q - zero) * scale.
 *
 *   RTN   nearest levels; the scale by the extremes, as ONNX Runtime's own quantizer has it, or
 *         with the least squared error (minmse)
 *   HQQ   half-quadratic: zero points that are no integers, found by alternating between levels
 *         and a shrunk error (norm 0.7); 2 and 4 bits
 */
#ifndef BY_NBITS_H
#define BY_NBITS_H

#include "quant/plan.h"
#include "quant/weights.h"

struct by_nbits_spec {
    unsigned bits;  /* 2, 4, 8 */
    size_t block;   /* 16, 32, ... 256 */
    bool symmetric; /* all zero points are 2^(bits - 1) */
    bool minmse;
    bool half; /* scales and zero points are stored as float16 */
    enum by_nbits_method method;
};

struct by_nbits {
    size_t channels, inputs, blocks; /* blocks of a channel */
    size_t block_bytes;
    bool float_zeros;
    uint8_t *levels; /* [channel][block][byte], the first level in the low bits */
    float *scales;   /* [channel][block] */
    float *zeros;
    double error; /* mean squared */
};

/* view: two axes, channels along axis, inputs along group_axis. by_nbits_close() it. */
int by_nbits_open(struct by_nbits *made, const struct by_weight_view *view,
                  const struct by_nbits_spec *spec, struct by_pool *pool, struct baryon_error *err);
void by_nbits_close(struct by_nbits *made);
/* What the recipe asks for a row; tables have no HQQ. */
struct by_nbits_spec by_nbits_spec_of(const struct by_recipe *recipe,
                                      const struct by_quant_row *row, bool as_table);
/* What the levels mean, in the order of the matrix's elements. */
void by_nbits_values(const struct by_nbits *made, const struct by_weight_view *view,
                     const struct by_nbits_spec *spec, float *out);

/*
 * For who chooses levels himself: scales and zero points, without HQQ. Scales are above 0; where
 * the stored one is negative, levels count from the other end, and the zero point with them.
 */
int by_nbits_params(const struct by_nbits *made, const struct by_nbits_spec *spec,
                    struct by_arena *arena, struct by_params *params, struct baryon_error *err);
/* From such parameters and levels, in the order of the matrix's elements. */
int by_nbits_take(struct by_nbits *made, const struct by_weight_view *view,
                  const struct by_nbits_spec *spec, const struct by_params *params,
                  const int32_t *levels, struct baryon_error *err);

/* Bytes of a channel's zero points, and those of all channels as integers. */
size_t by_nbits_zero_bytes(const struct by_nbits *made, const struct by_nbits_spec *spec);
void by_nbits_pack_zeros(const struct by_nbits *made, const struct by_nbits_spec *spec,
                         uint8_t *out);

#endif
