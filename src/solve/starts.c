/* Makes further starts for descent. */
#include "solve/starts.h"

#include "base/rng.h"
#include "solve/descent_internal.h"
#include "solve/gptq.h"

#include <string.h>

/* Of the way between two integers, the part in the middle where lots decide. */
#define DRAWN 0.5

struct starts {
    const struct by_descent *problem;
    struct by_pool *pool;
    uint64_t seed;
    int32_t *best, *tried; /* [outs][columns] */
};

/* --- Where else to start --- */

/* The nearer an integer, the likelier. */
static int32_t draw(const struct by_descent *p, float weight, size_t at, double lot)
{
    const float level = by_descent_level(p, weight, at), below = floorf(level);
    const double up = 0.5 + ((double)(level - below) - 0.5) / DRAWN;
    return (int32_t)below + (lot < up) + by_descent_zero(p, at);
}

/* Columns that say nothing have nothing to tell a good lot by. */
static void draw_all(const struct starts *starts, unsigned start)
{
    const struct by_descent *p = starts->problem;
    by_descent_nearest(p, starts->tried);
    for (size_t out = 0; out < p->outs; out++)
        for (size_t i = 0; i < p->columns; i++) {
            const size_t place = out * p->columns + i;
            const double lot = by_rng_unit(starts->seed, start, place);
            if (p->gram[i * p->columns + i] > 0)
                starts->tried[place] =
                    draw(p, p->weights[place], by_descent_scale_index(p, out, i), lot);
        }
}

static int begin_start(const struct starts *starts, unsigned start, struct baryon_error *err)
{
    if (start == 1)
        return by_gptq_run(starts->problem, starts->pool, starts->tried, err);
    draw_all(starts, start);
    return 0;
}

/* --- Which end is the best --- */

static int take_better(void *context, size_t first, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct starts *starts = context;
    const size_t columns = starts->problem->columns, count = end - first;
    double changes[BY_DESCENT_FEW], *room = by_alloc(2 * count * columns, sizeof *room, err);
    (void)worker;
    if (!room)
        return -1;
    int32_t *best = starts->best + first * columns;
    const int32_t *tried = starts->tried + first * columns;
    by_descent_changes(starts->problem, first, count, best, tried, room, changes);
    for (size_t k = 0; k < count; k++)
        if (changes[k] < 0)
            memcpy(best + k * columns, tried + k * columns, columns * sizeof *best);
    by_free(room);
    return 0;
}

static int try_start(struct starts *starts, unsigned start, struct baryon_error *err)
{
    if (begin_start(starts, start, err) < 0 ||
        by_descent_run(starts->problem, starts->pool, starts->tried, NULL, err) < 0)
        return -1;
    return by_par_for(starts->pool, starts->problem->outs, BY_DESCENT_FEW, take_better, starts,
                      err);
}

int by_starts_run(const struct by_descent *problem, unsigned count, uint64_t seed,
                  struct by_pool *pool, int32_t *integers, struct baryon_error *err)
{
    struct starts starts = {.problem = problem, .pool = pool, .seed = seed, .best = integers};
    if (by_descent_run(problem, pool, integers, NULL, err) < 0)
        return -1;
    if (count < 2)
        return 0;
    starts.tried = by_alloc(problem->outs * problem->columns, sizeof *starts.tried, err);
    int status = starts.tried ? 0 : -1;
    for (unsigned start = 1; status == 0 && start < count; start++)
        status = try_start(&starts, start, err);
    by_free(starts.tried);
    return status;
}
