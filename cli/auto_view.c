/* Prints what a search tried and what it wrote. */
#include "cli/auto_view.h"

#include "cli/running.h"

#include <math.h>
#include <string.h>

static void show_head(const struct by_auto *search, const struct by_auto_written *written,
                      struct by_out *out)
{
    struct by_str text;
    by_running_line(out, "model", written->model, NULL);
    by_running_line(out, "target", search->ladder->name, search->ladder->help);
    by_str_init(&text);
    for (size_t i = 0; i < search->goals.count; i++)
        by_str_printf(&text, "%s%s", i ? ", " : "", search->goals.at[i].text);
    by_running_line(out, "goal", by_str_text(&text), NULL);
    by_str_clear(&text);
    const struct by_auto_range *of = search->parts.of;
    if (written->data)
        by_str_printf(&text, "%s; ", search->samples);
    by_str_printf(&text, "%zu calibrate, %zu choose, %zu for the report alone",
                  of[BY_PART_CALIBRATE].count, of[BY_PART_CHOOSE].count, of[BY_PART_LAST].count);
    by_running_line(out, "samples",
                    written->data ? written->data : "random values, for a trial only",
                    by_str_text(&text));
    by_str_release(&text);
    by_str_puts(&out->text, "\n");
}

static void value_cell(struct by_table *table, double value)
{
    if (isnan(value))
        by_table_cell(table, "-");
    else
        by_table_cell(table, "%.4g", value);
}

static void width_cell(struct by_table *table, const struct by_auto_figures *figures)
{
    struct by_str text;
    by_str_init(&text);
    for (size_t i = 0; i < figures->width_count; i++)
        if (figures->widths[i].share >= 0.0005)
            by_str_printf(&text, "%s%s %.4g %%", text.size ? ", " : "", figures->widths[i].type,
                          round(figures->widths[i].share * 1000) / 10);
    by_table_cell(table, "%s", by_str_text(&text));
    by_str_release(&text);
}

static void step_row(const struct by_auto *search, size_t place, struct by_table *table)
{
    char bytes[32];
    const struct by_auto_point *point = &search->points.at[place];
    by_table_cell(table, "%s", place == search->best ? "*" : "");
    by_table_cell(table, "%s", point->name);
    if (point->why) {
        by_table_cell(table, "-");
        by_table_cell(table, "-");
        by_table_cell(table, "-");
        by_table_cell(table, "%s", "not possible");
        by_table_cell(table, "-");
    } else {
        value_cell(table, point->choose[0]);
        value_cell(table, point->last[0]);
        by_table_cell(table, "%.3g", point->figures.cost);
        width_cell(table, &point->figures);
        by_table_cell(table, "%s", by_bytes_text(point->bytes, bytes, sizeof bytes));
    }
    by_table_cell(table, "%.2f", point->seconds);
}

static int show_steps(const struct by_auto *search, struct by_out *out, struct baryon_error *err)
{
    struct by_table table;
    by_table_init(&table, out);
    by_table_column(&table, "", BY_LEFT, BY_GREEN);
    by_table_column(&table, "step", BY_LEFT, BY_CYAN);
    by_table_flexible(&table);
    by_table_column(&table, search->goals.at[0].name, BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "last", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "cost", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "multiply-adds", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "size", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "seconds", BY_RIGHT, BY_PLAIN);
    for (size_t i = 0; i < search->points.count; i++)
        step_row(search, i, &table);
    return by_table_print(&table, 2, err);
}

static void show_last(const struct by_auto *search, struct by_out *out)
{
    const struct by_auto_point *best = &search->points.at[search->best];
    for (size_t i = 0; i < search->goals.count; i++) {
        const struct by_auto_goal *goal = &search->goals.at[i];
        by_str_printf(&out->text, "  %s: %.4g on the samples that chose", goal->text,
                      best->choose[i]);
        if (best->margins[i] > 0)
            by_str_printf(&out->text, " (margin %.2g)", best->margins[i]);
        if (!isnan(best->last[i]))
            by_str_printf(&out->text, ", %.4g on the last ones%s", best->last[i],
                          by_auto_goal_is_met(goal, best->last[i]) ? "" : ", which miss it");
        by_str_puts(&out->text, "\n");
    }
}

int by_auto_text(const struct by_auto *search, const struct by_auto_written *written,
                 struct by_out *out, struct baryon_error *err)
{
    char after[32], before[32];
    show_head(search, written, out);
    if (show_steps(search, out, err) < 0)
        return -1;
    by_str_printf(&out->text, "\n  %s\n", search->outcome);
    show_last(search, out);
    by_str_puts(&out->text, "\n  ");
    by_clean(&out->text, written->out);
    by_str_printf(&out->text, ": %s, before %s\n  ",
                  by_bytes_text(written->bytes, after, sizeof after),
                  by_bytes_text(written->bytes_before, before, sizeof before));
    by_clean(&out->text, written->config);
    by_str_puts(&out->text, ": the config, for 'baryon quantize --config'\n");
    return 0;
}
