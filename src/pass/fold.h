/* Evaluating nodes that read constants alone, for fold_constants.c. */
#ifndef BY_FOLD_H
#define BY_FOLD_H

#include "pass/pass.h"

/* A value of `graph` and the tensor it always is; NULL: the runtime could not tell. */
struct by_folded {
    struct baryon_value *value;
    struct baryon_tensor *tensor;
};

/*
 * Runs the nodes that the values need, which read constants alone, in ONNX Runtime, and makes
 * tensors of the model's. What it cannot run is left out, alone.
 */
int by_fold_evaluate(struct by_pass_context *context, struct baryon_graph *graph,
                     struct by_folded *values, size_t count, struct baryon_error *err);

#endif
