/*
 * Rounding solved layer by layer, in the order of the graph: each against what it reads in the
 * quantized model, whose layers before it are rounded already. Edits the plan's integers and the
 * biases of the float model; what held-out samples do not approve of is taken back.
 */
#ifndef BY_ROUNDING_H
#define BY_ROUNDING_H

#include "trial/quantization.h"

int by_rounding_solve(struct by_quantization *q, struct baryon_error *err);

/* The checkpoint is of no use any more: when the model was saved. */
void by_rounding_clean(const struct by_quantize_options *options);

#endif
