/* From moments to integers and biases. */
#include "solve/gptq.h"
#include "solve/round_internal.h"

#include <math.h>

typedef int by_round_solver(const struct by_descent *problem, struct by_pool *pool,
                            int32_t *integers, struct baryon_error *err);

struct solving {
    const struct by_round_problem *problem;
    const struct by_round_layer *layer;
    struct by_round_moments *moments;
    const struct by_round_options *options;
    struct by_round_choice *choice;
    struct by_pool *pool;
    const struct by_blas *blas;
    by_round_solver *run; /* what is done to each group */
    struct by_pool *inner;
};

#define BLOCK 64 /* outputs at once */

static int mix_blocks(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct solving *solving = context;
    const struct by_round_moments *moments = solving->moments;
    const size_t width = moments->columns, blocks = (moments->outs + BLOCK - 1) / BLOCK;
    const float share = (float)solving->options->mix;
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i++) {
        const size_t first = i % blocks * BLOCK, left = moments->outs - first;
        const size_t place = (i / blocks * moments->outs + first) * width;
        solving->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS,
                             (int)(left < BLOCK ? left : BLOCK), (int)width, (int)width, share,
                             solving->problem->weights + place, (int)width,
                             moments->gram + i / blocks * width * width, (int)width, 1 - share,
                             moments->cross + place, (int)width);
    }
    return 0;
}

/* Where inputs carry much noise, what the float layer gave is best met by weights that are all too
 * small, and layer after layer the signal fades. What the float weights give on the same inputs
 * does not ask for that. */
static int mix(struct solving *solving, struct baryon_error *err)
{
    const struct by_round_moments *moments = solving->moments;
    const size_t blocks = (moments->outs + BLOCK - 1) / BLOCK;
    if (solving->options->mix <= 0)
        return 0;
    if (by_blas_open(&solving->blas, err) < 0)
        return -1;
    return by_par_for(solving->pool, moments->groups * blocks, 1, mix_blocks, solving, err);
}

/* What samples do not tell is left where the float weights are. */
static void damp(const struct solving *solving)
{
    const struct by_round_moments *moments = solving->moments;
    const size_t width = moments->columns;
    for (size_t g = 0; g < moments->groups; g++) {
        float *gram = moments->gram + g * width * width;
        double sum = 0;
        for (size_t i = 0; i < width; i++)
            sum += (double)gram[i * width + i];
        const float more = (float)(solving->options->damping * sum / (double)width);
        for (size_t i = 0; i < width; i++)
            gram[i * width + i] += more;
        for (size_t i = g * moments->outs * width; i < (g + 1) * moments->outs * width; i++)
            moments->cross[i] += more * solving->problem->weights[i];
    }
}

static int run_descent(const struct by_descent *problem, struct by_pool *pool, int32_t *integers,
                       struct baryon_error *err)
{
    return by_descent_run(problem, pool, integers, NULL, err);
}

static int solve_groups(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct solving *solving = context;
    const size_t width = solving->layer->columns, outs = solving->layer->outs;
    (void)worker;
    for (size_t g = begin; g < end; g++) {
        struct by_descent one = by_round_group(solving->problem, g);
        one.gram = solving->moments->gram + g * width * width;
        one.cross = solving->moments->cross + g * outs * width;
        one.sweeps = solving->options->sweeps;
        if (solving->run(&one, solving->inner, solving->choice->integers + g * outs * width, err) <
            0)
            return -1;
    }
    return 0;
}

/* By all threads in one group, or in groups side by side. */
static int run_groups(struct solving *solving, by_round_solver *run, struct baryon_error *err)
{
    const size_t groups = solving->layer->groups;
    solving->run = run;
    solving->inner = groups > 1 ? NULL : solving->pool;
    return by_par_for(groups > 1 ? solving->pool : NULL, groups, 1, solve_groups, solving, err);
}

static int descend(struct solving *solving, struct baryon_error *err)
{
    if (run_groups(solving, run_descent, err) < 0)
        return -1;
    by_round_set_weights(solving->problem, solving->layer->groups * solving->layer->outs,
                         solving->choice);
    return 0;
}

/* They take the mean of what is left. */
static void solve_biases(const struct by_round_moments *moments, struct by_round_choice *choice)
{
    const size_t width = moments->columns;
    for (size_t out = 0; out < moments->groups * moments->outs; out++) {
        const double *x = moments->x + out / moments->outs * width;
        const float *weights = choice->weights + out * width;
        double mean = moments->y[out];
        for (size_t i = 0; i < width; i++)
            mean -= (double)weights[i] * x[i];
        if (isfinite((float)mean))
            choice->biases[out] = (float)mean;
    }
}

/* From the matrix around the means to that of the values. */
static void uncentre_gram(struct by_round_moments *moments)
{
    const size_t width = moments->columns;
    for (size_t i = 0; i < moments->groups * width; i++) {
        const double *x = moments->x + i / width * width;
        for (size_t k = 0; k < width; k++)
            moments->gram[i * width + k] += (float)(moments->x[i] * x[k]);
    }
}

/* The same of the products, for biases that stay as they are. */
static void uncentre_cross(struct by_round_moments *moments, const float *biases)
{
    const size_t width = moments->columns;
    for (size_t out = 0; out < moments->groups * moments->outs; out++) {
        const double *x = moments->x + out / moments->outs * width;
        const double rest = moments->y[out] - (double)biases[out];
        for (size_t i = 0; i < width; i++)
            moments->cross[out * width + i] += (float)(rest * x[i]);
    }
}

/* Biases of few bits move away from the mean that they are to take; weights make up for it. */
static int solve_again(struct solving *solving, struct baryon_error *err)
{
    uncentre_gram(solving->moments);
    uncentre_cross(solving->moments, solving->choice->biases);
    return descend(solving, err);
}

static int solve(struct solving *solving, const struct by_quant_plan *plan,
                 struct baryon_error *err)
{
    if (mix(solving, err) < 0)
        return -1;
    damp(solving);
    if ((solving->options->gptq && run_groups(solving, by_gptq_run, err) < 0) ||
        descend(solving, err) < 0)
        return -1;
    if (!solving->layer->bias)
        return 0;
    solve_biases(solving->moments, solving->choice);
    if (by_round_quantize_biases(plan, solving->layer, solving->pool, solving->choice->biases,
                                 err) < 0)
        return -1;
    return plan->recipe->bias_kind == BY_BIAS_OWN ? solve_again(solving, err) : 0;
}

int by_round_solve(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                   struct by_round_moments *moments, const struct by_round_options *options,
                   struct by_pool *pool, struct by_round_choice *choice, struct baryon_error *err)
{
    struct by_round_problem problem;
    if (by_round_nearest(plan, layer, pool, choice, err) < 0 ||
        by_round_problem_open(&problem, plan, layer, err) < 0)
        return -1;
    struct solving solving = {.problem = &problem,
                              .layer = layer,
                              .moments = moments,
                              .options = options,
                              .choice = choice,
                              .pool = pool};
    const int status = solve(&solving, plan, err);
    by_round_problem_close(&problem);
    return status;
}
