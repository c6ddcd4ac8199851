/* Declares the views of a plan, as text and as JSON. */
#ifndef BY_PLAN_VIEW_H
#define BY_PLAN_VIEW_H

#include "cli/out.h"
#include "quant/plan_view.h"

/* "operators" and their types, a row each. */
int by_plan_view_ops(const struct by_plan_view *view, struct by_out *out, struct baryon_error *err);
/* "98.7 % of 4.1 G multiply-adds run quantized", and what stays float and why. */
int by_plan_view_coverage(const struct by_plan_view *view, struct by_out *out,
                          struct baryon_error *err);
/* All nodes, all tensors. */
int by_plan_view_nodes(const struct by_plan_view *view, struct by_out *out,
                       struct baryon_error *err);
int by_plan_view_rows(const struct by_plan_view *view, struct by_out *out,
                      struct baryon_error *err);

#endif
