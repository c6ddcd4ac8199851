/* Decides whether and how a model is smoothed. */
#ifndef BY_TRIAL_SMOOTH_H
#define BY_TRIAL_SMOOTH_H

#include "trial/quantization.h"

/* After the choices of the config, before equalization. *changed: Q/DQ pairs have to be inserted
 * again. */
int by_smooth(struct by_quantization *q, bool *changed, struct baryon_error *err);

#endif
