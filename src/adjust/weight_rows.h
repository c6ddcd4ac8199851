/*
 * Rows that decide the only scale of a weight get a product of their own (pass/split_weight_rows.h)
 * in all layers of a plan that are worth it. It edits the float model, whose outputs stay what they
 * are.
 */
#ifndef BY_WEIGHT_ROWS_H
#define BY_WEIGHT_ROWS_H

#include "quant/plan.h"

struct by_weight_rows_report {
    size_t layers, rows; /* that are split */
    double share;        /* of the model's multiply-adds that come twice for it */
};

/* What there is to split, without changing anything. */
int by_weight_rows_survey(struct by_quant_plan *plan, struct by_weight_rows_report *report,
                          struct baryon_error *err);
/* Edits the plan's model; the plan must be placed anew afterwards. */
int by_weight_rows_run(struct by_quant_plan *plan, struct by_weight_rows_report *report,
                       struct baryon_error *err);

#endif
