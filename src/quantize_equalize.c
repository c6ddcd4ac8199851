#include "quantize_equalize.h"

#include "quantize_trial.h"
#include "solve/cle.h"

#define GAIN  0.1 /* dB that a change of the model has to bring */
#define WORTH 1.0 /* bits of spread below which there is nothing to win by trying */

/* --- Which way --- */

#define NO_WAYS ((size_t)0)

/* The dearest first, so that they stand side by side; off last, it has no look of its own. */
static size_t ways(const struct by_cle_report *survey, enum by_cle_mode *modes)
{
    size_t count = 0;
    modes[count++] = BY_CLE_EXACT;
    if (survey->relu6)
        modes[count++] = BY_CLE_REPLACE;
    modes[count++] = BY_CLE_OFF;
    return count;
}

/* What is kept as it is has the first say. */
static enum by_cle_mode best_of(const enum by_cle_mode *modes, const double *sqnr, size_t count,
                                double *best_sqnr)
{
    enum by_cle_mode best = BY_CLE_OFF;
    *best_sqnr = sqnr[count - 1];
    for (size_t i = 0; i + 1 < count; i++)
        if (sqnr[i] > *best_sqnr + GAIN) {
            best = modes[i];
            *best_sqnr = sqnr[i];
        }
    return best;
}

/* Leaving out what stands around Relu6 is tried where the ways through it gain nothing. */
static int choose(struct by_trial *trial, const struct by_cle_report *survey,
                  enum by_cle_mode *best, struct baryon_error *err)
{
    static const enum by_cle_mode keep = BY_CLE_KEEP;
    enum by_cle_mode modes[3];
    double sqnr[3], best_sqnr, kept;
    const size_t count = ways(survey, modes);
    if (by_trial_run(trial, modes, count, sqnr, err) < 0)
        return -1;
    *best = best_of(modes, sqnr, count, &best_sqnr);
    if (*best != BY_CLE_OFF || !survey->relu6 || survey->relu6 == survey->pairs)
        return 0;
    if (by_trial_run(trial, &keep, 1, &kept, err) < 0)
        return -1;
    if (kept > best_sqnr + GAIN)
        *best = BY_CLE_KEEP;
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
    enum by_cle_mode mode = q->options->recipe->cle, modes[3];
    struct by_trial *trial;
    if (by_trial_open(&trial, q, mode == BY_CLE_AUTO ? ways(survey, modes) : NO_WAYS, err) < 0)
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
