/* Of a few percentiles, the one with which the tensor's own values are kept best. */
#include "calib/bins.h"
#include "calib/methods.h"

static int try_percentile(const struct by_sketch *sketch, const struct by_bins *bins,
                          const struct by_calib_target *target,
                          const struct by_calib_options *options, double percent,
                          struct by_range *range, struct baryon_error *err)
{
    struct by_scale scale;
    if (!(percent > 0 && percent <= 100))
        return by_fail(err, BARYON_ERR_USAGE, "percentile (%g) is not above 0 and at most 100",
                       percent);
    if (by_percentile_range(sketch, percent, options->percentile_symmetric, range, err) < 0 ||
        by_scale_of_range(range, target, &scale, err) < 0)
        return -1;
    range->error = by_bins_error(bins, &scale, target, options->metric);
    return 0;
}

static int layerwise_percentile(const struct by_sketch *sketch,
                                const struct by_calib_target *target,
                                const struct by_calib_options *options, struct by_range *range,
                                struct baryon_error *err)
{
    struct by_bins bins;
    struct by_range candidate;
    int failed = 0;
    if (!options->candidate_count)
        return by_fail(err, BARYON_ERR_USAGE, "no percentile to choose from");
    if (by_bins_load(&bins, sketch, err) < 0)
        return -1;
    for (size_t i = 0; i < options->candidate_count && !failed; i++) {
        failed =
            try_percentile(sketch, &bins, target, options, options->candidates[i], &candidate, err);
        if (!failed && (!i || candidate.error < range->error))
            *range = candidate;
    }
    by_bins_release(&bins);
    return failed;
}

static bool suits(const struct by_calib_target *target)
{
    return !target->is_float;
}

const struct by_calibrator by_calib_layerwise_percentile = {
    .name = "layerwise-percentile",
    .alias = "LayerwisePercentile",
    .help = "The percentile, out of a few, that distorts this tensor least",
    .range = layerwise_percentile,
    .suits = suits,
};
