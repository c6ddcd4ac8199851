/* Prints statistics as tables for `baryon stats`. */
#include "calib/votes.h"
#include "cli/coverage.h"
#include "cli/histogram.h"
#include "cli/running.h"
#include "cli/stats_view.h"
#include "ir/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void share_cell(struct by_table *table, double share)
{
    double percent = 100 * share;
    if (share > 0 && percent < 0.005)
        by_table_cell(table, "< 0.01 %%");
    else
        by_table_cell(table, "%.2f %%", percent);
}

static void empty_cells(struct by_table *table, int count)
{
    while (count-- > 0)
        by_table_cell(table, "%s", "");
}

static void tensor_columns(struct by_table *table, struct by_out *out)
{
    static const char *const numbers[] = {"values", "min", "mean", "max", "rms", "zeros", "memory"};
    by_table_init(table, out);
    by_table_column(table, "Tensors", BY_LEFT, BY_CYAN);
    by_table_flexible(table);
    by_table_column(table, "type", BY_LEFT, BY_PLAIN);
    by_table_column(table, "shape", BY_LEFT, BY_PLAIN);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        by_table_column(table, numbers[i], BY_RIGHT, BY_PLAIN);
    by_table_column(table, "", BY_LEFT, BY_YELLOW);
}

static void tensor_row(struct by_table *table, const struct by_tensor_stats *tensor,
                       uint64_t samples)
{
    const struct by_sketch *sketch = &tensor->sketch;
    char shape[256];
    struct by_str notes;
    by_table_cell(table, "%s", tensor->name);
    by_table_cell(table, "%s", by_elem_name(tensor->elem));
    by_table_cell(table, "%s", by_tensor_shape(tensor, shape, sizeof shape));
    by_table_count(table, sketch->count);
    if (by_sketch_finite(sketch)) {
        by_table_cell(table, "%.5g", (double)sketch->min);
        by_table_cell(table, "%.5g", by_sketch_mean(sketch));
        by_table_cell(table, "%.5g", (double)sketch->max);
        by_table_cell(table, "%.5g", by_sketch_rms(sketch));
        share_cell(table, (double)sketch->zeros / (double)by_sketch_finite(sketch));
    } else
        empty_cells(table, 5);
    by_table_bytes(table, by_tensor_memory(tensor));
    by_str_init(&notes);
    by_tensor_notes(tensor, samples, &notes);
    by_table_cell(table, "%s", by_str_text(&notes));
    table->failed |= notes.failed;
    by_str_release(&notes);
}

static int show_tensors(struct by_out *out, const struct by_stats_view *view,
                        struct baryon_error *err)
{
    struct by_table table;
    uint64_t samples = by_stats_seen(view->stats);
    if (!view->tensor_count)
        return 0;
    by_str_puts(&out->text, "\n");
    tensor_columns(&table, out);
    for (size_t i = 0; i < view->tensor_count; i++)
        tensor_row(&table, view->tensors[i], samples);
    if (by_table_print(&table, 2, err) < 0)
        return -1;
    if (view->left_out)
        by_str_printf(&out->text, "  and %zu more\n", view->left_out);
    return 0;
}

static void layer_row(struct by_table *table, const struct by_layer_stats *layer)
{
    const struct by_moments *moments = &layer->moments;
    struct by_str notes;
    by_table_cell(table, "%s", layer->layer.name);
    by_table_cell(table, "%s", by_layer_kind_name(layer->layer.kind));
    by_table_count(table, (uint64_t)layer->layer.columns);
    by_table_count(table, (uint64_t)layer->layer.groups);
    by_table_count(table, moments->rows);
    by_table_bytes(table, by_layer_memory(layer));
    by_str_init(&notes);
    if (layer->layer.share == BY_SHARE_JUDGES)
        by_str_puts(&notes, "held-out samples");
    if (by_layer_stats_empty(layer))
        by_str_printf(&notes, "%sempty", notes.size ? ", " : "");
    else if (!by_layer_stats_complete(layer))
        by_str_printf(&notes, "%s%zu of %zu tiles", notes.size ? ", " : "",
                      by_layer_tiles_there(layer), moments->tile_count);
    if (moments->nonfinite_rows) {
        by_str_puts(&notes, notes.size ? ", " : "");
        by_plural(&notes, moments->nonfinite_rows, "row");
        by_str_puts(&notes, " skipped, not finite");
    }
    by_table_cell(table, "%s", by_str_text(&notes));
    table->failed |= notes.failed;
    by_str_release(&notes);
}

static int show_layers(struct by_out *out, const struct by_stats *stats, struct baryon_error *err)
{
    static const char *const numbers[] = {"columns", "groups", "rows", "memory"};
    struct by_table table;
    if (!stats->layer_count)
        return 0;
    by_str_puts(&out->text, "\n");
    by_table_init(&table, out);
    by_table_column(&table, "Layers with Gram matrices", BY_LEFT, BY_CYAN);
    by_table_flexible(&table);
    by_table_column(&table, "kind", BY_LEFT, BY_PLAIN);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        by_table_column(&table, numbers[i], BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "", BY_LEFT, BY_YELLOW);
    for (size_t i = 0; i < stats->layer_count; i++)
        layer_row(&table, &stats->layers[i]);
    return by_table_print(&table, 2, err);
}

