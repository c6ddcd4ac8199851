/*
 * Seconds of processor that rounding by descent takes and that GPTQ takes, and by how many dB the
 * error of nearest integers falls: by descent, by GPTQ, by descent that starts from GPTQ.
 *
 *     descent_time [THREADS [SWEEPS [BITS [ROWS]]]]
 *
 * Inputs are ROWS samples of half as many hidden numbers as columns, mixed, some columns much
 * larger than others, as layers have them; weights have a scale for each output.
 */
#include "base/blas.h"
#include "base/rng.h"
#include "solve/gptq.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct baryon_error err;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void fail(void)
{
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

static float *allocate(size_t count)
{
    float *block = by_alloc_zero(count, sizeof *block, &err);
    if (!block)
        fail();
    return block;
}

static float *draw(size_t count, uint64_t seed)
{
    float *values = allocate(count);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)by_rng_normal(seed, 1, i);
    return values;
}

/* Inputs are not negative, as after Relu, and damped by a hundredth of the mean diagonal. */
static float *make_gram(size_t columns, size_t rows, const struct by_blas *blas)
{
    const size_t hidden = columns / 2 + 1;
    float *base = draw(rows * hidden, 1), *mix = draw(hidden * columns, 2);
    float *x = allocate(rows * columns), *gram = allocate(columns * columns);
    blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)rows, (int)columns,
                (int)hidden, 1 / sqrtf((float)hidden), base, (int)hidden, mix, (int)columns, 0, x,
                (int)columns);
    for (size_t i = 0; i < rows * columns; i++)
        x[i] = fmaxf(0, x[i]) * expf((float)by_rng_normal(3, 1, i % columns));
    blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_TRANS, BY_BLAS_NO_TRANS, (int)columns, (int)columns,
                (int)rows, 1 / (float)rows, x, (int)columns, x, (int)columns, 0, gram,
                (int)columns);
    double trace = 0;
    for (size_t i = 0; i < columns; i++)
        trace += (double)gram[i * columns + i];
    for (size_t i = 0; i < columns; i++)
        gram[i * columns + i] += (float)(trace / (double)columns / 100);
    by_free(base);
    by_free(mix);
    by_free(x);
    return gram;
}

/* Of all outputs, counted from what the weights themselves give: cross is gram times these. */
static double total_error(const struct by_descent *problem, const int32_t *integers)
{
    double *errors = by_alloc(problem->outs, sizeof *errors, &err), total = 0;
    if (!errors || by_descent_error(problem, integers, errors, &err))
        fail();
    for (size_t i = 0; i < problem->outs; i++)
        total += errors[i];
    for (size_t i = 0; i < problem->outs * problem->columns; i++)
        total += (double)problem->weights[i] * (double)problem->cross[i];
    by_free(errors);
    return total;
}

struct options {
    struct by_pool *pool;
    unsigned sweeps, bits;
    size_t rows;
};

enum way { DESCENT, GPTQ, BOTH, WAYS };

static double run(const struct by_descent *problem, enum way way, struct by_pool *pool,
                  int32_t *integers)
{
    struct by_descent any = *problem;
    any.free = true;
    by_descent_nearest(problem, integers);
    const double begin = now();
    if (way != DESCENT && by_gptq_run(&any, pool, integers, &err))
        fail();
    if (way != GPTQ && by_descent_run(problem, pool, integers, NULL, &err))
        fail();
    return now() - begin;
}

static void report(const struct by_descent *problem, size_t times, struct by_pool *pool)
{
    static const char *const names[WAYS] = {"descent", "gptq", "both"};
    int32_t *integers = by_alloc(problem->outs * problem->columns, sizeof *integers, &err);
    if (!integers)
        fail();
    by_descent_nearest(problem, integers);
    const double nearest = total_error(problem, integers);
    printf("%5zu columns %4zu outputs %4zu times", problem->columns, problem->outs, times);
    for (enum way way = DESCENT; way < WAYS; way++) {
        double took = 0;
        for (size_t i = 0; i < times; i++)
            took += run(problem, way, pool, integers);
        printf("  %s %9.6f s %5.2f dB", names[way], took,
               10 * log10(nearest / total_error(problem, integers)));
        fflush(stdout);
    }
    printf("\n");
    by_free(integers);
}

static void measure(size_t columns, size_t outs, size_t times, const struct options *options)
{
    const struct by_blas *blas;
    if (by_blas_open(&blas, &err))
        fail();
    float *gram = make_gram(columns, options->rows ? options->rows : 2 * columns, blas);
    float *weights = draw(outs * columns, 4), *cross = allocate(outs * columns);
    float *scales = allocate(outs);
    blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)outs, (int)columns,
                (int)columns, 1, weights, (int)columns, gram, (int)columns, 0, cross, (int)columns);
    const int32_t high = (1 << (options->bits - 1)) - 1;
    for (size_t i = 0; i < outs; i++)
        scales[i] = 4.0f / (float)high;
    const struct by_descent problem = {.columns = columns,
                                       .outs = outs,
                                       .gram = gram,
                                       .cross = cross,
                                       .weights = weights,
                                       .scales = scales,
                                       .groups = 1,
                                       .group = columns,
                                       .low = -high,
                                       .high = high,
                                       .sweeps = options->sweeps};
    report(&problem, times, outs > 1 ? options->pool : NULL);
    by_free(gram);
    by_free(weights);
    by_free(cross);
    by_free(scales);
}

int main(int argc, char **argv)
{
    static const size_t sizes[][3] = {{9, 1, 1000},   {64, 64, 1},    {576, 64, 1},  {1152, 128, 1},
                                      {2304, 256, 1}, {4608, 512, 1}, {512, 2048, 1}};
    struct options options = {.bits = 8};
    if (by_pool_open(&options.pool, argc > 1 ? (unsigned)atoi(argv[1]) : 0, &err))
        fail();
    if (argc > 2)
        options.sweeps = (unsigned)atoi(argv[2]);
    if (argc > 3)
        options.bits = (unsigned)atoi(argv[3]);
    if (argc > 4)
        options.rows = (size_t)atol(argv[4]);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        measure(sizes[i][0], sizes[i][1], sizes[i][2], &options);
    by_pool_close(options.pool);
    return 0;
}
