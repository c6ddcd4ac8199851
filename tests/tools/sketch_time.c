/* Nanoseconds a value that looking takes on one thread: each path, tensors of several kinds. */
#include "base/rng.h"
#include "ir/tensor.h"
#include "stats/sketch_scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double draw(int kind, uint64_t i)
{
    double normal = by_rng_normal(1, 1, i), u = by_rng_unit(1, 2, i) * 2 - 1;
    switch (kind) {
    case 0:
        return normal;
    case 1:
        return normal > 0 ? normal : 0;
    case 2:
        return 0.5;
    case 3:
        return u * sqrt(2 / (1 - u * u + 1e-30));
    case 4:
        return u > 0 ? 6 : 0.25;
    default:
        return u > 0.99 ? (double)NAN : normal;
    }
}

static double best_time(const struct by_sketch_path *path, const float *values, size_t count)
{
    struct by_sketch sketch;
    struct by_sketch_scratch *scratch;
    double best = INFINITY;
    by_sketch_init(&sketch);
    if (by_sketch_scratch_open(&scratch, 1, NULL))
        exit(1);
    scratch->path = path;
    for (uint64_t round = 0; round < 10 + 4000000 / count; round++) {
        double begin = now();
        if (by_sketch_look(&sketch, scratch, values, BY_ELEM_FLOAT, count, round, NULL, NULL))
            exit(1);
        double took = now() - begin;
        best = took < best ? took : best;
    }
    by_sketch_scratch_close(scratch);
    by_sketch_release(&sketch);
    return best / (double)count;
}

int main(void)
{
    static const char *const kinds[] = {"normal",       "half zeros", "constant",
                                        "heavy tailed", "two values", "1 in 200 NaN"};
    static const size_t counts[] = {10, 1000, 2048, 10000, 200000, 1000000};
    static float values[1000000];
    size_t count;
    const struct by_sketch_path *const *paths = by_sketch_paths(&count);
    printf("%-8s %-13s", "path", "values");
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        printf(" %8zu", counts[c]);
    printf("\n");
    for (int kind = 0; kind < 6; kind++) {
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            values[i] = (float)draw(kind, i);
        for (size_t p = 0; p < count; p++) {
            if (!paths[p]->supported())
                continue;
            printf("%-8s %-13s", paths[p]->name, kinds[kind]);
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                printf(" %8.2f", best_time(paths[p], values, counts[c]));
            printf("\n");
        }
    }
    return 0;
}
