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

/* Where bin `index` of a row begins: the row of subnormals begins at 0, not at a power of two. */
static double edge(int exponent, unsigned bits, size_t index)
{
    double steps = (double)index + (exponent ? (double)((size_t)1 << bits) : 0);
    return ldexp(steps, (exponent ? exponent : 1) - 127 - (int)bits);
}

struct writing {
    struct by_sketch_bin *at;
    size_t count;
};

static void put(struct writing *out, double low, double high, uint64_t count)
{
    if (count)
        out->at[out->count++] = (struct by_sketch_bin){low, high, count};
}

static uint64_t count_at(const struct by_sketch *sketch, int sign, int e, size_t bin)
{
    return sketch->rows[sign][e] ? sketch->rows[sign][e][bin] : 0;
}

static void put_negative(struct writing *out, const struct by_sketch *sketch)
{
    for (int e = sketch->top; e >= 0; e--) {
        unsigned bits = by_sketch_bits(sketch->top - e);
        if (sketch->rows[1][e])
            for (size_t bin = (size_t)1 << bits; bin-- > 0;)
                put(out, -edge(e, bits, bin + 1), -edge(e, bits, bin), sketch->rows[1][e][bin]);
    }
}

/* Positive values, or with both the magnitudes of all. */
static void put_positive(struct writing *out, const struct by_sketch *sketch, bool both)
{
    for (int e = 0; e <= sketch->top; e++) {
        unsigned bits = by_sketch_bits(sketch->top - e);
        if (!sketch->rows[0][e] && !(both && sketch->rows[1][e]))
            continue;
        for (size_t bin = 0; bin < (size_t)1 << bits; bin++)
            put(out, edge(e, bits, bin), edge(e, bits, bin + 1),
                count_at(sketch, 0, e, bin) + (both ? count_at(sketch, 1, e, bin) : 0));
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
    put(&out, 0, 0, sketch->zeros);
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
    put(&out, 0, 0, sketch->zeros);
    put_positive(&out, sketch, true);
    *bins = out.at;
    *count = out.count;
    return 0;
}
