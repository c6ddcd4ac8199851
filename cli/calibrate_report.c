/* Prints the result of a calibration as text or JSON for `baryon calibrate`. */
#include "cli/calibrate_report.h"

#include "base/json.h"
#include "cli/running.h"

#include <inttypes.h>

#define LISTED 10

struct kinds {
    uint64_t zero, constant, nonfinite, unseen;
};

static uint64_t nonfinite(const struct by_tensor_stats *tensor)
{
    return tensor->sketch.nans + tensor->sketch.infinities;
}

static struct kinds count_kinds(const struct by_stats *stats)
{
    struct kinds kinds = {0};
    for (size_t i = 0; i < stats->tensor_count; i++) {
        const struct by_sketch *sketch = &stats->tensors[i].sketch;
        const uint64_t finite = by_sketch_finite(sketch);
        kinds.nonfinite += nonfinite(&stats->tensors[i]) > 0;
        kinds.unseen += !sketch->count;
        kinds.zero += finite && sketch->zeros == finite;
        kinds.constant += finite && sketch->min == sketch->max && sketch->zeros != finite;
    }
    return kinds;
}

static void show_time(struct by_out *out, const struct by_calibrate_report *took)
{
    struct by_str *text = &out->text;
    by_str_puts(text, "  ");
    by_plural(text, took->samples, "sample");
    by_str_printf(text, " in %.2f s", took->seconds);
    if (took->seconds > 0 && took->samples) {
        by_str_puts(text, ": ");
        by_out_printf(out, BY_BOLD, "%.1f samples/s", (double)took->samples / took->seconds);
        if (took->model_seconds > 0) /* not by the first rank, where only others had to run */
            by_str_printf(text, ", %.2f s of it in the model", took->model_seconds);
    }
    if (took->passes > 1)
        by_str_printf(text, ", %zu passes", took->passes);
    by_str_puts(text, "\n");
    if (took->taken_up) {
        by_str_puts(text, "  ");
        by_plural(text, took->taken_up, "sample");
        by_str_puts(text, " resumed from the checkpoint\n");
    }
}

static void show_coverage(struct by_out *out, const struct by_stats *stats)
{
    struct by_str *text = &out->text;
    if (by_stats_complete(stats) || !stats->covered.count)
        return;
    by_str_printf(text, "  covers samples %" PRIu64 " to %" PRIu64 " of %" PRIu64 "\n",
                  stats->covered.at[0].begin, stats->covered.at[0].end - 1, stats->total);
}

static void show_skipped(struct by_out *out, const struct by_stats *stats)
{
    struct by_str *text = &out->text;
    if (!stats->skipped.count)
        return;
    by_str_puts(text, "  ");
    by_out_printf(out, BY_YELLOW, "%zu", stats->skipped.count);
    by_str_printf(text, " bad %s skipped:\n", stats->skipped.count == 1 ? "sample" : "samples");
    for (size_t i = 0; i < stats->skipped.count && i < LISTED; i++) {
        by_str_puts(text, "    ");
        by_clean(text, stats->skipped.at[i].name);
        by_str_puts(text, ": ");
        by_clean(text, stats->skipped.at[i].reason);
        by_str_puts(text, "\n");
    }
    if (stats->skipped.count > LISTED)
        by_str_printf(text, "    and %zu more\n", stats->skipped.count - LISTED);
}

static void show_nonfinite(struct by_out *out, const struct by_stats *stats, uint64_t count)
{
    struct by_str *text = &out->text;
    size_t listed = 0;
    if (!count)
        return;
    by_out_printf(out, BY_YELLOW, "  NaN or infinite values");
    by_str_puts(text, " in ");
    by_plural(text, count, "tensor");
    by_str_puts(text, ", excluded from the ranges:\n");
    for (size_t i = 0; i < stats->tensor_count && listed < LISTED; i++) {
        const struct by_tensor_stats *tensor = &stats->tensors[i];
        if (!nonfinite(tensor))
            continue;
        listed++;
        by_str_puts(text, "    ");
        by_clean(text, tensor->name);
        by_str_printf(text, ": %" PRIu64 " of %" PRIu64 " values, first in sample ",
                      nonfinite(tensor), tensor->sketch.count);
        by_clean(text, tensor->nonfinite_name ? tensor->nonfinite_name : "");
        by_str_puts(text, "\n");
    }
    if (count > LISTED)
        by_str_printf(text, "    and %" PRIu64 " more\n", count - LISTED);
}

static void show_count(struct by_out *out, uint64_t count, const char *what)
{
    if (!count)
        return;
    by_str_puts(&out->text, "  ");
    by_plural(&out->text, count, "tensor");
    by_str_printf(&out->text, " %s\n", what);
}

