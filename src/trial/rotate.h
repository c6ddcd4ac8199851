/* Decides whether and what of a model rotates. */
#ifndef BY_TRIAL_ROTATE_H
#define BY_TRIAL_ROTATE_H

#include "trial/quantization.h"

/* Before smoothing, which reads what it leaves. *changed: Q/DQ pairs have to be inserted again. */
int by_rotate(struct by_quantization *q, bool *changed, struct baryon_error *err);

#endif
