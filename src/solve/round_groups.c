/* Integers of all groups of a layer, each a problem by itself. */
#include "solve/gptq.h"
#include "solve/relaxation.h"
#include "solve/round_internal.h"

typedef int solver(const struct by_descent *problem, const struct by_round_options *options,
                   struct by_pool *pool, int32_t *integers, struct baryon_error *err);

struct groups {
    const struct by_round_problem *problem;
    const struct by_round_layer *layer;
    const struct by_round_moments *moments;
    const struct by_round_options *options; /* NULL where the solver has none */
    solver *run;
    struct by_pool *inner; /* of one group */
    int32_t *integers;
};

static int solve_groups(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct groups *groups = context;
    const size_t width = groups->layer->columns, outs = groups->layer->outs;
    (void)worker;
    for (size_t g = begin; g < end; g++) {
        struct by_descent one = by_round_group(groups->problem, g);
        one.gram = groups->moments->gram + g * width * width;
        one.cross = groups->moments->cross + g * outs * width;
        if (groups->run(&one, groups->options, groups->inner, groups->integers + g * outs * width,
                        err) < 0)
            return -1;
    }
    return 0;
}

/* By all threads in one group, or in groups side by side. */
static int run_groups(struct groups *groups, struct by_pool *pool, struct baryon_error *err)
{
    const size_t count = groups->layer->groups;
    groups->inner = count > 1 ? NULL : pool;
    return by_par_for(count > 1 ? pool : NULL, count, 1, solve_groups, groups, err);
}

/* --- Solvers --- */

static int feed_back(const struct by_descent *problem, const struct by_round_options *options,
                     struct by_pool *pool, int32_t *integers, struct baryon_error *err)
{
    (void)options;
    return by_gptq_run(problem, pool, integers, err);
}

static int descend(const struct by_descent *problem, const struct by_round_options *options,
                   struct by_pool *pool, int32_t *integers, struct baryon_error *err)
{
    (void)options;
    return by_descent_run(problem, pool, integers, NULL, err);
}

static int relax(const struct by_descent *problem, const struct by_round_options *options,
                 struct by_pool *pool, int32_t *integers, struct baryon_error *err)
{
    return by_relaxation_run(problem, options->relaxation, pool, integers, err);
}

int by_round_feed_back(const struct by_round_problem *problem, const struct by_round_layer *layer,
                       const struct by_round_moments *moments, struct by_pool *pool,
                       int32_t *integers, struct baryon_error *err)
{
    struct groups groups = {problem, layer, moments, NULL, feed_back, NULL, integers};
    return run_groups(&groups, pool, err);
}

int by_round_descend(const struct by_round_problem *problem, const struct by_round_layer *layer,
                     const struct by_round_moments *moments, struct by_pool *pool,
                     int32_t *integers, struct baryon_error *err)
{
    struct groups groups = {problem, layer, moments, NULL, descend, NULL, integers};
    return run_groups(&groups, pool, err);
}

int by_round_find(const struct by_round_problem *problem, const struct by_round_layer *layer,
                  const struct by_round_moments *moments, const struct by_round_options *options,
                  struct by_pool *pool, int32_t *integers, struct baryon_error *err)
{
    struct groups groups = {.problem = problem,
                            .layer = layer,
                            .moments = moments,
                            .options = options,
                            .run = options->relaxation ? relax : descend,
                            .integers = integers};
    return run_groups(&groups, pool, err);
}
