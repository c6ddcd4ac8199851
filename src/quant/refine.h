/* Rules of hardware on a plan: one row each in refine_rules.c, facts 5.2. */
#ifndef BY_REFINE_H
#define BY_REFINE_H

#include "base/str.h"
#include "quant/plan.h"

struct by_refine_rule {
    const char *name;  /* "shift-cut" */
    const char *alias; /* the peer's option, "AdjustShiftCut" */
    const char *help;
    const char *op_types; /* "Conv Gemm" */
    bool pow2;            /* on positions of power-of-two scales; else on whole parameters */
    /* Moves parameters of rows around the node; true when it did. With `broken` not NULL nothing is
     * moved: what is not kept is written there. */
    int (*apply)(struct by_quant_plan *plan, struct by_quant_node *node, bool *moved,
                 struct by_str *broken, struct baryon_error *err);
};

const struct by_refine_rule *const *by_refine_rules(size_t *count);
/* All rules in order, again until nothing moves or recipe->refine_rounds is reached. */
int by_refine(struct by_quant_plan *plan, struct baryon_error *err);

#endif
