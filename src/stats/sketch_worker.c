/* Counting the values of pieces in tables of 32 bits. */
#include "stats/sketch_scratch.h"

#include <math.h>
#include <string.h>

#define PIECE BY_SKETCH_PIECE

static void make_plan(struct by_sketch_plan *plan, int top)
{
    unsigned base = 0;
    plan->top = top;
    for (int e = 0; e <= top; e++) {
        unsigned bits = by_sketch_bits(top - e);
        plan->base[e] = (uint16_t)base;
        plan->shift[e] = (uint8_t)(23 - bits);
        base += 1u << bits;
    }
    by_sketch_steps(plan);
}

void by_sketch_worker_reset(struct by_sketch_worker *worker, bool clear)
{
    by_sketch_part_init(&worker->part);
    worker->plan.top = -1;
    worker->used = false;
    worker->tables.lowest = BY_SKETCH_BINS;
    for (size_t i = 0; clear && i < BY_SKETCH_TABLES; i++)
        memset(worker->tables.at[i], 0, BY_SKETCH_TABLE * sizeof *worker->tables.at[i]);
}

/* --- Rows in the tables --- */

/* A row that nothing was counted below of. */
static int first_row(const struct by_sketch_worker *worker)
{
    const struct by_sketch_plan *plan = &worker->plan;
    int e = 0;
    if (worker->tables.lowest >= BY_SKETCH_BINS)
        return plan->top + 1;
    while (e < plan->top && plan->base[e + 1] <= worker->tables.lowest)
        e++;
    return e;
}

/* After the last one of a sign. */
static int end_row(const struct by_sketch_worker *worker, int sign)
{
    const struct by_sketch_range *range = &worker->part.range;
    const struct by_sketch_range side = {.max = sign ? -range->min : range->max};
    return by_sketch_range_top(&side) + 1;
}

static uint32_t *row_of(const struct by_sketch_worker *worker, size_t table, int sign, int e)
{
    return worker->tables.at[table] + worker->plan.base[e] + (sign ? BY_SKETCH_SIDE : 0);
}

static size_t row_size(const struct by_sketch_plan *plan, int e)
{
    return (size_t)1 << (23 - plan->shift[e]);
}

/* Adds what was counted in a row to one of fewer bins, and clears it. */
static void move_row(const struct by_sketch_worker *worker, int sign, int e, unsigned fewer,
                     uint32_t *to)
{
    const size_t count = row_size(&worker->plan, e);
    for (size_t t = 0; t < BY_SKETCH_TABLES; t++) {
        uint32_t *from = row_of(worker, t, sign, e);
        for (size_t i = 0; i < count; i++)
            to[i >> fewer] += from[i];
        memset(from, 0, count * sizeof *from);
    }
}

static uint32_t *strays_of(uint32_t *table, int sign)
{
    return table + BY_SKETCH_BINS + (sign ? BY_SKETCH_SIDE : 0);
}

/* Moves what was counted to where a higher top wants it. */
static void raise_top(struct by_sketch_worker *worker, int top)
{
    struct by_sketch_plan plan;
    uint32_t *clear = worker->tables.at[0];
    const int first = first_row(worker);
    make_plan(&plan, top);
    for (int sign = 0; sign < 2; sign++) {
        const size_t strays = BY_SKETCH_STRAYS * sizeof *clear;
        for (int e = first; e < end_row(worker, sign); e++)
            move_row(worker, sign, e, (unsigned)plan.shift[e] - worker->plan.shift[e],
                     worker->spare + plan.base[e] + (sign ? BY_SKETCH_SIDE : 0));
        memcpy(strays_of(worker->spare, sign), strays_of(clear, sign), strays);
        memset(strays_of(clear, sign), 0, strays);
    }
    if (worker->tables.lowest < BY_SKETCH_BINS)
        worker->tables.lowest = plan.base[first];
    worker->tables.at[0] = worker->spare;
    worker->spare = clear;
    worker->plan = plan;
}

/* --- Counting --- */

static uint32_t magnitude_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x7fffffff;
}

/* Zeros stand for what is not finite, and are taken off again. */
static const float *clean(struct by_sketch_worker *worker, const float *values, size_t count)
{
    uint32_t strange = 0, infinities = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t size = magnitude_bits(values[i]);
        const bool finite = size < BY_SKETCH_INF;
        worker->clean[i] = finite ? values[i] : 0;
        strange += !finite;
        infinities += size == BY_SKETCH_INF;
    }
    worker->part.infinities += infinities;
    worker->part.nans += strange - infinities;
    worker->part.zeros -= strange;
    return worker->clean;
}

