/*
 * Descent from several starts, each output ending where its error(w) is least: from where the
 * integers are; from those of GPTQ, next to the weights unless the problem is free; and from
 * nearest integers where lots decide about weights that lie in the middle between two.
 */
#ifndef BY_STARTS_H
#define BY_STARTS_H

#include "solve/descent.h"

/*
 * integers: as by_descent_run() has them, which one start is the same as. No output gets worse by a
 * further start. seed: of the lots, which follow from it, the start and the weight's place. Same
 * integers for any number of threads. Takes memory for another gram and twice the integers.
 */
int by_starts_run(const struct by_descent *problem, unsigned starts, uint64_t seed,
                  struct by_pool *pool, int32_t *integers, struct baryon_error *err);

#endif
