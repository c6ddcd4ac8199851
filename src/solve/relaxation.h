/*
 * Rounding by relaxation (AdaRound; Nagel and others, 2020), for comparison with descent on the
 * same quadratic form. An integer is the one below its weight plus h(v) = 1.2 sigmoid(v) - 0.1, cut
 * to 0 to 1. Adam takes v downhill in
 *
 *     error(w) / norm + lambda * sum(1 - |2 h(v) - 1|^beta)
 *
 * whose last term, as beta falls, drives every h to 0 or 1. It starts with h where the weight is
 * and ends with what each h is nearer to; no descent follows.
 */
#ifndef BY_RELAXATION_H
#define BY_RELAXATION_H

#include "solve/descent.h"

/*
 * integers: [outs][columns], out: of the two next to each weight. Sweeps and free do not matter.
 * norm is the mean of the output's diagonal, in steps of its integers: sizes of weights and inputs
 * do not matter. A column without a positive diagonal element gets the nearest integer. May be
 * worse than the nearest integers: the caller judges. Same integers for any number of threads.
 * Needs a BLAS and refuses what by_descent_check() refuses.
 */
int by_relaxation_run(const struct by_descent *problem, unsigned iterations, struct by_pool *pool,
                      int32_t *integers, struct baryon_error *err);

#endif
