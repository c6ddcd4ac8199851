/*
 * Figures of a plan that depend on the sizes that samples have.
 */
#ifndef BY_QUANTIZE_SIZES_H
#define BY_QUANTIZE_SIZES_H

#include "quantize/quantize.h"

/* Where inputs have open dimensions: counts the multiply-adds of nodes once more, with the sizes
 * that the statistics tell, or without statistics for a batch of 1. What the values' shapes are is
 * left as it was. */
int by_quantize_count_macs(struct by_quantization *quantization, struct baryon_error *err);

#endif
