/*
 * Choices that samples make: other values of the config, each tried on a copy of the model and kept
 * where held-out samples confirm it.
 */
#ifndef BY_TRIAL_CHOICES_H
#define BY_TRIAL_CHOICES_H

#include "trial/candidate.h"
#include "trial/verdict.h"

struct by_choice_row {
    /* The user left it open, and it changes something. */
    bool (*applies)(const struct by_quant_plan *plan);
    enum by_edit_kind kind;
    int value;
    enum by_verdict_rule rule; /* by which the edited config replaces the other */
};

/* In the order in which they are made. */
const struct by_choice_row *by_choices(size_t *count);

/* Makes all of them: q->recipe is edited. *changed: Q/DQ pairs have to be inserted again. Samples
 * that are absent, or come only once, leave everything as it is. */
int by_choose(struct by_quantization *q, bool *changed, struct baryon_error *err);

#endif
