/*
 * Activations that 8 bits represent badly have 16. Which ones is a level: the SQNR that a tensor
 * has in 8 bits by itself. Held-out samples choose it, or the user gives it.
 */
#ifndef BY_TRIAL_WIDE_H
#define BY_TRIAL_WIDE_H

#include "trial/trial.h"

#define BY_WIDE_LEVELS 3

/* SQNR of all tensors by themselves, where it is going to be asked for: q->recipe.own. */
int by_wide_list(struct by_quantization *q, struct baryon_error *err);
/* Samples are to choose the level, and there is a choice. */
bool by_wide_is_open(const struct by_recipe *recipe);
/* What activations have while weights are judged, whose gain their noise hides: 16 bits all, where
 * some may have these later; as a value of the edit. */
int by_wide_that_judges(const struct by_recipe *recipe);
/* The greatest level that may be chosen later, by what a few samples say; 0: none. */
int by_wide_foresee(struct by_quantization *q, struct by_stats *seen, int *level,
                    struct baryon_error *err);
/* The lowest level whose tensors gain enough. */
int by_choose_wide(struct by_quantization *q, struct by_trial *trial, struct by_candidate *now,
                   struct baryon_error *err);

#endif
