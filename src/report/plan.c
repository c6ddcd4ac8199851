/* Writes a plan as JSON. */
#include "report/results.h"

#include <math.h>

const char *by_role_name(enum by_role role)
{
    static const char *const names[] = {
        [BY_ROLE_ACTIVATION] = "activation", [BY_ROLE_WEIGHT] = "weight", [BY_ROLE_BIAS] = "bias"};
    return names[role];
}

const char *by_node_state_name(enum by_node_state state)
{
    static const char *const names[] = {
        [BY_NODE_QUANTIZED] = "quantized", [BY_NODE_FLOAT] = "float", [BY_NODE_OTHER] = "other"};
    return names[state];
}

/* null where they are not known. */
static void macs_json(struct by_json *json, double macs, double quantized, bool open)
{
    by_json_double(json, "multiply_adds", open ? NAN : macs);
    by_json_double(json, "quantized_multiply_adds", open ? NAN : quantized);
}

static void ops_json(const struct by_plan_view *view, struct by_json *json)
{
    by_json_open(json, "operators", '[');
    for (size_t i = 0; i < view->ops.count; i++) {
        const struct by_view_op *op = &view->ops.at[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "op_type", op->op_type);
        by_json_int(json, "nodes", (int64_t)op->nodes);
        by_json_int(json, "quantized", (int64_t)op->quantized);
        by_json_text(json, "activations", op->activation);
        by_json_text(json, "weights", op->weight);
        by_json_text(json, "biases", op->bias);
        macs_json(json, op->macs, op->quantized_macs, op->open);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void nodes_json(const struct by_plan_view *view, struct by_json *json)
{
    by_json_open(json, "nodes", '[');
    for (size_t i = 0; i < view->node_count; i++) {
        const struct by_view_node *node = &view->nodes[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "name", node->name);
        by_json_text(json, "op_type", node->op_type);
        by_json_text(json, "state", by_node_state_name(node->state));
        by_json_text(json, "why", node->why);
        by_json_double(json, "multiply_adds", node->open ? NAN : node->macs);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

void by_view_row_json(const struct by_view_row *row, struct by_json *json)
{
    by_json_text(json, "name", row->tensor);
    by_json_text(json, "role", by_role_name(row->role));
    by_json_text(json, "type", row->type);
    by_json_text(json, "why", row->why);
    if (*row->remarks)
        by_json_text(json, "remarks", row->remarks);
    if (row->shares)
        by_json_text(json, "shares", row->shares);
}

static void rows_json(const struct by_plan_view *view, struct by_json *json)
{
    by_json_open(json, "tensors", '[');
    for (size_t i = 0; i < view->row_count; i++) {
        const struct by_view_row *row = &view->rows[i];
        by_json_open(json, NULL, '{');
        by_view_row_json(row, json);
        by_json_int(json, "scales", (int64_t)row->params);
        if (row->params) {
            by_json_double(json, "scale", row->scale);
            by_json_int(json, "zero_point", row->zero);
        }
        if (!isnan(row->low)) {
            by_json_double(json, "low", row->low);
            by_json_double(json, "high", row->high);
        }
        by_json_int(json, "readers", (int64_t)row->readers);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

void by_plan_coverage_json(const struct by_plan_view *view, struct by_json *json)
{
    by_json_open(json, "coverage", '{');
    by_json_int(json, "quantized", (int64_t)view->quantized);
    by_json_int(json, "float", (int64_t)view->stays_float);
    macs_json(json, view->macs, view->quantized_macs, view->open);
    by_json_close(json, '}');
    ops_json(view, json);
}

void by_plan_view_json(const struct by_plan_view *view, struct by_json *json)
{
    by_plan_coverage_json(view, json);
    nodes_json(view, json);
    rows_json(view, json);
}
