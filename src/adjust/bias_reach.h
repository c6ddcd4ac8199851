/* How often a convolution's window sees its input, and how often padding. */
#ifndef BY_BIAS_REACH_H
#define BY_BIAS_REACH_H

#include "ir/graph.h"

/* For each element of the kernel, in the order of the weights, the share of the output's places
 * where it lies on the input: 1 without padding, along axes of an open size (-1), and of other
 * nodes. by_free() it. dims: of the node's input; count: elements of the kernel. */
double *by_bias_reach(const struct baryon_node *node, const int64_t *dims, size_t rank,
                      size_t count, struct baryon_error *err);

#endif
