/* Linear layers that share an input. */
#include "llm/solve/group.h"

#include "base/blas.h"

#include <math.h>
#include <string.h>

#define SAMPLED      32                /* rows of a linear that are tried */
#define CHUNK_VALUES ((size_t)1 << 23) /* of rows that are solved at once */

struct amount {
    double shrink, damping;
};

/* From little to much. Few tokens need much; the least is best with hundreds for each input. */
static const struct amount amounts[] = {{0, 0.001},   {0, 0.003},   {0, 0.01},   {0, 0.03},
                                        {0.05, 0.03}, {0.15, 0.03}, {0.3, 0.03}, {0.5, 0.03}};
enum { AMOUNTS = sizeof amounts / sizeof *amounts, LEAST_SHRINK = 3, MIDDLE = 5 };
static const struct amount usual = {0.3, 0.03}; /* where nothing is held out */

/* --- Some rows --- */

struct sample {
    struct by_llm_linear *linear;
    size_t columns, rows;
    float *weights, *values, *gaps, *products; /* [rows][columns] */
    struct by_llm_coded coded;
};

static void close_sample(struct sample *sample)
{
    by_free(sample->weights);
    by_llm_coded_close(&sample->coded);
}

static int open_sample(struct sample *sample, struct by_llm_linear *linear, size_t columns,
                       struct baryon_error *err)
{
    const size_t rows = linear->rows < SAMPLED ? linear->rows : SAMPLED;
    *sample = (struct sample){.linear = linear, .columns = columns, .rows = rows};
    sample->weights = by_alloc(4 * rows * columns, sizeof(float), err);
    if (!sample->weights || by_llm_target_open(&linear->target, rows, &sample->coded, err))
        return -1;
    sample->values = sample->weights + rows * columns;
    sample->gaps = sample->values + rows * columns;
    sample->products = sample->gaps + rows * columns;
    for (size_t i = 0; i < rows; i++)
        memcpy(sample->weights + i * columns, linear->weights + i * linear->rows / rows * columns,
               columns * sizeof(float));
    return 0;
}

static double form_of(const struct sample *sample, const struct by_blas *blas, const float *values,
                      const float *gram)
{
    const int rows = (int)sample->rows, columns = (int)sample->columns;
    double sum = 0;
    blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, rows, columns, columns, 1,
                values, columns, gram, columns, 0, sample->products, columns);
    for (size_t i = 0; i < sample->rows * sample->columns; i++)
        sum += (double)values[i] * (double)sample->products[i];
    return sum;
}

/* Squared error of the output that the codes give, to that of nothing. */
static int judge(const struct sample *sample, const struct by_blas *blas, const float *gram,
                 double *error, struct baryon_error *err)
{
    const size_t count = sample->rows * sample->columns;
    if (by_llm_target_values(&sample->linear->target, &sample->coded, sample->rows, sample->values,
                             err))
        return -1;
    for (size_t i = 0; i < count; i++)
        sample->gaps[i] = sample->values[i] - sample->weights[i];
    const double whole = form_of(sample, blas, sample->weights, gram);
    *error = whole > 0 ? form_of(sample, blas, sample->gaps, gram) / whole : 0;
    return 0;
}

/* The aim is that of the weights: drift was not gathered by shares of windows. */
static int solve_sample(struct sample *sample, const struct by_llm_group *group,
                        const struct by_llm_regular *regular, struct by_pool *pool,
                        struct baryon_error *err)
{
    const struct by_llm_problem problem = {.rows = sample->rows,
                                           .columns = sample->columns,
                                           .weights = sample->weights,
                                           .gram = regular->gram,
                                           .importance = regular->importance,
                                           .factor = regular->factor};
    return by_llm_target_solve(&sample->linear->target, &problem, group->solver, pool,
                               &sample->coded, err);
}

/* --- How much to shrink and to damp --- */

static const float *judging(const struct by_llm_inputs *inputs)
{
    return inputs->held ? inputs->held : inputs->gram;
}

/* Errors of all linears with one candidate: their sum, and each. */
static int try_amount(const struct by_llm_group *group, struct amount amount,
                      struct sample *samples, struct by_pool *pool, double *errors, double *sum,
                      struct baryon_error *err)
{
    const float *judged = judging(group->inputs);
    const struct by_blas *blas;
    struct by_llm_method_options options = group->solver->options;
    struct by_llm_regular regular = {0};
    options.shrink = amount.shrink;
    options.damping = amount.damping;
    int status = by_blas_open(&blas, err) ||
                 by_llm_regularize(&regular, group->inputs, true, &options, pool, err);
    *sum = 0;
    for (size_t i = 0; i < group->count && !status; i++) {
        status = solve_sample(&samples[i], group, &regular, pool, err) ||
                 judge(&samples[i], blas, judged, &errors[i], err);
        *sum += errors[i];
    }
    by_llm_regular_release(&regular);
    return status ? -1 : 0;
}

static int try_nearest(const struct by_llm_group *group, struct sample *samples,
                       struct by_pool *pool, struct baryon_error *err)
{
    const float *judged = judging(group->inputs);
    const struct by_blas *blas;
    if (by_blas_open(&blas, err))
        return -1;
    for (size_t i = 0; i < group->count; i++) {
        struct by_llm_linear *linear = &group->linears[i];
        linear->errors.held_out = group->inputs->held != NULL;
        if (by_llm_target_nearest(&linear->target, samples[i].weights, samples[i].rows, pool,
                                  &samples[i].coded, err) ||
            judge(&samples[i], blas, judged, &linear->errors.nearest, err))
            return -1;
    }
    return 0;
}

