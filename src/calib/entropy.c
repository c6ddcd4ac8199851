/*
 * The range whose values, once rounded to few levels, tell most about the distribution that
 * they came from: least Kullback-Leibler divergence of the one from the other.
 *
 * A histogram around zero, `bins` across twice the reach of a usual sample and as many more of
 * them as the greatest value needs. Candidates are the middle parts of it, from `levels` bins
 * on. A usual sample reaches as far as the means over samples of their extremes.
 */
#include "calib/bins.h"
#include "calib/methods.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>

struct entropy_options {
    int64_t bins, levels; /* before and after quantization */
};

#define BINS_MOST 4096
#define SMOOTH    1e-4 /* what an empty bin gets */

struct histogram {
    double *at; /* whole numbers */
    double *p, *q;
    size_t count;
    double width; /* of a bin; the middle of the histogram is 0 */
};

static double reach_of(double low, double high)
{
    return fmax(fabs(low), fabs(high));
}

static double usual_reach(const struct by_sketch *sketch)
{
    struct by_range mean;
    by_range_minmax(sketch, true, &mean);
    return reach_of(mean.low, mean.high);
}

static double edge(const struct histogram *histogram, size_t index)
{
    return ((double)index - (double)histogram->count / 2) * histogram->width;
}

/* How many bins, and how wide. */
static void lay_out(struct histogram *histogram, const struct by_sketch *sketch, size_t bins)
{
    const double reach = reach_of(sketch->min, sketch->max);
    const double usual = fmin(usual_reach(sketch), reach);
    size_t more = 0;
    histogram->width = 2 * (usual > 0 ? usual : reach) / (double)bins;
    if (usual > 0 && usual < reach) {
        const double least = (reach - usual) / ((double)(BINS_MOST - bins) / 2);
        histogram->width = fmax(histogram->width, least);
        const double half = (double)bins / 2 * histogram->width;
        more = reach < half ? 0 : (size_t)((reach - half) / histogram->width) + 1;
    }
    histogram->count = bins + 2 * more;
}

static int fill(struct histogram *histogram, const struct by_sketch *sketch,
                struct baryon_error *err)
{
    struct by_bins bins;
    histogram->at = by_alloc(histogram->count, 3 * sizeof *histogram->at, err);
    if (!histogram->at || by_bins_load(&bins, sketch, err) < 0)
        return -1;
    histogram->p = histogram->at + histogram->count;
    histogram->q = histogram->p + histogram->count;
    by_bins_spread(&bins, edge(histogram, 0), histogram->width, histogram->at, histogram->count);
    by_bins_release(&bins);
    return 0;
}

/* Empty bins get a little, which the others give; false when all are empty. */
static bool smooth(double *p, size_t count)
{
    size_t filled = 0;
    for (size_t i = 0; i < count; i++)
        filled += p[i] != 0;
    if (!filled)
        return false;
    const double give = SMOOTH * (double)(count - filled) / (double)filled;
    for (size_t i = 0; i < count; i++)
        p[i] = p[i] != 0 ? p[i] - give : SMOOTH;
    return true;
}

static double sum_of(const double *at, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += at[i];
    return sum;
}

/*
 * What is left of the part's shape when `levels` numbers have to tell it: bins of one level get
 * the same, those that were empty nothing. The last level takes what does not divide.
 */
static void round_to_levels(const double *part, const double *p, double *q, size_t count,
                            size_t levels)
{
    const size_t merged = count / levels;
    for (size_t level = 0; level < levels; level++) {
        const size_t start = level * merged;
        const size_t taken = level + 1 == levels ? count - start : merged;
        const double sum = sum_of(part + start, taken);
        size_t filled = 0;
        for (size_t i = start; i < start + taken; i++)
            filled += p[i] != 0;
        for (size_t i = start; i < start + taken; i++)
            q[i] = p[i] != 0 ? sum / (double)filled : 0;
    }
}

