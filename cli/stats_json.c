/* Writes statistics as JSON for `baryon stats --json`. */
#include "cli/coverage.h"
#include "cli/stats_view.h"
#include "ir/tensor.h"

#include <math.h>

static void shape_json(struct by_json *json, const struct by_tensor_stats *tensor)
{
    if (tensor->rank == SIZE_MAX || tensor->rank_varies) {
        by_json_null(json, "shape");
        return;
    }
    by_json_open(json, "shape", '[');
    for (size_t i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] == BY_DIM_VARIES)
            by_json_null(json, NULL);
        else
            by_json_int(json, NULL, tensor->dims[i]);
    by_json_close(json, ']');
}

static void nonfinite_json(struct by_json *json, const struct by_tensor_stats *tensor)
{
    const struct by_sketch *sketch = &tensor->sketch;
    by_json_int(json, "nan", (int64_t)sketch->nans);
    by_json_int(json, "infinite", (int64_t)sketch->infinities);
    if (!by_tensor_nonfinite(tensor))
        return;
    by_json_int(json, "nonfinite_sample", (int64_t)sketch->nonfinite_sample);
    if (tensor->nonfinite_name)
        by_json_text(json, "nonfinite_name", tensor->nonfinite_name);
}

static void channel_json(struct by_json *json, const char *key, const struct by_channels *channels,
                         const float *values)
{
    by_json_open(json, key, '[');
    for (size_t i = 0; i < channels->count; i++)
        if (channels->seen[i])
            by_json_double(json, NULL, (double)values[i]);
        else
            by_json_null(json, NULL);
    by_json_close(json, ']');
}

static void means_json(struct by_json *json, const struct by_tensor_stats *tensor)
{
    const size_t count = tensor->means.sums.count;
    double *means = count ? by_alloc(count, sizeof *means, NULL) : NULL;
    if (means && by_tensor_stats_means(tensor, means)) {
        by_json_open(json, "channel_mean", '[');
        for (size_t i = 0; i < count; i++)
            by_json_double(json, NULL, means[i]);
        by_json_close(json, ']');
    }
    by_free(means);
}

static void tensor_members(struct by_json *json, const struct by_tensor_stats *tensor)
{
    const struct by_sketch *sketch = &tensor->sketch;
    by_json_text(json, "name", tensor->name);
    by_json_text(json, "type", by_elem_name(tensor->elem));
    shape_json(json, tensor);
    by_json_bool(json, "rank_varies", tensor->rank_varies);
    by_json_int(json, "samples", (int64_t)sketch->samples);
    by_json_int(json, "values", (int64_t)sketch->count);
    by_json_int(json, "zeros", (int64_t)sketch->zeros);
    nonfinite_json(json, tensor);
    if (by_sketch_finite(sketch)) {
        by_json_double(json, "min", (double)sketch->min);
        by_json_double(json, "mean", by_sketch_mean(sketch));
        by_json_double(json, "max", (double)sketch->max);
        by_json_double(json, "rms", by_sketch_rms(sketch));
        by_json_double(json, "mean_of_sample_min",
                       by_exact_value(&sketch->sample_min) / (double)sketch->finite_samples);
        by_json_double(json, "mean_of_sample_max",
                       by_exact_value(&sketch->sample_max) / (double)sketch->finite_samples);
    }
    by_json_bool(json, "constant", by_tensor_is_constant(tensor));
    by_json_bool(json, "all_zero", by_tensor_is_zero(tensor));
    by_json_int(json, "memory", (int64_t)by_tensor_memory(tensor));
    if (tensor->channels.count || tensor->means.sums.count)
        by_json_int(json, "channel_axis", tensor->channel_axis);
    means_json(json, tensor);
    if (!tensor->channels.count)
        return;
    channel_json(json, "channel_min", &tensor->channels, tensor->channels.min);
    channel_json(json, "channel_max", &tensor->channels, tensor->channels.max);
}