/* Tries one candidate. Errors are kept where it is the best so far. */
static int try_one(struct by_llm_group *group, struct amount amount, struct sample *samples,
                   struct by_pool *pool, double *errors, double *least, bool *better,
                   struct baryon_error *err)
{
    double sum;
    if (try_amount(group, amount, samples, pool, errors, &sum, err))
        return -1;
    *better = sum < *least;
    if (!*better)
        return 0;
    *least = sum;
    group->shrink = amount.shrink;
    group->damping = amount.damping;
    for (size_t k = 0; k < group->count; k++)
        group->linears[k].errors.solved = errors[k];
    return 0;
}

/* What is given stays. */
static struct amount candidate(const struct by_llm_group *group, struct amount amount)
{
    const struct by_llm_method_options *given = &group->solver->options;
    return (struct amount){given->shrink < 0 ? amount.shrink : given->shrink,
                           given->damping < 0 ? amount.damping : given->damping};
}

/* From the middle to more as long as it pays, else to less. */
static int choose_amount(struct by_llm_group *group, struct sample *samples, struct by_pool *pool,
                         double *errors, struct baryon_error *err)
{
    const struct by_llm_method_options *given = &group->solver->options;
    const bool chosen = given->shrink < 0 && group->inputs->held;
    const struct amount first = candidate(group, chosen ? amounts[MIDDLE] : usual);
    const int least_amount = given->damping < 0 ? 0 : LEAST_SHRINK;
    double least = INFINITY;
    bool better, any = false;
    group->shrink = first.shrink;
    group->damping = first.damping;
    if (try_one(group, first, samples, pool, errors, &least, &better, err))
        return -1;
    for (int way = 1; way >= -1 && chosen && !any; way -= 2) {
        better = true;
        for (int i = MIDDLE + way; better && i >= least_amount && i < AMOUNTS; i += way) {
            if (try_one(group, candidate(group, amounts[i]), samples, pool, errors, &least, &better,
                        err))
                return -1;
            any = any || better;
        }
    }
    return 0;
}

/* --- All --- */

static int measure(struct by_llm_group *group, struct by_pool *pool, struct baryon_error *err)
{
    struct sample *samples = by_alloc_zero(group->count, sizeof *samples, err);
    double *errors = by_alloc_zero(group->count, sizeof *errors, err);
    int status = samples && errors ? 0 : -1;
    for (size_t i = 0; i < group->count && !status; i++)
        status = open_sample(&samples[i], &group->linears[i], group->inputs->columns, err);
    if (!status)
        status = try_nearest(group, samples, pool, err) ||
                 choose_amount(group, samples, pool, errors, err);
    for (size_t i = 0; samples && i < group->count; i++)
        close_sample(&samples[i]);
    by_free(samples);
    by_free(errors);
    return status ? -1 : 0;
}

int by_llm_group_open(struct by_llm_group *group, struct by_pool *pool, struct baryon_error *err)
{
    group->regular = (struct by_llm_regular){0};
    return measure(group, pool, err);
}

int by_llm_group_form(struct by_llm_group *group, struct by_pool *pool, struct baryon_error *err)
{
    struct by_llm_method_options options = group->solver->options;
    options.shrink = group->shrink;
    options.damping = group->damping;
    return by_llm_regularize(&group->regular, group->inputs, false, &options, pool, err);
}

size_t by_llm_rows_at_once(size_t rows, size_t columns)
{
    const size_t some = CHUNK_VALUES / columns / BY_LLM_ROWS_AT_ONCE * BY_LLM_ROWS_AT_ONCE;
    if (some >= rows)
        return rows;
    return some ? some : BY_LLM_ROWS_AT_ONCE;
}

size_t by_llm_group_rows(const struct by_llm_group *group, size_t linear)
{
    return by_llm_rows_at_once(group->linears[linear].rows, group->inputs->columns);
}

uint64_t by_llm_solving_bytes(size_t rows, size_t columns)
{
    return 16 * (uint64_t)by_llm_rows_at_once(rows, columns) * columns;
}

int by_llm_group_solve(const struct by_llm_group *group, size_t linear, size_t first, size_t count,
                       struct by_pool *pool, struct by_llm_coded *coded, struct baryon_error *err)
{
    const struct by_llm_linear *own = &group->linears[linear];
    const struct by_llm_regular *regular = &group->regular;
    const size_t columns = group->inputs->columns;
    const float *drift = group->inputs->drift;
    const double share = group->solver->options.cross;
    const float *weights = own->weights + first * columns;
    const bool pulled = drift && share != 0;
    float *pull = pulled ? by_alloc(count * columns, sizeof *pull, err) : NULL;
    const struct by_llm_problem problem = {
        count, columns, weights, regular->gram, pull, regular->importance, regular->factor};
    const int status = (pulled && (!pull || by_llm_pull(regular, drift, share, weights, count, pool,
                                                        pull, err))) ||
                       by_llm_target_solve(&own->target, &problem, group->solver, pool, coded, err);
    by_free(pull);
    return status ? -1 : 0;
}

void by_llm_group_close(struct by_llm_group *group)
{
    by_llm_regular_release(&group->regular);
}
