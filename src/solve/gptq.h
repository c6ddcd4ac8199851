/*
 * Rounding with error feedback (GPTQ): one column after the other, and what rounding does wrong
 * in one is made up for by the weights of those that are still to come. Columns with the largest
 * inputs come first. A good start for descent, above all with few bits, where going through steps
 * of one from the nearest integers gets stuck early.
 */
#ifndef BY_GPTQ_H
#define BY_GPTQ_H

#include "solve/descent.h"

/*
 * integers: [outs][columns], out: one of the two next to the weight, or, where the problem is free,
 * any within the levels; by_descent_run() says what it does with these. They aim at what has the
 * least error(w), which is the weights where cross = gram weights. Sweeps do not matter. May be
 * worse than the nearest integers: the caller judges, by_descent_error() helps.
 *
 * A gram that is singular gets more damping, up to a tenth of its mean diagonal, and then the
 * weights are what is aimed at; where that does not help either, the integers are the nearest.
 * Takes memory for another gram. Same integers for any number of threads; no BLAS for up to
 * BY_CHOLESKY_BLOCK columns.
 */
int by_gptq_run(const struct by_descent *problem, struct by_pool *pool, int32_t *integers,
                struct baryon_error *err);

#endif
