/* Prints the outputs' shapes, ranges and timing for `baryon run`, as text or JSON. */
#include "cli/run_report.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/running.h"

#include <inttypes.h>
#include <stdio.h>

static double rate(uint64_t samples, double seconds)
{
    return seconds > 0 ? (double)samples / seconds : 0;
}

static bool has_range(const struct by_output_stats *stats)
{
    return stats->count > stats->nonfinite;
}

static double mean(const struct by_output_stats *stats)
{
    return stats->sum / (double)(stats->count - stats->nonfinite);
}

static const char *shape_text(const struct by_output_stats *stats, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    by_text_add(&text, "[%s", stats->ragged ? "..." : "");
    for (size_t i = 0; !stats->ragged && i < stats->rank; i++) {
        by_text_add(&text, "%s", i ? "," : "");
        if (stats->dims[i] < 0)
            by_text_add(&text, "?");
        else
            by_text_add(&text, "%" PRId64, stats->dims[i]);
    }
    by_text_add(&text, "]");
    return buf;
}

static void add_output_row(struct by_table *table, const struct by_output_stats *stats)
{
    char shape[256];
    by_table_cell(table, "%s", stats->name);
    by_table_cell(table, "%s", stats->seen ? by_elem_name(stats->elem) : "");
    by_table_cell(table, "%s", stats->seen ? shape_text(stats, shape, sizeof shape) : "");
    if (has_range(stats)) {
        by_table_cell(table, "%.5g", stats->min);
        by_table_cell(table, "%.5g", mean(stats));
        by_table_cell(table, "%.5g", stats->max);
    } else
        for (int empty = 0; empty < 3; empty++)
            by_table_cell(table, "%s", "");
    if (stats->nonfinite)
        by_table_cell(table, "%" PRIu64 " NaN or infinite", stats->nonfinite);
    else
        by_table_cell(table, "%s", "");
}

static int show_outputs(struct by_out *out, const struct by_run_report *report,
                        struct baryon_error *err)
{
    struct by_table table;
    by_table_init(&table, out);
    by_table_column(&table, "Outputs", BY_LEFT, BY_CYAN);
    by_table_flexible(&table);
    by_table_column(&table, "type", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "shape", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "min", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "mean", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "max", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "", BY_LEFT, BY_YELLOW);
    for (size_t i = 0; i < report->output_count; i++)
        add_output_row(&table, &report->outputs[i]);
    return by_table_print(&table, 2, err);
}

static void show_rates(struct by_out *out, const struct by_run_report *report)
{
    struct by_str *text = &out->text;
    by_str_puts(text, "\n  ");
    by_plural(text, report->samples, "sample");
    by_str_printf(text, " in %.2f s: ", report->seconds);
    by_out_printf(out, BY_BOLD, "%.1f samples/s", rate(report->samples, report->seconds));
    by_str_printf(text, " (%.1f in the model alone)\n",
                  rate(report->samples, report->model_seconds));
    if (report->skipped) {
        by_str_puts(text, "  skipped ");
        by_plural(text, report->skipped, "bad sample");
        by_str_puts(text, "\n");
    }
    if (report->folder) {
        by_str_puts(text, "  ");
        by_plural(text, report->files, "file");
        by_str_puts(text, " in ");
        by_clean(text, report->folder);
        by_str_puts(text, "\n");
    }
}

int by_run_report_text(struct by_out *out, const struct by_run_report *report,
                       struct baryon_error *err)
{
    by_running_line(out, "model", report->model, NULL);
    by_running_line(out, "engine", report->engine, NULL);
    by_running_line(out, "samples", report->path ? report->path : report->data,
                    report->path ? report->data : NULL);
    by_str_puts(&out->text, "\n");
    if (show_outputs(out, report, err) < 0)
        return -1;
    show_rates(out, report);
    return 0;
}

static void output_json(struct by_json *json, const struct by_output_stats *stats)
{
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", stats->name);
    by_json_text(json, "type", by_elem_name(stats->elem));
    if (stats->ragged)
        by_json_null(json, "shape");
    else {
        by_json_open(json, "shape", '[');
        for (size_t i = 0; i < stats->rank; i++) {
            if (stats->dims[i] < 0)
                by_json_null(json, NULL);
            else
                by_json_int(json, NULL, stats->dims[i]);
        }
        by_json_close(json, ']');
    }
    if (has_range(stats)) {
        by_json_double(json, "min", stats->min);
        by_json_double(json, "mean", mean(stats));
        by_json_double(json, "max", stats->max);
    }
    by_json_int(json, "nonfinite", (int64_t)stats->nonfinite);
    by_json_close(json, '}');
}

void by_run_report_json(struct by_out *out, const struct by_run_report *report)
{
    struct by_json json;
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "model", report->model);
    by_json_text(&json, "engine", report->engine);
    if (report->path)
        by_json_text(&json, "path", report->path);
    else
        by_json_null(&json, "path");
    by_json_text(&json, "data", report->data);
    by_json_int(&json, "samples", (int64_t)report->samples);
    by_json_int(&json, "skipped", (int64_t)report->skipped);
    by_json_double(&json, "seconds", report->seconds);
    by_json_double(&json, "model_seconds", report->model_seconds);
    by_json_open(&json, "outputs", '[');
    for (size_t i = 0; i < report->output_count; i++)
        output_json(&json, &report->outputs[i]);
    by_json_close(&json, ']');
    if (report->folder) {
        by_json_text(&json, "folder", report->folder);
        by_json_int(&json, "files", (int64_t)report->files);
    }
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}
