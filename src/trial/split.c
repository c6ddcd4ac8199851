/* Decides whether channels with outliers are split off: by samples, or as the user says. */
#include "trial/split.h"

#include "adjust/split.h"

/* Fewer matrix products are the end of a convolutional network, which has no such channels. */
#define MATRICES_LEAST 2

static bool is_asked(const struct by_quantization *q)
{
    return q->options->recipe->split == BY_SPLIT_ON;
}

static void tell_off(const struct by_quantization *q, const char *why)
{
    by_log(q->options->log, is_asked(q) ? BY_LOG_NOTICE : BY_LOG_INFO, "splitting off: %s", why);
}

static void report_split(struct by_quantization *q, const struct by_split_report *report,
                         const struct by_trial_score *split, const struct by_trial_score *whole)
{
    struct by_choice_made *made = by_trial_report_choice(q, BY_EDIT_SPLITTING, 1, split, whole);
    made->tensors = report->tensors;
    made->macs_share = report->share;
    by_log(q->options->log, BY_LOG_NOTICE,
           "channels with outliers are multiplied in float (%zu, of %zu tensors, %.2g %% of "
           "multiply-adds): %.1f dB better on held-out samples; --split-outliers off keeps them in "
           "integers",
           report->channels, report->tensors, 100 * report->share, made->gain);
}

static int choose_splitting(struct by_quantization *q, const struct by_split_report *report,
                            struct by_candidate *best, struct baryon_error *err)
{
    const struct by_candidate candidates[] = {by_trial_unedited(q), *best};
    struct by_trial_score scores[2];
    bool better;
    if (by_trial_compare(q, q->trial, BY_VERDICT_SPLIT, candidates, scores, &better, err) < 0)
        return -1;
    if (better)
        report_split(q, report, &scores[1], &scores[0]);
    *best = candidates[better];
    return 0;
}

static int adopt(struct by_quantization *q, const struct by_candidate *best, bool *changed,
                 struct baryon_error *err)
{
    if (by_trial_adopt(q->trial, best, changed, err) < 0)
        return -1;
    if (*changed) {
        by_trial_close(q->trial);
        q->trial = NULL;
    }
    return 0;
}

/* What can be seen without samples. */
static int is_hopeless(const struct by_quantization *q, bool *hopeless, struct baryon_error *err)
{
    struct by_split_report report;
    if (by_split_survey(q->plan, NULL, NULL, &report, err) < 0)
        return -1;
    *hopeless = report.matrices < (is_asked(q) ? 1 : MATRICES_LEAST);
    if (*hopeless)
        tell_off(q, "the model has too few matrix products");
    return 0;
}

static int split_model(struct by_quantization *q, bool *changed, struct baryon_error *err)
{
    struct by_candidate best = by_trial_unedited(q);
    struct by_split_report report;
    bool enough = false;
    best.edits[BY_EDIT_SPLITTING] = 1;
    if (!q->trial && by_trial_open(&q->trial, q, is_asked(q) ? 0 : 2, err) < 0)
        return -1;
    if (by_split_survey(q->plan, by_trial_seen(q->trial), q->options->log, &report, err) < 0)
        return -1;
    if (!report.tensors) {
        tell_off(q, "no matrix product reads a few channels far above the others");
        return 0;
    }
    const struct by_candidate unedited = by_trial_unedited(q);
    if (!is_asked(q) && by_trial_has_enough(q->trial, &unedited, &enough, err) < 0)
        return -1;
    if (enough) {
        tell_off(q, "the model is good without");
        return 0;
    }
    if (!is_asked(q) && choose_splitting(q, &report, &best, err) < 0)
        return -1;
    by_log(
        q->options->log, BY_LOG_INFO,
        "splitting %s: tensors: %zu; channels: %zu, %.2g %% of multiply-adds; tensors left alone: "
        "%zu",
        best.edits[BY_EDIT_SPLITTING] ? "on" : "off", report.tensors, report.channels,
        100 * report.share, report.left);
    return adopt(q, &best, changed, err);
}

int by_split_may_be_tried(const struct by_quantization *q, struct by_trial *trial, bool *may,
                          struct baryon_error *err)
{
    const struct by_recipe *recipe = q->options->recipe;
    struct by_split_report report = {0};
    *may = false;
    if (recipe->split != BY_SPLIT_AUTO || q->plan->node_count > BY_TRIAL_NODES_MOST)
        return 0;
    if (by_split_survey(q->plan, by_trial_seen(trial), NULL, &report, err) < 0)
        return -1;
    *may = report.matrices >= MATRICES_LEAST && report.tensors > 0;
    return 0;
}

int by_split_outliers(struct by_quantization *q, bool *changed, struct baryon_error *err)
{
    const struct by_recipe *recipe = q->options->recipe;
    bool hopeless;
    *changed = false;
    if (recipe->split == BY_SPLIT_OFF || recipe->approach != BY_APPROACH_STATIC)
        return 0;
    if (is_hopeless(q, &hopeless, err) < 0)
        return -1;
    if (hopeless)
        return 0;
    if (!by_trial_has_samples(q)) {
        if (!is_asked(q))
            return 0;
        by_fail(err, BARYON_ERR_USAGE,
                "splitting changes the activations, so it requires samples that can be read twice");
        return by_err_hint(err, "give samples (--data), or --split-outliers off");
    }
    if (!is_asked(q) && q->plan->node_count > BY_TRIAL_NODES_MOST) {
        tell_off(q, "the model has too many nodes to try it");
        return 0;
    }
    return split_model(q, changed, err);
}
