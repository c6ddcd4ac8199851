/* Reduces a sketch to a histogram of a few equal steps. */
#include "stats/histogram.h"

#include <math.h>

/* The part of a bin that lies in each step. */
static void share_out(struct by_histogram *histogram, const struct by_sketch_bin *bin)
{
    double width = bin->high - bin->low;
    double first = (bin->low - histogram->low) / histogram->step;
    double last = (bin->high - histogram->low) / histogram->step;
    size_t end = histogram->count - 1;
    size_t from = first > 0 ? (size_t)fmin(first, (double)end) : 0;
    size_t to = last > 0 ? (size_t)fmin(last, (double)end) : 0;
    for (size_t i = from; i <= to; i++) {
        double low = histogram->low + (double)i * histogram->step, high = low + histogram->step;
        /* The outermost steps take what a bin reaches beyond the extremes. */
        low = i == 0 ? bin->low : fmax(low, bin->low);
        high = i == end ? bin->high : fmin(high, bin->high);
        if (high > low)
            histogram->values[i] += (double)bin->count * (high - low) / width;
    }
}

int by_histogram_make(struct by_histogram *histogram, const struct by_sketch *sketch, size_t steps,
                      struct baryon_error *err)
{
    struct by_sketch_bin *bins;
    size_t count;
    *histogram = (struct by_histogram){.zeros = sketch->zeros, .total = by_sketch_finite(sketch)};
    if (by_sketch_bins(sketch, &bins, &count, err) < 0)
        return -1;
    double low = (double)sketch->min, high = (double)sketch->max;
    histogram->values = by_alloc_zero(steps, sizeof *histogram->values, err);
    histogram->low = low;
    histogram->step = (high - low) / (double)steps;
    histogram->count = histogram->step > 0 ? steps : 0;
    for (size_t i = 0; i < count && histogram->values && histogram->count; i++)
        if (bins[i].low != 0 || bins[i].high != 0)
            share_out(histogram, &bins[i]);
    by_free(bins);
    return histogram->values ? 0 : -1;
}

void by_histogram_release(struct by_histogram *histogram)
{
    by_free(histogram->values);
}
