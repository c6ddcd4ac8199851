/* Turns a histogram into bins of equal width, as the methods take them. */
#include "calib/bins.h"

#include "base/mem.h"

#include <math.h>

static int load(struct by_bins *bins, const struct by_sketch *sketch, bool magnitudes,
                struct baryon_error *err)
{
    double low = sketch->min, high = sketch->max;
    *bins = (struct by_bins){.total = 0};
    if (magnitudes) {
        high = fmax(-low, high);
        low = 0;
    }
    if ((magnitudes ? by_sketch_magnitudes(sketch, &bins->at, &bins->count, err)
                    : by_sketch_bins(sketch, &bins->at, &bins->count, err)) < 0)
        return -1;
    for (size_t i = 0; i < bins->count; i++) {
        struct by_sketch_bin *bin = &bins->at[i];
        bin->low = fmin(fmax(bin->low, low), high);
        bin->high = fmin(fmax(bin->high, low), high);
        bins->total += bin->count;
    }
    return 0;
}

int by_bins_load(struct by_bins *bins, const struct by_sketch *sketch, struct baryon_error *err)
{
    return load(bins, sketch, false, err);
}

int by_bins_load_magnitudes(struct by_bins *bins, const struct by_sketch *sketch,
                            struct baryon_error *err)
{
    return load(bins, sketch, true, err);
}

void by_bins_release(struct by_bins *bins)
{
    by_free(bins->at);
    *bins = (struct by_bins){.total = 0};
}

double by_bins_at_rank(const struct by_bins *bins, uint64_t rank)
{
    uint64_t before = 0;
    size_t i = 0;
    if (!bins->count)
        return 0;
    if (rank <= 1)
        return bins->at[0].low;
    if (rank >= bins->total)
        return bins->at[bins->count - 1].high;
    while (before + bins->at[i].count < rank)
        before += bins->at[i++].count;
    const struct by_sketch_bin *bin = &bins->at[i];
    /* Like the left edge of other histograms: a bin's least magnitude is at its edge. */
    const double inside = (double)(rank - before) - (bin->low < 0 ? 0 : 1);
    return bin->low + (bin->high - bin->low) * inside / (double)bin->count;
}

/* Nearest integer, half to even, below 2^51 in magnitude: rint() without a call. */
static double nearest(double x)
{
    const double shift = 0x1.8p52;
    return (x + shift) - shift;
}

/* Values of the bin that lie below x. */
static double part_below(const struct by_sketch_bin *bin, double x)
{
    if (bin->low >= x)
        return 0;
    return (double)bin->count * (bin->high <= x ? 1 : (x - bin->low) / (bin->high - bin->low));
}

void by_bins_cut(struct by_bins *bins, double low, double high)
{
    size_t kept = 0;
    bins->total = 0;
    for (size_t i = 0; i < bins->count; i++) {
        struct by_sketch_bin bin = bins->at[i];
        if (bin.high < low || bin.low > high)
            continue;
        const double below = bin.low < low ? nearest(part_below(&bin, low)) : 0;
        const double all = bin.high > high ? nearest(part_below(&bin, high)) : (double)bin.count;
        bin.count = (uint64_t)fmax(all - below, 0);
        bin.low = fmax(bin.low, low);
        bin.high = fmin(bin.high, high);
        if (bin.count)
            bins->at[kept++] = bin;
        bins->total += bin.count;
    }
    bins->count = kept;
}

void by_bins_spread(const struct by_bins *bins, double low, double width, double *cells,
                    size_t count)
{
    double below = 0, whole = 0;
    size_t i = 0;
    for (size_t cell = 0; cell < count; cell++) {
        const double edge = low + (double)(cell + 1) * width;
        for (; i < bins->count && bins->at[i].low < edge && bins->at[i].high <= edge; i++)
            whole += (double)bins->at[i].count;
        double next = whole + (i < bins->count ? part_below(&bins->at[i], edge) : 0);
        next = cell + 1 == count ? (double)bins->total : nearest(next);
        cells[cell] = next - below;
        below = next;
    }
}

/*
 * With v = x / scale and n(v) the level that v goes to, the integral of (v - n)^2 from 0 to v is
 * n/12 + (v - n)^3/3, that of |v - n| is n/4 + (v - n)|v - n|/2. Both hold beyond the last
 * level too, where n stays.
 */
static double squared(double span, double levels, double a, double b)
{
    if (levels == 0) /* where the difference of cubes would lose digits */
        return (a * a + a * b + b * b) / 3;
    return (levels / 12 + (b * b * b - a * a * a) / 3) / span;
}

static double absolute(double span, double levels, double a, double b)
{
    if (levels == 0 && a * b >= 0)
        return fabs(a + b) / 2;
    return (levels / 4 + (b * fabs(b) - a * fabs(a)) / 2) / span;
}

double by_bins_error(const struct by_bins *bins, const struct by_scale *scale,
                     const struct by_calib_target *target, enum by_calib_metric metric)
{
    const double least = (double)(target->qmin - scale->zero_point);
    const double most = (double)(target->qmax - scale->zero_point);
    double sum = 0;
    for (size_t i = 0; i < bins->count; i++) {
        const struct by_sketch_bin *bin = &bins->at[i];
        const double low = bin->low / scale->scale, high = bin->high / scale->scale;
        const double first = nearest(fmin(fmax(low, least), most));
        const double last = nearest(fmin(fmax(high, least), most));
        const double a = low - first, b = high - last;
        sum += (double)bin->count * (metric == BY_CALIB_MSE
                                         ? squared(high - low, last - first, a, b)
                                         : absolute(high - low, last - first, a, b));
    }
    sum *= metric == BY_CALIB_MSE ? scale->scale * scale->scale : scale->scale;
    return bins->total ? sum / (double)bins->total : 0;
}

void by_range_seen(const struct by_sketch *sketch, struct by_range *range)
{
    range->low = fmin(sketch->min, 0);
    range->high = fmax(sketch->max, 0);
    range->constant_zero = range->low == range->high;
    range->error = NAN;
}

void by_range_limit(struct by_range *range, const struct by_sketch *sketch)
{
    struct by_range seen;
    by_range_seen(sketch, &seen);
    range->low = fmin(fmax(range->low, seen.low), 0);
    range->high = fmax(fmin(range->high, seen.high), 0);
}
