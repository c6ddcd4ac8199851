/*
 * What outputs are measured by: each output as a whole, and after it the parts that a Concat joins
 * from results of different kinds, as boxes and scores.
 */
#ifndef BY_EVALUATE_PARTS_H
#define BY_EVALUATE_PARTS_H

#include "trial/joined.h"

struct by_measured_outputs {
    size_t count;             /* of outputs and parts */
    const char **names;       /* theirs, in order */
    struct by_joined *joined; /* one an output */
};

/* Of the model's outputs of those names. The model is inferred; where that fails there are no
 * parts. */
int by_measured_outputs_find(struct by_measured_outputs *measured, struct baryon_model *model,
                             const char *const *outputs, size_t count, struct by_arena *arena,
                             struct baryon_error *err);

#endif
