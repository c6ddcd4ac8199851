/*
 * What ends a Loop: a count, as of the steps of a recurrent network, or values that it computes, as
 * of a decoder that goes on until its last token.
 */
#ifndef BY_LOOP_END_H
#define BY_LOOP_END_H

#include "ir/graph.h"

/* Types must be inferred. */
int by_loop_ends_by_values(const struct baryon_node *loop, bool *ends, struct baryon_error *err);

#endif