static double divergence(const struct histogram *histogram, size_t start, size_t end, size_t levels)
{
    const size_t count = end - start;
    double *p = histogram->p, *q = histogram->q;
    for (size_t i = 0; i < count; i++)
        p[i] = histogram->at[start + i];
    p[0] += sum_of(histogram->at, start);
    p[count - 1] += sum_of(histogram->at + end, histogram->count - end);
    round_to_levels(histogram->at + start, p, q, count, levels);
    if (!smooth(p, count) || !smooth(q, count))
        return INFINITY;
    const double p_sum = sum_of(p, count), q_sum = sum_of(q, count);
    double result = 0;
    for (size_t i = 0; i < count; i++)
        result += p[i] / p_sum * log(p[i] / p_sum / (q[i] / q_sum));
    return result;
}

static void choose(const struct histogram *histogram, size_t levels, struct by_range *range)
{
    const size_t middle = histogram->count / 2;
    double least = INFINITY;
    range->low = range->high = 0;
    for (size_t half = levels / 2; half <= middle; half++) {
        const size_t start = middle - half;
        const size_t end =
            half + middle + 1 < histogram->count ? half + middle + 1 : histogram->count;
        const double found = divergence(histogram, start, end, levels);
        if (found < least || half == levels / 2) {
            range->low = edge(histogram, start);
            range->high = edge(histogram, end);
            least = found;
        }
    }
    range->error = least;
}

static int check(const struct entropy_options *own, struct baryon_error *err)
{
    if (own->levels < 2 || own->levels % 2)
        return by_fail(err, BARYON_ERR_USAGE, "quantized bins (%" PRId64 ") are not an even number",
                       own->levels);
    if (own->bins < own->levels || own->bins % 2 || own->bins > BINS_MOST / 2)
        return by_fail(err, BARYON_ERR_USAGE,
                       "bins (%" PRId64 ") are not an even number from %" PRId64
                       ", the quantized bins, to %d",
                       own->bins, own->levels, BINS_MOST / 2);
    return 0;
}

static int entropy(const struct by_sketch *sketch, const struct by_calib_target *target,
                   const struct by_calib_options *options, struct by_range *range,
                   struct baryon_error *err)
{
    const struct entropy_options *own = options->own;
    struct histogram histogram = {.at = NULL};
    (void)target;
    if (check(own, err) < 0)
        return -1;
    by_range_seen(sketch, range);
    if (range->constant_zero)
        return 0;
    lay_out(&histogram, sketch, (size_t)own->bins);
    const int failed = fill(&histogram, sketch, err);
    if (!failed) {
        choose(&histogram, (size_t)own->levels, range);
        by_range_limit(range, sketch);
    }
    by_free(histogram.at);
    return failed;
}

static const struct entropy_options defaults = {.bins = 128, .levels = 128};

static const struct by_calib_option rows[] = {
    {
        .row = {.name = "entropy-bins",
                .type = BY_OPT_INT,
                .arg = "COUNT",
                .min = 8,
                .max = 65536,
                .fallback = "128",
                .offset = offsetof(struct entropy_options, bins),
                .help = "number of bins of the histogram"},
        .quark = "NumBins",
    },
    {
        .row = {.name = "entropy-levels",
                .type = BY_OPT_INT,
                .arg = "COUNT",
                .min = 2,
                .max = 65536,
                .fallback = "128",
                .offset = offsetof(struct entropy_options, levels),
                .help = "number of bins after quantization"},
        .quark = "NumQuantizedBins",
    },
};

static const struct by_calib_option_set option_set = BY_CALIB_OPTION_SET(rows, defaults);

const struct by_calibrator by_calib_entropy = {
    .name = "entropy",
    .alias = "Entropy",
    .help = "The range whose rounded values keep most of the distribution (least divergence)",
    .quark = {{BY_QUARK_METHOD, "Entropy"}},
    .uses = BY_FOR_ACTIVATIONS,
    .options = &option_set,
    .options_last = true,
    .range = entropy,
};
