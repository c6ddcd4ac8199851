/*
 * Splitting of outlier channels: y = x W becomes y = x' W + x[outliers] W[outliers], where x' is x
 * with zero in those channels. Nothing but a few channels decided the scale of x, and the product
 * of these stays float. It edits the float model, whose outputs stay what they are.
 */
#ifndef BY_SPLIT_H
#define BY_SPLIT_H

#include "base/log.h"
#include "quant/plan.h"
#include "stats/stats.h"

struct by_split_report {
    size_t matrices;          /* tensors that could be split, whatever their channels */
    size_t tensors, channels; /* that are split */
    size_t left;              /* tensors of matrix products that are left alone */
    double share;             /* of the model's multiply-adds that are float for it */
    double decibels;          /* by which noise of the split tensors is predicted to fall, mean */
};

/* What there is to split, without changing anything. stats: with channels; NULL: only `matrices`
 * and `left` are counted. log may be NULL. */
int by_split_survey(struct by_quant_plan *plan, struct by_stats *stats, const struct by_log *log,
                    struct by_split_report *report, struct baryon_error *err);
/* Edits the plan's model; the plan must be placed anew afterwards. */
int by_split_run(struct by_quant_plan *plan, struct by_stats *stats, struct by_split_report *report,
                 struct baryon_error *err);

#endif
