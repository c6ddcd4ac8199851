/* The stage of equalization: whether, and in which way. */
#ifndef BY_TRIAL_EQUALIZE_H
#define BY_TRIAL_EQUALIZE_H

#include "trial/quantization.h"

/* *changed: the model is another one, and has to be placed anew. */
int by_equalize(struct by_quantization *quantization, bool *changed, struct baryon_error *err);

/* Whether candidates of equalization are going to be compared on samples. */
bool by_equalize_is_tried(const struct by_quant_plan *plan);

#endif
