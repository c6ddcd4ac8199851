/*
 * What rounding to number formats, their codes and the way back cost, as JSON: gigabytes a second,
 * read and written, of each format and of memcpy on the same values; `dtype_time [megabytes
 * [threads [tries]]]`.
 */
#include "base/rng.h"
#include "dtype/block.h"
#include "dtype/path.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WIDTH 1024

static float *in, *out;
static uint8_t *codes, *shared; /* of blocks */
static size_t count;
static int tries;
static struct by_pool *pool;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void copy(const struct by_dtype *dtype)
{
    (void)dtype;
    memcpy(out, in, count * sizeof *in);
}

static void check(int status)
{
    if (status)
        exit(3);
}

static void round_elements(const struct by_dtype *dtype)
{
    struct by_cast cast = by_cast_default;
    cast.scale = dtype->low < dtype->high ? 3.0f / (float)dtype->high : 1;
    check(by_dtype_round(dtype, in, count, &cast, pool, out, NULL));
}

static void encode_elements(const struct by_dtype *dtype)
{
    check(by_dtype_encode(dtype, in, count, &by_cast_default, pool, out, NULL));
}

static void decode_elements(const struct by_dtype *dtype)
{
    check(by_dtype_decode(dtype, in, count, &by_cast_default, pool, out, NULL));
}

static void round_blocks(const struct by_dtype *dtype, int axis)
{
    const int64_t dims[] = {(int64_t)(count / WIDTH), WIDTH};
    const struct by_block_cast cast = {.dims = dims, .rank = 2, .axis = axis};
    check(by_block_round(dtype, in, &cast, pool, out, NULL));
}

static void encode_blocks(const struct by_dtype *dtype, int axis)
{
    const int64_t dims[] = {(int64_t)(count / WIDTH), WIDTH};
    const struct by_block_cast cast = {.dims = dims, .rank = 2, .axis = axis};
    check(by_block_encode(dtype, in, &cast, pool, codes, shared, NULL));
}

static void encode_along(const struct by_dtype *dtype)
{
    encode_blocks(dtype, 1);
}

static void encode_across(const struct by_dtype *dtype)
{
    encode_blocks(dtype, 0);
}

/* Of what was encoded along the same axis. */
static void decode_blocks(const struct by_dtype *dtype, int axis)
{
    const int64_t dims[] = {(int64_t)(count / WIDTH), WIDTH};
    const struct by_block_cast cast = {.dims = dims, .rank = 2, .axis = axis};
    check(by_block_decode(dtype, codes, shared, &cast, pool, out, NULL));
}

static void decode_along(const struct by_dtype *dtype)
{
    decode_blocks(dtype, 1);
}

static void decode_across(const struct by_dtype *dtype)
{
    decode_blocks(dtype, 0);
}

static void along_lines(const struct by_dtype *dtype)
{
    round_blocks(dtype, 1);
}

static void across_lines(const struct by_dtype *dtype)
{
    round_blocks(dtype, 0);
}

/* `bytes` are those read and written for a value. */
static void measure(const char *name, const char *what, void work(const struct by_dtype *),
                    const struct by_dtype *dtype, size_t bytes)
{
    double best = INFINITY;
    for (int i = 0; i < tries; i++) {
        const double begin = now();
        work(dtype);
        best = fmin(best, now() - begin);
    }
    printf(",\n  {\"format\": \"%s\", \"what\": \"%s\", \"gbps\": %.2f}", name, what,
           (double)(count * bytes) / best / 1e9);
}

static void measure_format(const struct by_dtype *dtype)
{
    if (dtype->block.size) {
        measure(dtype->name, "round, last axis", along_lines, dtype, 8);
        measure(dtype->name, "encode, last axis", encode_along, dtype, 5);
        measure(dtype->name, "decode, last axis", decode_along, dtype, 5);
        measure(dtype->name, "round, first axis", across_lines, dtype, 8);
        measure(dtype->name, "encode, first axis", encode_across, dtype, 5);
        measure(dtype->name, "decode, first axis", decode_across, dtype, 5);
        return;
    }
    const size_t code = by_dtype_code_bytes(dtype);
    measure(dtype->name, "round", round_elements, dtype, 8);
    if (dtype->low < dtype->high)
        return;
    measure(dtype->name, "encode", encode_elements, dtype, 4 + code);
    measure(dtype->name, "decode", decode_elements, dtype, 4 + code);
}

int main(int argc, char **argv)
{
    const size_t megabytes = argc > 1 ? (size_t)atoi(argv[1]) : 64;
    const unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    tries = argc > 3 ? atoi(argv[3]) : 5;
    count = megabytes * 1000000 / sizeof *in / WIDTH * WIDTH;
    in = malloc(count * sizeof *in);
    out = malloc(count * sizeof *out);
    codes = calloc(count, 1);
    shared = calloc(count, 1);
    if (!in || !out || !codes || !shared || !count || by_pool_open(&pool, threads, NULL))
        return 3;
    for (size_t i = 0; i < count; i++)
        in[i] = (float)by_rng_normal(1, 1, i);
    copy(NULL); /* the pages of both are there */
    printf("[{\"path\": \"%s\", \"threads\": %u, \"megabytes\": %zu}", by_dtype_path_chosen()->name,
           by_pool_threads(pool), megabytes);
    measure("memcpy", "copy", copy, NULL, 8);
    size_t rows;
    const struct by_dtype *const *dtypes = by_dtypes(&rows);
    for (size_t i = 0; i < rows; i++)
        measure_format(dtypes[i]);
    printf("\n]\n");
    by_pool_close(pool);
    free(in);
    free(out);
    free(codes);
    free(shared);
    return 0;
}
