/*
 * Factors of ranges of activations, which samples choose by the model's outputs. They apply to what
 * the calibration method found, before hardware rules.
 */
#ifndef BY_QUANT_RANGE_FACTOR_H
#define BY_QUANT_RANGE_FACTOR_H

#include "quant/plan.h"

/* Whether a factor may apply to the row: integers of 8 bits at most, whose range and scale are the
 * method's own. */
bool by_range_factor_fits(const struct by_quant_row *row);
/* 1: none. */
double by_range_factor_of(const struct by_recipe *recipe, const struct by_quant_row *row);
/* The range of a row that has one, with a remark. */
int by_range_factor_apply(struct by_quant_plan *plan, size_t row, struct baryon_error *err);
/* In the order that the recipe requires. */
void by_range_factors_sort(struct by_range_factor *list, size_t count);

#endif
