/*
 * Votes: each sample chooses among powers of two by itself, as minmse-pow2 does of all. They are
 * cast while samples are looked at, for the levels that were asked for.
 */
#ifndef BY_CALIB_VOTES_H
#define BY_CALIB_VOTES_H

#include "calib/calib.h"

/* All that types of activations have: symmetric, with a bit less or not. */
const struct by_vote_levels *by_vote_all_levels(size_t *count);
/* Those of a target that is symmetric. */
void by_vote_levels_of(const struct by_calib_target *target, struct by_vote_levels *levels);
/* Puts the votes of a sketch of one sample into it, which has none so far. Nobody votes who has
 * nothing but zeros, or values that no scale is small enough for. */
int by_votes_cast(struct by_sketch *sample, const struct by_vote_levels *levels, size_t count,
                  struct baryon_error *err);

#endif
