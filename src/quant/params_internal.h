/* The steps of finding parameters. */
#ifndef BY_PARAMS_INTERNAL_H
#define BY_PARAMS_INTERNAL_H

#include "quant/params.h"

bool by_params_wants_stats(const struct by_quant_row *row);
/* One scale and zero point for a whole tensor, out of row->range. */
int by_params_of_range(struct by_quant_plan *plan, struct by_quant_row *row,
                       struct baryon_error *err);
int by_params_activations(struct by_quant_plan *plan, struct by_stats *stats, struct by_pool *pool,
                          struct baryon_error *err);
int by_params_constants(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err);
/* Biases that have their scale from others, and weights that have to leave room for them. */
int by_params_biases(struct by_quant_plan *plan, struct baryon_error *err);

#endif
