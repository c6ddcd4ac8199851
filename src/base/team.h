/*
 * Whoever can run pieces of work: a pool of ours, or the threads of something else
 * (ONNX Runtime's, from inside one of its nodes). The rules are those of by_par_for().
 */
#ifndef BY_TEAM_H
#define BY_TEAM_H

#include "base/par.h"

struct by_team {
    unsigned workers; /* pieces at once, at least 1 */
    int (*run)(const struct by_team *team, size_t count, size_t grain, by_piece_fn *piece,
               void *context, struct baryon_error *err);
};

/* team NULL: the caller alone. worker is in [0, team->workers). */
int by_team_for(const struct by_team *team, size_t count, size_t grain, by_piece_fn *piece,
                void *context, struct baryon_error *err);

struct by_pool_team {
    struct by_team team;
    struct by_pool *pool;
};

/* pool NULL: the caller alone. */
void by_pool_team(struct by_pool_team *team, struct by_pool *pool);

#endif
