/*
 * Joins: Concat nodes whose inputs differ so much in range that the scale of the joined tensor
 * leaves little of some of them. With float in place of the join, and of the operators after it
 * that only move and scale what is joined, each input has a scale of its own.
 */
#ifndef BY_QUANT_JOINS_H
#define BY_QUANT_JOINS_H

#include "quant/plan.h"
#include "stats/stats.h"

/* Nodes of such joins, by the names of their first outputs, of a plan with parameters. Joins are
 * left out where tensors that would get scales of their own were not observed. The caller frees the
 * list; names are those of the values. */
int by_joins_list(const struct by_quant_plan *plan, struct by_stats *stats, const char ***names,
                  size_t *count, struct baryon_error *err);

#endif
