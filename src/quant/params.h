/* Parameters of a plan: of activations from statistics, of constants from their values. */
#ifndef BY_QUANT_PARAMS_H
#define BY_QUANT_PARAMS_H

#include "base/par.h"
#include "quant/plan.h"
#include "stats/stats.h"

/* stats may be NULL where no activation needs them. Shared rows take their owner's; ranges of
 * Relu and Clip inputs, Softmax and the like are set by their rules (facts 4.7) with a remark. */
int by_quant_find_params(struct by_quant_plan *plan, struct by_stats *stats, struct by_pool *pool,
                         struct baryon_error *err);
/* The same for one constant, after its values changed. */
int by_quant_find_constant(struct by_quant_plan *plan, size_t row, struct by_pool *pool,
                           struct baryon_error *err);
/* Levels that single samples are to vote for, each once: of rows whose method counts votes. Lives
 * in the plan. */
int by_quant_votes(struct by_quant_plan *plan, const struct by_vote_levels **votes, size_t *count,
                   struct baryon_error *err);
/* Names of the values whose statistics that needs; lives in the plan. */
int by_quant_wanted(struct by_quant_plan *plan, const char *const **names, size_t *count,
                    struct baryon_error *err);

#endif
