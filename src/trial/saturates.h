/*
 * Outputs that saturate: where a Softmax or Sigmoid ends a model, a few samples near the middle
 * make nearly all of an output's error, and the others say nothing. What such a node reads differs
 * on all samples, so candidates are judged on that too.
 */
#ifndef BY_TRIAL_SATURATES_H
#define BY_TRIAL_SATURATES_H

#include "ir/model.h"

struct by_unsaturated {
    struct baryon_value *value; /* what the node reads; lives as long as the model */
    bool centred;               /* of a Softmax over the last axis: its mean there is no matter */
};

/* What an output's Softmax, in one operator or several, Sigmoid or HardSigmoid reads, through
 * operators that only move values, Q/DQ pairs and constant factors included; false where there is
 * none. */
bool by_unsaturated_find(const struct baryon_value *output, struct by_unsaturated *found);
/* Those of all outputs that have one, each once, in their order; how many. left_out: outputs that
 * are not looked at; NULL: none. */
size_t by_unsaturated_all(const struct baryon_graph *graph, const bool *left_out,
                          struct by_unsaturated *found, size_t most);

#endif
