/*
 * Ways to equalize a model and to correct its biases, tried on copies of it: each copy is
 * equalized, looked at on a few samples, quantized, and compared with the float model on other
 * samples.
 */
#ifndef BY_TRIAL_H
#define BY_TRIAL_H

#include "trial/judge.h"
#include "trial/quantization.h"

struct by_trial;

struct by_trial_way {
    enum by_cle_mode mode;
    bool corrects; /* biases */
};

/* What the samples say, each by itself; they live as long as the trial. */
struct by_trial_score {
    const struct by_judgement *each;
    size_t count;
    bool lost; /* half of them ruled it out */
};

/* Reads the samples, looks at the model as it is, and runs it on those that judge, if anything is
 * to be judged. ways: how many are going to be tried at most, for the progress. */
int by_trial_open(struct by_trial **trial, struct by_quantization *quantization, size_t ways,
                  struct baryon_error *err);
void by_trial_close(struct by_trial *trial);
/* What the few samples say of the model as it is, with channels. */
struct by_stats *by_trial_seen(const struct by_trial *trial);
/* What they say of the model equalized in that way, for calibration to go on with; NULL where they
 * are not the first ones of the data. At the end. */
struct by_stats *by_trial_take_seen(struct by_trial *trial, enum by_cle_mode mode);
/* Ways beside each other: those that earlier contests had too go on with what is known of them,
 * unless they lost or were not in the last one. Where half of the samples decide, the others are
 * not run. What comes out does not depend on threads. */
int by_trial_contest(struct by_trial *trial, const struct by_trial_way *ways, size_t count,
                     struct by_trial_score *scores, struct baryon_error *err);

/* What equalization is asked for, in that way. */
int by_trial_equalize(struct by_quant_plan *plan, struct by_stats *seen, enum by_cle_mode mode,
                      struct baryon_error *err);
const char *by_cle_mode_name(enum by_cle_mode mode);

#endif
