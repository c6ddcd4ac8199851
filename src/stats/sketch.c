/* Allocates, coarsens and adds histograms. */
#include "stats/sketch.h"

#include "stats/sketch_part.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

void by_sketch_init(struct by_sketch *sketch)
{
    *sketch = (struct by_sketch){.top = -1, .nonfinite_sample = BY_SKETCH_NO_SAMPLE};
}

static void release_rows(struct by_sketch *sketch)
{
    for (int sign = 0; sign < 2; sign++)
        for (int e = 0; e < BY_SKETCH_EXPONENTS; e++)
            by_free(sketch->rows[sign][e]);
}

void by_sketch_release(struct by_sketch *sketch)
{
    release_rows(sketch);
    by_votes_release(&sketch->votes);
    by_sketch_init(sketch);
}

unsigned by_sketch_bits(int distance)
{
    return distance < 4 ? 11u - (unsigned)distance : distance < 16 ? 7 : 4;
}

size_t by_sketch_bytes(const struct by_sketch *sketch)
{
    size_t bytes = sizeof *sketch + sketch->votes.count * sizeof *sketch->votes.at;
    for (int sign = 0; sign < 2; sign++)
        for (int e = 0; e < BY_SKETCH_EXPONENTS; e++)
            if (sketch->rows[sign][e])
                bytes += by_sketch_count_size(sketch) << by_sketch_bits(sketch->top - e);
    return bytes;
}

/* --- Rows --- */

static size_t bins_of(const struct by_sketch *sketch, int e)
{
    return (size_t)1 << by_sketch_bits(sketch->top - e);
}

static uint64_t count_at(const struct by_sketch *sketch, const void *row, size_t bin)
{
    return sketch->wide ? ((const uint64_t *)row)[bin] : ((const uint32_t *)row)[bin];
}

const uint64_t *by_sketch_row(const struct by_sketch *sketch, int sign, int exponent,
                              uint64_t buffer[BY_SKETCH_ROW])
{
    const void *row = sketch->rows[sign][exponent];
    if (!row || sketch->wide)
        return row;
    for (size_t i = 0; i < bins_of(sketch, exponent); i++)
        buffer[i] = count_at(sketch, row, i);
    return buffer;
}

/* Adds a row of another sketch, whose bins may be narrower, to one of this sketch. */
static void add_bin_row(const struct by_sketch *sketch, void *row, const struct by_sketch *other,
                        const void *from, int e, int top)
{
    const unsigned fewer = by_sketch_bits(other->top - e) - by_sketch_bits(top - e);
    for (size_t i = 0; i < bins_of(other, e); i++)
        by_sketch_count(sketch, row, i >> fewer, count_at(other, from, i));
}

/* A fresh row for that top takes what the old one holds. */
static void replace_row(struct by_sketch *sketch, int sign, int e, void *fresh, int top)
{
    void *old = sketch->rows[sign][e];
    if (old)
        add_bin_row(sketch, fresh, sketch, old, e, top);
    by_free(old);
    sketch->rows[sign][e] = fresh;
}

static bool needs_row(const struct by_sketch *sketch, int sign, int e, int top, bool touched)
{
    if (!sketch->rows[sign][e])
        return touched;
    return by_sketch_bits(sketch->top - e) != by_sketch_bits(top - e);
}

static bool has_rows(void *const rows[BY_SKETCH_EXPONENTS], const bool touched[BY_SKETCH_EXPONENTS])
{
    const bool *at = touched, *const end = touched + BY_SKETCH_EXPONENTS;
    while ((at = memchr(at, 1, (size_t)(end - at))))
        if (!rows[at++ - touched])
            return false;
    return true;
}

/* Most looks find all rows there, as fine as they need to be. */
static bool has_all(const struct by_sketch *sketch, int top, by_sketch_touched touched)
{
    return top <= sketch->top && has_rows(sketch->rows[0], touched[0]) &&
           has_rows(sketch->rows[1], touched[1]);
}

static int widen_row(struct by_sketch *wide, const struct by_sketch *sketch, int sign, int e,
                     struct baryon_error *err)
{
    const void *row = sketch->rows[sign][e];
    if (row && !(wide->rows[sign][e] = by_alloc_zero(bins_of(sketch, e), sizeof(uint64_t), err)))
        return -1;
    if (row)
        add_bin_row(wide, wide->rows[sign][e], sketch, row, e, sketch->top);
    return 0;
}

static int widen_counts(struct by_sketch *sketch, struct baryon_error *err)
{
    struct by_sketch wide = {.top = sketch->top, .wide = true};
    for (int sign = 0; sign < 2; sign++)
        for (int e = 0; e <= sketch->top; e++)
            if (widen_row(&wide, sketch, sign, e, err) < 0) {
                release_rows(&wide);
                return -1;
            }
    release_rows(sketch);
    memcpy(sketch->rows, wide.rows, sizeof sketch->rows);
    sketch->wide = true;
    return 0;
}

