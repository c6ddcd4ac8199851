/* Nodes that MatMulNBits, MatMulInteger and the like cannot take the place of, and why. */
#ifndef BY_UNFIT_H
#define BY_UNFIT_H

#include "ir/graph.h"
#include "quant/recipe.h"

/* NULL: the node can be lowered that way. Approach NBITS or DYNAMIC. */
const char *by_unfit(const struct baryon_node *node, const struct by_recipe *recipe);
/* True when a value is one number a channel: a row that ends in `channels`. */
bool by_unfit_bias_is_row(const struct baryon_value *bias, size_t channels);

#endif
