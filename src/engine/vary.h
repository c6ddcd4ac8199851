/*
 * Which values of the main graph can have another size: for another sample, or as the sizes are
 * made from what layers compute, after NonMaxSuppression and the like. Of these two models that
 * differ a little give more or fewer, and the same ones in other places.
 */
#ifndef BY_VARY_H
#define BY_VARY_H

#include "ir/graph.h"

/* One bit a value by its index; by_free() it. The graph must be linked and settled. */
int by_graph_varying(const struct baryon_graph *graph, bool **varying, struct baryon_error *err);

/* Bits of values by their index. Whatever comes out, by_selection_release() goes with it. */
struct by_selection {
    bool *selected; /* sizes depend on what layers compute; branches are not looked into */
    bool *from;     /* floats of other sizes that selected ones are taken from */
};

/* integers: values of other types than floats that layers decide, such as what ArgMax gives, are
 * selected ones, too. */
int by_graph_selection(const struct baryon_graph *graph, bool integers,
                       struct by_selection *selection, struct baryon_error *err);
void by_selection_release(struct by_selection *selection);

#endif
