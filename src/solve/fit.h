/*
 * Scales that fit integers: all scales of an output at once, by least squares in the quadratic form
 * that descent minimizes. With values v of the integers before scales it is of the order of the
 * groups:
 *
 *     error(s) = s' A s - 2 r' s      A[g][h] = sum over i in g, j in h of v[i] gram[i][j] v[j]
 */
#ifndef BY_FIT_H
#define BY_FIT_H

#include "solve/descent.h"

struct by_fit {
    /* Rounds an output's scales to such as can be stored. Several threads call it at once. */
    void (*store)(void *context, size_t out, float *scales);
    void *context;
};

/* scales: [outs][groups], those of the problem, which get better or stay. residuals:
 * by_descent_residuals() of the integers. No offsets. A scale stays that would
 * become less than a third, or more than three times, of what it was. Same scales for any number of
 * threads. */
int by_fit_run(const struct by_descent *problem, const int32_t *integers, const float *residuals,
               const struct by_fit *fit, struct by_pool *pool, float *scales,
               struct baryon_error *err);

#endif
