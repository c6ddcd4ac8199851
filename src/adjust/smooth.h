/*
 * SmoothQuant: factors move from the channels of what layers read into their weights, so that
 * peaks of a few channels no longer decide the scale of the whole tensor. It edits the float model,
 * whose outputs stay what they are, before statistics of it are taken.
 *
 * What is divided is folded into what computes the tensor: a norm, a Mul or Add by a constant, the
 * producing MatMul, Gemm or Conv, the value projection of an attention. Where nothing takes it, a
 * Mul before the layers divides, if the target allows that.
 */
#ifndef BY_SMOOTH_H
#define BY_SMOOTH_H

#include "base/log.h"
#include "quant/plan.h"
#include "stats/stats.h"

struct by_smooth_options {
    double alpha;             /* share of the activations' peaks that moves; below 0: by layer */
    bool multiplies;          /* a Mul is inserted where nothing takes the factors */
    const struct by_log *log; /* may be NULL */
};

struct by_smooth_report {
    size_t matrices;   /* tensors of MatMul and the like that equalization does not treat */
    size_t folded;     /* tensors whose factors something takes */
    size_t multiplied; /* tensors with a Mul of their own */
    size_t left;       /* tensors that are left alone */
    double products;   /* multiplications that the Muls cost, by the shapes that are known */
    double
        decibels; /* by which noise is predicted to fall, mean of the tensors that are smoothed */
};

/* Appends the tensors whose channels are asked for, in memory of the plan's arena. */
int by_smooth_want(struct by_quant_plan *plan, const char *const **names, size_t *count,
                   struct baryon_error *err);
/* What there is to smooth, without changing anything. stats NULL: without a prediction. */
int by_smooth_survey(struct by_quant_plan *plan, struct by_stats *stats,
                     const struct by_smooth_options *options, struct by_smooth_report *report,
                     struct baryon_error *err);
/* Edits the plan's model; the plan must be placed anew afterwards. stats: with channels. */
int by_smooth_run(struct by_quant_plan *plan, struct by_stats *stats,
                  const struct by_smooth_options *options, struct by_smooth_report *report,
                  struct baryon_error *err);

#endif
