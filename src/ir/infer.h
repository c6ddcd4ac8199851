/*
 * Types and shapes of every value, by our own rules.
 *
 * Starts from what the model declares, walks the nodes in order and applies each
 * row's rule. What is found stands in value->elem and value->shape; where no rule
 * speaks, the declared type stands, or 0 and NULL, and engine/trace.h can fill
 * them up by one run.
 *
 * A declared element type that contradicts a rule is an error, and so is a node
 * whose inputs and attributes do not fit together. In a nested graph, which may
 * never run, neither is: the node's outputs stay as declared. A declared shape that
 * contradicts a rule is common in working models; the rule wins and it is counted.
 *
 * A call of one of the model's functions gets what the function's body gives for it;
 * values inside of functions are none of the model's.
 *
 * Small integer tensors (shapes in the making) are followed by value, so that
 * Shape -> Gather -> Concat -> Reshape chains give shapes. A dimension that depends
 * on a symbol in another way than being equal to it is unknown.
 */
#ifndef BY_INFER_H
#define BY_INFER_H

#include "ir/opinfo.h"

struct by_infer_result {
    size_t values;        /* tensors seen, nested graphs included */
    size_t typed, shaped; /* of them, with known type; with known rank */
    size_t ruleless;      /* nodes whose operator has no row, or a row without rules */
    size_t conflicts;     /* declared shapes that contradict a rule */
};

/* The model must be linked. result may be NULL. */
int by_model_infer(struct baryon_model *model, struct by_infer_result *result,
                   struct baryon_error *err);

/* A value of the main graph whose elements, at most 64 integers or bool, are the same for all
 * inputs though a node computes them: items by its shape, valid during the call. */
typedef int by_known_fn(void *context, struct baryon_value *value, const int64_t *items,
                        size_t count, struct baryon_error *err);
/* As by_model_infer(), then visits those values; visits must not edit the model. */
int by_model_infer_known(struct baryon_model *model, by_known_fn *visit, void *context,
                         struct baryon_error *err);

/* Sizes that a run has shown, of a value of the main graph; NULL: none. */
typedef const struct by_shape *by_seen_fn(void *context, const struct baryon_value *value);
/* As by_model_infer(), with those in place of dimensions that are open: what stands in the values
 * then holds for such a run alone, until the model is inferred again. */
int by_model_infer_seen(struct baryon_model *model, by_seen_fn *seen, void *context,
                        struct baryon_error *err);

#endif
