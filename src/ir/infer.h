/*
 * Types and shapes of every value, by our own rules.
 *
 * Starts from what the model declares, walks the nodes in order and applies each
 * row's rule. What is found stands in value->elem and value->shape; where no rule
 * speaks they stay 0 and NULL, and engine/trace.h can fill them up by one run.
 * Declared types that contradict a rule are an error.
 *
 * Small integer tensors (shapes in the making) are followed by value, so that
 * Shape -> Gather -> Concat -> Reshape chains give shapes.
 */
#ifndef BY_INFER_H
#define BY_INFER_H

#include "ir/opinfo.h"

struct by_infer_result {
    size_t values;          /* tensors seen */
    size_t typed, shaped;   /* of them, with known type; with known rank */
    size_t ruleless;        /* nodes whose operator has no rule */
};

/* The model must be linked. result may be NULL. */
int by_model_infer(struct baryon_model *model, struct by_infer_result *result,
                   struct baryon_error *err);

#endif
