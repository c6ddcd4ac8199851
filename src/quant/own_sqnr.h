/*
 * What quantizing one activation costs by itself, from its histogram: no model runs.
 */
#ifndef BY_QUANT_OWN_SQNR_H
#define BY_QUANT_OWN_SQNR_H

#include "quant/plan.h"
#include "stats/stats.h"

/* Whether a histogram shows the steps of an activation: it has one scale, and is no float or block.
 */
bool by_quant_has_steps(const struct by_quant_plan *plan, size_t row);
/* SQNR of an activation with the parameters that its row has, in dB. *known: there is a histogram;
 * floats and blocks have steps that it does not show. stats: NULL: none. */
int by_quant_own_sqnr(const struct by_quant_plan *plan, size_t row, struct by_stats *stats,
                      double *sqnr, bool *known, struct baryon_error *err);

/* The same of other values with the parameters of that row, which has one scale, and with
 * parameters of its type for their whole range. */
int by_quant_sqnr_in(const struct by_quant_plan *plan, size_t row, const struct by_sketch *sketch,
                     double *sqnr, struct baryon_error *err);
int by_quant_sqnr_at_best(const struct by_quant_plan *plan, size_t row,
                          const struct by_sketch *sketch, double *sqnr, struct baryon_error *err);

/* Names of tensors with 8 bits whose range is known, as that of Softmax, so that nothing else asks
 * for their statistics; none where the recipe widens none. Lives in the plan. */
int by_quant_own_wanted(struct by_quant_plan *plan, const char *const **names, size_t *count,
                        struct baryon_error *err);

/* The tensors of all rows with 8 bits, sorted by name. Those that share parameters have the lowest
 * SQNR of them. at_best: with parameters for their whole range, where rows have none yet. The
 * caller frees it; names are those of the values. */
int by_quant_own_list(const struct by_quant_plan *plan, struct by_stats *stats, bool at_best,
                      struct by_own_sqnr **list, size_t *count, struct baryon_error *err);

/* Whether a tensor of 8 bits has less than this many dB by itself, by the recipe's list. */
bool by_quant_is_below(const struct by_recipe *recipe, const char *tensor, double level);
#define BY_WIDE_ALL 1000 /* as recipe->wide_below: all tensors, whatever they have */
/* Whether the recipe asks for 16 bits of a tensor that would have 8. */
bool by_quant_is_wide(const struct by_recipe *recipe, const char *tensor);

#endif
