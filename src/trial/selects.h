/*
 * Outputs that a model selects by values, as detectors do with NonMaxSuppression: a little error
 * makes more or fewer of them, so that no measure can compare them place by place. What they are
 * selected from is compared in their stead; of models that give integers alone, as ArgMax does,
 * what these are made from.
 */
#ifndef BY_TRIAL_SELECTS_H
#define BY_TRIAL_SELECTS_H

#include "ir/graph.h"

#define BY_SELECTS_MOST 8 /* values that stand for outputs; with more the outputs stay */

struct by_selects {
    size_t count; /* of values that stand for outputs, and are none themselves */
    struct baryon_value *values[BY_SELECTS_MOST];
    bool *left_out; /* of the graph's outputs: others stand for it; NULL: no output is selected */
};

/* Infers types, where nothing did. Whatever comes out, by_selects_release() goes with it. */
int by_selects_find(struct baryon_model *model, struct by_selects *found, struct baryon_error *err);
/* The value of that name in a quantized graph, which may have its integers instead; or NULL. */
struct baryon_value *by_selects_value(const struct baryon_graph *graph, const char *name);
void by_selects_release(struct by_selects *found);

#endif
