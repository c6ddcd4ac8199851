/*
 * Layers of a plan whose rounding can be solved: their nodes, rows and strides.
 */
#ifndef BY_ROUNDING_LAYERS_H
#define BY_ROUNDING_LAYERS_H

#include "moments/moments.h"
#include "quant/plan.h"

struct by_rounding_layer {
    struct by_moments_layer rows; /* how columns come out of the input */
    struct baryon_node *node;
    size_t weight;                /* row of the plan */
    struct baryon_value *bias;    /* its own, to be changed; NULL: none */
    size_t groups, outs, columns; /* outs, columns: of a group */
    /* From (group, out, column) to the tensor's element. */
    size_t group_stride, out_stride, column_stride, inside;
    float low, high; /* what the activation after it sees */
};

/* False where the node is none, or one that its solver leaves alone. */
bool by_rounding_layer_of(const struct by_quant_plan *plan, struct baryon_node *node,
                          struct by_rounding_layer *layer);
/* All layers in the order of the graph; by_free() *layers. */
int by_rounding_layers(const struct by_quant_plan *plan, struct by_rounding_layer **layers,
                       size_t *count, struct baryon_error *err);

/* False where the weight's parameters are none that its columns can be rounded with. */
bool by_rounding_can(const struct by_quant_plan *plan, const struct by_rounding_layer *layer);
/* Its weights become floats of fewer bits or blocks: the plan keeps values for them. */
bool by_rounding_has_steps(const struct by_quant_plan *plan, const struct by_rounding_layer *layer);
/* False where such weights have NaN or infinity, beside which nothing else counts. */
int by_rounding_is_finite(const struct by_quant_plan *plan, const struct by_rounding_layer *layer,
                          bool *finite, struct baryon_error *err);
/* Nobody gave the row's scales, and they may have any value, or any power of two. */
bool by_rounding_may_move(const struct by_quant_row *row);
/* That holds of the layer's weight, and its scales are its own. */
bool by_rounding_may_scale(const struct by_quant_plan *plan, const struct by_rounding_layer *layer);

/* What the activation after a node sees: -INFINITY, INFINITY where that is everything. */
void by_rounding_seen(const struct baryon_node *node, float *low, float *high);

static inline size_t by_rounding_element(const struct by_rounding_layer *layer, size_t group,
                                         size_t out, size_t column)
{
    return group * layer->group_stride + out * layer->out_stride +
           column / layer->inside * layer->column_stride + column % layer->inside;
}
static inline size_t by_rounding_weight_count(const struct by_rounding_layer *layer)
{
    return layer->groups * layer->outs * layer->columns;
}

#endif