int by_stats_text(struct by_out *out, const struct by_stats_view *view, struct baryon_error *err)
{
    char size[32];
    by_clean(&out->text, view->file);
    by_str_printf(&out->text, ": %s\n", by_bytes_text(view->bytes, size, sizeof size));
    by_coverage_text(out, view->stats);
    if (view->checked)
        by_running_line(out, "checked", view->checked, "the statistics match this model");
    return show_tensors(out, view, err) < 0 ? -1 : show_layers(out, view->stats, err);
}

/* --- One tensor --- */

static int show_choices(struct by_out *out, const struct by_sketch *sketch,
                        const struct by_calib_type *type, struct baryon_error *err)
{
    static const char *const numbers[] = {"low", "high", "scale", "zero point", "clipped"};
    struct by_calib_choice *made;
    struct by_table table;
    char heading[80];
    size_t count;
    if (by_choices_make(sketch, type, &made, &count, err) < 0)
        return -1;
    snprintf(heading, sizeof heading, "%s%s%s", type->name,
             type->target.is_float    ? ""
             : type->target.symmetric ? ", symmetric"
                                      : ", asymmetric",
             type->target.power_of_two ? ", powers of two" : "");
    by_str_puts(&out->text, "\n");
    by_table_init(&table, out);
    by_table_column(&table, heading, BY_LEFT, BY_CYAN);
    by_table_least(&table, 32);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        by_table_column(&table, numbers[i], BY_RIGHT, BY_PLAIN);
    for (size_t i = 0; i < count; i++) {
        by_table_cell(&table, "%s", made[i].method->name);
        by_table_cell(&table, "%.5g", made[i].range.low + 0.0); /* no -0 */
        by_table_cell(&table, "%.5g", made[i].range.high + 0.0);
        if (type->target.power_of_two)
            by_table_cell(&table, "2^%d", -made[i].scale.position);
        else
            by_table_cell(&table, "%.6g", made[i].scale.scale);
        by_table_cell(&table, "%" PRId64, made[i].scale.zero_point);
        share_cell(&table, made[i].clipped);
    }
    by_free(made);
    if (by_table_print(&table, 2, err) < 0)
        return -1;
    const char *left_out = by_choice_left_out(sketch, type);
    if (left_out)
        by_str_printf(&out->text, "  %s: no votes; collect them with 'baryon calibrate --votes'\n",
                      left_out);
    return 0;
}

/* Of the samples, each by itself: "2^-5 in 3 samples, 2^-6 in 1". */
static void votes_line(struct by_out *out, const struct by_sketch *sketch,
                       const struct by_calib_type *type)
{
    struct by_vote_levels levels;
    struct by_str text;
    size_t count;
    by_vote_levels_of(&type->target, &levels);
    const struct by_vote *votes = by_votes_of(&sketch->votes, &levels, &count);
    if (!count || !type->target.symmetric || type->target.is_float)
        return;
    by_str_init(&text);
    for (size_t i = 0; i < count; i++) {
        by_str_printf(&text, "%s2^%d in ", i ? ", " : "", -votes[i].position);
        by_plural(&text, votes[i].samples, "sample");
    }
    by_running_line(out, "votes", by_str_text(&text), NULL);
    out->text.failed |= text.failed;
    by_str_release(&text);
}

static void tensor_lines(struct by_out *out, const struct by_tensor_stats *tensor)
{
    const struct by_sketch *sketch = &tensor->sketch;
    char shape[256], values[32], samples[32];
    struct by_str text;
    by_out_printf(out, BY_BOLD, "%s", "");
    by_clean(&out->text, tensor->name);
    by_str_printf(&out->text, ": %s %s, %s values in %s %s\n", by_elem_name(tensor->elem),
                  by_tensor_shape(tensor, shape, sizeof shape),
                  by_count_text(sketch->count, values, sizeof values),
                  by_count_text(sketch->samples, samples, sizeof samples),
                  sketch->samples == 1 ? "sample" : "samples");
    by_str_init(&text);
    by_tensor_notes(tensor, sketch->samples, &text);
    if (text.size)
        by_running_line(out, "notes", by_str_text(&text), NULL);
    by_str_clear(&text);
    if (by_sketch_finite(sketch)) {
        by_str_printf(&text, "%.6g to %.6g, mean %.6g, root of the mean square %.6g",
                      (double)sketch->min, (double)sketch->max, by_sketch_mean(sketch),
                      by_sketch_rms(sketch));
        by_running_line(out, "range", by_str_text(&text), NULL);
    }
    by_str_clear(&text);
    if (tensor->channels.count) {
        by_plural(&text, tensor->channels.count, "channel");
        by_str_printf(&text, " along axis %d", tensor->channel_axis);
        by_running_line(out, "channels", by_str_text(&text), NULL);
    }
    out->text.failed |= text.failed;
    by_str_release(&text);
}

int by_stats_tensor_text(struct by_out *out, const struct by_tensor_stats *tensor,
                         const struct by_calib_type types[2], bool logarithmic,
                         struct baryon_error *err)
{
    struct by_histogram histogram;
    tensor_lines(out, tensor);
    votes_line(out, &tensor->sketch, &types[1]);
    if (!by_sketch_finite(&tensor->sketch))
        return 0;
    if (by_histogram_make(&histogram, &tensor->sketch, BY_HISTOGRAM_STEPS, err) < 0)
        return -1;
    by_str_puts(&out->text, "\n");
    by_histogram_draw(out, &histogram, logarithmic);
    by_histogram_release(&histogram);
    for (int i = 0; i < 2; i++)
        if (show_choices(out, &tensor->sketch, &types[i], err) < 0)
            return -1;
    return 0;
}
