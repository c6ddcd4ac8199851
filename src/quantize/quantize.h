/*
 * Quantization as a whole:
 *
 *   refuse -> exclude -> passes -> place -> equalize -> calibrate -> parameters -> refine -> biases
 *   -> lower
 *
 * Loading, saving and reporting are the caller's.
 */
#ifndef BY_QUANTIZE_H
#define BY_QUANTIZE_H

#include "trial/quantization.h"

/*
 * Everything up to the final parameters: what `baryon plan` shows. The model must be linked
 * and inferred. Whatever comes out, by_quantization_close() goes with it.
 */
int by_quantization_open(struct by_quantization *quantization, struct baryon_model *model,
                         const struct by_quantize_options *options, struct baryon_error *err);
/* The model becomes the quantized one. Once. */
int by_quantization_lower(struct by_quantization *quantization, struct baryon_error *err);
/* Before that, for a model of so many bytes that is to be written to `out`: from some size on
 * new weights stand in a nameless file beside it until they are saved; where there can be none,
 * in memory. */
void by_quantization_spill(struct by_quantization *quantization, const char *out, uint64_t bytes);
void by_quantization_close(struct by_quantization *quantization);

#endif
