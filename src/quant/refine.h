/* Rules of hardware on a plan: one row each in refine_rules.c, facts and reasons in the rows. */
#ifndef BY_REFINE_H
#define BY_REFINE_H

#include "base/str.h"
#include "quant/plan.h"

struct by_refining;

struct by_refine_rule {
    const char *name;  /* "shift-cut" */
    const char *alias; /* the peer's option, "AdjustShiftCut" */
    const char *help;
    const char *op_types; /* "Conv Gemm" */
    bool pow2;            /* on positions of power-of-two scales; else on whole parameters */
    bool quiet;           /* what it moves asks for no further round */
    /* Moves parameters of rows around the node. */
    int (*apply)(struct by_refining *at, struct baryon_error *err);
};

const struct by_refine_rule *const *by_refine_rules(size_t *count);
const struct by_refine_rule *by_refine_rule_find(const char *name); /* name or alias; NULL */
/* All rules that the recipe's hardware has, in order, again until nothing moves or
 * recipe->refine_rounds is reached. */
int by_refine(struct by_quant_plan *plan, struct baryon_error *err);
/* The first node where a rule that the recipe has is still broken, those that only move elements
 * first; NULL: none. Nothing moves. */
int by_refine_find_broken(struct by_quant_plan *plan, const struct baryon_node **node,
                          const struct by_refine_rule **rule, struct baryon_error *err);
/* What the plan breaks of the power-of-two rules, a line each, PLACE<tab>WHAT; nothing moves. */
int by_refine_check(struct by_quant_plan *plan, struct by_str *broken, size_t *count,
                    struct baryon_error *err);

#endif
