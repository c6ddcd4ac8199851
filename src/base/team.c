/* Runs a loop on whichever threads the caller provides. */
#include "base/team.h"

int by_team_for(const struct by_team *team, size_t count, size_t grain, by_piece_fn *piece,
                void *context, struct baryon_error *err)
{
    if (team)
        return team->run(team, count, grain, piece, context, err);
    return by_par_for(NULL, count, grain, piece, context, err);
}

static int run_on_pool(const struct by_team *team, size_t count, size_t grain, by_piece_fn *piece,
                       void *context, struct baryon_error *err)
{
    struct by_pool *pool = ((const struct by_pool_team *)team)->pool;
    return by_par_for(pool, count, grain, piece, context, err);
}

void by_pool_team(struct by_pool_team *team, struct by_pool *pool)
{
    *team = (struct by_pool_team){{by_pool_threads(pool), run_on_pool}, pool};
}
