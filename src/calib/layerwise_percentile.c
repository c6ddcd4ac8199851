/* Of a few percentiles, the one with which the tensor's own values are kept best. */
#include "calib/bins.h"
#include "calib/methods.h"

struct layerwise_options {
    bool symmetric;
    struct by_setting_numbers candidates;
    int metric; /* enum by_calib_metric */
};

static int try_percentile(const struct by_sketch *sketch, const struct by_bins *bins,
                          const struct by_calib_target *target, const struct layerwise_options *own,
                          double percent, struct by_range *range, struct baryon_error *err)
{
    struct by_scale scale;
    if (!(percent > 0 && percent <= 100))
        return by_fail(err, BARYON_ERR_USAGE, "percentile (%g) is not above 0 and at most 100",
                       percent);
    if (by_percentile_range(sketch, percent, own->symmetric, range, err) < 0 ||
        by_scale_of_range(range, target, &scale, err) < 0)
        return -1;
    range->error = by_bins_error(bins, &scale, target, (enum by_calib_metric)own->metric);
    return 0;
}

static int layerwise_percentile(const struct by_sketch *sketch,
                                const struct by_calib_target *target,
                                const struct by_calib_options *options, struct by_range *range,
                                struct baryon_error *err)
{
    const struct layerwise_options *own = options->own;
    struct by_bins bins;
    struct by_range candidate;
    int failed = 0;
    if (!own->candidates.count)
        return by_fail(err, BARYON_ERR_USAGE, "no percentile to choose from");
    if (by_bins_load(&bins, sketch, err) < 0)
        return -1;
    for (size_t i = 0; i < own->candidates.count && !failed; i++) {
        failed = try_percentile(sketch, &bins, target, own, own->candidates.at[i], &candidate, err);
        if (!failed && (!i || candidate.error < range->error))
            *range = candidate;
    }
    by_bins_release(&bins);
    return failed;
}

static bool suits_layerwise_percentile(const struct by_calib_target *target)
{
    return !target->is_float;
}

static double candidates[] = {99.99, 99.999, 99.99999};

static const struct layerwise_options defaults = {
    .symmetric = true,
    .candidates = {candidates, sizeof candidates / sizeof *candidates, 0},
    .metric = BY_CALIB_MAE,
};

static const struct by_choice metrics[] = {
    {"mae", BY_CALIB_MAE, "mean absolute error"},
    {"mse", BY_CALIB_MSE, "mean squared error"},
    {0},
};

static const struct by_calib_option rows[] = {
    BY_PERCENTILE_SYMMETRIC_ROW(struct layerwise_options),
    {
        .row = {.name = "percentile-candidates",
                .type = BY_OPT_NUMBERS,
                .arg = "P[,P...]",
                .min = 1e-9,
                .max = 100,
                .fallback = "99.99,99.999,99.99999",
                .offset = offsetof(struct layerwise_options, candidates),
                .help = "percentiles to choose from"},
        .quark = "PercentileCandidates",
    },
    {
        .row = {.name = "layerwise-metric",
                .type = BY_OPT_CHOICE,
                .arg = "NAME",
                .choices = metrics,
                .fallback = "mae",
                .offset = offsetof(struct layerwise_options, metric),
                .help = "error by which it chooses"},
        .quark = "LWPMetric",
    },
};

static const struct by_calib_option_set option_set = BY_CALIB_OPTION_SET(rows, defaults);

const struct by_calibrator by_calib_layerwise_percentile = {
    .name = "layerwise-percentile",
    .alias = "LayerwisePercentile",
    .help = "The percentile, out of a few, that distorts this tensor least",
    .quark = {{BY_QUARK_METHOD, "LayerWisePercentile"}, {BY_QUARK_METHOD, "LayerwisePercentile"}},
    .uses = BY_FOR_ACTIVATIONS,
    .options = &option_set,
    .range = layerwise_percentile,
    .suits = suits_layerwise_percentile,
};
