/* Prints the sensitivity of outputs, layers and tensors, as text or JSON. */
#include "cli/sensitivity_view.h"

#include <stdio.h>

static const char *const states[BY_STATES] = {
    [BY_STATE_FLOAT] = "passes",
    [BY_STATE_WEIGHTS] = "weights",
    [BY_STATE_ACTIVATIONS] = "activations",
    [BY_STATE_BOTH] = "both",
};

/* --- Text --- */

static void decibels(struct by_table *table, double value)
{
    if (value >= BY_SQNR_MAX)
        by_table_cell(table, "same");
    else
        by_table_cell(table, "%.2f", value);
}

static int show_outputs(const struct by_sensitivity *sensitivity, struct by_out *out,
                        struct baryon_error *err)
{
    struct by_table table;
    by_table_init(&table, out);
    by_table_column(&table, "SQNR in dB", BY_LEFT, BY_CYAN);
    for (size_t i = 0; i < BY_STATES; i++)
        by_table_column(&table, states[i], BY_RIGHT, BY_PLAIN);
    for (size_t i = 0; i < sensitivity->output_count; i++) {
        by_table_cell(&table, "%s", sensitivity->outputs[i].name);
        for (size_t k = 0; k < BY_STATES; k++)
            decibels(&table, sensitivity->outputs[i].sqnr[k]);
    }
    if (sensitivity->output_count > 1) {
        by_table_cell(&table, "mean of all outputs");
        for (size_t k = 0; k < BY_STATES; k++)
            decibels(&table, sensitivity->sqnr[k]);
    }
    return by_table_print(&table, 2, err);
}

static int show_layers(const struct by_sensitivity *sensitivity, struct by_out *out,
                       struct baryon_error *err)
{
    struct by_table table;
    by_table_init(&table, out);
    by_table_column(&table, "layer", BY_LEFT, BY_CYAN);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "weights", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "input", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "whole", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "shift", BY_RIGHT, BY_PLAIN);
    for (size_t i = 0; i < sensitivity->layer_count; i++) {
        const struct by_sensed_layer *layer = &sensitivity->layers[i];
        by_table_cell(&table, "%s", layer->name);
        by_table_cell(&table, "%s", layer->op_type);
        decibels(&table, layer->weights);
        decibels(&table, layer->inputs);
        decibels(&table, layer->whole);
        by_table_cell(&table, "%+.3f", layer->shift);
    }
    return by_table_print(&table, 2, err);
}

static int show_tensors(const struct by_sensitivity *sensitivity, struct by_out *out,
                        struct baryon_error *err)
{
    struct by_table table;
    by_table_init(&table, out);
    by_table_column(&table, "tensor", BY_LEFT, BY_CYAN);
    by_table_column(&table, "alone", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "whole", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "least", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "greatest", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "rms", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "worst error", BY_RIGHT, BY_PLAIN);
    for (size_t i = 0; i < sensitivity->tensor_count; i++) {
        const struct by_sensed_tensor *tensor = &sensitivity->tensors[i];
        by_table_cell(&table, "%s", tensor->name);
        decibels(&table, tensor->alone);
        decibels(&table, tensor->whole);
        by_table_cell(&table, "%.4g", tensor->min);
        by_table_cell(&table, "%.4g", tensor->max);
        by_table_cell(&table, "%.4g", tensor->rms);
        by_table_cell(&table, "%.4g", tensor->peak);
    }
    return by_table_print(&table, 2, err);
}

static void show_samples(const struct by_sensitivity *sensitivity, struct by_out *out)
{
    by_str_puts(&out->text, "\n  on ");
    by_plural(&out->text, sensitivity->samples, sensitivity->seen ? "sample" : "held-out sample");
    by_str_puts(&out->text,
                sensitivity->seen ? ", calibrated on as well: none are held out\n" : "\n");
    if (!sensitivity->nested)
        return;
    by_str_puts(&out->text, "  ");
    by_plural(&out->text, sensitivity->nested, "node");
    by_str_puts(&out->text, " in nested graphs skipped: nested graphs stay float\n");
}

