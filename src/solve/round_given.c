/* Makes moments, and errors of choices, from Gram matrices that others gathered. */
#include "solve/round_given.h"

#include "base/blas.h"
#include "solve/round_internal.h"

/* --- Moments --- */

static int take_grams(struct by_round_moments *moments, const struct by_round_given *given,
                      struct baryon_error *err)
{
    const size_t width = moments->columns;
    moments->gram = by_alloc(moments->groups * width * width, sizeof *moments->gram, err);
    if (!moments->gram)
        return -1;
    for (size_t g = 0; g < moments->groups; g++) {
        double *x = moments->x + g * width;
        given->means(given->context, g, x);
        if (given->gram(given->context, g, moments->centred ? x : NULL,
                        moments->gram + g * width * width, err) < 0)
            return -1;
    }
    return 0;
}

/* The mean of weights times columns. */
static double mean_of(const struct by_round_moments *moments, size_t out, const float *weights)
{
    const size_t width = moments->columns;
    const double *x = moments->x + out / moments->outs * width;
    double mean = 0;
    for (size_t i = 0; i < width; i++)
        mean += (double)weights[out * width + i] * x[i];
    return mean;
}

static double bias_of(const float *biases, size_t out)
{
    return biases ? (double)biases[out] : 0;
}

int by_round_moments_take(struct by_round_moments *moments, const struct by_round_target *target,
                          const struct by_round_given *given, struct by_pool *pool,
                          struct baryon_error *err)
{
    if (by_round_moments_init(moments, target, err) < 0)
        return -1;
    moments->rows = given->rows;
    moments->centred = target->biases != NULL;
    if (take_grams(moments, given, err) < 0 ||
        by_round_mix(moments, target->weights, 1, pool, err) < 0)
        return -1;
    for (size_t out = 0; out < moments->groups * moments->outs; out++)
        moments->y[out] = mean_of(moments, out, target->weights) + bias_of(target->biases, out);
    return 0;
}

/* --- Errors --- */

#define BLOCK 64 /* outputs at once */

struct costing {
    struct by_round_errors *errors;
    const struct by_round_target *target;
    const struct by_round_moments *moments;
    const struct by_blas *blas;
    size_t blocks; /* of outputs, in a group */
    float *room;   /* by worker, of two blocks */
    double *sums;  /* by item: noise of each choice, then the signal */
};

/* A block of outputs: by how much weights and biases differ from what they are to be. */
struct difference {
    size_t group, first, outs; /* first: of all groups */
    float *weights, *products;
    double biases[BLOCK];
};

/* The choice NULL: from nothing at all. */
static void differ(const struct costing *costing, const struct by_round_choice *choice,
                   struct difference *difference)
{
    const struct by_round_target *target = costing->target;
    const size_t width = target->columns, from = difference->first * width;
    for (size_t i = 0; i < difference->outs * width; i++)
        difference->weights[i] =
            target->weights[from + i] - (choice ? choice->weights[from + i] : 0);
    for (size_t i = 0; i < difference->outs; i++)
        difference->biases[i] = bias_of(target->biases, difference->first + i) -
                                (choice ? bias_of(choice->biases, difference->first + i) : 0);
}

/* The mean square of what that makes of outputs: the variance and, where it is apart, the mean. */
static double cost_of(const struct costing *costing, struct difference *difference)
{
    const struct by_round_moments *moments = costing->moments;
    const size_t width = moments->columns;
    const double *x = moments->x + difference->group * width;
    double sum = 0;
    costing->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS,
                         (int)difference->outs, (int)width, (int)width, 1, difference->weights,
                         (int)width, moments->gram + difference->group * width * width, (int)width,
                         0, difference->products, (int)width);
    for (size_t i = 0; i < difference->outs * width; i++)
        sum += (double)difference->weights[i] * (double)difference->products[i];
    for (size_t i = 0; moments->centred && i < difference->outs; i++) {
        double mean = difference->biases[i];
        for (size_t k = 0; k < width; k++)
            mean += (double)difference->weights[i * width + k] * x[k];
        sum += mean * mean;
    }
    return sum;
}

static void cost_block(const struct costing *costing, size_t item, float *room)
{
    const struct by_round_target *target = costing->target;
    const size_t count = costing->errors->count, first = item % costing->blocks * BLOCK;
    const size_t left = target->outs - first;
    double *sums = costing->sums + item * (count + 1);
    struct difference difference = {.group = item / costing->blocks,
                                    .first = item / costing->blocks * target->outs + first,
                                    .outs = left < BLOCK ? left : BLOCK,
                                    .weights = room,
                                    .products = room + BLOCK * target->columns};
    for (size_t k = 0; k <= count; k++) {
        differ(costing, k < count ? &costing->errors->choices[k] : NULL, &difference);
        sums[k] = cost_of(costing, &difference);
    }
}

static int cost_blocks(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct costing *costing = context;
    (void)err;
    for (size_t i = begin; i < end; i++)
        cost_block(costing, i, costing->room + worker * 2 * BLOCK * costing->target->columns);
    return 0;
}

static int cost_all(struct costing *costing, struct by_pool *pool, struct baryon_error *err)
{
    struct by_round_errors *errors = costing->errors;
    const size_t items = costing->target->groups * costing->blocks;
    if (by_par_for(pool, items, 1, cost_blocks, costing, err) < 0)
        return -1;
    for (size_t i = 0; i < items; i++) {
        for (size_t k = 0; k < errors->count; k++)
            errors->noise[k] += costing->sums[i * (errors->count + 1) + k];
        errors->signal += costing->sums[i * (errors->count + 1) + errors->count];
    }
    return 0;
}

int by_round_errors_take(struct by_round_errors *errors, const struct by_round_target *target,
                         const struct by_round_moments *moments, struct by_pool *pool,
                         struct baryon_error *err)
{
    const unsigned workers = pool ? by_pool_threads(pool) : 1;
    struct costing costing = {.errors = errors,
                              .target = target,
                              .moments = moments,
                              .blocks = (target->outs + BLOCK - 1) / BLOCK};
    const size_t items = target->groups * costing.blocks;
    if (by_blas_open(&costing.blas, err) < 0)
        return -1;
    /* Zeroed: some libraries multiply what is there by a zero beta. */
    costing.room = by_alloc_zero(workers * 2 * BLOCK * target->columns, sizeof *costing.room, err);
    costing.sums = by_alloc_zero(items * (errors->count + 1), sizeof *costing.sums, err);
    const int status = costing.room && costing.sums ? cost_all(&costing, pool, err) : -1;
    by_free(costing.room);
    by_free(costing.sums);
    return status;
}