static void count_equal(struct by_sketch_worker *worker, float value, size_t count)
{
    const struct by_sketch_plan *plan = &worker->plan;
    const uint32_t size = magnitude_bits(value), e = size >> 23;
    const unsigned bin = plan->base[e] + ((size & 0x7fffff) >> plan->shift[e]);
    worker->tables.lowest = bin < worker->tables.lowest ? bin : worker->tables.lowest;
    worker->tables.at[0][bin + (value < 0 ? BY_SKETCH_SIDE : 0)] += (uint32_t)count;
}

static void look_piece(struct by_sketch_worker *worker, const struct by_sketch_path *path,
                       const float *values, size_t count, int low_top)
{
    struct by_sketch_range range;
    struct by_sketch_sums sums = {0};
    const bool finite = by_sketch_survey(path, values, count, &range);
    if (!finite) {
        range = (struct by_sketch_range){INFINITY, -INFINITY};
        path->range(values, count, &range.min, &range.max);
        values = clean(worker, values, count);
    }
    const int top = by_sketch_range_top(&range);
    if (top > worker->plan.top)
        raise_top(worker, top > low_top ? top : low_top);
    if (top < 0) {
        *strays_of(worker->tables.at[0], 0) += (uint32_t)count;
    } else if (finite && range.min == range.max) {
        count_equal(worker, range.min, count);
        by_sketch_sums_equal(range.min, count, top, &sums);
    } else {
        by_sketch_tally(path, &worker->plan, top, values, count, &worker->tables, &sums);
    }
    by_sketch_part_add(&worker->part, &range, &sums);
}

void by_sketch_worker_look(struct by_sketch_worker *worker, const struct by_sketch_path *path,
                           const float *values, size_t count, int low_top)
{
    worker->used = true;
    for (size_t at = 0; at < count; at += PIECE)
        look_piece(worker, path, values + at, count - at < PIECE ? count - at : PIECE, low_top);
}

/* --- Into the sketch --- */

void by_sketch_worker_end(struct by_sketch_worker *worker)
{
    for (size_t t = 0; t < BY_SKETCH_TABLES; t++)
        for (int sign = 0; sign < 2; sign++) {
            uint32_t *strays = strays_of(worker->tables.at[t], sign);
            for (size_t i = 0; i < BY_SKETCH_STRAYS; i++)
                worker->part.zeros += strays[i];
            memset(strays, 0, BY_SKETCH_STRAYS * sizeof *strays);
        }
}

static bool any_of(const uint32_t *at, size_t count)
{
    uint32_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= at[i];
    return any;
}

void by_sketch_worker_touched(struct by_sketch_worker *worker, const struct by_sketch *sketch,
                              by_sketch_touched touched)
{
    const int first = first_row(worker);
    for (int sign = 0; sign < 2; sign++)
        for (int e = first; e < end_row(worker, sign); e++)
            for (size_t t = 0; !sketch->rows[sign][e] && t < BY_SKETCH_TABLES; t++)
                touched[sign][e] |= any_of(row_of(worker, t, sign, e), row_size(&worker->plan, e));
}

/* To bins that are wider, or have counts of 64 bits. */
static void flush_slowly(const struct by_sketch *sketch, uint32_t *from, size_t count, void *row,
                         unsigned fewer)
{
    for (size_t i = 0; i < count; i++)
        by_sketch_count(sketch, row, i >> fewer, from[i]);
    memset(from, 0, count * sizeof *from);
}

void by_sketch_worker_flush(struct by_sketch_worker *worker, const struct by_sketch_path *path,
                            struct by_sketch *sketch)
{
    const int first = first_row(worker);
    for (int sign = 0; sign < 2; sign++)
        for (int e = first; e < end_row(worker, sign); e++) {
            void *row = sketch->rows[sign][e];
            uint32_t *even = row_of(worker, 0, sign, e), *odd = row_of(worker, 1, sign, e);
            const size_t count = row_size(&worker->plan, e);
            const unsigned bits = 23u - worker->plan.shift[e];
            const unsigned fewer = bits - by_sketch_bits(sketch->top - e);
            if (row && !fewer && !sketch->wide)
                path->flush(even, odd, count, row);
            else if (row) {
                flush_slowly(sketch, even, count, row, fewer);
                flush_slowly(sketch, odd, count, row, fewer);
            }
        }
}
