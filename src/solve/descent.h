/*
 * Rounding that looks at what the layer reads. The squared error that an output of a layer has
 * on the samples is a quadratic form of its weights,
 *
 *     error(w) = w' gram w - 2 cross' w   (+ what does not depend on w)
 *
 * with gram = E[x x'] of the inputs and cross = E[y x'] of the wanted output y; where a bias takes
 * the mean, both of them centred. Descent steps through the integers of an output, one level at a
 * time, as long as a step makes that error less. Inputs that hang together let errors of rounding
 * cancel each other, which nearest integers leave to chance.
 *
 * The caller damps gram (adds to its diagonal what keeps few samples from being over-fitted, and
 * the same times the weights to cross). Any gram is fine, singular ones and those with columns of
 * zeros too: a column without a positive diagonal element keeps its integers.
 */
#ifndef BY_DESCENT_H
#define BY_DESCENT_H

#include "base/par.h"

#define BY_DESCENT_SWEEPS 12

/* What samples say, in place of gram = values' values / count + damping on the diagonal. */
struct by_descent_rows {
    size_t count;
    size_t stride;       /* from one column to the next, count or more */
    const float *values; /* [columns][stride], around their means where gram is */
    float damping;
};

/* Where a value is not (q - zero) * scale but level(q) * scale + offset, for problems that have a
 * gram, no zeros, and are free. Scales have any sign then; integers of a scale of 0 stay. */
struct by_descent_grid {
    const float *offsets; /* as scales; NULL: none */
    const float *table;   /* levels of low to high, ascending; NULL: q itself */
};

/* The value of integer q is (q - zero) * scale. What is not finite is refused, and scales that are
 * not positive. */
struct by_descent {
    size_t columns, outs;
    const float *gram; /* [columns][columns], both triangles; NULL: rows */
    const struct by_descent_rows *rows;
    const float *cross;   /* [outs][columns]; NULL: gram weights + pull */
    const float *pull;    /* [outs][columns], where cross is NULL; NULL: 0, the weights are best */
    const float *weights; /* [outs][columns]: integers come to be one of the two next to these */
    const float *scales;  /* [outs][groups] */
    const int32_t *zeros; /* as scales; NULL: none */
    size_t groups;        /* of columns with one scale each; the last may be shorter */
    size_t group;         /* columns in a group; with one group: columns */
    int32_t low, high;    /* levels, less than 2^22 from each other and from the zeros */
    unsigned sweeps;      /* at most; 0: BY_DESCENT_SWEEPS, which nearly all is gained by */
    bool free;            /* integers may leave the two next to the weights */
    /* On rows, where a sweep takes long: one that gains less than this share of all gains is the
     * last one. */
    double least_gain;
    const struct by_descent_grid *grid; /* NULL: as above */
    bool gram_is_finite;                /* it is known, and not looked at */
    float *residual; /* out, of by_descent_run(): as by_descent_residuals() has it; NULL: none */
};

/*
 * integers: [outs][columns], where to start from, any within the levels; then the best found.
 * Unless the problem is free, an integer that starts beyond the two next to its weight may stay,
 * or step towards them; none ever steps away. A weight outside the levels counts as the last level.
 * errors: [outs] by how much the quadratic form is less than at the start, NULL when nobody asks.
 * Good to about five digits of the form; no output ever gets worse. Same integers for any number of
 * threads.
 * Up to BY_DESCENT_BLOCK columns (descent_path.h) no BLAS is needed. Pool NULL: the caller alone.
 */
int by_descent_run(const struct by_descent *problem, struct by_pool *pool, int32_t *integers,
                   double *errors, struct baryon_error *err);
/* gram values - cross of the integers, [outs][columns]: half of the gradient. With gram. */
int by_descent_residuals(const struct by_descent *problem, struct by_pool *pool,
                         const int32_t *integers, float *residuals, struct baryon_error *err);
/* Nearest integers of the weights, ties to even, within the levels. The problem may be without
 * gram and cross. Those of a weight that is no number or of no proper scale are
 * the zero's. */
void by_descent_nearest(const struct by_descent *problem, int32_t *integers);
/* error(w) of integers for each output, in double. One thread, columns^2 * outs / 2 products. The
 * problem is one that by_descent_check() takes, with cross. */
int by_descent_error(const struct by_descent *problem, const int32_t *integers, double *errors,
                     struct baryon_error *err);
/* d' gram d of each output, d being how far its integers' values are from its weights: error(w)
 * from the weights on, where cross is gram times the weights. A matrix product of floats, on one
 * thread; it loses no digits to what values and weights have in common. With gram. */
int by_descent_distance(const struct by_descent *problem, const int32_t *integers,
                        double *distances, struct baryon_error *err);
/* Everything that by_descent_run() and by_gptq_run() refuse, but that the latter takes no rows. */
int by_descent_check(const struct by_descent *problem, struct baryon_error *err);

#endif
