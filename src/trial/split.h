/* Decides whether channels with outliers are split off. */
#ifndef BY_TRIAL_SPLIT_H
#define BY_TRIAL_SPLIT_H

#include "trial/quantization.h"

/* After smoothing, whose factors come first. *changed: Q/DQ pairs have to be inserted again. */
int by_split_outliers(struct by_quantization *q, bool *changed, struct baryon_error *err);

#endif
