/*
 * From a quantized model back to a plan: rows from pairs of QuantizeLinear and DequantizeLinear
 * and from constants behind a DequantizeLinear, as any tool writes them. The model is not
 * changed; a row stands for both the value before the pair and the one behind it.
 */
#ifndef BY_RAISE_H
#define BY_RAISE_H

#include "quant/plan.h"

/* The plan is empty; its model is linked and inferred. Scales that are no constants give no row. */
int by_raise(struct by_quant_plan *plan, struct baryon_error *err);

#endif
