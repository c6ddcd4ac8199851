/* Bins of a tensor's histogram, from a sketch or from the values. */
#include "report/tensors.h"
#include "stats/histogram.h"

#include <math.h>

/* The greatest bin has BY_REPORT_GREATEST, and no bin with a value has nothing. */
static void scale_counts(struct by_report_bins *bins, const double *counts)
{
    for (size_t i = 0; i < BY_REPORT_BINS; i++)
        bins->most = fmax(bins->most, counts[i]);
    for (size_t i = 0; i < BY_REPORT_BINS && bins->most > 0; i++) {
        const double share = nearbyint(counts[i] / bins->most * BY_REPORT_GREATEST);
        bins->counts[i] = (uint16_t)(counts[i] > 0 ? fmax(share, 1) : 0);
    }
}

int by_report_bins_of_sketch(struct by_report_bins *bins, const struct by_sketch *sketch,
                             struct baryon_error *err)
{
    struct by_histogram histogram;
    *bins = (struct by_report_bins){.low = (double)sketch->min, .high = (double)sketch->max};
    if (by_histogram_make(&histogram, sketch, BY_REPORT_BINS, err) < 0)
        return -1;
    if (histogram.count)
        scale_counts(bins, histogram.values);
    by_histogram_release(&histogram);
    return 0;
}

void by_report_bins_of_values(struct by_report_bins *bins, const float *values, size_t count)
{
    double counts[BY_REPORT_BINS] = {0}, low = INFINITY, high = -INFINITY;
    *bins = (struct by_report_bins){0};
    for (size_t i = 0; i < count; i++) {
        low = isfinite(values[i]) ? fmin(low, (double)values[i]) : low;
        high = isfinite(values[i]) ? fmax(high, (double)values[i]) : high;
    }
    if (low > high)
        return;
    bins->low = low;
    bins->high = high;
    for (size_t i = 0; i < count && high > low; i++) {
        if (!isfinite(values[i]) || values[i] == 0)
            continue;
        const double place = ((double)values[i] - low) / (high - low) * BY_REPORT_BINS;
        counts[place < BY_REPORT_BINS ? (size_t)place : BY_REPORT_BINS - 1]++;
    }
    scale_counts(bins, counts);
}
