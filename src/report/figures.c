/* Gathers the figures of a quantized model and writes them as JSON. */
#include "report/number.h"
#include "report/report.h"

#include "base/thread.h"

#include <math.h>
#include <string.h>

int by_report_figures_take(struct by_report_figures *figures, const struct by_quantization *q,
                           struct baryon_error *err)
{
    const double begun = by_seconds();
    *figures = (struct by_report_figures){.measured.unmeasured = "the quality was not measured"};
    by_arena_init(&figures->arena, 0);
    if (by_report_tensors_take(&figures->tensors, q, err) < 0 ||
        by_report_layers_take(&figures->layers, q->plan, err) < 0)
        return -1;
    figures->seconds = by_seconds() - begun;
    return 0;
}

int by_report_figures_unmeasured(struct by_report_figures *figures, const char *why,
                                 struct baryon_error *err)
{
    figures->measured.unmeasured = by_arena_text(&figures->arena, why, strlen(why), err);
    return figures->measured.unmeasured ? 0 : -1;
}

static int keep_states(struct by_report_figures *figures, const struct by_sensitivity *found,
                       struct baryon_error *err)
{
    struct by_report_measured *measured = &figures->measured;
    struct by_arena *arena = &figures->arena;
    measured->outputs =
        by_arena_alloc(arena, found->output_count + 1, sizeof *measured->outputs, err);
    if (!measured->outputs)
        return -1;
    for (size_t i = 0; i < found->output_count; i++) {
        const char *name = found->outputs[i].name;
        measured->outputs[i] = found->outputs[i];
        measured->outputs[i].name = by_arena_text(arena, name, strlen(name), err);
        if (!measured->outputs[i].name)
            return -1;
    }
    measured->output_count = found->output_count;
    return 0;
}

int by_report_figures_measured(struct by_report_figures *figures, const struct by_plan_view *view,
                               const struct by_sensitivity *found, const char *cause,
                               struct baryon_error *err)
{
    struct by_report_measured *measured = &figures->measured;
    measured->samples = found->samples;
    measured->held_out = !found->seen;
    measured->seconds = found->seconds;
    if (cause && !(measured->cause = by_arena_text(&figures->arena, cause, strlen(cause), err)))
        return -1;
    if (keep_states(figures, found, err) < 0 ||
        by_report_layers_measured(&figures->layers, &figures->tensors, view, found, err) < 0)
        return -1;
    measured->unmeasured = NULL;
    return 0;
}

void by_report_figures_release(struct by_report_figures *figures)
{
    by_report_tensors_release(&figures->tensors);
    by_report_layers_release(&figures->layers);
    by_arena_release(&figures->arena);
    *figures = (struct by_report_figures){.seconds = 0};
}

/* --- Measured --- */

static void put_states(const struct by_sensed_output *output, struct by_json *json)
{
    by_json_open(json, NULL, '{');
    by_json_text(json, "output", output->name);
    by_decibels_json(json, "passes_db", output->sqnr[BY_STATE_FLOAT]);
    by_decibels_json(json, "weights_db", output->sqnr[BY_STATE_WEIGHTS]);
    by_decibels_json(json, "activations_db", output->sqnr[BY_STATE_ACTIVATIONS]);
    by_decibels_json(json, "both_db", output->sqnr[BY_STATE_BOTH]);
    by_json_close(json, '}');
}

static void put_measured(const struct by_report_measured *measured, struct by_json *json)
{
    by_json_open(json, "measured", '{');
    if (measured->unmeasured) {
        by_json_text(json, "unmeasured", measured->unmeasured);
        by_json_close(json, '}');
        return;
    }
    by_json_int(json, "samples", (int64_t)measured->samples);
    by_json_bool(json, "held_out", measured->held_out);
    by_json_open(json, "states", '[');
    for (size_t i = 0; i < measured->output_count; i++)
        put_states(&measured->outputs[i], json);
    by_json_close(json, ']');
    if (measured->cause && *measured->cause)
        by_json_text(json, "cause", measured->cause);
    by_json_close(json, '}');
}

/* --- Layers --- */

static void put_places(const struct by_report_places *places, const char *key, struct by_json *json)
{
    by_json_open(json, key, '[');
    for (size_t i = 0; i < places->count; i++)
        by_json_int(json, NULL, (int64_t)places->at[i]);
    by_json_close(json, ']');
}

