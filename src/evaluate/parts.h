/*
 * What outputs are measured by: each output as a whole, and after it the parts that a Concat joins
 * from results of different kinds, as boxes and scores.
 */
#ifndef BY_EVALUATE_PARTS_H
#define BY_EVALUATE_PARTS_H

#include "evaluate/evaluate.h"
#include "trial/joined.h"

struct by_measured_outputs {
    size_t count;             /* of outputs and parts */
    const char **names;       /* theirs, in order */
    struct by_joined *joined; /* one an output */
};

/* Of the model's outputs of those names. The model is inferred; where that fails, and where it is
 * NULL, there are no parts. */
int by_measured_outputs_find(struct by_measured_outputs *measured, struct baryon_model *model,
                             const char *const *outputs, size_t count, struct by_arena *arena,
                             struct baryon_error *err);
/* Adds each part of a pair of one shape, the first at `place`; nothing where it is a whole. */
int by_evaluation_add_parts(struct by_evaluation *evaluation, const struct by_joined *parts,
                            size_t place, const char *sample, const struct by_array *baseline,
                            const struct by_array *result, struct baryon_error *err);

#endif
