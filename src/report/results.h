/*
 * Results as members of a JSON object, for what commands print and for reports.
 */
#ifndef BY_REPORT_RESULTS_H
#define BY_REPORT_RESULTS_H

#include "base/json.h"
#include "evaluate/evaluate.h"
#include "quality/quality.h"
#include "quant/plan_view.h"

/* "quality", where it was asked for. */
void by_quality_json(const struct by_quality *quality, struct by_json *json);
/* "rounding", where something was to be solved. */
void by_solved_json(const struct by_solved *solved, struct by_json *json);
/* "choices", "auto_exclude" and "mixed", where samples decided something. */
void by_choices_json(const struct by_quantize_report *report, struct by_json *json);

/* "seconds": stages of the quantization (NULL: none), then more; NaN: it did not take place. */
struct by_report_seconds {
    const char *stage;
    double seconds;
};
void by_seconds_json(const struct by_quantize_report *report, const struct by_report_seconds *more,
                     size_t more_count, struct by_json *json);

/* "coverage", "operators". */
void by_plan_coverage_json(const struct by_plan_view *view, struct by_json *json);
/* These, "nodes", "tensors". */
void by_plan_view_json(const struct by_plan_view *view, struct by_json *json);
/* What a tensor is, without its parameters: members of an open object. */
void by_view_row_json(const struct by_view_row *row, struct by_json *json);
/* "quantized", "float", "other" */
const char *by_node_state_name(enum by_node_state state);
/* "activation", "weight", "bias" */
const char *by_role_name(enum by_role role);

/* "samples", "skipped", "compat", "scores", "missed". */
void by_evaluation_json(const struct by_evaluation *evaluation, struct by_json *json);

#endif
