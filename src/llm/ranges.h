/*
 * Ranges of what linear layers read on texts, and of the keys and values that are kept: the scales
 * of static inputs and of an 8-bit cache come from them.
 */
#ifndef BY_LLM_RANGES_H
#define BY_LLM_RANGES_H

#include "llm/calibrated.h"

/* Whether an item or the cache has a scale that samples give. */
bool by_llm_ranges_wanted(const struct by_llm_plan *plan);
/* Runs the windows of `job` through the decoder and sets these scales of the plan's items. Experts
 * that no token chose take the range of those of their layer. */
int by_llm_ranges_find(struct by_llm_calibrated *job, struct baryon_error *err);

#endif
