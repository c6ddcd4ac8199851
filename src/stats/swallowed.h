/*
 * Values that fusions swallow: they exist in the written model alone, neither the
 * runtime nor the quantized model keeps them.
 */
#ifndef BY_SWALLOWED_H
#define BY_SWALLOWED_H

#include "ir/graph.h"

/* Marks, by value->index, those of a linked graph. constant: by value->index too. */
void by_swallowed_mark(const struct baryon_graph *graph, const bool *constant, bool *swallowed);

#endif
