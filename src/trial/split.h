/* Decides whether channels with outliers are split off. */
#ifndef BY_TRIAL_SPLIT_H
#define BY_TRIAL_SPLIT_H

#include "trial/trial.h"

/* Whether it is for samples to decide, and the model that the trial saw has such channels. */
int by_split_may_be_tried(const struct by_quantization *q, struct by_trial *trial, bool *may,
                          struct baryon_error *err);
/* After smoothing, unless splitting by itself does more than that. *changed: Q/DQ pairs have to be
 * inserted again. */
int by_split_outliers(struct by_quantization *q, bool *changed, struct baryon_error *err);

#endif
