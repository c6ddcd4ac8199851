/* What quantization refuses before and between its stages. */
#ifndef BY_QUANTIZE_REFUSE_H
#define BY_QUANTIZE_REFUSE_H

#include "quantize/quantize.h"

/* A quantized model, samples that are missing. */
int by_quantize_refuse(struct baryon_model *model, const struct by_quantize_options *options,
                       struct baryon_error *err);
/* Which passes run, by their defaults and by what the recipe says; `on` has a place for each. */
int by_quantize_choose_passes(const struct by_recipe *recipe, bool *on, struct baryon_error *err);
/* A plan in which nothing is quantized. */
int by_quantize_refuse_empty(const struct by_quant_plan *plan, struct baryon_error *err);

#endif
