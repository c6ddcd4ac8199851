/*
 * Layers of a graph that have moments (moments/moments.h): which nodes, and what columns come out
 * of their inputs. Names live in the model.
 */
#ifndef BY_LAYERS_H
#define BY_LAYERS_H

#include "ir/graph.h"
#include "moments/moments.h"

/* The tensor after a value that is the same in every run: an initializer, a Constant, or one of
 * them through Identity and Cast. NULL when it is none. */
const struct baryon_tensor *by_layer_constant(const struct baryon_value *value);
/* False when the node is no layer with constant weights, or one that has no moments. */
bool by_layer_of_node(const struct baryon_graph *graph, const struct baryon_node *node,
                      struct by_moments_layer *layer);
/* The same columns of what the layer reads before nodes that hand it on or put zeros around it: a
 * layer is the same before and after passes that fold these. */
void by_layer_to_source(const struct baryon_graph *graph, struct by_moments_layer *layer);
/* All of the main graph, in its order, with their sources; by_free() *layers. */
int by_layers_find(const struct baryon_graph *graph, struct by_moments_layer **layers,
                   size_t *count, struct baryon_error *err);

#endif
