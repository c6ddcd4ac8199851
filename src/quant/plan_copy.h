/*
 * A plan for a copy of its model, with final parameters and some of the rows: what the model would
 * be with weights alone as integers, or activations alone. Nothing is placed or found anew.
 */
#ifndef BY_PLAN_COPY_H
#define BY_PLAN_COPY_H

#include "quant/plan.h"

#define BY_ROLES_WEIGHTS     ((1u << BY_ROLE_WEIGHT) | (1u << BY_ROLE_BIAS))
#define BY_ROLES_ACTIVATIONS (1u << BY_ROLE_ACTIVATION)

/* model: nodes stand where those of the plan's model do and names are the same; payloads may be
 * others. Both are linked and settled. The plan outlives the copy, whose row i was rows[i] there;
 * rows (may be NULL) has room for all. */
int by_quant_plan_copy(struct by_quant_plan **copy, const struct by_quant_plan *plan,
                       struct baryon_model *model, const struct by_recipe *recipe, unsigned roles,
                       size_t *rows, struct baryon_error *err);

#endif
