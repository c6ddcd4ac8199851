/*
 * What the files round*.c share.
 */
#ifndef BY_ROUND_INTERNAL_H
#define BY_ROUND_INTERNAL_H

#include "solve/descent.h"
#include "solve/round.h"

/* A layer's weights with their scales, all groups. */
struct by_round_problem {
    struct by_descent first; /* of group 0, without moments */
    float *weights, *scales;
    float *held; /* weights within what their grid holds, which integers come to be next to; NULL:
                    these are the weights */
    int32_t *zeros;
};

int by_round_problem_open(struct by_round_problem *problem, const struct by_quant_plan *plan,
                          const struct by_round_layer *layer, struct by_pool *pool,
                          struct baryon_error *err);
void by_round_problem_close(struct by_round_problem *problem);
struct by_descent by_round_group(const struct by_round_problem *problem, size_t group);

/* What the integers of so many outputs mean. */
void by_round_set_weights(const struct by_round_problem *problem, size_t outs,
                          struct by_round_choice *choice);
bool by_round_bias_is_coarse(const struct by_quant_plan *plan, const struct by_round_layer *layer);
/* From the tensor's order to that of a problem. */
void by_round_gather(const struct by_round_layer *layer, const float *from, float *to);

/* --- Floats and blocks, whose weights have a step each (round_grid.c) --- */

bool by_round_grid_can(const struct by_quant_plan *plan);
/* weights: in the tensor's order. */
int by_round_grid_set(struct by_round_problem *problem, const struct by_quant_plan *plan,
                      const struct by_round_layer *layer, const float *weights,
                      struct by_pool *pool, struct baryon_error *err);
/* What their operators make of the weights. */
int by_round_grid_nearest(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                          struct by_pool *pool, float *weights, struct baryon_error *err);
/* Biases become values that their row leaves as they are. */
int by_round_grid_biases(const struct by_quant_plan *plan, size_t row, struct by_pool *pool,
                         float *biases, size_t count, struct baryon_error *err);
int by_round_grid_take(struct by_quant_plan *plan, const struct by_round_layer *layer,
                       const float *weights, struct baryon_error *err);

/* --- The quadratic form that moments are (round_form.c) --- */

/* A group's form becomes that of the problem. */
void by_round_pose(const struct by_round_moments *moments, size_t group,
                   struct by_descent *problem);
/* What is aimed at gets a share of what float weights give on the same inputs. Where inputs carry
 * much noise, what the float layer gave is best met by weights that are all too small, and layer
 * after layer the signal fades; what the float weights give does not ask for that. */
int by_round_mix(const struct by_round_moments *moments, const float *weights, double share,
                 struct by_pool *pool, struct baryon_error *err);
/* What samples do not tell is left where the float weights are. */
void by_round_damp(struct by_round_moments *moments, const float *weights, double damping);
/* From the matrix around the means to that of the values. */
void by_round_uncentre(struct by_round_moments *moments);

/* Integers of GPTQ for the layer's moments, anywhere within the levels. */
int by_round_feed_back(const struct by_round_problem *problem, const struct by_round_layer *layer,
                       const struct by_round_moments *moments, struct by_pool *pool,
                       int32_t *integers, struct baryon_error *err);
/* Integers go downhill in the layer's moments, from where they are. */
int by_round_descend(const struct by_round_problem *problem, const struct by_round_layer *layer,
                     const struct by_round_moments *moments, struct by_pool *pool,
                     int32_t *integers, struct baryon_error *err);
/* The same, from so many starts or by relaxation as options say. */
int by_round_find(const struct by_round_problem *problem, const struct by_round_layer *layer,
                  const struct by_round_moments *moments, const struct by_round_options *options,
                  struct by_pool *pool, int32_t *integers, struct baryon_error *err);
/* Scales with the integers, from those of the choice, which gets both; none where the scales stay
 * as they are. units: by output, which of them have the same scales. cross is gram times the float
 * weights here. */
int by_round_scale(const struct by_round_problem *problem, const struct by_round_layer *layer,
                   const struct by_round_moments *moments, const size_t *units, bool pow2,
                   struct by_pool *pool, struct by_round_choice *choice, struct baryon_error *err);
void by_round_units(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                    size_t *units);
#endif
