/*
 * From a quantized model back to a plan: rows from pairs of QuantizeLinear and DequantizeLinear
 * and from constants after a DequantizeLinear, as any tool writes them. The model is not
 * changed; a row stands for both the value before the pair and the one after it.
 */
#ifndef BY_RAISE_H
#define BY_RAISE_H

#include "quant/plan.h"

/* The plan is empty; its model is linked and inferred. Scales that are no constants give no row. */
int by_raise(struct by_quant_plan *plan, struct baryon_error *err);
/* What a node of a pair has, in memory of the plan's arena; count 0: its scale is no constant. */
int by_raise_params(struct by_quant_plan *plan, const struct baryon_node *node,
                    struct by_params *params, struct baryon_error *err);
/* The same numbers. */
bool by_params_equal(const struct by_params *one, const struct by_params *other);
/*
 * Biases of Conv, ConvTranspose and Gemm that have the scale of the input times that of the weight
 * are rows of such, which by_bias_scales() keeps so. all: so are those of int32 that have another
 * scale, which is then wrong. kept (may be NULL): biases that have one of their own, for all.
 */
void by_raise_biases(struct by_quant_plan *plan, bool all, size_t *kept);

#endif
