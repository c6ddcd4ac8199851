/* The stage of equalization: whether, and in which way. */
#ifndef BY_QUANTIZE_EQUALIZE_H
#define BY_QUANTIZE_EQUALIZE_H

#include "quantize.h"

/* *changed: the model is another one, and has to be placed anew. */
int by_quantize_equalize(struct by_quantization *quantization, bool *changed,
                         struct baryon_error *err);

#endif
