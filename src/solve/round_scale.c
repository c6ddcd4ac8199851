/* Scales of weights, with the integers: what a quadratic form costs decides. */
#include "solve/descent_internal.h"
#include "solve/round_internal.h"

#include <math.h>
#include <string.h>

#define ROUNDS 2 /* of fitting scales to integers and integers to scales */
/* Where nearest integers are worse by so much than those of the scales as they are, descent does
 * not make up for it. */
#define HOPELESS 3

/* Outputs whose weights have the same scales make a unit. */
struct scaling {
    const struct by_round_target *target;
    const struct by_round_moments *moments;
    struct by_round_problem problem; /* with the scales of the trial */
    struct by_round_choice *choice;
    struct by_pool *pool;
    size_t outs, groups; /* all outputs; scales of each */
    const size_t *unit;  /* by output */
    float *base;         /* scales that factors are of */
    float *scales;       /* of the trial */
    float *best;         /* scales of the best so far */
    int32_t *integers;   /* of the trial */
    double *whole;       /* by output: v' gram v of the float weights v */
    double *errors;      /* by output, of the trial: 0 with the float weights */
    double *gains;       /* by output: of descent */
    double *least;       /* by unit */
    double *nearest;     /* by unit: of nearest integers, with scales as they are */
    double *sums;        /* by unit, of the trial */
};

static int open_scaling(struct scaling *scaling, const struct by_round_problem *problem,
                        struct baryon_error *err)
{
    const size_t scales = scaling->outs * scaling->groups;
    scaling->problem = *problem;
    scaling->scales = by_alloc(scales, sizeof(float), err);
    scaling->problem.scales = scaling->scales;
    scaling->base = by_alloc(scales, sizeof(float), err);
    scaling->best = by_alloc(scales, sizeof(float), err);
    scaling->integers =
        by_alloc(scaling->outs * scaling->target->columns, sizeof *scaling->integers, err);
    scaling->errors = by_alloc(scaling->outs, sizeof *scaling->errors, err);
    scaling->gains = by_alloc(scaling->outs, sizeof *scaling->gains, err);
    scaling->least = by_alloc_zero(scaling->outs, sizeof *scaling->least, err);
    scaling->nearest = by_alloc_zero(scaling->outs, sizeof *scaling->nearest, err);
    scaling->whole = by_alloc_zero(scaling->outs, sizeof *scaling->whole, err);
    scaling->sums = by_alloc_zero(scaling->outs, sizeof *scaling->sums, err);
    if (!scaling->scales || !scaling->base || !scaling->best || !scaling->integers ||
        !scaling->errors || !scaling->gains || !scaling->least || !scaling->nearest ||
        !scaling->whole || !scaling->sums)
        return -1;
    memcpy(scaling->base, problem->scales, scales * sizeof(float));
    memcpy(scaling->best, problem->scales, scales * sizeof(float));
    memcpy(scaling->scales, problem->scales, scales * sizeof(float));
    return 0;
}

static void close_scaling(struct scaling *scaling)
{
    by_free(scaling->scales);
    by_free(scaling->base);
    by_free(scaling->best);
    by_free(scaling->integers);
    by_free(scaling->errors);
    by_free(scaling->gains);
    by_free(scaling->least);
    by_free(scaling->nearest);
    by_free(scaling->whole);
    by_free(scaling->sums);
}

/* --- What a trial costs --- */

#define BLOCK 64 /* outputs at once */

/* Outputs of one group, of which the first is that place's. */
static struct by_descent some_outputs(const struct scaling *scaling, size_t place, size_t count)
{
    const struct by_round_target *target = scaling->target;
    const size_t group = place / target->outs, first = place % target->outs;
    struct by_descent some = by_round_group(&scaling->problem, group);
    by_round_pose(scaling->moments, group, &some);
    some.cross += first * target->columns;
    some.weights += first * target->columns;
    some.scales += first * some.groups;
    some.zeros += some.zeros ? first * some.groups : 0;
    some.outs = count;
    return some;
}

