/* Chooses which input rows of a sample are used, and skips rows that are not finite. */
#include "base/rng.h"
#include "moments/moments_internal.h"

#include <stdatomic.h>
#include <string.h>

#define SCAN_GRAIN ((size_t)1 << 18)

/* Columns from which on a layer's products would take most of the time: it gets fewer rows, so that
 * these take as long as with so many columns. But half as many rows as columns there are. */
#define WIDE           4096
#define A_COLUMN_LEAST 0.5

size_t by_rows_wanted(size_t columns, size_t samples)
{
    const double width = (double)columns, narrow = columns > WIDE ? WIDE / width : 1;
    const double share = narrow * narrow;
    const double a_column = BY_MOMENTS_ROWS_A_COLUMN * share;
    const double all = width * (a_column > A_COLUMN_LEAST ? a_column : A_COLUMN_LEAST);
    const size_t wanted = (size_t)all / (samples ? samples : 1);
    const size_t least = (size_t)(BY_MOMENTS_ROWS_MIN * share * narrow);
    return wanted > least ? wanted : least;
}

/* Weights that least squares finds on n rows have an error that is 1 + columns / n times the least:
 * 6 % more with so many a column, and less where there are but two integers for each weight. Rows
 * of a sample resemble each other, so each gives some. */
#define A_COLUMN_ENOUGH 16
#define A_SAMPLE_LEAST  64

size_t by_rows_enough(size_t columns, size_t samples)
{
    const size_t wanted = by_rows_wanted(columns, samples), count = samples ? samples : 1;
    const size_t fair = (A_COLUMN_ENOUGH * columns + count - 1) / count;
    const size_t enough = fair > A_SAMPLE_LEAST ? fair : A_SAMPLE_LEAST;
    return enough < wanted ? enough : wanted;
}

size_t by_rows_most(const struct by_columns *columns)
{
    return columns->most ? columns->most : by_rows_wanted((size_t)columns->layer->columns, 1);
}

/* FNV-1a. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash;
}

/* One of each of `most` equal stretches. */
static void sample_rows(const struct by_columns *columns, uint64_t sample, size_t most,
                        size_t *list)
{
    __extension__ typedef unsigned __int128 wide;
    const uint64_t seed = hash_of(columns->layer->name);
    for (size_t i = 0; i < most; i++) {
        const size_t begin = (size_t)((wide)columns->rows * i / most);
        const size_t end = (size_t)((wide)columns->rows * (i + 1) / most);
        list[i] = (size_t)by_rng_range(seed, sample, i, (int64_t)begin, (int64_t)end - 1);
    }
}

/* --- Rows that are not finite --- */

static bool is_bad(float value)
{
    return !(value < BY_MAGNITUDE_MAX && value > -BY_MAGNITUDE_MAX);
}

struct scan {
    const float *values;
    atomic_bool bad;
};

static int scan_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    struct scan *scan = context;
    uint32_t bad = 0, bits;
    (void)worker, (void)err;
    if (atomic_load_explicit(&scan->bad, memory_order_relaxed))
        return 0;
    /* Of positive floats the bits order as the values do, with infinities and NaN above. */
    const float limit = BY_MAGNITUDE_MAX;
    uint32_t most;
    memcpy(&most, &limit, sizeof most);
    for (size_t i = begin; i < end; i++) {
        memcpy(&bits, scan->values + i, sizeof bits);
        bad |= (most - 1 - (bits & 0x7fffffffu)) >> 31;
    }
    if (bad)
        atomic_store_explicit(&scan->bad, true, memory_order_relaxed);
    return 0;
}

static size_t value_count(const struct by_columns *columns)
{
    if (columns->in_rows)
        return columns->rows * (size_t)columns->layer->columns;
    return columns->images * columns->channels * columns->plane;
}

static int find_bad(const struct by_columns *columns, bool *bad, const struct by_team *team,
                    struct baryon_error *err)
{
    struct scan scan = {.values = columns->values};
    *bad = false;
    if (by_team_for(team, value_count(columns), SCAN_GRAIN, scan_piece, &scan, err))
        return -1;
    *bad = atomic_load(&scan.bad);
    return 0;
}

static bool next_kernel_place(const struct by_columns *columns, int64_t *at)
{
    for (size_t i = columns->spatial; i-- > 0; at[i] = 0)
        if (++at[i] < columns->kernel[i])
            return true;
    return false;
}

static bool window_is_bad(const struct by_columns *columns, size_t row)
{
    int64_t place[BY_SPATIAL_MAX], at[BY_SPATIAL_MAX] = {0};
    const size_t image = by_columns_place(columns, row, place);
    size_t element;
    do {
        if (!by_columns_source(columns, place, at, &element))
            continue;
        const float *value = columns->values + image * columns->channels * columns->plane + element;
        for (size_t c = 0; c < columns->channels; c++)
            if (is_bad(value[c * columns->plane]))
                return true;
    } while (next_kernel_place(columns, at));
    return false;
}

static bool row_is_bad(const struct by_columns *columns, size_t row)
{
    const size_t count = (size_t)columns->layer->columns;
    if (!columns->in_rows)
        return window_is_bad(columns, row);
    for (size_t i = 0; i < count; i++)
        if (is_bad(columns->values[row * count + i]))
            return true;
    return false;
}

/* Values of a row lie apart: looking at each costs as much as passing so many. */
#define APART 16

/* Rows that are taken, rather than all values, are looked at. */
static bool are_few(const struct by_columns *columns, size_t taken)
{
    const size_t windows = columns->in_rows ? 1 : columns->kernel_size;
    return taken * windows * APART < columns->rows;
}

int by_rows_choose(const struct by_columns *columns, uint64_t sample, size_t *list,
                   struct by_moments_rows *rows, const struct by_team *team,
                   struct baryon_error *err)
{
    const size_t most = by_rows_most(columns);
    const bool sampled = columns->rows > most;
    const size_t taken = sampled ? most : columns->rows;
    bool bad = true;
    *rows = (struct by_moments_rows){.count = taken, .list = sampled ? list : NULL};
    if (sampled)
        sample_rows(columns, sample, most, list);
    if (!are_few(columns, taken) && find_bad(columns, &bad, team, err))
        return -1;
    if (!bad)
        return 0;
    rows->list = list;
    rows->count = 0;
    for (size_t i = 0; i < taken; i++) {
        const size_t row = sampled ? list[i] : i;
        if (!row_is_bad(columns, row))
            list[rows->count++] = row;
    }
    rows->left_out = taken - rows->count;
    return 0;
}
