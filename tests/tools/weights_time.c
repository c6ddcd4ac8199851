/*
 * What weights cost: nanoseconds a value of each loop on each path, and seconds of every method on
 * `weights_time [millions [threads]]` values as a network of convolutions has them.
 */
#include "base/rng.h"
#include "calib/calib.h"
#include "dtype/weights_path.h"
#include "ir/tensor.h"
#include "quant/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUN 16384

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double loop(const struct by_weight_path *path, int which, const float *values)
{
    static int32_t out[RUN];
    static float scales[RUN], zeros[RUN];
    static volatile double sink = 0;
    const struct by_weight_grid grid = {.scale = 0.03f, .low = -127, .high = 127};
    float min, max;
    for (size_t i = 0; i < RUN; i++)
        scales[i] = 0.03f;
    double best = INFINITY;
    for (int round = 0; round < 200; round++) {
        const double begin = now();
        if (which == 0)
            sink = path->extremes(values, RUN, &min, &max);
        else if (which == 1)
            sink = path->error(values, RUN, &grid, INFINITY);
        else if (which == 2)
            path->round(values, RUN, &grid, out);
        else
            path->round_each(values, RUN, scales, zeros, -127, 127, out);
        best = fmin(best, now() - begin);
    }
    return sink < 0 ? 0 : best / RUN * 1e9;
}

static void show_loops(const float *values)
{
    size_t count;
    const struct by_weight_path *const *paths = by_weight_paths(&count);
    printf("ns a value  extremes    error    round  round_each\n");
    for (size_t i = 0; i < count; i++) {
        if (!paths[i]->supported())
            continue;
        printf("%-10s", paths[i]->name);
        for (int which = 0; which < 4; which++)
            printf(" %9.3f", loop(paths[i], which, values));
        printf("\n");
    }
}

struct kind {
    const char *text, *method;
    int64_t elem;
    bool symmetric;
    enum by_scale_type scale;
    enum by_granularity granularity;
};

static void show_method(const struct kind *kind, const float *values, size_t layers,
                        struct by_pool *pool, uint8_t *out)
{
    const int64_t dims[] = {512, 256, 3, 3};
    const size_t each = 512 * 256 * 9;
    const struct by_calibrator *method = by_calibrator_find(kind->method);
    struct by_tensor_spec spec = {.elem = kind->elem,
                                  .symmetric = kind->symmetric,
                                  .scale = kind->scale,
                                  .granularity = kind->granularity,
                                  .group = 32,
                                  .method = method};
    by_calib_defaults(method, &spec.calib);
    struct baryon_error err = {.code = 0};
    double find = 0, round = 0, error = 0, sum = 0;
    for (size_t i = 0; i < layers; i++) {
        const struct by_weight_view view = {values + i * each, 4, dims, 0, 1, NULL};
        struct by_arena arena;
        struct by_params params;
        size_t size;
        by_arena_init(&arena, 0);
        double begin = now();
        if (by_weight_params(&view, &spec, pool, &arena, &params, &error, &err))
            exit(1);
        find += now() - begin;
        sum += error;
        begin = now();
        if (by_elem_bytes(spec.elem, each, &size, &err) ||
            by_weight_quantize(&view, &spec, &params, pool, out, size, &err))
            exit(1);
        round += now() - begin;
        by_arena_release(&arena);
    }
    printf("%-40s %8.3f s %8.3f s   %.4g\n", kind->text, find, round, sum / (double)layers);
}

int main(int argc, char **argv)
{
    static const struct kind kinds[] = {
        {"int8 minmax channel", "minmax", BY_ELEM_INT8, true, BY_SCALE_FLOAT32, BY_PER_CHANNEL},
        {"int8 pow2 minmse tensor", "minmse-pow2", BY_ELEM_INT8, true, BY_SCALE_POW2,
         BY_PER_TENSOR},
        {"int8 pow2 minmse channel", "minmse-pow2", BY_ELEM_INT8, true, BY_SCALE_POW2,
         BY_PER_CHANNEL},
        {"int8 minmse tensor", "minmse", BY_ELEM_INT8, true, BY_SCALE_FLOAT32, BY_PER_TENSOR},
        {"int8 minmse channel", "minmse", BY_ELEM_INT8, true, BY_SCALE_FLOAT32, BY_PER_CHANNEL},
        {"uint8 minmse channel", "minmse", BY_ELEM_UINT8, false, BY_SCALE_FLOAT32, BY_PER_CHANNEL},
        {"int4 minmse groups of 32", "minmse", BY_ELEM_INT4, true, BY_SCALE_FLOAT32, BY_PER_GROUP},
        {"uint4 minmse groups of 32", "minmse", BY_ELEM_UINT4, false, BY_SCALE_FLOAT32,
         BY_PER_GROUP},
        {"int8 percentile channel", "percentile", BY_ELEM_INT8, true, BY_SCALE_FLOAT32,
         BY_PER_CHANNEL},
        {"int32 minmax channel", "minmax", BY_ELEM_INT32, true, BY_SCALE_FLOAT32, BY_PER_CHANNEL},
    };
    const size_t each = 512 * 256 * 9;
    const size_t layers = (size_t)(argc > 1 ? atoi(argv[1]) : 25) * 1000000 / each;
    float *values = malloc(layers * each * sizeof *values);
    uint8_t *out = malloc(each * 4);
    struct by_pool *pool;
    if (!layers || !values || !out ||
        by_pool_open(&pool, argc > 2 ? (unsigned)atoi(argv[2]) : 2, NULL))
        return 1;
    for (size_t i = 0; i < layers * each; i++) {
        const double u = by_rng_unit(1, 1, i) + by_rng_unit(1, 2, i) - 1;
        values[i] = (float)(u * 0.1 / (1.02 - fabs(u)));
    }
    show_loops(values);
    printf("%zu values, %u threads: parameters, integers, error\n", layers * each,
           by_pool_threads(pool));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        show_method(&kinds[i], values, layers, pool, out);
    by_pool_close(pool);
    free(values);
    free(out);
    return 0;
}
