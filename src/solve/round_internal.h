/*
 * What the files round.c and round_solve.c share.
 */
#ifndef BY_ROUND_INTERNAL_H
#define BY_ROUND_INTERNAL_H

#include "solve/descent.h"
#include "solve/round.h"

/* A layer's weights with their scales, all groups. */
struct by_round_problem {
    struct by_descent first; /* of group 0, without moments */
    float *weights, *scales;
    int32_t *zeros;
};

int by_round_problem_open(struct by_round_problem *problem, const struct by_quant_plan *plan,
                          const struct by_round_layer *layer, struct baryon_error *err);
void by_round_problem_close(struct by_round_problem *problem);
struct by_descent by_round_group(const struct by_round_problem *problem, size_t group);

/* What the integers of so many outputs mean. */
void by_round_set_weights(const struct by_round_problem *problem, size_t outs,
                          struct by_round_choice *choice);
/* Biases become what they are going to be. */
int by_round_quantize_biases(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                             struct by_pool *pool, float *biases, struct baryon_error *err);

#endif
