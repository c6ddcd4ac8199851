/*
 * Constants in blocks as they are stored: codes of a type that ONNX has, and for each block a power
 * of two that DequantizeLinear multiplies them with. What comes out is what Quark's operators make
 * of the values; but negative zeros, which integers do not have.
 */
#ifndef BY_LOWER_BLOCK_H
#define BY_LOWER_BLOCK_H

#include "quant/lower_internal.h"

/* True when the row is a constant of blocks that does not stay float. */
bool by_lower_is_stored(const struct by_quant_row *row);
/* The type of scales of blocks. */
int64_t by_lower_block_scale(const struct by_recipe *recipe);
/* The tensor of scales, to be filled. */
struct baryon_value *by_lower_block_scales(struct by_lowering *lowering,
                                           const struct by_quant_row *row,
                                           struct baryon_error *err);
/* codes: as ONNX packs them; scales: its bytes are written. */
int by_lower_block_fill(const struct by_quant_row *row, const float *values, struct by_pool *pool,
                        uint8_t *codes, const struct baryon_tensor *scales,
                        struct baryon_error *err);
int by_lower_block_attributes(struct baryon_node *node, const struct by_recipe *recipe,
                              const struct by_quant_row *row, struct baryon_error *err);

#endif
