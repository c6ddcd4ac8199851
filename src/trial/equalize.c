/* Decides whether and how a model is equalized and its biases corrected. */
#include "trial/equalize.h"

#include "adjust/bias_correct.h"
#include "adjust/cle.h"
#include "trial/biases.h"
#include "trial/trial.h"
#include "trial/wide.h"

#define WORTH 1.0 /* bits of spread below which there is nothing to win by trying */

/* --- Which way --- */

/* Equalizations are tried as far as they are not the same as another one: the ways that keep the
 * float model what it is, and where Relu6 gains nothing by its own limits, the others. Biases are
 * corrected or not after that, with the best. */
static size_t later_count(const struct by_cle_report *survey)
{
    if (!survey->relu6)
        return 0;
    return survey->relu6 == survey->pairs ? 1 : 2;
}

static bool has_exponents(const struct by_quantization *q)
{
    return q->options->recipe->weight.format != NULL;
}

/* Where nothing has a range, samples are only looked at for layers whose biases can be corrected:
 * without any there is nothing to tell ways by. */
int by_judges_biases(const struct by_quantization *q, bool *judges, struct baryon_error *err)
{
    struct by_bias_job job;
    *judges = q->options->recipe->bias_correction == BY_BIASES_AUTO &&
              q->plan->node_count <= BY_TRIAL_NODES_MOST;
    if (!*judges || by_recipe_has_ranges(q->options->recipe))
        return 0;
    const int status = by_bias_survey(q->plan, &job, err);
    *judges = status == 0 && job.layer_count > 0;
    by_bias_close(&job);
    return status;
}

static struct by_candidate with_mode(const struct by_candidate *candidate, enum by_cle_mode mode)
{
    struct by_candidate other = *candidate;
    other.edits[BY_EDIT_EQUALIZATION] = by_cle_value(mode, 0);
    return other;
}

static int choose_later(const struct by_quantization *q, struct by_trial *trial, size_t more,
                        struct by_candidate *best, struct baryon_error *err)
{
    const struct by_candidate candidates[] = {*best, with_mode(best, BY_CLE_REPLACE),
                                              with_mode(best, BY_CLE_KEEP)};
    struct by_trial_score scores[3];
    size_t place = 0;
    if (by_trial_contest(trial, candidates, 1 + more, scores, err) < 0)
        return -1;
    for (size_t i = 1; i <= more; i++)
        if (by_trial_prefers(q, BY_VERDICT_OTHER_WAY, &scores[i], &scores[place]))
            place = i;
    *best = candidates[place];
    return 0;
}

/* An equalization that keeps the float model what it is mostly helps, but solved rounding less, and
 * floats and blocks by chance. Of candidates 0, equalized, and 1. */
static struct by_trial_question ask_equalized(const struct by_quantization *q)
{
    const struct by_recipe *recipe = q->options->recipe;
    if (by_trial_before_rounding(recipe))
        return (struct by_trial_question){by_trial_leaves_weights(recipe)
                                              ? BY_VERDICT_EQUALIZED_ALONE
                                              : BY_VERDICT_EQUALIZED_SOLVED,
                                          0, 1};
    return has_exponents(q) ? (struct by_trial_question){BY_VERDICT_EQUALIZED, 0, 1}
                            : (struct by_trial_question){BY_VERDICT_UNEQUALIZED, 1, 0};
}

static bool prefers_off(const struct by_quantization *q, const struct by_trial_question *question,
                        const struct by_trial_score scores[2])
{
    const bool prefers =
        by_trial_prefers(q, question->rule, &scores[question->one], &scores[question->other]);
    return scores[0].lost || prefers == (question->one == 1);
}

static int choose_equalization(const struct by_quantization *q, struct by_trial *trial,
                               const struct by_cle_report *survey, struct by_candidate *best,
                               struct baryon_error *err)
{
    const size_t more = later_count(survey);
    const struct by_candidate candidates[] = {with_mode(best, BY_CLE_EXACT),
                                              with_mode(best, BY_CLE_OFF)};
    const struct by_trial_question questions[] = {ask_equalized(q), {BY_VERDICT_PAYS, 0, 1}};
    struct by_trial_score scores[2];
    if (by_trial_ask(trial, candidates, 2, questions, more ? 2 : 1, scores, err) < 0)
        return -1;
    const bool off = prefers_off(q, &questions[0], scores);
    *best = candidates[off];
    if (off && by_trial_before_rounding(q->options->recipe))
        return 0;
    return more && !by_trial_prefers(q, BY_VERDICT_PAYS, &scores[0], &scores[1])
               ? choose_later(q, trial, more, best, err)
               : 0;
}

