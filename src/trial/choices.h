/*
 * Choices that samples make: other values of the config, each tried on a copy of the model and kept
 * where held-out samples confirm it. Those that concern what calibration does come before it, with
 * ranges of a few samples. The others come after it: all candidates share its statistics.
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
    const char *undo;          /* the option that takes it back */
    bool calibrated;           /* after calibration, with parameters in the plan */
    bool costs;                /* layers become float: only where the model is not good without */
};

/* In the order in which they are made. */
const struct by_choice_row *by_choices(size_t *count);

/* Makes all of them: q->recipe is edited. *changed: Q/DQ pairs have to be inserted again. Samples
 * that are absent, or come only once, leave everything as it is. */
int by_choose(struct by_quantization *q, bool *changed, struct baryon_error *err);
/* Whether some of them are judged on samples that their ranges are not of. */
bool by_choose_holds_out(const struct by_quantization *q);
/* The same after calibration. *more: methods of activations are still to be chosen, once the plan
 * is what these choices make of it. */
int by_choose_calibrated(struct by_quantization *q, bool *changed, bool *more,
                         struct baryon_error *err);
int by_choose_methods(struct by_quantization *q, bool *changed, struct baryon_error *err);

#endif
