/*
 * The activation after a layer does not see all that the layer gives: what Relu makes zero needs
 * no precision there. `low` and `high` of a target are what it sees; this aims the layer's moments
 * at what is seen.
 */
#ifndef BY_ROUND_BEHIND_H
#define BY_ROUND_BEHIND_H

#include "solve/round_moments.h"

/* Where what the layer ought to give lies outside, it may as well give what it gives now, or what
 * lies nearest to that outside: by how much that is off what was aimed at. */
struct by_round_behind {
    const struct by_round_moments *moments; /* finished */
    const float *exact, *now;               /* [groups][outs][columns]: weights */
    const float *biases;                    /* that go with `exact`; NULL: what their means leave */
    const double *now_y;                    /* means that its biases take up */
    double mix;                             /* as in struct by_round_options */
    bool centred;
    uint64_t rows;
    double *exact_bias, *now_bias; /* by output: found by by_round_behind_open() */
    float *cross;                  /* [groups][outs][columns]: sums */
    double *y;                     /* by output: sums */
};

int by_round_behind_open(struct by_round_behind *behind, struct baryon_error *err);
void by_round_behind_close(struct by_round_behind *behind);
/* What to aim at after all samples: cross and means of y as the moments have them. */
void by_round_behind_aim(const struct by_round_behind *behind, float *cross, double *y);
int by_round_behind_look(struct by_round_behind *behind, struct by_round_scratch *scratch,
                         const struct by_round_target *target, const struct by_array *x,
                         const struct by_array *y, uint64_t sample, struct baryon_error *err);
/* All samples that are kept (solve/round_rows.h). */
int by_round_behind_look_kept(struct by_round_behind *behind, struct by_round_scratch *scratch,
                              const struct by_round_target *target, struct baryon_error *err);

#endif