int by_choose_biases(const struct by_quantization *q, struct by_trial *trial,
                     struct by_candidate *best, struct baryon_error *err)
{
    struct by_candidate candidates[] = {*best, *best};
    struct by_trial_score scores[2];
    bool better;
    candidates[1].edits[BY_EDIT_BIASES] = !best->edits[BY_EDIT_BIASES];
    if (by_trial_compare(q, trial, BY_VERDICT_BIASES, candidates, scores, &better, err) < 0)
        return -1;
    *best = candidates[better];
    return 0;
}

/* --- How far --- */

static bool is_wider(const struct by_recipe *recipe, int range)
{
    const double reach = by_cle_reach(recipe, range);
    return recipe->cle_range > 0 && (reach == 0 || reach > recipe->cle_range);
}

/* Powers of two leave room above the range of a tensor. Other scales become coarser by a wider one:
 * of good models nine gained nothing, poor ones gain up to ten decibels. */
static int may_gain(const struct by_quantization *q, struct by_trial *trial,
                    const struct by_candidate *best, bool *may, struct baryon_error *err)
{
    const struct by_recipe *recipe = q->options->recipe;
    bool good;
    *may = !has_exponents(q) && recipe->weight.granularity == BY_PER_TENSOR &&
           !by_trial_before_rounding(recipe);
    if (!*may || recipe->activation.scale == BY_SCALE_POW2)
        return 0;
    if (by_trial_ask_good(trial, best, &good, err) < 0)
        return -1;
    *may = !good;
    return 0;
}

/* Channels of weights that have one scale are held apart by the range of a tensor. */
static int is_held(const struct by_quantization *q, struct by_trial *trial,
                   const struct by_candidate *best, bool *held, struct baryon_error *err)
{
    const struct by_recipe *recipe = q->options->recipe;
    const struct by_cle_options options = {.mode = BY_CLE_EXACT,
                                           .range = recipe->cle_range,
                                           .threshold = recipe->cle_threshold,
                                           .steps = recipe->cle_steps};
    size_t channels = 0;
    if (may_gain(q, trial, best, held, err) < 0)
        return -1;
    if (!*held)
        return 0;
    if (by_cle_held(q->plan, by_trial_seen(trial), &options, &channels, err) < 0)
        return -1;
    *held = channels > 0;
    return 0;
}

static struct by_candidate with_range(const struct by_candidate *candidate, int range)
{
    const enum by_cle_mode found = by_cle_mode_of(candidate->edits[BY_EDIT_EQUALIZATION]);
    struct by_candidate other = *candidate;
    other.edits[BY_EDIT_EQUALIZATION] =
        by_cle_value(found == BY_CLE_OFF ? BY_CLE_EXACT : found, range);
    return other;
}

/* Alike weights may be worth more than finer steps of activations: wider ranges, as long as samples
 * gain by them. */
static int choose_range(struct by_quantization *q, struct by_trial *trial,
                        struct by_candidate *best, struct baryon_error *err)
{
    struct by_trial_score scores[2], first = {0}, last = {0};
    bool better;
    if (is_held(q, trial, best, &better, err) < 0)
        return -1;
    for (int range = 1; range < BY_CLE_RANGES && better; range++) {
        const struct by_candidate candidates[] = {*best, with_range(best, range)};
        if (!is_wider(q->options->recipe, range))
            continue;
        if (by_trial_compare(q, trial, BY_VERDICT_CLE_RANGE, candidates, scores, &better, err) < 0)
            return -1;
        first = first.each ? first : scores[0];
        *best = candidates[better];
        if (better)
            last = scores[1];
    }
    if (last.each)
        by_trial_report_choice(q, BY_EDIT_EQUALIZATION, best->edits[BY_EDIT_EQUALIZATION], &last,
                               &first);
    return 0;
}

/* --- Before wide activations --- */

/* What gains a decibel in 8 bits may cost five where 16 bits are chosen afterwards: a poor model
 * that gains by 16 bits has them while it is equalized. */