static int error_of(const struct scaling *scaling, size_t place, size_t count,
                    struct baryon_error *err)
{
    const struct by_descent some = some_outputs(scaling, place, count);
    const int32_t *integers = scaling->integers + place * scaling->target->columns;
    double *errors = scaling->errors + place;
    if (some.gram)
        return by_descent_distance(&some, integers, errors, err);
    if (by_descent_error(&some, integers, errors, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        errors[i] += scaling->whole[place + i];
    return 0;
}

struct block_job {
    struct scaling *scaling;
    bool nearest; /* integers become the nearest ones before */
};

static int work_on_blocks(void *context, size_t begin, size_t end, unsigned worker,
                          struct baryon_error *err)
{
    const struct block_job *job = context;
    const struct scaling *scaling = job->scaling;
    const size_t outs = scaling->target->outs, blocks = (outs + BLOCK - 1) / BLOCK;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const size_t first = i % blocks * BLOCK, place = i / blocks * outs + first;
        const size_t count = outs - first < BLOCK ? outs - first : BLOCK;
        const struct by_descent some = some_outputs(scaling, place, count);
        if (job->nearest)
            by_descent_nearest(&some, scaling->integers + place * scaling->target->columns);
        if (error_of(scaling, place, count, err) < 0)
            return -1;
    }
    return 0;
}

static void add_up(struct scaling *scaling)
{
    memset(scaling->sums, 0, scaling->outs * sizeof *scaling->sums);
    for (size_t out = 0; out < scaling->outs; out++)
        scaling->sums[scaling->unit[out]] += scaling->errors[out];
}

static int find_errors(struct scaling *scaling, bool nearest, struct baryon_error *err)
{
    const struct by_round_target *target = scaling->target;
    struct block_job job = {scaling, nearest};
    if (by_par_for(scaling->pool, target->groups * ((target->outs + BLOCK - 1) / BLOCK), 1,
                   work_on_blocks, &job, err) < 0)
        return -1;
    add_up(scaling);
    return 0;
}

/* Units that got better become those of the trial. */
static bool take_better(struct scaling *scaling)
{
    const size_t width = scaling->target->columns;
    bool any = false;
    for (size_t out = 0; out < scaling->outs; out++) {
        const size_t unit = scaling->unit[out];
        if (!(scaling->sums[unit] < scaling->least[unit]))
            continue;
        any = true;
        memcpy(scaling->choice->integers + out * width, scaling->integers + out * width,
               width * sizeof(int32_t));
        memcpy(scaling->best + out * scaling->groups, scaling->scales + out * scaling->groups,
               scaling->groups * sizeof(float));
    }
    for (size_t i = 0; any && i < scaling->outs; i++)
        if (scaling->sums[i] < scaling->least[i])
            scaling->least[i] = scaling->sums[i];
    return any;
}

/* From integers whose errors are known. */
static int try_trial(struct scaling *scaling, bool *better, struct baryon_error *err)
{
    if (by_round_descend(&scaling->problem, scaling->moments, scaling->pool, scaling->integers,
                         scaling->gains, err) < 0)
        return -1;
    for (size_t i = 0; i < scaling->outs; i++)
        scaling->errors[i] -= scaling->gains[i];
    add_up(scaling);
    *better = take_better(scaling);
    return 0;
}

/* cross is gram v. */
static void find_wholes(struct scaling *scaling)
{
    const size_t width = scaling->target->columns;
    for (size_t out = 0; out < scaling->outs; out++)
        for (size_t i = out * width; i < (out + 1) * width; i++)
            scaling->whole[out] +=
                (double)scaling->moments->cross[i] * (double)scaling->target->weights[i];
}

static bool is_hopeless(const struct scaling *scaling)
{
    for (size_t i = 0; i < scaling->outs; i++)
        if (scaling->sums[i] < HOPELESS * scaling->nearest[i])
            return false;
    return true;
}

static int try_factor(struct scaling *scaling, float factor, struct baryon_error *err)
{
    bool better;
    for (size_t i = 0; i < scaling->outs * scaling->groups; i++) {
        const float scale = scaling->base[i] * factor;
        scaling->scales[i] = isnormal(scale) ? scale : scaling->base[i];
    }
    if (find_errors(scaling, true, err) < 0)
        return -1;
    return is_hopeless(scaling) ? 0 : try_trial(scaling, &better, err);
}

/* --- Scales that fit the integers --- */

/* cross' w of an output's best integers; `values` is room for theirs. */
static double product_of(const struct scaling *scaling, size_t out, double *values)
{
    const size_t width = scaling->target->columns, group = out / scaling->target->outs;
    const struct by_descent one = by_round_group(&scaling->problem, group);
    const float *cross = scaling->moments->cross + out * width;
    double sum = 0;
    by_descent_values(&one, out % scaling->target->outs, scaling->integers + out * width, values);
    for (size_t i = 0; i < width; i++)
        sum += (double)cross[i] * values[i];
    return sum;
}

/* By unit: cross' w, and w' gram w = error + 2 cross' w - v' gram v. */
static void find_products(const struct scaling *scaling, double *values, double *sums)
{
    for (size_t i = 0; i < scaling->outs; i++)
        sums[2 * i + 1] = scaling->least[i];
    for (size_t out = 0; out < scaling->outs; out++) {
        const double linear = product_of(scaling, out, values);
        sums[2 * scaling->unit[out]] += linear;
        sums[2 * scaling->unit[out] + 1] += 2 * linear - scaling->whole[out];
    }
}

static int fit(struct scaling *scaling, struct baryon_error *err)
{
    double *values = by_alloc(scaling->target->columns, sizeof *values, err);
    double *sums = by_alloc_zero(2 * scaling->outs, sizeof *sums, err);
    const size_t scales = scaling->outs * scaling->groups;
    if (!values || !sums) {
        by_free(values);
        by_free(sums);
        return -1;
    }
    memcpy(scaling->integers, scaling->choice->integers,
           scaling->outs * scaling->target->columns * sizeof(int32_t));
    memcpy(scaling->scales, scaling->best, scales * sizeof(float));
    find_products(scaling, values, sums);
    for (size_t i = 0; i < scales; i++) {
        const double *sum = sums + 2 * scaling->unit[i / scaling->groups];
        const double factor = sum[1] > 0 ? sum[0] / sum[1] : 1;
        const float scale = (float)((double)scaling->best[i] * factor);
        if (factor > 0.5 && factor < 2 && isnormal(scale))
            scaling->scales[i] = scale;
    }
    by_free(values);
    by_free(sums);
    return 0;
}

/* Integers that other scales have left over come next to their weights again. */
static void come_near(struct scaling *scaling)
{
    const struct by_round_target *target = scaling->target;
    int32_t *integer = scaling->integers;
    for (size_t g = 0; g < target->groups; g++) {
        const struct by_descent one = by_round_group(&scaling->problem, g);
        for (size_t out = 0; out < target->outs; out++)
            for (size_t i = 0; i < target->columns; i++, integer++) {
                const size_t at = by_descent_scale_index(&one, out, i);
                const float level =
                    by_descent_level(&one, one.weights[out * target->columns + i], at);
                const int32_t zero = by_descent_zero(&one, at);
                *integer = (int32_t)by_descent_near(level, (float)(*integer - zero)) + zero;
            }
    }
}

static int fit_and_try(struct scaling *scaling, bool *better, struct baryon_error *err)
{
    if (fit(scaling, err) < 0)
        return -1;
    come_near(scaling);
    if (find_errors(scaling, false, err) < 0)
        return -1;
    return try_trial(scaling, better, err);
}

static int search(struct scaling *scaling, bool pow2, struct baryon_error *err)
{
    static const float twos[] = {0.5f, 2}, others[] = {0.7f, 0.8f, 0.9f, 1.1f};
    const float *factors = pow2 ? twos : others;
    const size_t count = pow2 ? sizeof twos / sizeof *twos : sizeof others / sizeof *others;
    bool better = true;
    find_wholes(scaling);
    if (find_errors(scaling, true, err) < 0)
        return -1;
    memcpy(scaling->nearest, scaling->sums, scaling->outs * sizeof *scaling->sums);
    memcpy(scaling->integers, scaling->choice->integers,
           scaling->outs * scaling->target->columns * sizeof(int32_t));
    if (find_errors(scaling, false, err) < 0)
        return -1;
    memcpy(scaling->least, scaling->sums, scaling->outs * sizeof *scaling->sums);
    for (size_t i = 0; i < count; i++)
        if (try_factor(scaling, factors[i], err) < 0)
            return -1;
    for (unsigned i = 0; i < ROUNDS && !pow2 && better; i++)
        if (fit_and_try(scaling, &better, err) < 0)
            return -1;
    return 0;
}

int by_round_scale(const struct by_round_problem *problem, const struct by_round_moments *moments,
                   struct by_pool *pool, struct by_round_choice *choice, struct baryon_error *err)
{
    const struct by_round_target *target = problem->target;
    struct scaling scaling = {.target = target,
                              .moments = moments,
                              .choice = choice,
                              .pool = pool,
                              .outs = target->groups * target->outs,
                              .groups = target->grid.spans,
                              .unit = target->grid.units};
    int status = open_scaling(&scaling, problem, err);
    if (status == 0)
        status = search(&scaling, target->grid.pow2, err);
    if (status == 0 &&
        memcmp(scaling.best, scaling.base, scaling.outs * scaling.groups * sizeof(float)) != 0) {
        choice->scales = scaling.best;
        scaling.best = NULL;
    }
    close_scaling(&scaling);
    return status;
}
