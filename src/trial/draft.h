/*
 * A copy of the model that is being quantized, with a plan of its own. Candidates edit drafts, so
 * the quantization itself stays as it was.
 */
#ifndef BY_TRIAL_DRAFT_H
#define BY_TRIAL_DRAFT_H

#include "onnx/frame.h"
#include "trial/quantization.h"

struct by_draft {
    struct baryon_model *model;
    struct by_origins *origins;       /* NULL: the plan is a copy */
    struct by_recipe recipe;          /* to run it in ONNX Runtime */
    const struct by_quant_plan *like; /* of the model that it is a copy of */
    struct by_quant_plan *plan;
};

/* Without a plan. frame: of the model as it is. Nodes are where the original's are, and stay float
 * where those do. Whatever the result, by_draft_close() is required. */
int by_draft_open(struct by_draft *draft, const struct by_quantization *q,
                  const struct by_frame *frame, struct baryon_error *err);
/* Inserts Q/DQ pairs, again where the model or the recipe was edited. */
int by_draft_place(struct by_draft *draft, struct baryon_error *err);
/* With the rows of those roles of a plan, parameters included, and with Q/DQ pairs whatever was
 * asked for; NULL: the model alone. rows: as by_quant_plan_copy() has it. */
int by_draft_open_planned(struct by_draft *draft, const struct by_frame *frame,
                          const struct by_quant_plan *plan, unsigned roles, size_t *rows,
                          struct baryon_error *err);
void by_draft_close(struct by_draft *draft);

#endif
