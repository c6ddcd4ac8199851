/* Adds arrays of floats so that the sum does not depend on their order. */
#include "moments/fold.h"

#include <math.h>
#include <string.h>

#define CELL 0x1p40
/* A number below 2^51 added to this is rounded to whole ones, which are its low bits. */
#define ROUNDER 0x1.8p52

static uint32_t greatest_one(const float *values, size_t count)
{
    uint32_t most = 0, bits;
    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, values + i, sizeof bits);
        bits &= 0x7fffffff;
        most = bits > most ? bits : most;
    }
    return most;
}

static int64_t whole(double rounded)
{
    const double base = ROUNDER;
    int64_t a, b;
    memcpy(&a, &rounded, sizeof a);
    memcpy(&b, &base, sizeof b);
    return a - b;
}

static void add_ones(int64_t *high, int64_t *low, const float *values, size_t count, double scale)
{
    for (size_t i = 0; i < count; i++) {
        const double scaled = (double)values[i] * scale, upper = scaled + ROUNDER;
        high[i] += whole(upper);
        low[i] += whole((scaled - (upper - ROUNDER)) * CELL + ROUNDER);
    }
}

#define TARGET
#define WIDTH  4
#define SUFFIX portable
#include "moments/fold_path.h"

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2")))
#define WIDTH  4
#define SUFFIX avx2
#include "moments/fold_path.h"
#define TARGET __attribute__((target("avx512f")))
#define WIDTH  8
#define SUFFIX avx512
#include "moments/fold_path.h"
#endif

struct path {
    const char *name;
    uint32_t (*greatest)(const float *values, size_t count);
    void (*add)(int64_t *high, int64_t *low, const float *values, size_t count, double scale);
};

static const struct path *path_in_use(void)
{
    static const struct path portable = {"portable", greatest_portable, add_portable};
#if defined(__x86_64__)
    static const struct path avx2 = {"avx2", greatest_avx2, add_avx2};
    static const struct path avx512 = {"avx512", greatest_avx512, add_avx512};
    if (__builtin_cpu_supports("avx512f"))
        return &avx512;
    if (__builtin_cpu_supports("avx2"))
        return &avx2;
#endif
    return &portable;
}

const char *by_fold_path(void)
{
    return path_in_use()->name;
}

int by_fold_init(struct by_fold *fold, size_t count, struct baryon_error *err)
{
    size_t both;
    *fold = (struct by_fold){.cell = BY_FOLD_NONE};
    if (by_mul_overflow(count, 2, &both))
        return by_err_nomem(err, SIZE_MAX);
    fold->high = by_alloc_zero(both, sizeof *fold->high, err);
    if (!fold->high)
        return -1;
    fold->low = fold->high + count;
    fold->count = count;
    return 0;
}

void by_fold_release(struct by_fold *fold)
{
    by_free(fold->high);
    *fold = (struct by_fold){.cell = BY_FOLD_NONE};
}

/*
 * The cell whose whole numbers hold a magnitude below 2^exponent in 39 bits. One bit is spare,
 * so that a value of a lower cell rounds to nothing in the one above it.
 */
static int32_t cell_of(int exponent)
{
    const int down = exponent < 0 ? exponent - (BY_FOLD_BITS - 1) : exponent;
    return down / BY_FOLD_BITS;
}

/* Moves up to a cell; sums of cells that are too low now are forgotten. */
static void raise_to(struct by_fold *fold, int32_t cell)
{
    if (fold->cell != BY_FOLD_NONE && cell <= fold->cell)
        return;
    const size_t bytes = fold->count * sizeof *fold->high;
    if (fold->cell != BY_FOLD_NONE) {
        if (cell == fold->cell + 1)
            memcpy(fold->low, fold->high, bytes);
        else
            memset(fold->low, 0, bytes);
        memset(fold->high, 0, bytes);
    }
    fold->cell = cell;
}

void by_fold_add_part(struct by_fold *fold, size_t first, size_t count, const float *values)
{
    const struct path *path = path_in_use();
    const uint32_t bits = path->greatest(values, count);
    if (!bits)
        return;
    float most;
    int exponent;
    memcpy(&most, &bits, sizeof most);
    frexpf(most, &exponent);
    raise_to(fold, cell_of(exponent));
    path->add(fold->high + first, fold->low + first, values, count,
              ldexp(1, -BY_FOLD_BITS * fold->cell));
}

void by_fold_add(struct by_fold *fold, const float *values)
{
    by_fold_add_part(fold, 0, fold->count, values);
}

void by_fold_add_ref(struct by_fold *fold, const float *values)
{
    for (size_t i = 0; i < fold->count; i++) {
        int exponent;
        frexpf(values[i], &exponent);
        if (values[i] != 0)
            raise_to(fold, cell_of(exponent));
    }
    for (size_t i = 0; i < fold->count && fold->cell != BY_FOLD_NONE; i++) {
        const double scaled = ldexp((double)values[i], -BY_FOLD_BITS * fold->cell);
        const double high = nearbyint(scaled);
        fold->high[i] += (int64_t)high;
        fold->low[i] += (int64_t)nearbyint(ldexp(scaled - high, BY_FOLD_BITS));
    }
}

static void add_all(int64_t *to, const int64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

void by_fold_merge(struct by_fold *fold, const struct by_fold *other)
{
    if (other->cell == BY_FOLD_NONE)
        return;
    raise_to(fold, other->cell);
    if (other->cell == fold->cell) {
        add_all(fold->high, other->high, fold->count);
        add_all(fold->low, other->low, fold->count);
    } else if (other->cell == fold->cell - 1)
        add_all(fold->low, other->high, fold->count);
}

double by_fold_value(const struct by_fold *fold, size_t index)
{
    if (fold->cell == BY_FOLD_NONE)
        return 0;
    __extension__ typedef __int128 wide;
    const wide sum = ((wide)fold->high[index] * ((wide)1 << BY_FOLD_BITS)) + fold->low[index];
    return ldexp((double)sum, BY_FOLD_BITS * (fold->cell - 1));
}
