/*
 * Types and shapes by one run of a sample: every value whose type or shape no rule
 * gave is made an output of a copy of the model, which runs once. Dimensions that
 * follow a symbolic input dimension stay unknown unless they agree with a rule;
 * those seen are recorded as sizes only for values of fully static inputs.
 */
#ifndef BY_TRACE_H
#define BY_TRACE_H

#include "engine/session.h"
#include "ir/graph.h"

/* The model must be linked and inferred. inputs: one sample. */
int by_model_trace(struct baryon_model *model, const struct by_array *inputs, size_t input_count,
                   const struct by_session_options *options, struct baryon_error *err);

#endif
