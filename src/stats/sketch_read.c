/* Reading a sketch: moments, and the bins in order. */
#include "stats/sketch.h"

#include <math.h>

uint64_t by_sketch_finite(const struct by_sketch *sketch)
{
    return sketch->count - sketch->nans - sketch->infinities;
}

double by_sketch_mean(const struct by_sketch *sketch)
{
    uint64_t count = by_sketch_finite(sketch);
    return count ? by_exact_value(&sketch->sum) / (double)count : 0;
}

double by_sketch_rms(const struct by_sketch *sketch)
{
    uint64_t count = by_sketch_finite(sketch);
    return count ? sqrt(by_exact_value(&sketch->squares) / (double)count) : 0;
}

static size_t most_bins(const struct by_sketch *sketch)
{
    size_t count = 1;
    for (int sign = 0; sign < 2; sign++)
        for (int e = 0; e <= sketch->top; e++)
            if (sketch->rows[sign][e])
                count += (size_t)1 << by_sketch_bits(sketch->top - e);
    return count;
}

/* Where the bins of a row lie: the row of subnormals begins at 0, not at a power of two. */
struct edges {
    double first, width;
    size_t count;
};

static struct edges edges_of(const struct by_sketch *sketch, int exponent)
{
    const unsigned bits = by_sketch_bits(sketch->top - exponent);
    struct edges edges = {.count = (size_t)1 << bits};
    edges.width = ldexp(1, (exponent ? exponent : 1) - 127 - (int)bits);
    edges.first = exponent ? (double)edges.count * edges.width : 0;
    return edges;
}

struct writing {
    struct by_sketch_bin *at;
    size_t count;
};

static void put_bin(struct writing *out, double low, double high, uint64_t count)
{
    if (count)
        out->at[out->count++] = (struct by_sketch_bin){low, high, count};
}

static void put_negative(struct writing *out, const struct by_sketch *sketch)
{
    uint64_t buffer[BY_SKETCH_ROW];
    for (int e = sketch->top; e >= 0; e--) {
        const struct edges edges = edges_of(sketch, e);
        const uint64_t *row = by_sketch_row(sketch, 1, e, buffer);
        for (size_t bin = row ? edges.count : 0; bin-- > 0;)
            put_bin(out, -(edges.first + (double)(bin + 1) * edges.width),
                    -(edges.first + (double)bin * edges.width), row[bin]);
    }
}

/* Positive values, or with both the magnitudes of all. */
static void put_positive(struct writing *out, const struct by_sketch *sketch, bool both)
{
    uint64_t buffers[2][BY_SKETCH_ROW];
    for (int e = 0; e <= sketch->top; e++) {
        const struct edges edges = edges_of(sketch, e);
        const uint64_t *row = by_sketch_row(sketch, 0, e, buffers[0]);
        const uint64_t *other = both ? by_sketch_row(sketch, 1, e, buffers[1]) : NULL;
        for (size_t bin = 0; (row || other) && bin < edges.count; bin++)
            put_bin(out, edges.first + (double)bin * edges.width,
                    edges.first + (double)(bin + 1) * edges.width,
                    (row ? row[bin] : 0) + (other ? other[bin] : 0));
    }
}

static int open_bins(struct writing *out, const struct by_sketch *sketch, struct baryon_error *err)
{
    out->count = 0;
    out->at = by_alloc(most_bins(sketch), sizeof *out->at, err);
    return out->at ? 0 : -1;
}

int by_sketch_bins(const struct by_sketch *sketch, struct by_sketch_bin **bins, size_t *count,
                   struct baryon_error *err)
{
    struct writing out;
    if (open_bins(&out, sketch, err))
        return -1;
    put_negative(&out, sketch);
    put_bin(&out, 0, 0, sketch->zeros);
    put_positive(&out, sketch, false);
    *bins = out.at;
    *count = out.count;
    return 0;
}

int by_sketch_magnitudes(const struct by_sketch *sketch, struct by_sketch_bin **bins, size_t *count,
                         struct baryon_error *err)
{
    struct writing out;
    if (open_bins(&out, sketch, err))
        return -1;
    put_bin(&out, 0, 0, sketch->zeros);
    put_positive(&out, sketch, true);
    *bins = out.at;
    *count = out.count;
    return 0;
}

/* --- Shares --- */

/* The part of a bin below `low` or above `high`; no value of it is beyond min and max. */
static double beyond(const struct by_sketch *sketch, const struct by_sketch_bin *bin, double low,
                     double high)
{
    const double from = fmax(bin->low, (double)sketch->min);
    const double to = fmin(bin->high, (double)sketch->max);
    if (to <= from)
        return from > high || from < low ? (double)bin->count : 0;
    const double out = fmax(low - from, 0) + fmax(to - high, 0);
    return fmin(out / (to - from), 1) * (double)bin->count;
}

int by_sketch_outside(const struct by_sketch *sketch, double low, double high, double *share,
                      struct baryon_error *err)
{
    struct by_sketch_bin *bins;
    size_t count;
    double sum = 0;
    const uint64_t finite = by_sketch_finite(sketch);
    *share = 0;
    if (!finite || ((double)sketch->min >= low && (double)sketch->max <= high))
        return 0;
    if (by_sketch_bins(sketch, &bins, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        sum += beyond(sketch, &bins[i], low, high);
    by_free(bins);
    *share = sum / (double)finite;
    return 0;
}
