/* The public interface: statistics. */
#include "api/api.h"
#include "calib/calib.h"
#include "ir/graph.h"

#include <string.h>

struct baryon_statistics {
    struct by_stats *stats;
    struct baryon_tensor_statistics *tensors;
};

/* --- Tensors in the public form --- */

static void fill_numbers(struct baryon_tensor_statistics *out, const struct by_sketch *sketch)
{
    if (!by_sketch_finite(sketch))
        return;
    const double samples = (double)sketch->finite_samples;
    out->min = (double)sketch->min;
    out->max = (double)sketch->max;
    out->moving_min = by_exact_value(&sketch->sample_min) / samples;
    out->moving_max = by_exact_value(&sketch->sample_max) / samples;
    out->mean = by_sketch_mean(sketch);
    out->rms = by_sketch_rms(sketch);
}

static void fill_tensor_statistics(struct baryon_tensor_statistics *out,
                                   const struct by_tensor_stats *tensor)
{
    const struct by_sketch *sketch = &tensor->sketch;
    const bool bad = sketch->nonfinite_sample != BY_SKETCH_NO_SAMPLE;
    *out = (struct baryon_tensor_statistics){
        .name = tensor->name,
        .type = (int)tensor->elem,
        .rank = tensor->rank == SIZE_MAX || tensor->rank_varies ? -1 : (int)tensor->rank,
        .dims = tensor->dims,
        .samples = sketch->samples,
        .values = sketch->count,
        .zeros = sketch->zeros,
        .nans = sketch->nans,
        .infinities = sketch->infinities,
        .nonfinite_sample = bad ? (int64_t)sketch->nonfinite_sample : -1,
        .nonfinite_name = bad ? tensor->nonfinite_name : NULL,
        .channel_axis = tensor->channel_axis,
        .channels = tensor->channels.count,
        .channel_min = tensor->channels.min,
        .channel_max = tensor->channels.max,
    };
    fill_numbers(out, sketch);
}

static void fill_all(struct baryon_statistics *statistics)
{
    for (size_t i = 0; i < statistics->stats->tensor_count; i++)
        fill_tensor_statistics(&statistics->tensors[i], &statistics->stats->tensors[i]);
}

int by_api_give_statistics(struct baryon_statistics **out, struct by_stats *stats,
                           struct baryon_error *err)
{
    struct baryon_statistics *statistics = by_alloc_zero(1, sizeof *statistics, err);
    *out = NULL;
    if (!statistics) {
        by_stats_close(stats);
        return -1;
    }
    statistics->stats = stats;
    statistics->tensors = by_alloc(stats->tensor_count, sizeof *statistics->tensors, err);
    if (!statistics->tensors) {
        baryon_statistics_free(statistics);
        return -1;
    }
    fill_all(statistics);
    *out = statistics;
    return 0;
}

/* --- Files --- */

int baryon_statistics_load(struct baryon_statistics **statistics, const char *path,
                           struct baryon_error *err)
{
    if (BY_NEED(statistics, err) || BY_NEED(path, err))
        return -1;
    struct by_stats *stats;
    *statistics = NULL;
    return by_stats_load(&stats, path, err) < 0 ? -1
                                                : by_api_give_statistics(statistics, stats, err);
}

void baryon_statistics_free(struct baryon_statistics *statistics)
{
    if (!statistics)
        return;
    by_stats_close(statistics->stats);
    by_free(statistics->tensors);
    by_free(statistics);
}

int baryon_statistics_save(const struct baryon_statistics *statistics, const char *path,
                           struct baryon_error *err)
{
    if (BY_NEED(statistics, err) || BY_NEED(path, err))
        return -1;
    return by_stats_save(statistics->stats, path, 0, err);
}

int baryon_statistics_merge(struct baryon_statistics *statistics,
                            const struct baryon_statistics *other, struct baryon_error *err)
{
    if (BY_NEED(statistics, err) || BY_NEED(other, err))
        return -1;
    if (by_stats_merge(statistics->stats, other->stats, err) < 0)
        return -1;
    fill_all(statistics);
    return 0;
}

int baryon_statistics_check_model(const struct baryon_statistics *statistics,
                                  struct baryon_model *model, struct baryon_error *err)
{
    if (BY_NEED(statistics, err) || BY_NEED(model, err))
        return -1;
    struct by_stats_key want = statistics->stats->key;
    if (by_model_settle(model, err) < 0 || by_model_content_hash(model, &want.model, err) < 0)
        return -1;
    return by_stats_check_key(&statistics->stats->key, &want, err);
}

/* --- Looking --- */

uint64_t baryon_statistics_total(const struct baryon_statistics *statistics)
{
    return statistics ? statistics->stats->total : 0;
}

uint64_t baryon_statistics_covered(const struct baryon_statistics *statistics)
{
    return statistics ? by_stats_covered(statistics->stats) : 0;
}

uint64_t baryon_statistics_skipped(const struct baryon_statistics *statistics)
{
    return statistics ? statistics->stats->skipped.count : 0;
}

size_t baryon_statistics_tensor_count(const struct baryon_statistics *statistics)
{
    return statistics ? statistics->stats->tensor_count : 0;
}

