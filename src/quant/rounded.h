/*
 * What is left of a constant's values, whatever its row makes of them: integers, floats of fewer
 * bits, blocks.
 */
#ifndef BY_ROUNDED_H
#define BY_ROUNDED_H

#include "base/par.h"
#include "dtype/block.h"
#include "quant/plan.h"
#include "quant/weights.h"

/* How a row's constant is looked at, with the axes of these parameters; values: in the order of
 * its tensor. */
struct by_weight_view by_quant_view(const struct by_quant_row *row, const struct by_params *params,
                                    const float *values);
/* How a row of blocks is rounded. */
struct by_block_cast by_quant_cast(const struct by_quant_row *row);

/* values, out: in the order of the row's tensor; out may be values. */
int by_quant_round(const struct by_quant_plan *plan, size_t row, const float *values,
                   struct by_pool *pool, float *out, struct baryon_error *err);
/* The grid around them, of floats and blocks (by_dtype_steps(), by_block_steps()). */
int by_quant_steps(const struct by_quant_plan *plan, size_t row, const float *values,
                   struct by_pool *pool, float *steps, float *held, struct baryon_error *err);

#endif
