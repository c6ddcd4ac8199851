/* Prints a plan as tables and writes it as JSON. */
#include "base/format.h"
#include "cli/plan_view.h"
#include "report/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const states[] = {
    [BY_NODE_QUANTIZED] = "quantized",
    [BY_NODE_FLOAT] = "float",
    [BY_NODE_OTHER] = "-",
};
/* "4.1 G" */
static const char *big_text(double value, char *buf, size_t size)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    by_format(buf, size, unit && value < 99.95 ? "%.1f%s" : "%.0f%s", value, units[unit]);
    return buf;
}

/* 100 % is said of everything alone, and 0 % of nothing alone. */
static double percent(double part, double whole)
{
    const double share = whole > 0 ? 100 * part / whole : 0;
    if (part < whole && share > 99.9)
        return 99.9;
    return part > 0 && share < 0.1 ? 0.1 : share;
}

/* "4.1 G"; "-" where there are none. */
static const char *macs_text(double macs, bool open, char *buf, size_t size)
{
    return open ? "unknown" : macs > 0 ? big_text(macs, buf, size) : "-";
}

int by_plan_view_ops(const struct by_plan_view *view, struct by_out *out, struct baryon_error *err)
{
    char text[32];
    struct by_table table;
    by_table_init(&table, out);
    by_table_column(&table, "operator", BY_LEFT, BY_CYAN);
    by_table_column(&table, "nodes", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "quantized", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "activations", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "weights", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "biases", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "multiply-adds", BY_RIGHT, BY_PLAIN);
    for (size_t i = 0; i < view->ops.count; i++) {
        const struct by_view_op *op = &view->ops.at[i];
        by_table_cell(&table, "%s", op->op_type);
        by_table_count(&table, op->nodes);
        by_table_count(&table, op->quantized);
        by_table_cell(&table, "%s", *op->activation ? op->activation : "-");
        by_table_cell(&table, "%s", *op->weight ? op->weight : "-");
        by_table_cell(&table, "%s", *op->bias ? op->bias : "-");
        by_table_cell(&table, "%s", macs_text(op->macs, op->open, text, sizeof text));
    }
    return by_table_print(&table, 2, err);
}

#define LISTED 12

/* Float nodes with the same reason stand in one line. */
static void list_reason(const struct by_plan_view *view, const struct by_view_reason *reason,
                        struct by_out *out)
{
    by_str_puts(&out->text, "    ");
    by_plural(&out->text, reason->nodes, "node");
    if (reason->macs > 0 && !view->open)
        by_str_printf(&out->text, ", %.1f %% of the multiply-adds",
                      percent(reason->macs, view->macs));
    by_str_puts(&out->text, ": ");
    by_clean(&out->text, reason->why);
    if (reason->nodes == 1) {
        by_str_puts(&out->text, " (");
        by_clean(&out->text, reason->first);
        by_str_puts(&out->text, ")");
    }
    by_str_puts(&out->text, "\n");
}

int by_plan_view_coverage(const struct by_plan_view *view, struct by_out *out,
                          struct baryon_error *err)
{
    char all[32];
    by_str_puts(&out->text, "  ");
    by_plural(&out->text, view->quantized, "node");
    by_str_puts(&out->text, " quantized");
    if (view->open) {
        by_str_puts(&out->text, "; their share of multiply-adds is unknown, as sizes are open");
    } else if (view->macs > 0) {
        by_str_puts(&out->text, ": ");
        by_out_printf(out, BY_BOLD, "%.1f %%", percent(view->quantized_macs, view->macs));
        by_str_printf(&out->text, " of %s multiply-adds", big_text(view->macs, all, sizeof all));
    }
    by_str_puts(&out->text, "\n");
    if (!view->stays_float)
        return by_str_error(&out->text, err);
    by_str_puts(&out->text, "  ");
    by_plural(&out->text, view->stays_float, "node");
    by_str_puts(&out->text, view->stays_float == 1 ? " that could be quantized stays float:\n"
                                                   : " that could be quantized stay float:\n");
    for (size_t i = 0; i < view->reasons.count && i < LISTED; i++)
        list_reason(view, &view->reasons.at[i], out);
    if (view->reasons.count > LISTED)
        by_str_printf(&out->text, "    and for %zu more reasons\n", view->reasons.count - LISTED);
    return by_str_error(&out->text, err);
}

int by_plan_view_nodes(const struct by_plan_view *view, struct by_out *out,
                       struct baryon_error *err)
{
    char text[32];
    struct by_table table;
    by_table_init(&table, out);
    by_table_column(&table, "node", BY_LEFT, BY_CYAN);
    by_table_flexible(&table);
    by_table_column(&table, "operator", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "multiply-adds", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "why", BY_LEFT, BY_DIM);
    by_table_flexible(&table);
    for (size_t i = 0; i < view->node_count; i++) {
        const struct by_view_node *node = &view->nodes[i];
        by_table_cell(&table, "%s", node->name);
        by_table_cell(&table, "%s", node->op_type);
        by_table_cell(&table, "%s", states[node->state]);
        by_table_cell(&table, "%s", macs_text(node->macs, node->open, text, sizeof text));
        by_table_cell(&table, "%s", strcmp(node->why, "quantized") != 0 ? node->why : "");
    }
    return by_table_print(&table, 2, err);
}

/* "0.0078125" or "0.01..0.5 (64)" */
static const char *scale_text(const struct by_view_row *row, char *buf, size_t size)
{
    if (!row->params)
        snprintf(buf, size, "-");
    else if (row->params == 1)
        by_format(buf, size, "%.6g", row->scale);
    else
        by_format(buf, size, "%.3g .. %.3g (%zu)", row->scale, row->last_scale, row->params);
    return buf;
}

int by_plan_view_rows(const struct by_plan_view *view, struct by_out *out, struct baryon_error *err)
{
    char text[64];
    struct by_table table;
    by_table_init(&table, out);
    by_table_column(&table, "tensor", BY_LEFT, BY_CYAN);
    by_table_flexible(&table);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "type", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "scale", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "zero", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "why", BY_LEFT, BY_DIM);
    by_table_flexible(&table);
    for (size_t i = 0; i < view->row_count; i++) {
        const struct by_view_row *row = &view->rows[i];
        by_table_cell(&table, "%s", row->tensor);
        by_table_cell(&table, "%s", by_role_name(row->role));
        by_table_cell(&table, "%s", row->brief);
        by_table_cell(&table, "%s", scale_text(row, text, sizeof text));
        by_table_cell(&table, row->params ? "%" PRId64 : "-", row->zero);
        by_table_cell(&table, "%s%s%s%s%s", row->why, row->shares ? ", as " : "",
                      row->shares ? row->shares : "", *row->remarks ? "; " : "", row->remarks);
    }
    return by_table_print(&table, 2, err);
}
