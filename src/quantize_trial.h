/*
 * Ways to equalize a model, tried on copies of it: each copy is equalized, looked at on a few
 * samples, quantized, and compared with the float model on other samples.
 */
#ifndef BY_QUANTIZE_TRIAL_H
#define BY_QUANTIZE_TRIAL_H

#include "quantize.h"

struct by_trial;

/* Reads the samples, looks at the model as it is, and runs it on those that judge, if anything is
 * to be judged. modes: how many ways are going to be tried at most, for the progress. */
int by_trial_open(struct by_trial **trial, struct by_quantization *quantization, size_t modes,
                  struct baryon_error *err);
void by_trial_close(struct by_trial *trial);
/* What the few samples say of the model as it is, with channels. */
struct by_stats *by_trial_seen(const struct by_trial *trial);
/* dB of each way, -INFINITY of those that half of the samples ruled out. What comes out does not
 * depend on threads. */
int by_trial_run(struct by_trial *trial, const enum by_cle_mode *modes, size_t count, double *sqnr,
                 struct baryon_error *err);

/* What equalization is asked for, in that way. */
int by_trial_equalize(struct by_quant_plan *plan, struct by_stats *seen, enum by_cle_mode mode,
                      struct baryon_error *err);
const char *by_cle_mode_name(enum by_cle_mode mode);

#endif
