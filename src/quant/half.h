/* Rows of tensors that are float16: their scales are float16, too, and rounded to it before
 * anything is rounded by them. */
#ifndef BY_QUANT_HALF_H
#define BY_QUANT_HALF_H

#include "quant/plan.h"

/* What rows ask of their scales, once placed. */
void by_half_specs(struct by_quant_plan *plan);
/* Scales as float16 has them, never 0. */
void by_half_scales(struct by_quant_plan *plan);

#endif