static int widen(struct by_quantization *q, struct by_trial *trial, struct by_candidate *best,
                 struct baryon_error *err)
{
    struct by_candidate both[] = {*best, *best};
    struct by_trial_score scores[2];
    bool good, better;
    int level;
    if (by_trial_before_rounding(q->options->recipe) || best->edits[BY_EDIT_WIDE] ||
        !by_wide_that_judges(&q->recipe))
        return 0;
    if (by_trial_ask_good(trial, best, &good, err) < 0)
        return -1;
    if (good)
        return 0;
    if (by_wide_foresee(q, by_trial_seen(trial), &level, err) < 0)
        return -1;
    if (!level)
        return 0;
    both[1].edits[BY_EDIT_WIDE] = level;
    if (by_trial_compare(q, trial, BY_VERDICT_WIDE, both, scores, &better, err) < 0)
        return -1;
    *best = both[better];
    return 0;
}

/* Weights may hide what 16 bits gain until they are equalized. */
static int choose_modes(struct by_quantization *q, struct by_trial *trial,
                        const struct by_cle_report *survey, struct by_candidate *best,
                        struct baryon_error *err)
{
    const bool wide = best->edits[BY_EDIT_WIDE] != 0;
    if (choose_equalization(q, trial, survey, best, err) < 0)
        return -1;
    if (wide || by_cle_mode_of(best->edits[BY_EDIT_EQUALIZATION]) == BY_CLE_OFF)
        return 0;
    if (widen(q, trial, best, err) < 0)
        return -1;
    return best->edits[BY_EDIT_WIDE] ? choose_equalization(q, trial, survey, best, err) : 0;
}

/* --- The stage --- */

static int refuse_stats(const struct by_quantization *q, struct baryon_error *err)
{
    if (q->options->recipe->cle == BY_CLE_AUTO) {
        by_log(q->options->log, BY_LOG_NOTICE,
               "equalization skipped: the statistics are of the model without equalization");
        return 0;
    }
    by_fail(err, BARYON_ERR_USAGE,
            "equalization changes the activations, so statistics of an earlier run are not valid "
            "for the equalized model");
    return by_err_hint(err, "give samples (--data) instead of --stats, or --cle off");
}

/* Samples of a program that come only once are for calibration. */
static int refuse_once(const struct by_quantization *q, struct baryon_error *err)
{
    if (q->options->recipe->cle == BY_CLE_AUTO) {
        by_log(q->options->log, BY_LOG_NOTICE,
               "equalization skipped: the samples cannot be read twice");
        return 0;
    }
    by_fail(err, BARYON_ERR_USAGE,
            "equalization reads the samples twice, and these samples can be read only once");
    return by_err_hint(err, "give samples with a function that restarts them, or cle off");
}

/* How many ways there are to try, at most. */
static size_t count_ways(const struct by_quantization *q, const struct by_cle_report *survey,
                         bool biases)
{
    const bool judged = q->options->recipe->cle == BY_CLE_AUTO;
    return (judged ? 3 + later_count(survey) : 0) + (biases ? 2 - judged : 0);
}

static int try_all(struct by_quantization *q, struct by_trial *trial,
                   const struct by_cle_report *survey, bool biases, struct by_candidate *best,
                   struct baryon_error *err)
{
    bool enough;
    if (best->edits[BY_EDIT_EQUALIZATION] != BY_CLE_AUTO)
        return biases ? by_choose_biases(q, trial, best, err) : 0;
    *best = with_mode(best, BY_CLE_OFF);
    if (by_trial_has_enough(trial, best, &enough, err) < 0)
        return -1;
    if (enough)
        return 0;
    if (widen(q, trial, best, err) < 0 || choose_modes(q, trial, survey, best, err) < 0 ||
        (biases && by_choose_biases(q, trial, best, err) < 0) ||
        choose_range(q, trial, best, err) < 0)
        return -1;
    best->edits[BY_EDIT_WIDE] = 0; /* which ones have 16 bits, all samples say later */
    return 0;
}

static void log_equalization(const struct by_quantization *q, const struct by_candidate *best,
                             size_t pairs, bool biases)
{
    const int value = best->edits[BY_EDIT_EQUALIZATION];
    char text[64];
    by_log(q->options->log, BY_LOG_INFO, "%s: %zu pairs of layers",
           by_edit(BY_EDIT_EQUALIZATION)->describe(value, text, sizeof text),
           by_cle_mode_of(value) == BY_CLE_OFF ? 0 : pairs);
    if (biases)
        by_log(q->options->log, BY_LOG_INFO, "bias correction %s",
               best->edits[BY_EDIT_BIASES] ? "on" : "off");
}

