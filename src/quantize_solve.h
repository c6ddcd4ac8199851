/*
 * Rounding solved layer by layer, in the order of the graph: each against what it reads in the
 * quantized model, whose layers before it are rounded already. Edits the plan's integers and the
 * biases of the float model; what samples kept aside do not approve of is taken back.
 */
#ifndef BY_QUANTIZE_SOLVE_H
#define BY_QUANTIZE_SOLVE_H

#include "quantize.h"

int by_quantize_solve(struct by_quantization *q, struct baryon_error *err);

#endif
