/* Writes what a quantization came to as JSON. */
#include "report/results.h"

#include <math.h>

/* --- Quality --- */

static void put_output(const struct by_quality_output *output, struct by_json *json)
{
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", output->name);
    by_json_double(json, "sqnr_db", output->sqnr);
    by_json_double(json, "error_db", output->error);
    if (output->rows) {
        by_json_int(json, "rows", (int64_t)output->rows);
        by_json_int(json, "same_class", (int64_t)output->same);
    }
    by_json_int(json, "nonfinite", (int64_t)output->nonfinite);
    by_json_int(json, "reshaped", (int64_t)output->reshaped);
    by_json_close(json, '}');
}

static void put_measured(const struct by_quality *quality, struct by_json *json)
{
    by_json_int(json, "samples", (int64_t)quality->samples);
    by_json_int(json, "first_sample", (int64_t)quality->first);
    by_json_text(json, "which", by_quality_which(quality));
    by_json_bool(json, "random", quality->random);
    by_json_double(json, "worst_db", quality->worst);
    by_json_open(json, "outputs", '[');
    for (size_t i = 0; i < quality->count; i++)
        put_output(&quality->outputs[i], json);
    by_json_close(json, ']');
    if (quality->cause)
        by_json_text(json, "cause", quality->cause);
    if (quality->next)
        by_json_text(json, "next", quality->next);
}

void by_quality_json(const struct by_quality *quality, struct by_json *json)
{
    if (!quality->asked)
        return;
    by_json_open(json, "quality", '{');
    if (quality->unmeasured)
        by_json_text(json, "unmeasured", quality->unmeasured);
    else
        put_measured(quality, json);
    by_json_close(json, '}');
}

/* --- Rounding reconstruction --- */

void by_solved_json(const struct by_solved *solved, struct by_json *json)
{
    if (!solved->count)
        return;
    by_json_open(json, "rounding", '{');
    by_json_text(json, "source", solved->from_statistics ? "statistics" : "samples");
    by_json_text(json, "inputs", solved->on_float ? "float" : "quantized");
    by_json_int(json, "samples", (int64_t)solved->train);
    by_json_int(json, "samples_aside", solved->aside ? (int64_t)solved->judging : 0);
    by_json_double(json, "nearest_db", solved->before);
    by_json_double(json, "solved_db", solved->after);
    by_json_bool(json, "kept", solved->kept);
    by_json_open(json, "layers", '[');
    for (size_t i = 0; i < solved->count; i++) {
        const struct by_solved_layer *layer = &solved->layers[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "name", layer->name);
        by_json_int(json, "rows", (int64_t)layer->rows);
        by_json_int(json, "columns", (int64_t)layer->columns);
        by_json_double(json, "nearest_db", layer->nearest);
        by_json_double(json, "solved_db", layer->solved);
        by_json_bool(json, "kept", layer->kept && solved->kept);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
    by_json_close(json, '}');
}

/* --- Choices --- */

static void put_excluded(const struct by_excluded *excluded, struct by_json *json)
{
    if (!excluded->nodes && !excluded->samples)
        return;
    by_json_open(json, "auto_exclude", '{');
    by_json_int(json, "nodes", (int64_t)excluded->nodes);
    by_json_double(json, "multiply_adds", 0); /* of layers alone, and none of them changes */
    by_json_int(json, "samples", (int64_t)excluded->samples);
    by_json_double(json, "gain_db", excluded->samples ? excluded->gain : NAN);
    by_json_double(json, "error_db", excluded->samples ? excluded->error : NAN);
    by_json_close(json, '}');
}

static void put_choices(const struct by_quantize_report *report, struct by_json *json)
{
    if (!report->choice_count)
        return;
    by_json_open(json, "choices", '[');
    for (size_t i = 0; i < report->choice_count; i++) {
        const struct by_choice_made *made = &report->choices[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "choice", made->choice);
        by_json_text(json, "text", made->text);
        by_json_double(json, "gain_db", made->gain);
        by_json_int(json, "samples", (int64_t)made->samples);
        if (made->undone)
            by_json_bool(json, "undone", true);
        if (made->tensors)
            by_json_int(json, "tensors", (int64_t)made->tensors);
        if (made->macs_share > 0)
            by_json_double(json, "macs_share", made->macs_share);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void put_mixed(const struct by_mixed_report *mixed, struct by_json *json)
{
    if (!mixed->narrow)
        return;
    by_json_open(json, "mixed", '{');
    by_json_text(json, "type", mixed->narrow);
    by_json_double(json, "goal_db", mixed->goal);
    by_json_bool(json, "met", mixed->met);
    by_json_double(json, "narrow_db", mixed->narrow_sqnr);
    by_json_double(json, "sqnr_db", mixed->sqnr);
    by_json_int(json, "samples", (int64_t)mixed->samples);
    by_json_double(json, "wide_macs_share", mixed->wide_share);
    by_json_open(json, "wide", '[');
    for (size_t i = 0; i < mixed->change_count; i++) {
        by_json_open(json, NULL, '{');
        by_json_text(json, mixed->changes[i].weight ? "layer" : "tensor", mixed->changes[i].name);
        by_json_text(json, "type", mixed->changes[i].type);
        by_json_double(json, "multiply_adds", mixed->changes[i].macs);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
    by_json_close(json, '}');
}

void by_choices_json(const struct by_quantize_report *report, struct by_json *json)
{
    put_choices(report, json);
    put_excluded(&report->excluded, json);
    put_mixed(&report->mixed, json);
}

/* --- Time --- */

void by_seconds_json(const struct by_quantize_report *report, const struct by_report_seconds *more,
                     size_t more_count, struct by_json *json)
{
    by_json_open(json, "seconds", '{');
    for (size_t i = 0; report && i < report->stage_count; i++)
        by_json_double(json, report->stages[i].stage, report->stages[i].seconds);
    for (size_t i = 0; i < more_count; i++)
        if (!isnan(more[i].seconds))
            by_json_double(json, more[i].stage, more[i].seconds);
    by_json_close(json, '}');
}
