/* The stage of equalization: whether, and in which way. */
#ifndef BY_TRIAL_EQUALIZE_H
#define BY_TRIAL_EQUALIZE_H

#include "trial/trial.h"

/* *changed: the model is another one, and has to be placed anew. */
int by_equalize(struct by_quantization *quantization, bool *changed, struct baryon_error *err);

/* Whether candidates of equalization are going to be compared on samples. */
bool by_equalize_is_tried(const struct by_quant_plan *plan);

/* Whether samples may say that biases are corrected, or are not. */
int by_judges_biases(const struct by_quantization *q, bool *judges, struct baryon_error *err);
/* Asks them, of the best candidate so far. */
int by_choose_biases(const struct by_quantization *q, struct by_trial *trial,
                     struct by_candidate *best, struct baryon_error *err);

#endif
