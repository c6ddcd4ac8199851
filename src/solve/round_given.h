/*
 * A layer's moments where nobody shows samples: what is known is a Gram matrix of what the layer
 * reads in the float model, and the float layer gives what its weights make of that. So all else
 * follows, and what a choice of weights costs does, too.
 */
#ifndef BY_ROUND_GIVEN_H
#define BY_ROUND_GIVEN_H

#include "solve/round.h"

/* What was gathered elsewhere (stats/stats.h). */
struct by_round_given {
    uint64_t rows;
    /* Means of a group's columns: x[columns]. */
    void (*means)(void *context, size_t group, double *x);
    /* The group's Gram matrix, [columns][columns]: means over rows, around `means` unless NULL. */
    int (*gram)(void *context, size_t group, const double *means, float *gram,
                struct baryon_error *err);
    void *context;
};

/* Finished moments of a target, as by_round_solve() takes them. Whatever comes out,
 * by_round_moments_release() goes with it. */
int by_round_moments_take(struct by_round_moments *moments, const struct by_round_target *target,
                          const struct by_round_given *given, struct by_pool *pool,
                          struct baryon_error *err);

/* Mean squared errors of choices, as by_round_errors_look() adds them up over samples. moments: as
 * taken, of the samples that are to judge. */
int by_round_errors_take(struct by_round_errors *errors, const struct by_round_target *target,
                         const struct by_round_moments *moments, struct by_pool *pool,
                         struct baryon_error *err);

#endif
