/*
 * QuaRot: orthogonal matrices that stand between what writes channels and what reads them, so that
 * the peaks of a few channels spread over all. They are multiplied into the weights of both sides;
 * the float model computes the same. It edits the float model, before statistics of it are taken.
 *
 * Heads: V's columns and the rows of what reads the attention, head by head (QuaRot's R2).
 * Streams: all that a residual connects, up to the norms, whose weights fold into what reads them
 * (R1). Where a norm takes the mean, the matrix keeps it, so no operator changes.
 */
#ifndef BY_ROTATE_H
#define BY_ROTATE_H

#include "base/log.h"
#include "quant/plan.h"

struct by_rotate_options {
    bool heads, streams;
    bool multiplies;          /* a product of its own may turn what no weight can */
    const struct by_log *log; /* may be NULL */
};

struct by_rotate_report {
    size_t heads;    /* attentions whose heads turn */
    size_t streams;  /* residual streams that turn */
    size_t norms;    /* whose weights fold into layers */
    size_t products; /* MatMuls of their own at the ends of streams */
    size_t left;     /* tensors and streams that are left alone */
};

/* What there is to rotate, without changing anything. */
int by_rotate_survey(struct by_quant_plan *plan, const struct by_rotate_options *options,
                     struct by_rotate_report *report, struct baryon_error *err);
/* Edits the plan's model; the plan must be placed anew afterwards. */
int by_rotate_run(struct by_quant_plan *plan, const struct by_rotate_options *options,
                  struct by_rotate_report *report, struct baryon_error *err);

#endif
