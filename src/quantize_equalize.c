#include "quantize_equalize.h"

#include "quantize_trial.h"
#include "solve/cle.h"

#define GAIN  0.1 /* dB that a change of the model has to bring */
#define WORTH 1.0 /* bits of spread below which there is nothing to win by trying */

/* --- Which way --- */

/* What is tried at most, as far as it is not the same as another one: the ways that keep the
 * float model what it is, and where Relu6 gains nothing by its own limits, the others. */
static const enum by_cle_mode first_ways[] = {BY_CLE_EXACT, BY_CLE_OFF},
                              later_ways[] = {BY_CLE_REPLACE, BY_CLE_KEEP};

static size_t later_count(const struct by_cle_report *survey)
{
    if (!survey->relu6)
        return 0;
    return survey->relu6 == survey->pairs ? 1 : 2;
}

static int choose(struct by_trial *trial, const struct by_cle_report *survey,
                  enum by_cle_mode *best, struct baryon_error *err)
{
    double first[2], later[2];
    const size_t more = later_count(survey);
    *best = BY_CLE_OFF;
    if (by_trial_run(trial, first_ways, 2, first, err) < 0)
        return -1;
    if (first[0] > first[1] + GAIN) {
        *best = BY_CLE_EXACT;
        return 0;
    }
    if (!more)
        return 0;
    if (by_trial_run(trial, later_ways, more, later, err) < 0)
        return -1;
    for (size_t i = 0; i < more; i++)
        if (later[i] > first[1] + GAIN) {
            *best = later_ways[i];
            first[1] = later[i];
        }
    return 0;
}

/* --- The stage --- */

static int refuse_stats(const struct by_quantization *q, struct baryon_error *err)
{
    if (q->options->recipe->cle == BY_CLE_AUTO) {
        by_log(q->options->log, BY_LOG_NOTICE,
               "no equalization: statistics of an earlier run are of the model as it is");
        return 0;
    }
    by_fail(err, BARYON_ERR_USAGE,
            "equalization changes what flows through the model, statistics of an earlier run do "
            "not hold then");
    return by_err_hint(err, "give samples (--data) instead of --stats, or --cle off");
}

/* Samples of a program that come only once are for calibration. */
static int refuse_once(const struct by_quantization *q, struct baryon_error *err)
{
    if (q->options->recipe->cle == BY_CLE_AUTO) {
        by_log(q->options->log, BY_LOG_NOTICE, "no equalization: the samples come only once");
        return 0;
    }
    by_fail(err, BARYON_ERR_USAGE, "equalization needs samples twice, and these come only once");
    return by_err_hint(err, "give a function that begins again, or cle off");
}

static int equalize(struct by_quantization *q, const struct by_cle_report *survey, bool *changed,
                    struct baryon_error *err)
{
    enum by_cle_mode mode = q->options->recipe->cle;
    struct by_trial *trial;
    if (by_trial_open(&trial, q, mode == BY_CLE_AUTO ? 2 + later_count(survey) : 0, err) < 0)
        return -1;
    int status = mode == BY_CLE_AUTO ? choose(trial, survey, &mode, err) : 0;
    if (status == 0 && mode != BY_CLE_OFF) {
        *changed = true;
        status = by_trial_equalize(q->plan, by_trial_seen(trial), mode, err);
    }
    by_trial_close(trial);
    if (status == 0)
        by_log(q->options->log, BY_LOG_INFO, "equalization %s: %zu pairs of layers",
               by_cle_mode_name(mode), mode == BY_CLE_OFF ? 0 : survey->pairs);
    return status;
}

int by_quantize_equalize(struct by_quantization *q, bool *changed, struct baryon_error *err)
{
    const enum by_cle_mode mode = q->options->recipe->cle;
    const struct by_input_callback *samples = q->options->calibrate.samples;
    struct by_cle_report survey;
    *changed = false;
    if (mode == BY_CLE_OFF)
        return 0;
    if (by_cle_survey(q->plan, &survey, err) < 0)
        return -1;
    if (!survey.pairs && !survey.stems)
        return 0;
    if (mode == BY_CLE_AUTO && survey.spread < WORTH) {
        by_log(q->options->log, BY_LOG_INFO,
               "equalization off: channels differ by %.2f bits only in %zu pairs of layers",
               survey.spread, survey.pairs + survey.stems);
        return 0;
    }
    if (q->options->stats)
        return refuse_stats(q, err);
    if (q->options->recipe->approach != BY_APPROACH_STATIC) {
        *changed = true; /* no range of an activation is to be kept */
        return by_trial_equalize(q->plan, NULL, mode, err);
    }
    return samples && !samples->rewind ? refuse_once(q, err) : equalize(q, &survey, changed, err);
}