static void put_layer(const struct by_report_layer *layer, const struct by_view_node *node,
                      double macs, struct by_json *json)
{
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", node->name);
    by_json_text(json, "op_type", node->op_type);
    by_json_text(json, "state", by_node_state_name(node->state));
    if (*node->why && strcmp(node->why, by_node_state_name(node->state)) != 0)
        by_json_text(json, "why", node->why);
    by_json_double(json, "multiply_adds", node->open ? NAN : node->macs);
    by_number_json(json, "cost", 4, node->open || !(macs > 0) ? NAN : node->macs / macs);
    if (layer->activation)
        by_json_text(json, "activation", layer->activation);
    if (layer->weight)
        by_json_text(json, "weight", layer->weight);
    if (layer->bits)
        by_json_int(json, "bits", layer->bits);
    put_places(&layer->inputs, "inputs", json);
    put_places(&layer->outputs, "outputs", json);
    by_decibels_json(json, "weights_db", layer->weights);
    by_decibels_json(json, "input_db", layer->input);
    by_decibels_json(json, "whole_db", layer->whole);
    by_number_json(json, "shift", 4, layer->shift);
    if (layer->nested)
        by_json_bool(json, "nested", true);
    by_json_close(json, '}');
}

/* --- Tensors --- */

static void put_bins(const struct by_report_bins *bins, struct by_json *json)
{
    if (!(bins->most > 0))
        return;
    by_json_open(json, "histogram", '{');
    by_number_json(json, "low", 7, bins->low);
    by_number_json(json, "high", 7, bins->high);
    by_json_int(json, "most", (int64_t)bins->most);
    by_json_open(json, "counts", '[');
    for (size_t i = 0; i < BY_REPORT_BINS; i++)
        by_json_int(json, NULL, bins->counts[i]);
    by_json_close(json, ']');
    by_json_close(json, '}');
}

static void put_params(const struct by_report_tensor *tensor, const struct by_view_row *row,
                       struct by_json *json)
{
    by_json_text(json, "granularity", tensor->granularity);
    by_json_int(json, "scales", (int64_t)row->params);
    if (row->params) {
        by_json_double(json, "scale", row->scale);
        by_json_int(json, "zero_point", row->zero);
    }
    if (row->params > 1)
        by_json_double(json, "last_scale", row->last_scale);
    if (tensor->low < tensor->high) {
        by_number_json(json, "low", 7, tensor->low);
        by_number_json(json, "high", 7, tensor->high);
    }
    if (!tensor->has_levels)
        return;
    by_json_open(json, "levels", '[');
    by_json_int(json, NULL, tensor->levels[0]);
    by_json_int(json, NULL, tensor->levels[1]);
    by_json_close(json, ']');
}

static void put_tensor(const struct by_report_tensor *tensor, const struct by_view_row *row,
                       struct by_json *json)
{
    by_json_open(json, NULL, '{');
    by_view_row_json(row, json);
    put_params(tensor, row, json);
    by_number_json(json, "min", 7, tensor->min);
    by_number_json(json, "max", 7, tensor->max);
    by_number_json(json, "rms", 7, tensor->rms);
    by_number_json(json, "zeros", 4, tensor->zeros);
    by_number_json(json, "clipped", 4, tensor->clipped);
    by_decibels_json(json, "alone_db", tensor->alone);
    by_decibels_json(json, "whole_db", tensor->whole);
    by_json_int(json, "readers", (int64_t)row->readers);
    put_bins(&tensor->bins, json);
    by_json_close(json, '}');
}

void by_report_figures_json(const struct by_report_figures *figures,
                            const struct by_plan_view *view, struct by_json *json)
{
    put_measured(&figures->measured, json);
    by_json_open(json, "layers", '[');
    for (size_t i = 0; i < figures->layers.count; i++)
        put_layer(&figures->layers.at[i], &view->nodes[i], view->macs, json);
    by_json_close(json, ']');
    by_json_open(json, "tensors", '[');
    for (size_t i = 0; i < figures->tensors.count; i++)
        put_tensor(&figures->tensors.at[i], &view->rows[i], json);
    by_json_close(json, ']');
}
