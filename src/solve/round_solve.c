/* From moments to integers and biases. */
#include "solve/round_internal.h"

#include <math.h>
#include <string.h>

struct solving {
    const struct by_round_problem *problem;
    const struct by_round_target *target;
    struct by_round_moments *moments;
    const struct by_round_options *options;
    struct by_round_choice *choice, *scaled;
    const float *biases; /* of the float model, where means are mixed; else NULL */
    struct by_pool *pool;
};

static int descend(struct solving *solving, struct baryon_error *err)
{
    if (by_round_find(solving->problem, solving->moments, solving->options, solving->pool,
                      solving->choice->integers, err) < 0)
        return -1;
    by_round_set_weights(solving->target, solving->choice);
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

/* Products around the means become those of the values, for biases that stay as they are. */
static void uncentre_cross(struct by_round_moments *moments, const float *was, const float *biases)
{
    const size_t width = moments->columns;
    for (size_t out = 0; out < moments->groups * moments->outs; out++) {
        const double *x = moments->x + out / moments->outs * width;
        const double rest = (was ? (double)was[out] : moments->y[out]) - (double)biases[out];
        for (size_t i = 0; i < width; i++)
            moments->cross[out * width + i] += (float)(rest * x[i]);
    }
}

/* Biases of few bits move away from the mean that they are to take; weights make up for it. */
static int solve_again(struct solving *solving, const float *was, struct baryon_error *err)
{
    if (!was)
        by_round_uncentre(solving->moments);
    uncentre_cross(solving->moments, was, solving->choice->biases);
    return descend(solving, err);
}

static bool has_fixed_bias(const struct solving *solving)
{
    return solving->target->biases && solving->options->fixed_biases;
}

/* --- What the activation after sees --- */

#define ROUNDS 2

static int see(struct solving *solving, float *cross, double *y, struct baryon_error *err)
{
    struct by_round_behind behind = {.moments = solving->moments,
                                     .exact = solving->target->weights,
                                     .now = solving->choice->weights,
                                     .biases = solving->biases,
                                     .now_y = y,
                                     .mix = solving->options->mix,
                                     .centred = solving->target->biases != NULL};
    int status = by_round_behind_open(&behind, err);
    if (status == 0)
        status = solving->options->look(solving->options->context, &behind, err);
    if (status == 0)
        by_round_behind_aim(&behind, cross, y);
    by_round_behind_close(&behind);
    return status;
}

/* Other aims for a while; the last ones stay. */
static int descend_seeing(struct solving *solving, float *cross, double *y, bool last,
                          struct baryon_error *err)
{
    struct by_round_moments *moments = solving->moments, before = *moments;
    const size_t outs = moments->groups * moments->outs;
    if (see(solving, cross, y, err) < 0)
        return -1;
    moments->cross = cross;
    moments->y = y;
    const int status = descend(solving, err);
    moments->cross = before.cross;
    moments->y = before.y;
    if (last) {
        memcpy(moments->cross, cross, outs * moments->columns * sizeof *cross);
        memcpy(moments->y, y, outs * sizeof *y);
    }
    return status;
}

static int look_behind(struct solving *solving, struct baryon_error *err)
{
    const size_t outs = solving->moments->groups * solving->moments->outs;
    if (!solving->options->look || has_fixed_bias(solving) || !by_round_hides(solving->target))
        return 0;
    float *cross = by_alloc(outs * solving->moments->columns, sizeof *cross, err);
    double *y = cross ? by_alloc(outs, sizeof *y, err) : NULL;
    int status = y ? 0 : -1;
    if (y)
        memcpy(y, solving->moments->y, outs * sizeof *y);
    for (int i = 1; status == 0 && i <= ROUNDS; i++)
        status = descend_seeing(solving, cross, y, i == ROUNDS, err);
    by_free(cross);
    by_free(y);
    return status;
}

/* --- Scales --- */

/* Those with which weights come closest to the float ones, by what they give on the samples: what
 * is to be made up for besides would make them too small. */
static int find_scales(const struct solving *solving, struct baryon_error *err)
{
    struct by_round_moments moments = *solving->moments;
    const size_t count = moments.groups * moments.outs * moments.columns;
    moments.cross = by_alloc_zero(count, sizeof *moments.cross, err);
    int status = moments.cross
                     ? by_round_mix(&moments, solving->target->weights, 1, solving->pool, err)
                     : -1;
    if (status == 0)
        status = by_round_scale(solving->problem, &moments, solving->pool, solving->scaled, err);
    by_free(moments.cross);
    return status;
}

/* The same problem with the scales that were found. */
static struct by_round_problem rescale(const struct by_round_problem *problem, const float *scales)
{
    return (struct by_round_problem){problem->target, scales, problem->free};
}

static int solve_scales(const struct solving *solving, struct baryon_error *err)
{
    const struct by_round_target *target = solving->target;
    struct by_round_choice *scaled = solving->scaled;
    if (by_round_nearest(target, scaled, err) < 0)
        return -1;
    memcpy(scaled->integers, solving->choice->integers,
           target->groups * target->outs * target->columns * sizeof *scaled->integers);
    if (find_scales(solving, err) < 0)
        return -1;
    if (!scaled->scales) {
        by_round_choice_release(scaled);
        return 0;
    }
    const struct by_round_problem problem = rescale(solving->problem, scaled->scales);
    return by_round_find(&problem, solving->moments, solving->options, solving->pool,
                         scaled->integers, err);
}

/* What the float layer gives on what is read now has a mean of its own. */
static void mix_means(const struct solving *solving)
{
    const struct by_round_moments *moments = solving->moments;
    const size_t width = moments->columns;
    const double share = solving->options->mix;
    for (size_t out = 0; out < moments->groups * moments->outs; out++) {
        const float *weights = solving->target->weights + out * width;
        const double *x = moments->x + out / moments->outs * width;
        double mean = (double)solving->biases[out];
        for (size_t i = 0; i < width; i++)
            mean += (double)weights[i] * x[i];
        moments->y[out] += share * (mean - moments->y[out]);
    }
}

static int feed_back(struct solving *solving, struct baryon_error *err)
{
    return by_round_feed_back(solving->problem, solving->moments, solving->pool,
                              solving->choice->integers, err);
}

static int solve(struct solving *solving, struct baryon_error *err)
{
    if (has_fixed_bias(solving)) {
        by_round_uncentre(solving->moments);
        uncentre_cross(solving->moments, NULL, solving->choice->biases);
    }
    if (by_round_mix(solving->moments, solving->target->weights, solving->options->mix,
                     solving->pool, err) < 0)
        return -1;
    if (solving->biases)
        mix_means(solving);
    by_round_damp(solving->moments, solving->target->weights, solving->options->damping);
    if ((solving->options->gptq && feed_back(solving, err) < 0) || descend(solving, err) < 0 ||
        look_behind(solving, err) < 0)
        return -1;
    return solving->options->scales && solving->target->grid.units ? solve_scales(solving, err) : 0;
}

/* was: biases that moments stand for; NULL: they are centred. */
static int finish_choice(struct solving *solving, const float *was, struct baryon_error *err)
{
    const struct by_round_target *target = solving->target;
    if (!target->biases || has_fixed_bias(solving))
        return 0;
    solve_biases(solving->moments, solving->choice);
    /* Fine steps of the new scales, which nobody has yet. */
    if (solving->choice->scales && !target->coarse_biases)
        return 0;
    if (by_round_biases(target, solving->choice->biases, err) < 0)
        return -1;
    return target->coarse_biases ? solve_again(solving, was, err) : 0;
}

static int finish_scaled(struct solving *solving, struct baryon_error *err)
{
    const float *was = solving->choice->biases;
    if (!solving->scaled || !solving->scaled->scales)
        return 0;
    const struct by_round_problem problem = rescale(solving->problem, solving->scaled->scales);
    solving->problem = &problem;
    solving->choice = solving->scaled;
    by_round_set_weights(solving->target, solving->choice);
    return finish_choice(solving, was, err);
}

int by_round_solve(const struct by_round_target *target, struct by_round_moments *moments,
                   const struct by_round_options *options, struct by_pool *pool,
                   struct by_round_choice *choice, struct by_round_choice *scaled,
                   struct baryon_error *err)
{
    const struct by_round_problem problem = {target, target->grid.scales, options->free};
    struct solving solving = {.problem = &problem,
                              .target = target,
                              .moments = moments,
                              .options = options,
                              .choice = choice,
                              .scaled = scaled,
                              .pool = pool};
    if (target->grid.held && !has_fixed_bias(&solving))
        solving.biases = target->biases;
    return by_round_nearest(target, choice, err) < 0 || solve(&solving, err) < 0 ||
                   finish_choice(&solving, NULL, err) < 0 || finish_scaled(&solving, err) < 0
               ? -1
               : 0;
}
