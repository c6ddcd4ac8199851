/* The stage that corrects biases: means of what layers read, by samples. */
#ifndef BY_QUANTIZE_BIASES_H
#define BY_QUANTIZE_BIASES_H

#include "quantize.h"

/* Behind the rules of hardware, which are asked again where something changed. */
int by_quantize_biases(struct by_quantization *quantization, struct baryon_error *err);

#endif