static void show_statistics(struct by_out *out, const struct by_calibrate_summary *summary)
{
    char size[32];
    struct by_str *text = &out->text;
    const struct by_stats *stats = summary->stats;
    by_str_puts(text, "  ");
    by_plural(text, stats->tensor_count, "tensor");
    if (stats->layer_count) {
        by_str_puts(text, ", Gram matrices of ");
        by_plural(text, by_stats_layers(stats), "layer");
    }
    if (summary->took && summary->took->memory)
        by_str_printf(text, "; statistics used %s of memory",
                      by_bytes_text(summary->took->memory, size, sizeof size));
    by_str_puts(text, "\n");
}

void by_calibrate_report_text(struct by_out *out, const struct by_calibrate_summary *summary)
{
    char size[32];
    struct by_str *text = &out->text;
    const struct kinds kinds = count_kinds(summary->stats);
    by_running_line(out, "model", summary->model, NULL);
    by_running_line(out, "engine", summary->engine, NULL);
    by_running_line(out, "samples", summary->path ? summary->path : summary->data,
                    summary->path ? summary->data : NULL);
    by_str_puts(text, "\n");
    if (summary->took)
        show_time(out, summary->took);
    else
        by_str_puts(text, "  up to date: model, samples (by name and size) and settings are "
                          "unchanged; nothing was run\n");
    show_coverage(out, summary->stats);
    show_statistics(out, summary);
    show_count(out, kinds.zero, "all zero");
    show_count(out, kinds.constant, "constant");
    show_count(out, kinds.unseen, "without values");
    show_nonfinite(out, summary->stats, kinds.nonfinite);
    show_skipped(out, summary->stats);
    by_str_puts(text, "\n  ");
    by_clean(text, summary->file);
    by_str_printf(text, ": %s\n", by_bytes_text(summary->bytes, size, sizeof size));
    by_out_printf(out, BY_DIM, "  next: baryon stats ");
    by_clean(text, summary->file);
    by_str_puts(text, "\n");
}

static void skipped_json(struct by_json *json, const struct by_stats *stats)
{
    by_json_open(json, "skipped", '[');
    for (size_t i = 0; i < stats->skipped.count; i++) {
        by_json_open(json, NULL, '{');
        by_json_int(json, "sample", (int64_t)stats->skipped.at[i].sample);
        by_json_text(json, "name", stats->skipped.at[i].name);
        by_json_text(json, "reason", stats->skipped.at[i].reason);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void nonfinite_json(struct by_json *json, const struct by_stats *stats)
{
    by_json_open(json, "nonfinite", '[');
    for (size_t i = 0; i < stats->tensor_count; i++) {
        const struct by_tensor_stats *tensor = &stats->tensors[i];
        if (!nonfinite(tensor))
            continue;
        by_json_open(json, NULL, '{');
        by_json_text(json, "tensor", tensor->name);
        by_json_int(json, "nan", (int64_t)tensor->sketch.nans);
        by_json_int(json, "infinite", (int64_t)tensor->sketch.infinities);
        by_json_int(json, "values", (int64_t)tensor->sketch.count);
        by_json_int(json, "sample", (int64_t)tensor->sketch.nonfinite_sample);
        by_json_text(json, "name", tensor->nonfinite_name ? tensor->nonfinite_name : "");
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void took_json(struct by_json *json, const struct by_calibrate_report *took)
{
    by_json_int(json, "ran", (int64_t)took->samples);
    by_json_int(json, "taken_up", (int64_t)took->taken_up);
    by_json_int(json, "passes", (int64_t)took->passes);
    by_json_double(json, "seconds", took->seconds);
    by_json_double(json, "model_seconds", took->model_seconds);
    by_json_int(json, "memory", (int64_t)took->memory);
}

void by_calibrate_report_json(struct by_out *out, const struct by_calibrate_summary *summary)
{
    struct by_json json;
    const struct by_stats *stats = summary->stats;
    const struct kinds kinds = count_kinds(stats);
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "model", summary->model);
    by_json_text(&json, "engine", summary->engine);
    if (summary->path)
        by_json_text(&json, "path", summary->path);
    else
        by_json_null(&json, "path");
    by_json_text(&json, "data", summary->data);
    by_json_text(&json, "file", summary->file);
    by_json_int(&json, "bytes", (int64_t)summary->bytes);
    by_json_bool(&json, "up_to_date", !summary->took);
    by_json_int(&json, "total", (int64_t)stats->total);
    by_json_int(&json, "samples", (int64_t)by_stats_covered(stats));
    by_json_int(&json, "first", stats->covered.count ? (int64_t)stats->covered.at[0].begin : 0);
    if (summary->took)
        took_json(&json, summary->took);
    by_json_int(&json, "tensors", (int64_t)stats->tensor_count);
    by_json_int(&json, "layers", (int64_t)by_stats_layers(stats));
    by_json_int(&json, "all_zero", (int64_t)kinds.zero);
    by_json_int(&json, "constant", (int64_t)kinds.constant);
    nonfinite_json(&json, stats);
    skipped_json(&json, stats);
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}
