/*
 * Ways to equalize a model and to correct its biases, tried on copies of it: each copy is
 * equalized, looked at on a few samples, quantized, and compared with the float model on other
 * samples.
 */
#ifndef BY_QUANTIZE_TRIAL_H
#define BY_QUANTIZE_TRIAL_H

#include "quantize.h"

struct by_trial;

struct by_trial_way {
    enum by_cle_mode mode;
    bool corrects; /* biases */
};

#define BY_TRIAL_ASIDE 8 /* samples that judge, at most */

/* What they say, in dB: all together, -INFINITY where half of them ruled the way out, and each by
 * itself. */
struct by_trial_score {
    double sqnr;
    double each[BY_TRIAL_ASIDE];
    size_t count; /* of each; 0 where the way was ruled out */
};

/* Reads the samples, looks at the model as it is, and runs it on those that judge, if anything is
 * to be judged. ways: how many are going to be tried at most, for the progress. */
int by_trial_open(struct by_trial **trial, struct by_quantization *quantization, size_t ways,
                  struct baryon_error *err);
void by_trial_close(struct by_trial *trial);
/* What the few samples say of the model as it is, with channels. */
struct by_stats *by_trial_seen(const struct by_trial *trial);
/* What comes out does not depend on threads. Of one call no two ways equalize alike; a later one
 * has what was looked at. */
int by_trial_run(struct by_trial *trial, const struct by_trial_way *ways, size_t count,
                 struct by_trial_score *scores, struct baryon_error *err);

/* What equalization is asked for, in that way. */
int by_trial_equalize(struct by_quant_plan *plan, struct by_stats *seen, enum by_cle_mode mode,
                      struct baryon_error *err);
const char *by_cle_mode_name(enum by_cle_mode mode);

#endif
