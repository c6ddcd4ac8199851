/* Decides whether and how a model is smoothed: by samples, or as the user says. */
#include "trial/smooth.h"

#include "adjust/smooth.h"
#include "trial/split.h"
#include "trial/trial.h"

/* Fewer matrix products are the end of a convolutional network, which equalization treats. */
#define MATRICES_LEAST 2
/* Less noise in the tensors is not worth a trial. */
#define WORTH 0.5 /* dB */

static bool is_asked(const struct by_quantization *q)
{
    const double smooth = q->options->recipe->smooth;
    return smooth >= 0 || smooth == BY_SMOOTH_ON;
}

/* Processors multiply floats between integers; accelerators would round the peaks before that. */
static bool may_multiply(const struct by_quantization *q)
{
    return q->options->recipe->hardware == BY_HARDWARE_NONE && !q->options->recipe->compat;
}

static struct by_smooth_options options_of(const struct by_quantization *q, bool multiplies)
{
    return (struct by_smooth_options){.alpha = q->options->recipe->smooth,
                                      .multiplies = multiplies};
}

/* --- Whether to try --- */

static bool leaves(const struct by_quantization *q, const char *why)
{
    by_log(q->options->log, is_asked(q) ? BY_LOG_NOTICE : BY_LOG_INFO, "smoothing off: %s", why);
    return true;
}

/* What can be seen without samples. */
static bool is_hopeless(const struct by_quantization *q, const struct by_smooth_report *report)
{
    if (!report->folded && !report->multiplied)
        return leaves(q, "no layer reads a tensor that can be divided");
    if (is_asked(q))
        return false;
    if (report->matrices < MATRICES_LEAST)
        return leaves(q, "the model has too few matrix products");
    if (q->plan->node_count > BY_TRIAL_NODES_MOST)
        return leaves(q, "the model has too many nodes to try it; --smooth 0.5 does without");
    return false;
}

static int lacks_samples(const struct by_quantization *q, bool *lacks, struct baryon_error *err)
{
    *lacks = !by_trial_has_samples(q);
    if (!*lacks || !is_asked(q))
        return 0;
    by_fail(err, BARYON_ERR_USAGE,
            "smoothing changes the activations, so it requires samples that can be read twice");
    return by_err_hint(err, "give samples (--data), or --smooth off");
}

/* --- Which way --- */

/* With Muls of its own where nothing else takes the factors: on the networks that gained, never
 * worse than what is folded alone. */
static struct by_candidate smoothed(const struct by_quantization *q,
                                    const struct by_smooth_report *survey)
{
    const int value = by_smooth_value(q->options->recipe->smooth, survey->multiplied > 0);
    struct by_candidate candidate = by_trial_unedited(q);
    candidate.edits[BY_EDIT_SMOOTHING] = value;
    return candidate;
}

/* Smoothing spreads the peaks of channels that splitting takes out, and then the latter finds none.
 * Where splitting by itself does more, it is left to do so. */
static int compare_splitting(struct by_quantization *q, struct by_trial *trial,
                             const struct by_candidate *best, bool *better,
                             struct baryon_error *err)
{
    struct by_candidate candidates[] = {*best, by_trial_unedited(q)};
    struct by_trial_score scores[2];
    bool may;
    *better = false;
    candidates[1].edits[BY_EDIT_SPLITTING] = 1;
    if (by_split_may_be_tried(q, trial, &may, err) < 0)
        return -1;
    return may ? by_trial_compare(q, trial, BY_VERDICT_SPLIT, candidates, scores, better, err) : 0;
}

static int choose_smoothing(struct by_quantization *q, struct by_trial *trial,
                            struct by_candidate *best, struct baryon_error *err)
{
    const struct by_candidate candidates[] = {by_trial_unedited(q), *best};
    struct by_trial_score scores[2];
    bool enough, better, splits = false;
    if (by_trial_has_enough(trial, &candidates[0], &enough, err) < 0)
        return -1;
    if (enough) {
        leaves(q, "the model is good without");
        *best = candidates[0];
        return 0;
    }
    if (by_trial_compare(q, trial, BY_VERDICT_SMOOTHED, candidates, scores, &better, err) < 0 ||
        (better && compare_splitting(q, trial, best, &splits, err) < 0))
        return -1;
    better = better && !splits;
    if (!better)
        by_log(q->options->log, BY_LOG_INFO, "smoothing off: %s",
               splits ? "splitting channels off does more" : "samples do not gain by it");
    else
        by_trial_report_choice(q, BY_EDIT_SMOOTHING, best->edits[BY_EDIT_SMOOTHING], &scores[1],
                               &scores[0]);
    *best = candidates[better];
    return 0;
}

/* --- The stage --- */

static bool multiplies(const struct by_candidate *candidate)
{
    return (candidate->edits[BY_EDIT_SMOOTHING] - 1) % 2;
}

/* Which tensors, and which are left alone, each with its reason. */
static int tell_smoothing(const struct by_quantization *q, const struct by_trial *trial,
                          const struct by_candidate *best, struct baryon_error *err)
{
    struct by_smooth_report report;
    struct by_smooth_options options = options_of(q, multiplies(best));
    options.log = q->options->log;
    if (by_smooth_survey(q->plan, by_trial_seen(trial), &options, &report, err) < 0)
        return -1;
    by_log(q->options->log, BY_LOG_INFO,
           "smoothing on: %zu tensors folded, %zu with a multiplication of their own (%.3g "
           "products a sample), %zu left alone",
           report.folded, report.multiplied, report.products, report.left);
    return 0;
}

static int adopt(const struct by_quantization *q, struct by_trial *trial,
                 const struct by_candidate *best, bool *changed, struct baryon_error *err)
{
    if (best->edits[BY_EDIT_SMOOTHING] && tell_smoothing(q, trial, best, err) < 0)
        return -1;
    return by_trial_adopt(trial, best, changed, err);
}

static int smooth(struct by_quantization *q, const struct by_smooth_report *survey, bool *changed,
                  struct baryon_error *err)
{
    const bool asked = is_asked(q);
    struct by_candidate best = smoothed(q, survey);
    struct by_smooth_report report = *survey;
    const struct by_smooth_options options = options_of(q, survey->multiplied > 0);
    if (!q->trial && by_trial_open(&q->trial, q, asked ? 0 : 2, err) < 0)
        return -1;
    if (by_smooth_survey(q->plan, by_trial_seen(q->trial), &options, &report, err) < 0)
        return -1;
    if (!asked && report.decibels < WORTH) {
        leaves(q, "peaks of channels differ too little");
        return 0;
    }
    if (!asked && choose_smoothing(q, q->trial, &best, err) < 0)
        return -1;
    if (adopt(q, q->trial, &best, changed, err) < 0)
        return -1;
    if (*changed || asked) {
        by_trial_close(q->trial);
        q->trial = NULL;
    }
    return 0;
}

int by_smooth(struct by_quantization *q, bool *changed, struct baryon_error *err)
{
    struct by_smooth_report survey;
    const struct by_smooth_options options = options_of(q, may_multiply(q));
    bool lacks;
    *changed = false;
    if (q->options->recipe->smooth == BY_SMOOTH_OFF ||
        q->options->recipe->approach != BY_APPROACH_STATIC)
        return 0;
    if (by_smooth_survey(q->plan, NULL, &options, &survey, err) < 0)
        return -1;
    if (is_hopeless(q, &survey))
        return 0;
    if (lacks_samples(q, &lacks, err) < 0)
        return -1;
    return lacks ? 0 : smooth(q, &survey, changed, err);
}
