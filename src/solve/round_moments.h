/*
 * What a layer's rounding needs to know of samples: the Gram matrix of what it reads in the
 * quantized model, and the products of that with what it gives in the float one. Added sample by
 * sample; the same for any number of threads. Where the layer may be solved on its rows, and is so
 * with less work, these are kept in place of the Gram matrix: the first sample with rows decides.
 */
#ifndef BY_ROUND_MOMENTS_H
#define BY_ROUND_MOMENTS_H

#include "solve/descent.h"
#include "solve/round_rows.h"

struct by_round_moments {
    size_t groups, outs, columns;
    uint64_t rows;
    size_t samples; /* that are to come, where rows may be kept; 0: they may not */
    /* [groups][columns][columns]; the upper triangle until it is finished. NULL: there are rows. */
    float *gram;
    struct by_descent_rows kept;
    float *values; /* of kept */
    bool centred;
    float *cross;  /* [groups][outs][columns] */
    double *x, *y; /* [groups * columns], [groups * outs]: sums, then means */
};

int by_round_moments_init(struct by_round_moments *moments, const struct by_round_target *target,
                          struct baryon_error *err);
void by_round_moments_release(struct by_round_moments *moments);
int by_round_moments_look(struct by_round_moments *moments, struct by_round_scratch *scratch,
                          const struct by_round_target *target, const struct by_array *x,
                          const struct by_array *y, uint64_t sample, struct baryon_error *err);
/* Sums become means; centred: around the means of x and y. Once, with rows > 0. */
int by_round_moments_finish(struct by_round_moments *moments, bool centred, struct by_pool *pool,
                            struct baryon_error *err);

#endif
