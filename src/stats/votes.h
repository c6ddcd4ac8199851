/*
 * What single samples would choose for a tensor: of scales that are powers of two, how many samples
 * are best served by which. Each sample votes by itself, for each range of levels that was asked
 * for; votes of other samples add. So they depend on nothing but the samples.
 */
#ifndef BY_VOTES_H
#define BY_VOTES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Of an integer type, counted from the zero point: -128 to 127 of int8, and of uint8 around 128. */
struct by_vote_levels {
    int64_t least, most; /* least < 0 < most */
};

struct by_vote {
    struct by_vote_levels levels;
    int position;     /* scale 2^-position */
    uint64_t samples; /* at least 1 */
};
#define BY_VOTE_POSITIONS 127 /* from that below zero to that above: powers that floats have */

struct by_votes {
    struct by_vote *at; /* by levels, then position: ascending, each pair once */
    size_t count;
};

/* Below, equal (0) or above, by levels and then by position. */
int by_vote_compare(const struct by_vote *a, const struct by_vote *b);
void by_votes_release(struct by_votes *votes);
/* Those of both, in memory of their own. */
int by_votes_join(struct by_votes *both, const struct by_votes *a, const struct by_votes *b,
                  struct baryon_error *err);
/* *count votes for those levels, ascending by position; 0: there are none. */
const struct by_vote *by_votes_of(const struct by_votes *votes, const struct by_vote_levels *levels,
                                  size_t *count);

#endif
