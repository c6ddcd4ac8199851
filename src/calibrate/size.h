/*
 * How much memory the values take that a run of the model holds at once: what one more sample
 * side by side costs. Known from the model alone, or not at all.
 */
#ifndef BY_CALIBRATE_SIZE_H
#define BY_CALIBRATE_SIZE_H

#include "ir/graph.h"

/* *bytes: an estimate, which takes each value for one that is computed and read in the graph's
 * order; UINT64_MAX where some size is not known. Linked, settled and inferred. */
int by_activation_bytes(const struct baryon_graph *graph, uint64_t *bytes,
                        struct baryon_error *err);

#endif
