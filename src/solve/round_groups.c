/* Integers of all groups of a layer, each a problem by itself. */
#include "base/rng.h"
#include "solve/gptq.h"
#include "solve/relaxation.h"
#include "solve/round_internal.h"
#include "solve/starts.h"

struct groups;

typedef int solver(const struct groups *groups, size_t group, const struct by_descent *problem,
                   int32_t *integers, struct baryon_error *err);

struct groups {
    const struct by_round_problem *problem;
    const struct by_round_moments *moments;
    const struct by_round_options *options; /* NULL where the solver has none */
    solver *run;
    struct by_pool *inner; /* of one group */
    int32_t *integers;
    double *gains; /* by output, of descend(); else NULL */
};

static int solve_groups(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct groups *groups = context;
    const size_t width = groups->problem->target->columns, outs = groups->problem->target->outs;
    (void)worker;
    for (size_t g = begin; g < end; g++) {
        struct by_descent one = by_round_group(groups->problem, g);
        by_round_pose(groups->moments, g, &one);
        if (groups->run(groups, g, &one, groups->integers + g * outs * width, err) < 0)
            return -1;
    }
    return 0;
}

/* By all threads in one group, or in groups side by side. */
static int run_groups(struct groups *groups, struct by_pool *pool, struct baryon_error *err)
{
    const size_t count = groups->problem->target->groups;
    groups->inner = count > 1 ? NULL : pool;
    return by_par_for(count > 1 ? pool : NULL, count, 1, solve_groups, groups, err);
}

/* --- Solvers --- */

static int feed_back(const struct groups *groups, size_t group, const struct by_descent *problem,
                     int32_t *integers, struct baryon_error *err)
{
    struct by_descent any = *problem;
    (void)group;
    any.free = true;
    return by_gptq_run(&any, groups->inner, integers, err);
}

static int descend(const struct groups *groups, size_t group, const struct by_descent *problem,
                   int32_t *integers, struct baryon_error *err)
{
    double *gains = groups->gains + group * problem->outs;
    return by_descent_run(problem, groups->inner, integers, gains, err);
}

static int descend_often(const struct groups *groups, size_t group,
                         const struct by_descent *problem, int32_t *integers,
                         struct baryon_error *err)
{
    const struct by_round_options *options = groups->options;
    return by_starts_run(problem, options->starts, by_rng_bits(options->lots, 0, group),
                         groups->inner, integers, err);
}

static int relax(const struct groups *groups, size_t group, const struct by_descent *problem,
                 int32_t *integers, struct baryon_error *err)
{
    (void)group;
    return by_relaxation_run(problem, groups->options->relaxation, groups->inner, integers, err);
}

int by_round_feed_back(const struct by_round_problem *problem,
                       const struct by_round_moments *moments, struct by_pool *pool,
                       int32_t *integers, struct baryon_error *err)
{
    struct groups groups = {problem, moments, NULL, feed_back, NULL, integers, NULL};
    return run_groups(&groups, pool, err);
}

int by_round_descend(const struct by_round_problem *problem, const struct by_round_moments *moments,
                     struct by_pool *pool, int32_t *integers, double *gains,
                     struct baryon_error *err)
{
    struct groups groups = {problem, moments, NULL, descend, NULL, integers, gains};
    return run_groups(&groups, pool, err);
}

int by_round_find(const struct by_round_problem *problem, const struct by_round_moments *moments,
                  const struct by_round_options *options, struct by_pool *pool, int32_t *integers,
                  struct baryon_error *err)
{
    struct groups groups = {.problem = problem,
                            .moments = moments,
                            .options = options,
                            .run = options->relaxation ? relax : descend_often,
                            .integers = integers};
    return run_groups(&groups, pool, err);
}