const struct baryon_tensor_statistics *
baryon_statistics_tensor(const struct baryon_statistics *statistics, size_t place)
{
    if (!statistics)
        return NULL;
    return place < statistics->stats->tensor_count ? &statistics->tensors[place] : NULL;
}

const struct baryon_tensor_statistics *
baryon_statistics_find(const struct baryon_statistics *statistics, const char *name)
{
    if (!statistics || !name)
        return NULL;
    const struct by_tensor_stats *tensor = by_stats_find(statistics->stats, name);
    return tensor ? &statistics->tensors[tensor - statistics->stats->tensors] : NULL;
}

static int find_sketch(const struct baryon_statistics *statistics, const char *name,
                       const struct by_sketch **sketch, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_tensor_stats *tensor = by_stats_find(statistics->stats, name);
    if (!tensor)
        return by_fail(err, BARYON_ERR_USAGE, "the statistics have no tensor %s",
                       by_quote(quoted, name));
    *sketch = &tensor->sketch;
    return 0;
}

int baryon_statistics_histogram(const struct baryon_statistics *statistics, const char *tensor,
                                struct baryon_bin **out, size_t *count, struct baryon_error *err)
{
    if (BY_NEED(statistics, err) || BY_NEED(tensor, err) || BY_NEED(out, err) ||
        BY_NEED(count, err))
        return -1;
    const struct by_sketch *sketch;
    struct by_sketch_bin *bins;
    *out = NULL;
    *count = 0;
    if (find_sketch(statistics, tensor, &sketch, err) < 0 ||
        by_sketch_bins(sketch, &bins, count, err) < 0)
        return -1;
    *out = by_alloc(*count, sizeof **out, err);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (struct baryon_bin){bins[i].low, bins[i].high, bins[i].count};
    by_free(bins);
    return *out ? 0 : -1;
}

/* --- Choosing --- */

static int find_method(const char *name, const struct by_calibrator **method,
                       struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    *method = by_calibrator_find(name);
    if (*method)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "unknown calibration method %s", by_quote(quoted, name));
    return by_err_hint(err, "'baryon list methods' lists them");
}

static int find_type(const char *name, const struct baryon_range_options *options,
                     struct by_calib_type *type, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_calib_type *found = by_calib_type_find(name);
    if (!found)
        return by_fail(err, BARYON_ERR_USAGE, "type %s has no range to choose",
                       by_quote(quoted, name));
    *type = *found;
    type->target.power_of_two = options->power_of_two;
    switch (options->symmetry) {
    case BARYON_SYMMETRY_OF_TYPE:
        return 0;
    case BARYON_SYMMETRIC:
    case BARYON_ASYMMETRIC:
        type->target.symmetric = options->symmetry == BARYON_SYMMETRIC;
        break;
    default:
        return by_fail(err, BARYON_ERR_USAGE, "symmetry %d, must be 0 to 2",
                       (int)options->symmetry);
    }
    if (type->target.is_float && !type->target.symmetric)
        return by_fail(err, BARYON_ERR_USAGE, "asymmetric: %s has no zero point", type->name);
    return 0;
}

/* Only the members that the caller's struct has. */
static int give_range(struct baryon_range *out, const struct by_calib_choice *choice,
                      struct baryon_error *err)
{
    const struct baryon_range range = {
        .size = out->size,
        .low = choice->range.low,
        .high = choice->range.high,
        .scale = choice->scale.scale,
        .zero_point = choice->scale.zero_point,
        .position = choice->scale.position,
        .reached_low = choice->reached.low,
        .reached_high = choice->reached.high,
        .clipped = choice->clipped,
        .error = choice->range.error,
    };
    if (out->size < sizeof out->size || out->size > BY_API_SIZE_MAX)
        return by_fail(err, BARYON_ERR_USAGE,
                       "a range with a size of %zu, must be the size of the struct", out->size);
    memcpy(out, &range, out->size < sizeof range ? out->size : sizeof range);
    return 0;
}

int baryon_statistics_range(const struct baryon_statistics *statistics, const char *tensor,
                            const char *method, const char *type,
                            const struct baryon_range_options *theirs, struct baryon_range *range,
                            struct baryon_error *err)
{
    if (BY_NEED(statistics, err) || BY_NEED(tensor, err) || BY_NEED(method, err) ||
        BY_NEED(type, err) || BY_NEED(range, err))
        return -1;
    struct baryon_range_options options = {.size = sizeof options};
    const struct by_sketch *sketch;
    const struct by_calibrator *found;
    struct by_calib_type format;
    struct by_calib_choice choice;
    if (by_api_options(&options, sizeof options, theirs, err) < 0 ||
        find_sketch(statistics, tensor, &sketch, err) < 0 || find_method(method, &found, err) < 0 ||
        find_type(type, &options, &format, err) < 0)
        return -1;
    if (!by_calib_suits(found, &format))
        return by_fail(err, BARYON_ERR_USAGE, "method %s does not support %s%s%s", found->name,
                       format.name, format.target.symmetric ? ", symmetric" : ", asymmetric",
                       format.target.power_of_two ? ", power-of-two scales" : "");
    if (by_calib_choose(sketch, &format, found, NULL, &choice, err) < 0)
        return -1;
    return give_range(range, &choice, err);
}

const char *baryon_calibration_method(size_t place)
{
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    return place < count ? methods[place]->name : NULL;
}
