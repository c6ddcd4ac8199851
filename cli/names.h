/* Declares suggestions for misspelled names of a graph. */
#ifndef BY_NAMES_H
#define BY_NAMES_H

#include "ir/graph.h"

/* The nearest name of a value, and of a node when asked for; NULL when none is near. */
const char *by_graph_nearest(const struct baryon_graph *graph, const char *name, bool nodes_too);

#endif
