/*
 * What the files round*.c share.
 */
#ifndef BY_ROUND_INTERNAL_H
#define BY_ROUND_INTERNAL_H

#include "solve/descent.h"
#include "solve/round.h"

/* The target with scales that are its own, or others that are tried. */
struct by_round_problem {
    const struct by_round_target *target;
    const float *scales; /* as the target's */
    bool free;           /* integers may leave the two next to the weights */
};

/* One group, without moments. */
struct by_descent by_round_group(const struct by_round_problem *problem, size_t group);
/* What the choice's integers mean. */
void by_round_set_weights(const struct by_round_target *target, struct by_round_choice *choice);
/* Biases become what they are going to be. */
int by_round_biases(const struct by_round_target *target, float *biases, struct baryon_error *err);

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
int by_round_feed_back(const struct by_round_problem *problem,
                       const struct by_round_moments *moments, struct by_pool *pool,
                       int32_t *integers, struct baryon_error *err);
/* Integers go downhill in the layer's moments, from where they are. gains: by output, how much. */
int by_round_descend(const struct by_round_problem *problem, const struct by_round_moments *moments,
                     struct by_pool *pool, int32_t *integers, double *gains,
                     struct baryon_error *err);
/* The same, from so many starts or by relaxation as options say. */
int by_round_find(const struct by_round_problem *problem, const struct by_round_moments *moments,
                  const struct by_round_options *options, struct by_pool *pool, int32_t *integers,
                  struct baryon_error *err);
/* Scales with the integers, from those of the choice, which gets both; none where the scales stay
 * as they are. cross is gram times the float weights here. */
int by_round_scale(const struct by_round_problem *problem, const struct by_round_moments *moments,
                   struct by_pool *pool, struct by_round_choice *choice, struct baryon_error *err);

#endif
