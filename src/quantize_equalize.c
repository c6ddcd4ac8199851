#include "quantize_equalize.h"

#include "quantize_trial.h"
#include "solve/cle.h"

#include <math.h>

#define GAIN  0.1 /* dB that a change of the model has to bring */
#define SURE  2.0 /* standard errors of a mean gain */
#define WORTH 1.0 /* bits of spread below which there is nothing to win by trying */

/* --- Which way --- */

/* Equalizations tried at most, as far as they are not the same as another one: the ways that keep
 * the float model what it is, and where Relu6 gains nothing by its own limits, the others. Biases
 * are corrected or not behind that, with the best. */
static const enum by_cle_mode first_ways[] = {BY_CLE_EXACT, BY_CLE_OFF},
                              later_ways[] = {BY_CLE_REPLACE, BY_CLE_KEEP};

static size_t later_count(const struct by_cle_report *survey)
{
    if (!survey->relu6)
        return 0;
    return survey->relu6 == survey->pairs ? 1 : 2;
}

/* What was found so far, of both things that are tried. */
struct found {
    struct by_trial_way way;
    struct by_trial_score score;
};

static bool judges_biases(const struct by_quantization *q)
{
    return q->options->recipe->bias_correction == BY_BIASES_AUTO;
}

static int try_ways(struct by_trial *trial, const enum by_cle_mode *modes, size_t count,
                    bool corrects, struct by_trial_score *scores, struct baryon_error *err)
{
    struct by_trial_way ways[2];
    for (size_t i = 0; i < count; i++)
        ways[i] = (struct by_trial_way){modes[i], corrects};
    return by_trial_run(trial, ways, count, scores, err);
}

static int choose(struct by_trial *trial, const struct by_cle_report *survey, struct found *best,
                  struct baryon_error *err)
{
    struct by_trial_score first[2], later[2];
    const size_t more = later_count(survey);
    if (try_ways(trial, first_ways, 2, best->way.corrects, first, err) < 0)
        return -1;
    const bool gains = first[0].sqnr > first[1].sqnr + GAIN;
    best->way.mode = gains ? BY_CLE_EXACT : BY_CLE_OFF;
    best->score = gains ? first[0] : first[1];
    if (gains || !more)
        return 0;
    if (try_ways(trial, later_ways, more, best->way.corrects, later, err) < 0)
        return -1;
    for (size_t i = 0; i < more; i++)
        if (later[i].sqnr > best->score.sqnr + GAIN) {
            best->way.mode = later_ways[i];
            best->score = later[i];
        }
    return 0;
}

/* More than chance: what a few outputs that saturate say differs from sample to sample. */
static bool is_sure(const struct by_trial_score *better, const struct by_trial_score *than)
{
    double sum = 0, squares = 0;
    const double count = (double)better->count;
    if (better->sqnr <= than->sqnr + GAIN || better->count != than->count)
        return false;
    for (size_t i = 0; i < better->count; i++) {
        const double gain = better->each[i] - than->each[i];
        sum += gain;
        squares += gain * gain;
    }
    const double variance = (squares - sum * sum / count) / fmax(count - 1, 1);
    return sum / count > fmax(GAIN, SURE * sqrt(fmax(variance, 0) / count));
}

static int choose_biases(struct by_trial *trial, bool judged, struct found *best,
                         struct baryon_error *err)
{
    struct by_trial_score other;
    const bool corrects = best->way.corrects;
    if (!judged && try_ways(trial, &best->way.mode, 1, corrects, &best->score, err) < 0)
        return -1;
    if (try_ways(trial, &best->way.mode, 1, !corrects, &other, err) < 0)
        return -1;
    if (is_sure(&other, &best->score))
        best->way.corrects = !corrects;
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

/* How many ways there are to try, at most. */
static size_t count_ways(const struct by_quantization *q, const struct by_cle_report *survey)
{
    const bool judged = q->options->recipe->cle == BY_CLE_AUTO;
    return (judged ? 2 + later_count(survey) : 0) + (judges_biases(q) ? 2 - judged : 0);
}

static int try_all(const struct by_quantization *q, struct by_trial *trial,
                   const struct by_cle_report *survey, struct by_trial_way *way,
                   struct baryon_error *err)
{
    struct found best = {.way = *way};
    const bool judged = way->mode == BY_CLE_AUTO;
    if (judged && choose(trial, survey, &best, err) < 0)
        return -1;
    if (judges_biases(q) && choose_biases(trial, judged, &best, err) < 0)
        return -1;
    *way = best.way;
    return 0;
}

static void tell(const struct by_quantization *q, const struct by_trial_way *way, size_t pairs)
{
    by_log(q->options->log, BY_LOG_INFO, "equalization %s: %zu pairs of layers",
           by_cle_mode_name(way->mode), way->mode == BY_CLE_OFF ? 0 : pairs);
    if (judges_biases(q))
        by_log(q->options->log, BY_LOG_INFO, "biases %s", way->corrects ? "corrected" : "kept");
}

static int equalize(struct by_quantization *q, const struct by_cle_report *survey, bool *changed,
                    struct baryon_error *err)
{
    struct by_trial_way way = {q->options->recipe->cle, q->corrects};
    struct by_trial *trial;
    if (by_trial_open(&trial, q, count_ways(q, survey), err) < 0)
        return -1;
    int status = try_all(q, trial, survey, &way, err);
    if (status == 0 && way.mode != BY_CLE_OFF) {
        *changed = true;
        status = by_trial_equalize(q->plan, by_trial_seen(trial), way.mode, err);
    }
    by_trial_close(trial);
    q->corrects = way.corrects;
    if (status == 0)
        tell(q, &way, survey->pairs);
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
