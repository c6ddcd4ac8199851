/*
 * A layer as its solver sees it: groups of outputs, each the product of a row of columns
 * (stats/moments.h) with weights of its own, and a bias.
 */
#ifndef BY_ROUND_LAYER_H
#define BY_ROUND_LAYER_H

#include "moments/moments.h"
#include "quant/plan.h"

#include <math.h>

struct by_round_layer {
    struct by_moments_layer rows; /* how columns come out of the input */
    struct baryon_node *node;
    size_t weight;                /* row of the plan */
    struct baryon_value *bias;    /* its own, to be changed; NULL: none */
    size_t groups, outs, columns; /* outs, columns: of a group */
    /* From (group, out, column) to the tensor's element. */
    size_t group_stride, out_stride, column_stride, inside;
    float low, high; /* what the activation behind it sees (solve/round_behind.h) */
};

/* False where the node is none, or one that its solver leaves alone. */
bool by_round_layer_of(const struct by_quant_plan *plan, struct baryon_node *node,
                       struct by_round_layer *layer);
static inline size_t by_round_element(const struct by_round_layer *layer, size_t group, size_t out,
                                      size_t column)
{
    return group * layer->group_stride + out * layer->out_stride +
           column / layer->inside * layer->column_stride + column % layer->inside;
}
/* The activation behind does not see all that it gives. */
static inline bool by_round_hides(const struct by_round_layer *layer)
{
    return layer->low > -INFINITY || layer->high < INFINITY;
}
/* All layers in the order of the graph; by_free() *layers. */
int by_round_layers(const struct by_quant_plan *plan, struct by_round_layer **layers, size_t *count,
                    struct baryon_error *err);

#endif
