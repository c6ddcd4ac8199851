/* The quadratic form of a layer, whether a Gram matrix stands for samples or rows do. */
#include "solve/descent_rows.h"
#include "solve/round_internal.h"

#include <string.h>

void by_round_pose(const struct by_round_moments *moments, size_t group, struct by_descent *problem)
{
    const size_t width = moments->columns;
    problem->gram = moments->gram ? moments->gram + group * width * width : NULL;
    problem->rows = &moments->kept;
    problem->cross = moments->cross + group * moments->outs * width;
}

/* --- What is aimed at --- */

#define BLOCK 64 /* outputs at once */

struct mixing {
    const struct by_round_moments *moments;
    const float *weights;
    const struct by_blas *blas;
    float share; /* of the float weights in what is aimed at */
};

static int mix_blocks(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct mixing *mixing = context;
    const struct by_round_moments *moments = mixing->moments;
    const size_t width = moments->columns, blocks = (moments->outs + BLOCK - 1) / BLOCK;
    const float share = mixing->share;
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i++) {
        const size_t first = i % blocks * BLOCK, left = moments->outs - first;
        const size_t place = (i / blocks * moments->outs + first) * width;
        mixing->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS,
                            (int)(left < BLOCK ? left : BLOCK), (int)width, (int)width, share,
                            mixing->weights + place, (int)width,
                            moments->gram + i / blocks * width * width, (int)width, 1 - share,
                            moments->cross + place, (int)width);
    }
    return 0;
}

static int mix_rows(const struct mixing *mixing, struct by_pool *pool, struct baryon_error *err)
{
    const struct by_round_moments *moments = mixing->moments;
    const size_t count = moments->outs * moments->columns;
    float *products = by_alloc(count, sizeof *products, err);
    const int status =
        products ? by_descent_rows_product(&moments->kept, moments->columns, moments->outs,
                                           mixing->weights, pool, products, err)
                 : -1;
    for (size_t i = 0; status == 0 && i < count; i++)
        moments->cross[i] = (1 - mixing->share) * moments->cross[i] + mixing->share * products[i];
    by_free(products);
    return status;
}

int by_round_mix(const struct by_round_moments *moments, const float *weights, double share,
                 struct by_pool *pool, struct baryon_error *err)
{
    const size_t blocks = (moments->outs + BLOCK - 1) / BLOCK;
    struct mixing mixing = {.moments = moments, .weights = weights, .share = (float)share};
    if (share <= 0)
        return 0;
    if (!moments->gram)
        return mix_rows(&mixing, pool, err);
    if (by_blas_open(&mixing.blas, err) < 0)
        return -1;
    return by_par_for(pool, moments->groups * blocks, 1, mix_blocks, &mixing, err);
}

/* --- Damping --- */

/* Added to the diagonal of a group. */
static float damp_gram(struct by_round_moments *moments, size_t group, double damping)
{
    const size_t width = moments->columns;
    float *gram = moments->gram + group * width * width;
    double sum = 0;
    for (size_t i = 0; i < width; i++)
        sum += (double)gram[i * width + i];
    const float more = (float)(damping * sum / (double)width);
    for (size_t i = 0; i < width; i++)
        gram[i * width + i] += more;
    return more;
}

static float damp_rows(struct by_round_moments *moments, double damping)
{
    const float more = (float)(damping * by_descent_rows_size(&moments->kept, moments->columns));
    moments->kept.damping += more;
    return more;
}

void by_round_damp(struct by_round_moments *moments, const float *weights, double damping)
{
    const size_t width = moments->columns;
    for (size_t g = 0; g < moments->groups; g++) {
        const float more =
            moments->gram ? damp_gram(moments, g, damping) : damp_rows(moments, damping);
        for (size_t i = g * moments->outs * width; i < (g + 1) * moments->outs * width; i++)
            moments->cross[i] += more * weights[i];
    }
}

/* --- Means --- */

static void uncentre_rows(struct by_round_moments *moments)
{
    for (size_t i = 0; i < moments->columns; i++) {
        float *values = moments->values + i * moments->kept.stride;
        for (size_t row = 0; row < moments->kept.count; row++)
            values[row] = (float)((double)values[row] + moments->x[i]);
    }
}

void by_round_uncentre(struct by_round_moments *moments)
{
    const size_t width = moments->columns;
    if (!moments->gram) {
        uncentre_rows(moments);
        return;
    }
    for (size_t i = 0; i < moments->groups * width; i++) {
        const double *x = moments->x + i / width * width;
        for (size_t k = 0; k < width; k++)
            moments->gram[i * width + k] += (float)(moments->x[i] * x[k]);
    }
}
