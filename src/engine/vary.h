/*
 * Which values of the main graph can have another size for another sample.
 */
#ifndef BY_VARY_H
#define BY_VARY_H

#include "ir/graph.h"

/* One bit a value by its index; by_free() it. The graph must be linked and settled. */
int by_graph_varying(const struct baryon_graph *graph, bool **varying, struct baryon_error *err);

#endif
