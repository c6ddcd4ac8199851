/*
 * Seconds that rounding by descent takes, and by how many dB the error of nearest integers falls:
 *
 *     descent_time [THREADS [SWEEPS [ROWS]]]
 *
 * Inputs are ROWS samples of half as many hidden numbers as columns, mixed, some columns much
 * larger than others, as layers have them; weights of 8 bits with a scale for each output.
 */
#include "base/blas.h"
#include "base/rng.h"
#include "solve/descent.h"

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

/* Inputs are not negative, as behind Relu, and damped by a hundredth of the mean diagonal. */
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

static double sum(const double *values, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += values[i];
    return total;
}

/* w' gram w: what the error is counted from, since cross is gram times the weights. */
static double energy(const struct by_descent *problem)
{
    double total = 0;
    for (size_t i = 0; i < problem->outs * problem->columns; i++)
        total += (double)problem->weights[i] * (double)problem->cross[i];
    return total;
}

static void measure(size_t columns, size_t outs, size_t times, size_t rows, unsigned sweeps,
                    struct by_pool *pool)
{
    const struct by_blas *blas;
    if (by_blas_open(&blas, &err))
        fail();
    float *gram = make_gram(columns, rows ? rows : 2 * columns, blas);
    float *weights = draw(outs * columns, 4), *cross = allocate(outs * columns);
    float *scales = allocate(outs);
    blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)outs, (int)columns,
                (int)columns, 1, weights, (int)columns, gram, (int)columns, 0, cross, (int)columns);
    for (size_t i = 0; i < outs; i++)
        scales[i] = 4.0f / 127;
    const struct by_descent problem = {columns, outs,    gram, cross, weights, scales, NULL,
                                       1,       columns, -127, 127,   sweeps,  false};
    int32_t *integers = by_alloc(outs * columns, sizeof *integers, &err);
    double *errors = by_alloc(outs, sizeof *errors, &err), took = 0;
    if (!integers || !errors)
        fail();
    for (size_t i = 0; i < times; i++) {
        by_descent_nearest(&problem, integers);
        const double begin = now();
        if (by_descent_run(&problem, pool, integers, errors, &err))
            fail();
        took += now() - begin;
    }
    const double gained = sum(errors, outs);
    if (by_descent_error(&problem, integers, errors, &err))
        fail();
    const double left = sum(errors, outs) + energy(&problem);
    printf("%5zu columns %4zu outputs %5zu times %9.6f s, %6.2f dB\n", columns, outs, times, took,
           10 * log10((left + gained) / left));
    by_free(gram);
    by_free(weights);
    by_free(cross);
    by_free(scales);
    by_free(integers);
    by_free(errors);
}

int main(int argc, char **argv)
{
    static const size_t sizes[][3] = {{9, 1, 1000},   {64, 64, 1},    {576, 64, 1},  {1152, 128, 1},
                                      {2304, 256, 1}, {4608, 512, 1}, {512, 2048, 1}};
    struct by_pool *pool;
    if (by_pool_open(&pool, argc > 1 ? (unsigned)atoi(argv[1]) : 0, &err))
        fail();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        measure(sizes[i][0], sizes[i][1], sizes[i][2], argc > 3 ? (size_t)atol(argv[3]) : 0,
                argc > 2 ? (unsigned)atoi(argv[2]) : 0, sizes[i][1] > 1 ? pool : NULL);
    by_pool_close(pool);
    return 0;
}
