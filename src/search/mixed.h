/*
 * Layers in a narrower type, where that costs little: recipe->mixed.
 *
 *   rules for operators   all layers that multiply have the narrower type
 *   a quantization        of a copy of the model, with samples held out
 *   decisions             which activations and weights have the recipe's own type all the same
 *   the quantization      of the model, with the rules of these
 */
#ifndef BY_MIXED_H
#define BY_MIXED_H

#include "quantize/quantize.h"
#include "settings/rules.h"

/* What by_mixed_open() made for a quantization; it has to live as long. All zero is fine. */
struct by_mixed {
    struct by_quantize_options options;
    struct by_recipe recipe;
    struct by_arena arena;
    struct by_rule_list rules;
};

/* by_quantization_open(), whose contract it has, with what the samples say of options->recipe's
 * layers. Whatever the result, by_mixed_close() is required after by_quantization_close(). */
int by_mixed_open(struct by_mixed *mixed, struct by_quantization *q, struct baryon_model *model,
                  const struct by_quantize_options *options, struct baryon_error *err);
void by_mixed_close(struct by_mixed *mixed);

#endif