int by_sensitivity_text(const struct by_sensitivity *sensitivity, const char *cause,
                        struct by_out *out, struct baryon_error *err)
{
    if (show_outputs(sensitivity, out, err) < 0)
        return -1;
    by_str_puts(&out->text, sensitivity->layer_count ? "\n" : "");
    if (sensitivity->layer_count && show_layers(sensitivity, out, err) < 0)
        return -1;
    by_str_puts(&out->text, sensitivity->tensor_count ? "\n" : "");
    if (sensitivity->tensor_count && show_tensors(sensitivity, out, err) < 0)
        return -1;
    show_samples(sensitivity, out);
    if (cause[0]) {
        by_str_puts(&out->text, "\n  ");
        by_clean(&out->text, cause);
        by_str_puts(&out->text, "\n");
    }
    return 0;
}

/* --- JSON --- */

static void put_states(struct by_json *json, const double *sqnr)
{
    char key[32];
    for (size_t i = 0; i < BY_STATES; i++) {
        snprintf(key, sizeof key, "%s_db", states[i]);
        by_json_double(json, key, sqnr[i]);
    }
}

static void put_outputs(const struct by_sensitivity *sensitivity, struct by_json *json)
{
    by_json_open(json, "outputs", '[');
    for (size_t i = 0; i < sensitivity->output_count; i++) {
        by_json_open(json, NULL, '{');
        by_json_text(json, "name", sensitivity->outputs[i].name);
        put_states(json, sensitivity->outputs[i].sqnr);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void put_layers(const struct by_sensitivity *sensitivity, struct by_json *json)
{
    by_json_open(json, "layers", '[');
    for (size_t i = 0; i < sensitivity->layer_count; i++) {
        const struct by_sensed_layer *layer = &sensitivity->layers[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "name", layer->name);
        by_json_text(json, "op_type", layer->op_type);
        by_json_text(json, "output", layer->output);
        by_json_double(json, "weights_db", layer->weights);
        by_json_double(json, "input_db", layer->inputs);
        by_json_double(json, "whole_db", layer->whole);
        by_json_double(json, "shift", layer->shift);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void put_tensors(const struct by_sensitivity *sensitivity, struct by_json *json)
{
    by_json_open(json, "tensors", '[');
    for (size_t i = 0; i < sensitivity->tensor_count; i++) {
        const struct by_sensed_tensor *tensor = &sensitivity->tensors[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "name", tensor->name);
        by_json_double(json, "alone_db", tensor->alone);
        by_json_double(json, "whole_db", tensor->whole);
        by_json_double(json, "shift", tensor->shift);
        by_json_double(json, "worst_error", tensor->peak);
        by_json_double(json, "min", tensor->min);
        by_json_double(json, "max", tensor->max);
        by_json_double(json, "rms", tensor->rms);
        by_json_int(json, "greatest_sample", (int64_t)tensor->sample);
        by_json_open(json, "greatest_at", '[');
        for (size_t k = 0; k < tensor->rank; k++)
            by_json_int(json, NULL, tensor->at[k]);
        by_json_close(json, ']');
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

void by_sensitivity_json(const struct by_sensitivity *sensitivity, const char *cause,
                         struct by_json *json)
{
    by_json_int(json, "samples_measured", (int64_t)sensitivity->samples);
    by_json_bool(json, "kept_aside", !sensitivity->seen);
    put_states(json, sensitivity->sqnr);
    put_outputs(sensitivity, json);
    if (sensitivity->layer_count || sensitivity->tensor_count) {
        put_layers(sensitivity, json);
        put_tensors(sensitivity, json);
        by_json_int(json, "nested_nodes", (int64_t)sensitivity->nested);
        by_json_double(json, "twin_seconds", sensitivity->seconds);
    }
    if (cause[0])
        by_json_text(json, "cause", cause);
}
