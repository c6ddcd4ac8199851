/*
 * Between a plan and the solver of one layer (solve/round_target.h): a layer's weights, scales and
 * biases as arrays in the solver's order, and its choice back into the plan and the float model.
 */
#ifndef BY_ROUNDING_TARGET_H
#define BY_ROUNDING_TARGET_H

#include "base/par.h"
#include "rounding/layers.h"
#include "solve/round.h"

struct by_rounding_target {
    struct by_round_target target;
    const struct by_quant_plan *plan;
    const struct by_rounding_layer *layer;
    struct by_pool *pool;
    float *weights, *biases, *scales, *held, *nearest;
    int32_t *zeros;
    size_t *units;
};

/* As plan and model are now; both and the layer have to live as long, and the target stays where it
 * is. Whatever comes out, by_rounding_target_close() goes with it. */
int by_rounding_target_open(struct by_rounding_target *target, const struct by_quant_plan *plan,
                            const struct by_rounding_layer *layer, struct by_pool *pool,
                            struct baryon_error *err);
void by_rounding_target_close(struct by_rounding_target *target);

/* From the tensor's order to the solver's, and back. */
void by_rounding_gather(const struct by_rounding_layer *layer, const float *from, float *to);
void by_rounding_scatter(const struct by_rounding_layer *layer, const float *from, float *to);
/* The choice's scales in the order of the weight's parameters. */
void by_rounding_scales(const struct by_quant_plan *plan, const struct by_rounding_layer *layer,
                        const struct by_round_choice *choice, float *scales);
/* Which of the weight's parameters an output's first span has. */
size_t by_rounding_params_of(const struct by_rounding_layer *layer, const struct by_params *params,
                             size_t out);
/* They have a scale of their own, not one of fine steps that follows from others. */
bool by_rounding_coarse_biases(const struct by_quant_plan *plan,
                               const struct by_rounding_layer *layer);
/* Biases become what the plan's scales make of them. */
int by_rounding_biases(const struct by_quant_plan *plan, const struct by_rounding_layer *layer,
                       struct by_pool *pool, float *biases, struct baryon_error *err);
/* The plan's row and the float model's bias become the choice's. */
int by_rounding_take(struct by_quant_plan *plan, const struct by_rounding_layer *layer,
                     const struct by_round_choice *choice, struct by_pool *pool,
                     struct baryon_error *err);

#endif
