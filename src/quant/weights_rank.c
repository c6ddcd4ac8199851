/*
 * Values by rank. Floats are compared as integers of the same order. A few values are copied and
 * parted around the ranks; of many, the upper and then the lower halves of the integers are
 * counted, which takes the same memory whatever their number.
 */
#include "quant/weights_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COPY_MAX  ((size_t)1 << 20)
#define HALF      65536u
#define SMALL     24 /* are sorted */
#define DEPTH_MAX 48 /* then sorted too: bad pivots cost no more than that */
#define RANKS_MAX 32

struct ranks {
    size_t at[RANKS_MAX]; /* ascending, different */
    uint32_t key[RANKS_MAX];
    size_t count;
};

static uint32_t key_of(float value, bool magnitude)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (magnitude)
        return bits & 0x7fffffff;
    return bits >> 31 ? ~bits : bits | 0x80000000;
}

static double value_of(uint32_t key, bool magnitude)
{
    uint32_t bits = magnitude ? key : key >> 31 ? key & 0x7fffffff : ~key;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* --- Few values --- */

static int compare_keys(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static uint32_t middle_of(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Parts [begin, end) into less, equal and greater than a pivot: ends of the first two. */
static void part(uint32_t *keys, size_t begin, size_t end, size_t *less, size_t *equal)
{
    const uint32_t pivot = middle_of(keys[begin], keys[(begin + end) / 2], keys[end - 1]);
    size_t at = begin;
    *less = begin;
    *equal = end; /* for now the begin of the greater ones */
    while (at < *equal) {
        const uint32_t key = keys[at];
        if (key < pivot) {
            keys[at++] = keys[*less];
            keys[(*less)++] = key;
        } else if (key > pivot) {
            keys[at] = keys[--*equal];
            keys[*equal] = key;
        } else {
            at++;
        }
    }
}

/* Puts what belongs to the ranks [first, last) into its places. */
static void settle_ranks(uint32_t *keys, size_t begin, size_t end, const struct ranks *ranks,
                         size_t first, size_t last, int depth)
{
    if (first == last)
        return;
    if (end - begin <= SMALL || depth == DEPTH_MAX) {
        qsort(keys + begin, end - begin, sizeof *keys, compare_keys);
        return;
    }
    size_t less, equal, below = first, above;
    part(keys, begin, end, &less, &equal);
    while (below < last && ranks->at[below] < less)
        below++;
    for (above = below; above < last && ranks->at[above] < equal;)
        above++;
    settle_ranks(keys, begin, less, ranks, first, below, depth + 1);
    settle_ranks(keys, equal, end, ranks, above, last, depth + 1);
}

static int find_in_copy(const struct by_weight_unit *unit, bool magnitudes, struct ranks *ranks,
                        struct baryon_error *err)
{
    uint32_t *keys = by_alloc(unit->count, sizeof *keys, err);
    if (!keys)
        return -1;
    for (size_t i = 0; i < unit->count; i++)
        keys[i] = key_of(unit->values[i], magnitudes);
    settle_ranks(keys, 0, unit->count, ranks, 0, ranks->count, 0);
    for (size_t i = 0; i < ranks->count; i++)
        ranks->key[i] = keys[ranks->at[i]];
    by_free(keys);
    return 0;
}

/* --- Many values --- */

/* Which cell has the rank, and the rank inside it. */
static uint32_t cell_of(const uint64_t *counts, uint64_t rank, uint64_t *inside)
{
    uint32_t cell = 0;
    while (rank >= counts[cell])
        rank -= counts[cell++];
    *inside = rank;
    return cell;
}

/* Counts lower halves; one table for each upper half that a rank lies in. */
static void count_lower(const struct by_weight_unit *unit, bool magnitudes, const uint8_t *table,
                        uint64_t *counts)
{
    for (size_t i = 0; i < unit->count; i++) {
        const uint32_t key = key_of(unit->values[i], magnitudes);
        if (table[key >> 16])
            counts[(size_t)(table[key >> 16] - 1) * HALF + (key & 0xffff)]++;
    }
}

static int find_by_counting(const struct by_weight_unit *unit, bool magnitudes, struct ranks *ranks,
                            struct baryon_error *err)
{
    uint64_t *counts = by_alloc_zero(HALF * (ranks->count + 1), sizeof *counts, err),
             inside[RANKS_MAX];
    uint8_t *table = by_alloc_zero(HALF, 1, err), tables = 0;
    if (counts && table) {
        for (size_t i = 0; i < unit->count; i++)
            counts[key_of(unit->values[i], magnitudes) >> 16]++;
        for (size_t i = 0; i < ranks->count; i++) {
            ranks->key[i] = cell_of(counts, ranks->at[i], &inside[i]);
            if (!table[ranks->key[i]])
                table[ranks->key[i]] = ++tables;
        }
        count_lower(unit, magnitudes, table, counts + HALF);
        for (size_t i = 0; i < ranks->count; i++) {
            const uint64_t *lower = counts + (size_t)table[ranks->key[i]] * HALF;
            ranks->key[i] = ranks->key[i] << 16 | cell_of(lower, inside[i], &inside[i]);
        }
    }
    const bool done = counts && table;
    by_free(counts);
    by_free(table);
    return done ? 0 : -1;
}

/* --- Both --- */

static void add_rank(struct ranks *ranks, size_t rank)
{
    size_t at = ranks->count;
    while (at && ranks->at[at - 1] > rank)
        at--;
    if (at && ranks->at[at - 1] == rank)
        return;
    memmove(&ranks->at[at + 1], &ranks->at[at], (ranks->count++ - at) * sizeof *ranks->at);
    ranks->at[at] = rank;
}

static double at_rank(const struct ranks *ranks, size_t rank, bool magnitudes)
{
    size_t i = 0;
    while (ranks->at[i] != rank)
        i++;
    return value_of(ranks->key[i], magnitudes);
}

int by_weight_quantiles(const struct by_weight_unit *unit, bool magnitudes, const double *parts,
                        size_t count, double *out, struct baryon_error *err)
{
    struct ranks ranks = {.count = 0};
    const size_t last = unit->count - 1;
    for (size_t i = 0; i < count && 2 * i + 1 < RANKS_MAX; i++) {
        const size_t rank = (size_t)(fmin(fmax(parts[i], 0), 1) * (double)last);
        add_rank(&ranks, rank);
        add_rank(&ranks, rank < last ? rank + 1 : last);
    }
    int failed = unit->count <= COPY_MAX ? find_in_copy(unit, magnitudes, &ranks, err)
                                         : find_by_counting(unit, magnitudes, &ranks, err);
    for (size_t i = 0; i < count && !failed; i++) {
        const double place = fmin(fmax(parts[i], 0), 1) * (double)last;
        const size_t rank = (size_t)place;
        const double below = at_rank(&ranks, rank, magnitudes);
        const double above = at_rank(&ranks, rank < last ? rank + 1 : last, magnitudes);
        out[i] = below + (above - below) * (place - (double)rank);
    }
    return failed ? -1 : 0;
}
