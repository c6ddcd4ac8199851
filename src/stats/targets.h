/*
 * Which values of a model are looked at.
 *
 * Those of float types in the main graph that are no constants and that a quantized model
 * may need a range for. Left out are values that the runtime, and the quantized model as well,
 * never sees because a fusion swallows them: what goes from a Conv, Gemm, MatMul, Add or
 * BatchNormalization into nothing but its activation, from a Conv into its BatchNormalization,
 * and the insides of LayerNormalization, Gelu and the like written out in single nodes.
 */
#ifndef BY_TARGETS_H
#define BY_TARGETS_H

#include "ir/graph.h"

enum by_target_choice {
    BY_TARGETS_SEEN, /* without what fusions swallow */
    BY_TARGETS_ALL,  /* every float value of the main graph */
};

struct by_target {
    const char *name;
    int64_t elem;
    int channel_axis; /* where its channels lie, -1: not known */
    bool feeds;       /* a Conv or Gemm with constant weights reads it, channels along axis 1 */
};

/* In the graph's order: inputs, then outputs of nodes. The model must be linked and inferred.
 * by_free() *targets. */
int by_targets_find(const struct baryon_graph *graph, enum by_target_choice choice,
                    struct by_target **targets, size_t *count, struct baryon_error *err);

#endif
