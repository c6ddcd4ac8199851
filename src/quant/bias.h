/* Biases whose scale follows from others, and integers that stay when scales move. */
#ifndef BY_BIAS_H
#define BY_BIAS_H

#include "quant/plan.h"

/* Biases with the scale of their input times that of their weight get it, as both are now. */
int by_bias_scales(struct by_quant_plan *plan, struct baryon_error *err);
/* Keeps a constant's nearest integers of the scale that it has now (row->rounded). */
int by_row_freeze(struct by_quant_plan *plan, size_t row, struct baryon_error *err);

#endif
