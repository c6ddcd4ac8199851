/* From means over tokens to the form that solvers minimize. */
#include "llm/solve/problem.h"

#include "base/blas.h"

#include <math.h>
#include <string.h>

#define ROWS 64 /* of a piece */

/* Means over the tokens that count. */
static void fill_gram(const struct by_llm_inputs *inputs, bool without_held, float *gram)
{
    const size_t count = inputs->columns * inputs->columns;
    const float share = without_held ? 0 : by_llm_held_share(inputs);
    if (!inputs->held || without_held) {
        memcpy(gram, inputs->gram, count * sizeof *gram);
        return;
    }
    for (size_t i = 0; i < count; i++)
        gram[i] = inputs->gram[i] * (1 - share) + inputs->held[i] * share;
}

/* Divided by the mean diagonal, shrunk and damped. */
static void regularize_gram(struct by_llm_regular *regular,
                            const struct by_llm_method_options *options)
{
    const size_t columns = regular->columns;
    double mean = 0;
    for (size_t i = 0; i < columns; i++)
        mean += (double)regular->gram[i * columns + i] / (double)columns;
    regular->unit = mean > 0 && isfinite(1 / mean) ? (float)(1 / mean) : 1;
    const float across = regular->unit * (float)(1 - options->shrink);
    for (size_t i = 0; i < columns; i++) {
        const float own = regular->gram[i * columns + i] * regular->unit + (float)options->damping;
        for (size_t j = 0; j < columns; j++)
            regular->gram[i * columns + j] *= across;
        regular->gram[i * columns + i] = regular->importance[i] = own;
    }
}

int by_llm_regularize(struct by_llm_regular *regular, const struct by_llm_inputs *inputs,
                      bool without_held, const struct by_llm_method_options *options,
                      struct by_pool *pool, struct baryon_error *err)
{
    const size_t columns = inputs->columns;
    *regular = (struct by_llm_regular){.columns = columns};
    regular->gram = by_alloc(columns * columns, sizeof(float), err);
    regular->importance = by_alloc(columns, sizeof(float), err);
    if (!regular->gram || !regular->importance)
        return -1;
    fill_gram(inputs, without_held, regular->gram);
    regularize_gram(regular, options);
    const struct by_gptq_way way = {.in_order = options->in_order,
                                    .first_alone = options->first_alone};
    return options->start == BY_LLM_START_GPTQ
               ? by_gptq_factor_open(&regular->factor, regular->gram, columns, way, pool, err)
               : 0;
}

void by_llm_regular_release(struct by_llm_regular *regular)
{
    by_gptq_factor_close(regular->factor);
    by_free(regular->gram);
    by_free(regular->importance);
    *regular = (struct by_llm_regular){0};
}

struct pulling {
    const struct by_blas *blas;
    const float *drift, *weights;
    size_t columns;
    float share;
    float *pull;
};

static int pull_rows(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct pulling *p = context;
    const int rows = (int)(end - begin), width = (int)p->columns;
    (void)worker, (void)err;
    p->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, rows, width, width,
                   p->share, p->weights + begin * p->columns, width, p->drift, width, 0,
                   p->pull + begin * p->columns, width);
    return 0;
}

int by_llm_pull(const struct by_llm_regular *regular, const float *drift, double share,
                const float *weights, size_t rows, struct by_pool *pool, float *pull,
                struct baryon_error *err)
{
    struct pulling pulling = {.drift = drift,
                              .weights = weights,
                              .columns = regular->columns,
                              .share = (float)share * regular->unit,
                              .pull = pull};
    return by_blas_open(&pulling.blas, err) ||
                   by_par_for(pool, rows, ROWS, pull_rows, &pulling, err)
               ? -1
               : 0;
}
