/*
 * Ranges of activations by the error of the model's outputs: --activation-method output.
 *
 *   a session          of the float model with the pairs of all activations, each switched on and
 *                      off, and with its scale, by inputs
 *   errors             of each activation at the outputs, as vectors; of those with most noise, of
 *                      each factor of their range
 *   factors            with which the vectors' sum is least
 *   a candidate        with all of them, judged on held-out samples: kept or undone
 */
#ifndef BY_SEARCH_RANGES_H
#define BY_SEARCH_RANGES_H

#include "trial/quantization.h"

/* For by_quantize_options.choose_ranges. Does nothing where no activation's method asks for it.
 * Samples have to be there again. What it chose is in q->recipe.factors, and what held-out samples
 * say of it in the report. */
int by_output_ranges(struct by_quantization *q, struct baryon_error *err);

#endif
