/*
 * Types and shapes from ONNX Runtime, where our rules have none.
 *
 * Every value of the main graph whose type, rank or a dimension is unknown is made an
 * output of a copy of the model. Opening it gives what ONNX Runtime infers; one run of
 * a sample gives the rest:
 *  - types and ranks, always;
 *  - sizes, where they cannot be others for another sample: the value depends on no
 *    input with an open dimension, and no operator makes its size from data
 *    (NonZero, or a Reshape by a computed shape). The others stay unknown.
 * What is known already is left alone. Values of nested graphs and of functions, and
 * those that are no tensors, are left as they are.
 */
#ifndef BY_TRACE_H
#define BY_TRACE_H

#include "engine/session.h"
#include "ir/graph.h"

struct by_trace_result {
    size_t asked;  /* values with something unknown */
    size_t opened; /* of them, those of which opening told something */
    size_t ran;    /* and those of which the run did */
    size_t left;   /* of those asked, with something still unknown */
};

/*
 * The model must be linked and inferred. inputs: one sample; NULL: nothing is run.
 * result may be NULL.
 */
int by_model_trace(struct baryon_model *model, const struct by_array *inputs, size_t input_count,
                   const struct by_session_options *options, struct by_trace_result *result,
                   struct baryon_error *err);

#endif
