/* Counting the values of pieces in tables of 32 bits. */
#include "stats/sketch_scratch.h"

#include <string.h>

#define TABLES BY_SKETCH_TABLES
#define CHUNK  1024u /* bins that are known before they are counted */

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
}

void by_sketch_worker_reset(struct by_sketch_worker *worker, bool clear)
{
    by_sketch_part_init(&worker->part);
    worker->plan.top = -1;
    worker->used = false;
    worker->counted = false;
    for (size_t i = 0; clear && i < TABLES; i++)
        memset(worker->tables[i], 0, BY_SKETCH_TABLE * sizeof *worker->tables[i]);
}

/* --- Rows in the tables --- */

static int first_row(const struct by_sketch_worker *worker)
{
    return (int)(worker->part.least >> 23);
}

static int end_row(const struct by_sketch_worker *worker)
{
    return by_sketch_part_top(&worker->part) + 1;
}

static uint32_t *row_of(struct by_sketch_worker *worker, size_t table, int sign, int e)
{
    return worker->tables[table] + worker->plan.base[e] + (sign ? BY_SKETCH_BINS : 0);
}

static size_t row_size(const struct by_sketch_plan *plan, int e)
{
    return (size_t)1 << (23 - plan->shift[e]);
}

/* Rows are of 16 bins and more: loops of 16 are what compilers make vectors of. */
#define BLOCK 16u

static bool any_of(const uint32_t *at)
{
    uint32_t any = 0;
    for (size_t i = 0; i < BLOCK; i++)
        any |= at[i];
    return any;
}

/* The first table's row, to which the others' are added and cleared; is there anything? */
static bool join_row(struct by_sketch_worker *worker, int sign, int e)
{
    uint32_t *row = row_of(worker, 0, sign, e);
    size_t count = row_size(&worker->plan, e);
    bool any = false;
    for (size_t at = 0; at < count; at += BLOCK) {
        for (size_t t = 1; t < TABLES; t++) {
            uint32_t *other = row_of(worker, t, sign, e) + at;
            for (size_t i = 0; i < BLOCK; i++)
                row[at + i] += other[i];
            memset(other, 0, BLOCK * sizeof *other);
        }
        any |= any_of(row + at);
    }
    return any;
}

/* Moves what was counted to where a higher top wants it. */
static void raise_top(struct by_sketch_worker *worker, int top)
{
    struct by_sketch_plan plan;
    make_plan(&plan, top);
    for (int sign = 0; sign < 2; sign++)
        for (int e = first_row(worker); worker->counted && e < end_row(worker); e++) {
            if (!join_row(worker, sign, e))
                continue;
            uint32_t *from = row_of(worker, 0, sign, e);
            uint32_t *to = worker->spare + plan.base[e] + (sign ? BY_SKETCH_BINS : 0);
            unsigned fewer = (unsigned)plan.shift[e] - worker->plan.shift[e];
            size_t count = row_size(&worker->plan, e);
            for (size_t i = 0; i < count; i++)
                to[i >> fewer] += from[i];
            memset(from, 0, count * sizeof *from);
        }
    uint32_t *clear = worker->tables[0];
    worker->tables[0] = worker->spare;
    worker->spare = clear;
    worker->plan = plan;
}

/* --- Counting --- */

static void count_bins(struct by_sketch_worker *worker, const uint16_t *bins, size_t count)
{
    uint32_t *even = worker->tables[0], *odd = worker->tables[1];
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        even[bins[i]]++;
        odd[bins[i + 1]]++;
        even[bins[i + 2]]++;
        odd[bins[i + 3]]++;
    }
    for (; i < count; i++)
        even[bins[i]]++;
}

static void count_piece(struct by_sketch_worker *worker, const struct by_sketch_path *path,
                        const float *values, size_t count)
{
    uint16_t bins[CHUNK];
    for (size_t at = 0, step; at < count; at += step) {
        step = count - at < CHUNK ? count - at : CHUNK;
        path->place(&worker->plan, values + at, step, bins);
        count_bins(worker, bins, step);
    }
}

static void count_equal(struct by_sketch_worker *worker, float value, size_t count)
{
    uint16_t bin;
    by_sketch_place_plain(&worker->plan, &value, 1, &bin);
    worker->tables[0][bin] += (uint32_t)count;
}

void by_sketch_worker_look(struct by_sketch_worker *worker, const struct by_sketch_path *path,
                           const float *values, size_t count, int low_top)
{
    struct by_sketch_piece piece;
    worker->used = true;
    path->measure(values, count, &piece);
    int top = piece.greatest ? (int)(piece.greatest >> 23) : -1;
    size_t apart = (size_t)piece.zeros + piece.nans + piece.infinities;
    /* Which rows have something is told by what was seen so far, without this piece. */
    if (top > worker->plan.top)
        raise_top(worker, top > low_top ? top : low_top);
    by_sketch_part_add(&worker->part, &piece);
    if (apart == count)
        return;
    worker->counted = true;
    if (piece.min == piece.max)
        count_equal(worker, piece.min, count - apart);
    else
        count_piece(worker, path, values, count);
}

/* --- Into the sketch --- */

void by_sketch_worker_touched(struct by_sketch_worker *worker, by_sketch_touched touched)
{
    for (int sign = 0; sign < 2; sign++)
        for (int e = first_row(worker); worker->counted && e < end_row(worker); e++)
            if (join_row(worker, sign, e))
                touched[sign][e] = true;
}

static void flush_row(uint32_t *row, unsigned bits, uint64_t *to, unsigned fewer)
{
    for (size_t at = 0; at < (size_t)1 << bits; at += BLOCK) {
        if (!any_of(row + at))
            continue;
        if (fewer)
            for (size_t i = at; i < at + BLOCK; i++)
                to[i >> fewer] += row[i];
        else
            for (size_t i = at; i < at + BLOCK; i++)
                to[i] += row[i];
        memset(row + at, 0, BLOCK * sizeof *row);
    }
}

void by_sketch_worker_flush(struct by_sketch_worker *worker, struct by_sketch *sketch)
{
    for (int sign = 0; sign < 2; sign++)
        for (int e = first_row(worker); worker->counted && e < end_row(worker); e++) {
            unsigned bits = 23u - worker->plan.shift[e];
            if (sketch->rows[sign][e])
                flush_row(row_of(worker, 0, sign, e), bits, sketch->rows[sign][e],
                          bits - by_sketch_bits(sketch->top - e));
        }
}
