/*
 * The engine of candidates. A candidate is made on a draft, observed on a few samples, quantized,
 * and compared with the float model on other samples. The quantization itself stays as it was
 * until a candidate is adopted.
 */
#ifndef BY_TRIAL_H
#define BY_TRIAL_H

#include "trial/candidate.h"
#include "trial/verdict.h"

struct by_trial;

/* ONNX Runtime takes time in the square of the nodes to open a quantized model: minutes with
 * more than this, for every candidate. */
#define BY_TRIAL_NODES_MOST 3000

/* Samples that judge at most. */
#define BY_TRIAL_ASIDE 48

/* What the samples say, each by itself; they live as long as the trial. */
struct by_trial_score {
    const struct by_judgement *each;
    size_t count;
    bool lost; /* some of them ruled it out, or it cannot run */
};

/* Reads the samples, observes the model as it is, and runs it on those that judge, if anything is
 * to be judged. candidates: how many are going to be tried at most, for the progress. */
int by_trial_open(struct by_trial **trial, struct by_quantization *quantization, size_t candidates,
                  struct baryon_error *err);
/* After calibration. Where samples are held out and there is q->part, it is the statistics of every
 * candidate, and the samples after it judge; else those are q->stats, and all samples judge. */
int by_trial_open_calibrated(struct by_trial **trial, struct by_quantization *quantization,
                             size_t candidates, bool holds_out, struct baryon_error *err);
/* Statistics with channels of the model as it is; NULL: it has no ranges. */
struct by_stats *by_trial_seen(const struct by_trial *trial);
/* Before calibration its samples, and what the float model gave for them, stay for the next one. */
void by_trial_close(struct by_trial *trial);
void by_trial_forget(struct by_quantization *q);
/* Calibration follows: what takes much memory meanwhile is forgotten. */
void by_trial_rest(struct by_quantization *q);
/* Closes it when nothing changes the model or config any more before calibration. changed: the
 * trial's choices did. Else calibration goes on after the samples that were observed. */
void by_trial_end(struct by_trial *trial, bool changed);
/* What to observe of the model as it is, with channels: as the trial did. */
int by_trial_want_channels(struct by_quant_plan *plan, struct by_calibrate_options *options,
                           struct baryon_error *err);
/* Compares candidates with each other. Those of earlier contests are not run again on samples that
 * judged them. Where some of the samples decide, the others are not run. A candidate that ONNX
 * Runtime refuses loses. The result does not depend on threads. */
int by_trial_contest(struct by_trial *trial, const struct by_candidate *candidates, size_t count,
                     struct by_trial_score *scores, struct baryon_error *err);
/* Prepares candidates side by side that would be prepared one after the other: the first one's
 * contest comes first, and the others' most likely follow. Nothing is done where the first one was
 * judged already. */
int by_trial_ahead(struct by_trial *trial, const struct by_candidate *candidates, size_t count,
                   struct baryon_error *err);
/* What a contest is held for: whether the rule prefers one of its candidates to another. */
struct by_trial_question {
    enum by_verdict_rule rule;
    size_t one, other;
};
/* The same, but samples run no longer than until all questions are answered, as far as those that
 * judged foretell what all of them say. */
int by_trial_ask(struct by_trial *trial, const struct by_candidate *candidates, size_t count,
                 const struct by_trial_question *questions, size_t question_count,
                 struct by_trial_score *scores, struct baryon_error *err);
/* Whether the rule prefers one candidate of a contest to another. One that lost never is. */
bool by_trial_prefers(const struct by_quantization *q, enum by_verdict_rule rule,
                      const struct by_trial_score *one, const struct by_trial_score *other);
/* Whether the rule prefers the second of two candidates to the first, asked of samples. */
int by_trial_compare(const struct by_quantization *q, struct by_trial *trial,
                     enum by_verdict_rule rule, const struct by_candidate candidates[2],
                     struct by_trial_score scores[2], bool *better, struct baryon_error *err);
/* Whether a candidate has the quality that no cost is paid above. */
bool by_trial_is_good(const struct by_trial_score *score);
/* The same, asked of samples. */
int by_trial_ask_good(struct by_trial *trial, const struct by_candidate *candidate, bool *good,
                      struct baryon_error *err);
/* Whether a candidate has so much quality that nothing is worth trying, asked of samples. */
int by_trial_has_enough(struct by_trial *trial, const struct by_candidate *candidate, bool *enough,
                        struct baryon_error *err);
/* How much better one candidate is than another, on the samples that judged both. */
struct by_gain by_trial_gain(const struct by_trial_score *one, const struct by_trial_score *other,
                             size_t *samples);
/* The model as it is, with biases as they would be written. */
struct by_candidate by_trial_unedited(const struct by_quantization *q);
/* Adds a choice to the report of the quantization. */
struct by_choice_made *by_trial_report_choice(struct by_quantization *q, enum by_edit_kind kind,
                                              int value, const struct by_trial_score *one,
                                              const struct by_trial_score *other);
/* Whether there are samples that can be read more than once. */
bool by_trial_has_samples(const struct by_quantization *q);
/* Edits the quantization itself; *changed: Q/DQ pairs have to be inserted again. The statistics of
 * the candidate's model are taken over for calibration to go on with, where they are of the first
 * samples of the data. At the end. */
int by_trial_adopt(struct by_trial *trial, const struct by_candidate *candidate, bool *changed,
                   struct baryon_error *err);

#endif
