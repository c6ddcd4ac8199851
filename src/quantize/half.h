/* Models that compute in float16 or bfloat16, or in part. */
#ifndef BY_QUANTIZE_HALF_H
#define BY_QUANTIZE_HALF_H

#include "quantize/quantize.h"

/* True when what is float16 or bfloat16 becomes float32 before anything else, but for nodes that
 * are excluded, inputs and outputs. The model's types are known. */
bool by_quantize_widens(const struct baryon_model *model, const struct by_recipe *recipe);
/* What stays float16 though the recipe's operators take none. */
int by_quantize_refuse_half(const struct baryon_model *model, const struct by_recipe *recipe,
                            struct baryon_error *err);

#endif