static void layer_json(struct by_json *json, const struct by_layer_stats *layer)
{
    const struct by_moments *moments = &layer->moments;
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", layer->layer.name);
    by_json_text(json, "kind", by_layer_kind_name(layer->layer.kind));
    by_json_text(json, "input", layer->layer.input);
    by_json_text(json, "weight", layer->layer.weight);
    by_json_int(json, "columns", layer->layer.columns);
    by_json_int(json, "groups", layer->layer.groups);
    by_json_bool(json, "held_out", layer->layer.share == BY_SHARE_JUDGES);
    by_json_int(json, "samples", (int64_t)moments->samples);
    by_json_int(json, "rows", (int64_t)moments->rows);
    by_json_int(json, "nonfinite_rows", (int64_t)moments->nonfinite_rows);
    by_json_int(json, "tiles", (int64_t)moments->tile_count);
    by_json_int(json, "tiles_there", (int64_t)by_layer_tiles_there(layer));
    by_json_bool(json, "complete", by_layer_stats_complete(layer));
    by_json_int(json, "memory", (int64_t)by_layer_memory(layer));
    by_json_close(json, '}');
}

void by_stats_json(struct by_json *json, const struct by_stats_view *view)
{
    const struct by_stats *stats = view->stats;
    by_json_text(json, "file", view->file);
    by_json_int(json, "bytes", (int64_t)view->bytes);
    by_coverage_json(json, stats);
    if (view->checked)
        by_json_text(json, "checked", view->checked);
    by_json_open(json, "tensors", '[');
    for (size_t i = 0; i < view->tensor_count; i++) {
        by_json_open(json, NULL, '{');
        tensor_members(json, view->tensors[i]);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
    by_json_open(json, "layers", '[');
    for (size_t i = 0; i < stats->layer_count; i++)
        layer_json(json, &stats->layers[i]);
    by_json_close(json, ']');
}

/* --- One tensor --- */

static int bins_json(struct by_json *json, const struct by_sketch *sketch, struct baryon_error *err)
{
    struct by_sketch_bin *bins;
    size_t count;
    if (by_sketch_bins(sketch, &bins, &count, err) < 0)
        return -1;
    by_json_open(json, "bins", '[');
    for (size_t i = 0; i < count; i++) {
        by_json_open(json, NULL, '{');
        by_json_double(json, "low", bins[i].low);
        by_json_double(json, "high", bins[i].high);
        by_json_int(json, "count", (int64_t)bins[i].count);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
    by_free(bins);
    return 0;
}

static void votes_json(struct by_json *json, const struct by_votes *votes)
{
    by_json_open(json, "votes", '[');
    for (size_t i = 0; i < votes->count; i++) {
        by_json_open(json, NULL, '{');
        by_json_int(json, "qmin", votes->at[i].levels.least);
        by_json_int(json, "qmax", votes->at[i].levels.most);
        by_json_int(json, "position", votes->at[i].position);
        by_json_int(json, "samples", (int64_t)votes->at[i].samples);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static int choices_json(struct by_json *json, const struct by_sketch *sketch,
                        const struct by_calib_type *type, struct baryon_error *err)
{
    struct by_calib_choice *made;
    size_t count;
    if (by_choices_make(sketch, type, &made, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        by_json_open(json, NULL, '{');
        by_json_text(json, "type", type->name);
        by_json_bool(json, "symmetric", type->target.symmetric);
        by_json_bool(json, "power_of_two", type->target.power_of_two);
        by_json_text(json, "method", made[i].method->name);
        by_json_double(json, "low", made[i].range.low);
        by_json_double(json, "high", made[i].range.high);
        by_json_double(json, "scale", made[i].scale.scale);
        by_json_int(json, "zero_point", made[i].scale.zero_point);
        if (type->target.power_of_two)
            by_json_int(json, "position", made[i].scale.position);
        by_json_double(json, "clipped", made[i].clipped);
        if (!isnan(made[i].range.error))
            by_json_double(json, "error", made[i].range.error);
        by_json_close(json, '}');
    }
    by_free(made);
    return 0;
}

int by_stats_tensor_json(struct by_json *json, const struct by_tensor_stats *tensor,
                         const struct by_calib_type types[2], struct baryon_error *err)
{
    by_json_open(json, NULL, '{');
    tensor_members(json, tensor);
    if (bins_json(json, &tensor->sketch, err) < 0)
        return -1;
    votes_json(json, &tensor->sketch.votes);
    by_json_open(json, "choices", '[');
    for (int i = 0; i < 2 && by_sketch_finite(&tensor->sketch); i++)
        if (choices_json(json, &tensor->sketch, &types[i], err) < 0)
            return -1;
    by_json_close(json, ']');
    by_json_close(json, '}');
    return 0;
}
