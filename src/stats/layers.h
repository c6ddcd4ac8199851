/*
 * Layers of a graph that have moments (moments/moments.h): which nodes, and what columns come out
 * of their inputs. Names live in the model.
 */
#ifndef BY_LAYERS_H
#define BY_LAYERS_H

#include "ir/graph.h"
#include "moments/moments.h"

/* False when the node is no layer with constant weights, or one that has no moments. */
bool by_layer_of_node(const struct baryon_graph *graph, const struct baryon_node *node,
                      struct by_moments_layer *layer);
/* All of the main graph, in its order; by_free() *layers. */
int by_layers_find(const struct baryon_graph *graph, struct by_moments_layer **layers,
                   size_t *count, struct baryon_error *err);

#endif
