/* Weights that the written model has twice: as integers, and as floats for nodes that stay so. */
#ifndef BY_QUANTIZE_TWICE_H
#define BY_QUANTIZE_TWICE_H

#include "quantize/quantize.h"

/* Before lowering. */
void by_quantize_tell_twice(const struct by_quantization *q);

#endif