int by_sketch_prepare(struct by_sketch *sketch, int top, by_sketch_touched touched, uint64_t more,
                      struct baryon_error *err)
{
    const uint64_t room = sketch->count < UINT32_MAX ? UINT32_MAX - sketch->count : 0;
    if (!sketch->wide && more > room && widen_counts(sketch, err) < 0)
        return -1;
    if (has_all(sketch, top, touched))
        return 0;
    void *fresh[2 * BY_SKETCH_EXPONENTS] = {0};
    if (top < sketch->top)
        top = sketch->top;
    for (int i = 0; i < 2 * BY_SKETCH_EXPONENTS; i++) {
        int sign = i / BY_SKETCH_EXPONENTS, e = i % BY_SKETCH_EXPONENTS;
        if (!needs_row(sketch, sign, e, top, touched[sign][e]))
            continue;
        fresh[i] =
            by_alloc_zero((size_t)1 << by_sketch_bits(top - e), by_sketch_count_size(sketch), err);
        if (fresh[i])
            continue;
        while (i > 0)
            by_free(fresh[--i]);
        return -1;
    }
    for (int i = 0; i < 2 * BY_SKETCH_EXPONENTS; i++)
        if (fresh[i])
            replace_row(sketch, i / BY_SKETCH_EXPONENTS, i % BY_SKETCH_EXPONENTS, fresh[i], top);
    sketch->top = top;
    return 0;
}

/* --- Adding --- */

void by_sketch_take(struct by_sketch *sketch, const struct by_sketch_part *part, size_t count,
                    uint64_t sample)
{
    uint64_t strange = part->nans + part->infinities;
    if (count > strange) {
        bool first = !sketch->finite_samples;
        /* Adding a positive zero makes a negative one positive. */
        float min = part->range.min + 0.0f, max = part->range.max + 0.0f;
        sketch->min = first || min < sketch->min ? min : sketch->min;
        sketch->max = first || max > sketch->max ? max : sketch->max;
        sketch->finite_samples++;
        by_exact_add(&sketch->sample_min, (double)min);
        by_exact_add(&sketch->sample_max, (double)max);
    }
    if (strange && sample < sketch->nonfinite_sample)
        sketch->nonfinite_sample = sample;
    sketch->samples++;
    sketch->count += count;
    sketch->zeros += part->zeros;
    sketch->nans += part->nans;
    sketch->infinities += part->infinities;
    by_exact_merge(&sketch->sum, &part->sum);
    by_exact_merge(&sketch->squares, &part->squares);
}

static void merge_rows(struct by_sketch *sketch, const struct by_sketch *other)
{
    for (int sign = 0; sign < 2; sign++)
        for (int e = 0; e <= other->top; e++) {
            const void *from = other->rows[sign][e];
            if (from)
                add_bin_row(sketch, sketch->rows[sign][e], other, from, e, sketch->top);
        }
}

static void merge_rest(struct by_sketch *sketch, const struct by_sketch *other)
{
    if (other->finite_samples) {
        bool first = !sketch->finite_samples;
        sketch->min = first || other->min < sketch->min ? other->min : sketch->min;
        sketch->max = first || other->max > sketch->max ? other->max : sketch->max;
    }
    if (other->nonfinite_sample < sketch->nonfinite_sample)
        sketch->nonfinite_sample = other->nonfinite_sample;
    sketch->count += other->count;
    sketch->zeros += other->zeros;
    sketch->nans += other->nans;
    sketch->infinities += other->infinities;
    sketch->samples += other->samples;
    sketch->finite_samples += other->finite_samples;
    by_exact_merge(&sketch->sum, &other->sum);
    by_exact_merge(&sketch->squares, &other->squares);
    by_exact_merge(&sketch->sample_min, &other->sample_min);
    by_exact_merge(&sketch->sample_max, &other->sample_max);
}

int by_sketch_merge(struct by_sketch *sketch, const struct by_sketch *other,
                    struct baryon_error *err)
{
    by_sketch_touched touched;
    struct by_votes votes;
    for (int sign = 0; sign < 2; sign++)
        for (int e = 0; e < BY_SKETCH_EXPONENTS; e++)
            touched[sign][e] = other->rows[sign][e] != NULL;
    if (by_votes_join(&votes, &sketch->votes, &other->votes, err))
        return -1;
    if (by_sketch_prepare(sketch, other->top, touched, other->count, err)) {
        by_votes_release(&votes);
        return -1;
    }
    merge_rows(sketch, other);
    merge_rest(sketch, other);
    by_votes_release(&sketch->votes);
    sketch->votes = votes;
    return 0;
}
