/*
 * A Softmax: the operator, or one that is written out in single operators,
 * exp(x - max(x)) / sum(exp(x - max(x))), as JAX and older exporters have it. Pairs of
 * QuantizeLinear and DequantizeLinear may lie between.
 */
#ifndef BY_SOFTMAX_PARTS_H
#define BY_SOFTMAX_PARTS_H

#include "ir/graph.h"

#define BY_SOFTMAX_NODES 32

struct by_softmax_parts {
    struct baryon_value *logits; /* x, as the first node reads it */
    bool over_last_axis;
    const struct baryon_node *nodes[BY_SOFTMAX_NODES]; /* all of it, the last one first */
    size_t count;                                      /* 1: the operator */
};

/* end: its only node, or its last one: Div, or Mul with the inverse of the sum. False: it is none.
 */
bool by_softmax_parts(const struct baryon_node *end, struct by_softmax_parts *parts);

#endif
