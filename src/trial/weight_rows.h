/*
 * Rows that decide the only scale of a weight: whether they get a product of their own.
 */
#ifndef BY_TRIAL_WEIGHT_ROWS_H
#define BY_TRIAL_WEIGHT_ROWS_H

#include "trial/quantization.h"

int by_split_rows_of_weights(struct by_quantization *q, bool *changed, struct baryon_error *err);

#endif