static int equalize(struct by_quantization *q, const struct by_cle_report *survey,
                    enum by_cle_mode mode, bool *changed, struct baryon_error *err)
{
    const struct by_candidate unedited = by_trial_unedited(q);
    const bool solved = by_trial_before_rounding(q->options->recipe);
    struct by_candidate best = with_mode(&unedited, mode);
    struct by_trial *trial = q->trial;
    bool biases;
    if (by_judges_biases(q, &biases, err) < 0 ||
        (!trial && by_trial_open(&trial, q, count_ways(q, survey, biases), err) < 0))
        return -1;
    q->trial = NULL;
    int status = try_all(q, trial, survey, biases, &best, err);
    if (status == 0)
        status = by_trial_adopt(trial, &best, changed, err);
    by_trial_end(trial, *changed || status < 0);
    if (!solved)
        q->corrects = best.edits[BY_EDIT_BIASES];
    q->report.equalized = by_cle_mode_of(best.edits[BY_EDIT_EQUALIZATION]);
    q->report.equalized_range =
        by_cle_reach(q->options->recipe, by_cle_range_of(best.edits[BY_EDIT_EQUALIZATION]));
    if (status == 0)
        log_equalization(q, &best, survey->pairs, biases);
    return status;
}

/* Nothing is to be equalized, but whether biases of floats and blocks gain is judged as well. */
static int leave_unequalized(struct by_quantization *q, const struct by_cle_report *survey,
                             bool *changed, struct baryon_error *err)
{
    bool biases;
    if (!has_exponents(q) || !by_trial_has_samples(q))
        return 0;
    if (by_judges_biases(q, &biases, err) < 0)
        return -1;
    return biases ? equalize(q, survey, BY_CLE_OFF, changed, err) : 0;
}

/* What is seen without samples says that it is not worth trying. */
static bool is_worth(const struct by_quantization *q, const struct by_cle_report *survey)
{
    const struct by_log *log = q->options->log;
    if (q->options->recipe->cle != BY_CLE_AUTO)
        return true;
    if (survey->spread < WORTH)
        by_log(log, BY_LOG_INFO,
               "equalization off: channels differ by only %.2f bits in %zu pairs of layers",
               survey->spread, survey->pairs + survey->stems);
    else if (q->plan->node_count > BY_TRIAL_NODES_MOST)
        by_log(log, BY_LOG_NOTICE,
               "equalization skipped: ONNX Runtime takes minutes to load a quantized model of %zu "
               "nodes; --cle exact equalizes without a trial",
               q->plan->node_count);
    return survey->spread >= WORTH && q->plan->node_count <= BY_TRIAL_NODES_MOST;
}

bool by_equalize_is_tried(const struct by_quant_plan *plan)
{
    struct by_cle_report survey = {0};
    return plan->recipe->cle == BY_CLE_AUTO && plan->node_count <= BY_TRIAL_NODES_MOST &&
           by_cle_survey((struct by_quant_plan *)plan, &survey, NULL) == 0 &&
           (survey.pairs || survey.stems) && survey.spread >= WORTH;
}

int by_equalize(struct by_quantization *q, bool *changed, struct baryon_error *err)
{
    const enum by_cle_mode mode = q->options->recipe->cle;
    const struct by_input_callback *samples = q->options->calibrate.samples;
    struct by_cle_report survey = {0};
    *changed = false;
    if (mode == BY_CLE_OFF)
        return leave_unequalized(q, &survey, changed, err);
    if (by_cle_survey(q->plan, &survey, err) < 0)
        return -1;
    if ((!survey.pairs && !survey.stems) || !is_worth(q, &survey))
        return leave_unequalized(q, &survey, changed, err);
    if (q->options->stats)
        return refuse_stats(q, err);
    if (q->options->recipe->approach != BY_APPROACH_STATIC ||
        !by_recipe_needs_data(q->options->recipe)) {
        const struct by_candidate candidate = {.edits = {[BY_EDIT_EQUALIZATION] = (int)mode}};
        *changed = true; /* no range of an activation is to be kept */
        return by_candidate_edit_model(&candidate, q->plan, &(struct by_edit_sources){0}, err);
    }
    return samples && !samples->rewind ? refuse_once(q, err)
                                       : equalize(q, &survey, mode, changed, err);
}
