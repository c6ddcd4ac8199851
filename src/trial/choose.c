/* Makes the choices of the config: each on drafts, by held-out samples. */
#include "trial/choices.h"

#include "quant/joins.h"
#include "trial/equalize.h"
#include "trial/trial.h"
#include "trial/wide.h"

static void log_choice(struct by_quantization *q, const struct by_choice_row *row,
                       const struct by_trial_score *one, const struct by_trial_score *other)
{
    const struct by_choice_made *made =
        by_trial_report_choice(q, row->kind, row->value, one, other);
    by_log(q->options->log, BY_LOG_NOTICE, "%s: %.1f dB better on held-out samples; %s", made->text,
           made->gain, row->undo);
}

static void keep_gain(struct by_excluded *excluded, const struct by_trial_score *without,
                      const struct by_trial_score *with)
{
    const struct by_gain gain = by_trial_gain(without, with, &excluded->samples);
    excluded->gain = gain.decibels;
    excluded->error = gain.error;
}

/* Values of one kind exclude each other: they are tried together, and chosen one after the other.
 */
#define ALIKE 2

static size_t list_questions(const struct by_choice_row *const *rows, size_t count,
                             struct by_trial_question *questions)
{
    size_t all = 0;
    for (size_t i = 1; i <= count; i++)
        for (size_t k = 0; k < i; k++)
            questions[all++] = (struct by_trial_question){rows[i - 1]->rule, i, k};
    return all;
}

static unsigned bit_of(const struct by_choice_row *row)
{
    size_t count;
    return 1u << (row - by_choices(&count));
}

/* lost: gets the bits of those that are clearly worse. */
static int make_choice(struct by_quantization *q, struct by_trial *trial,
                       const struct by_choice_row *const *rows, size_t count,
                       struct by_candidate *now, unsigned *lost, struct baryon_error *err)
{
    struct by_candidate candidates[1 + ALIKE];
    struct by_trial_question questions[ALIKE * (ALIKE + 1) / 2];
    struct by_trial_score scores[1 + ALIKE];
    size_t place = 0;
    candidates[0] = *now;
    for (size_t i = 0; i < count; i++) {
        candidates[1 + i] = *now;
        candidates[1 + i].edits[rows[i]->kind] = rows[i]->value;
    }
    const size_t asked = list_questions(rows, count, questions);
    if (by_trial_ask(trial, candidates, 1 + count, questions, asked, scores, err) < 0)
        return -1;
    if (rows[0]->kind == BY_EDIT_PAIRS)
        keep_gain(&q->report.excluded, &scores[0], &scores[1]);
    for (size_t i = 1; i <= count; i++) {
        *lost |= scores[i].lost ? bit_of(rows[i - 1]) : 0;
        if ((rows[i - 1]->costs && by_trial_is_good(&scores[place])) ||
            !by_trial_prefers(q, rows[i - 1]->rule, &scores[i], &scores[place]))
            continue;
        log_choice(q, rows[i - 1], &scores[i], &scores[place]);
        place = i;
    }
    *now = candidates[place];
    return 0;
}

static bool can_judge(const struct by_quantization *q)
{
    return by_trial_has_samples(q) && q->options->recipe == &q->recipe &&
           by_recipe_needs_data(&q->recipe) && q->plan->node_count <= BY_TRIAL_NODES_MOST;
}

/* Methods cut values off: of samples that ranges are of none lies beyond them. */
static bool holds_out(const struct by_choice_row *row)
{
    return row->kind == BY_EDIT_ACTIVATION_METHOD;
}

bool by_choose_holds_out(const struct by_quantization *q)
{
    size_t count;
    const struct by_choice_row *rows = by_choices(&count);
    bool any = q->recipe.activation.method && q->recipe.activation.method->by_outputs;
    for (size_t i = 0; i < count; i++)
        any = any || (holds_out(&rows[i]) && rows[i].applies(q->plan));
    return any && can_judge(q);
}

/* Which choices a trial makes. */
enum round {
    BEFORE_CALIBRATION = 1,
    SHARES_ALL = 2, /* judged on all samples, which ranges are of */
    HOLDS_OUT = 4,  /* judged on samples after those that ranges are of */
};

static bool belongs(const struct by_choice_row *row, unsigned rounds)
{
    const enum round round = !row->calibrated ? BEFORE_CALIBRATION
                             : holds_out(row) ? HOLDS_OUT
                                              : SHARES_ALL;
    return (round & rounds) != 0;
}

static size_t count_open(const struct by_quantization *q, unsigned rounds)
{
    size_t count, open = 0;
    const struct by_choice_row *rows = by_choices(&count);
    for (size_t i = 0; i < count; i++)
        open += belongs(&rows[i], rounds) && rows[i].applies(q->plan);
    return open;
}

/* Open ones of the first one's kind; what was chosen already, or lost, is not. */
static size_t list_alike(const struct by_quantization *q, const struct by_choice_row *rows,
                         size_t count, const struct by_candidate *now, unsigned lost,
                         const struct by_choice_row **alike)
{
    size_t found = 0;
    for (size_t i = 0; i < count && found < ALIKE; i++)
        if (rows[i].kind == rows->kind && rows[i].calibrated == rows->calibrated &&
            now->edits[rows[i].kind] != rows[i].value && !(lost & bit_of(&rows[i])) &&
            rows[i].applies(q->plan))
            alike[found++] = &rows[i];
    return found;
}

static int choose_all(struct by_quantization *q, struct by_trial *trial, unsigned rounds,
                      struct by_candidate *now, unsigned *lost, struct baryon_error *err)
{
    size_t count;
    const struct by_choice_row *rows = by_choices(&count), *alike[ALIKE];
    for (size_t i = 0; i < count; i++) {
        if (!belongs(&rows[i], rounds) || (i && rows[i].kind == rows[i - 1].kind))
            continue;
        const size_t found = list_alike(q, &rows[i], count - i, now, *lost, alike);
        if (found && make_choice(q, trial, alike, found, now, lost, err) < 0)
            return -1;
    }
    return 0;
}

int by_choose(struct by_quantization *q, bool *changed, struct baryon_error *err)
{
    struct by_trial *trial;
    struct by_candidate now = by_trial_unedited(q);
    const size_t open = count_open(q, BEFORE_CALIBRATION);
    unsigned lost = 0;
    bool enough;
    *changed = false;
    if (!open || !can_judge(q))
        return 0;
    if (by_trial_open(&trial, q, 1 + open, err) < 0)
        return -1;
    int status = by_trial_has_enough(trial, &now, &enough, err);
    if (status == 0 && !enough)
        status = choose_all(q, trial, BEFORE_CALIBRATION, &now, &lost, err);
    *changed = by_candidate_edits_config(&now);
    if (status == 0 && !*changed) {
        q->trial = trial;
        return 0;
    }
    by_trial_close(trial); /* it is of another config */
    return status < 0 ? -1 : by_candidate_edit_config(&now, &q->recipe, err);
}

/* --- After calibration --- */

/* Noise of activations hides what weights gain, and the other way round: where some activations
 * have 16 bits now, both are asked again. What lost in spite of the noise would lose more. */
static int choose_wide(struct by_quantization *q, struct by_trial *trial, struct by_candidate *now,
                       unsigned lost, struct baryon_error *err)
{
    if (by_choose_wide(q, trial, now, err) < 0)
        return -1;
    const struct by_candidate before = *now;
    if (!now->edits[BY_EDIT_WIDE])
        return 0;
    if (choose_all(q, trial, SHARES_ALL, now, &lost, err) < 0)
        return -1;
    return by_candidate_same(&before, now) ? 0 : by_choose_wide(q, trial, now, err);
}

/* They were judged before ranges were known, on other samples, or not at all. What solving finds is
 * compared with them later. */
static int choose_biases(struct by_quantization *q, struct by_trial *trial,
                         struct by_candidate *now, struct baryon_error *err)
{
    bool judges;
    if (q->recipe.rounding != BY_ROUNDING_NEAREST || !q->part)
        return 0;
    if (by_judges_biases(q, &judges, err) < 0 ||
        (judges && by_choose_biases(q, trial, now, err) < 0))
        return -1;
    q->corrects = now->edits[BY_EDIT_BIASES] != 0;
    return 0;
}

/* Another method is worth samples of its own where it is much better on those that ranges are of.
 * Few held-out samples alone may prefer what cuts off too much. */
static int look_for_methods(struct by_quantization *q, struct by_trial *trial,
                            const struct by_candidate *now, bool *found, struct baryon_error *err)
{
    size_t count;
    const struct by_choice_row *rows = by_choices(&count);
    for (size_t i = 0; i < count && !*found; i++) {
        struct by_candidate candidates[] = {*now, *now};
        struct by_trial_score scores[2];
        candidates[1].edits[rows[i].kind] = rows[i].value;
        if (belongs(&rows[i], HOLDS_OUT) && rows[i].applies(q->plan) &&
            by_trial_compare(q, trial, BY_VERDICT_METHOD_SEEN, candidates, scores, found, err) < 0)
            return -1;
    }
    return 0;
}

/* more: whether methods are worth a trial of their own is to be found out; or NULL. */
static int choose_in_turn(struct by_quantization *q, struct by_trial *trial, unsigned rounds,
                          bool wide, struct by_candidate *now, bool *more, struct baryon_error *err)
{
    unsigned lost = 0;
    bool enough;
    if (by_trial_has_enough(trial, now, &enough, err) < 0)
        return -1;
    if (enough)
        return 0;
    if (choose_all(q, trial, rounds, now, &lost, err) < 0 ||
        (wide && choose_wide(q, trial, now, lost, err) < 0) ||
        (more && look_for_methods(q, trial, now, more, err) < 0))
        return -1;
    return rounds == HOLDS_OUT ? choose_biases(q, trial, now, err) : 0;
}

static int choose_in_trial(struct by_quantization *q, unsigned rounds, bool wide,
                           struct by_candidate *now, bool *more, struct baryon_error *err)
{
    struct by_trial *trial;
    const size_t candidates = 2 + count_open(q, SHARES_ALL | HOLDS_OUT) + BY_WIDE_LEVELS * wide;
    if (by_trial_open_calibrated(&trial, q, candidates, (rounds & HOLDS_OUT) != 0, err) < 0)
        return -1;
    const int status = choose_in_turn(q, trial, rounds, wide, now, more, err);
    by_trial_close(trial);
    return status;
}

static int choose_calibrated(struct by_quantization *q, unsigned rounds, bool wide, bool *changed,
                             bool *more, struct baryon_error *err)
{
    struct by_candidate now = {.edits = {[BY_EDIT_BIASES] = q->corrects}};
    const unsigned open = more ? SHARES_ALL | HOLDS_OUT : rounds;
    if (q->stats && can_judge(q) && (wide || count_open(q, open)) &&
        choose_in_trial(q, rounds, wide, &now, more, err) < 0)
        return -1;
    *changed = by_candidate_edits_config(&now);
    return by_candidate_edit_config(&now, &q->recipe, err);
}

/* Which activations have 16 bits all samples say, as ranges are of all of them: where that is a
 * choice, methods have a trial of their own after it. So they have where the method has the least
 * error already, which mostly is the best one. */
static bool is_later(const struct by_quantization *q, bool wide)
{
    return wide ||
           q->recipe.activation.method == by_calibrator_find(by_other_method_name(BY_OTHER_MINMSE));
}

/* Ranges of all samples tell which there are. */
static int list_joins(struct by_quantization *q, struct baryon_error *err)
{
    struct by_recipe *recipe = &q->recipe;
    if (!q->stats || recipe->compat || recipe->joins == BY_JOINS_QUANTIZED ||
        recipe->approach != BY_APPROACH_STATIC)
        return 0;
    if (by_joins_list(q->plan, q->stats, &q->joins, &recipe->float_joins.count, err) < 0)
        return -1;
    recipe->float_joins.at = q->joins;
    recipe->float_joins.on = recipe->joins == BY_JOINS_FLOAT && recipe->float_joins.count;
    if (recipe->joins == BY_JOINS_AUTO && recipe->float_joins.count && !by_trial_has_samples(q))
        by_log(
            q->options->log, BY_LOG_NOTICE,
            "inputs of Concat lose nearly all in the scale that they share (%zu node%s with what "
            "follows), and there are no samples to judge that; --joins float keeps these nodes "
            "float",
            recipe->float_joins.count, recipe->float_joins.count == 1 ? "" : "s");
    return 0;
}

int by_choose_calibrated(struct by_quantization *q, bool *changed, bool *more,
                         struct baryon_error *err)
{
    *changed = *more = false;
    if (q->options->recipe != &q->recipe || by_wide_list(q, err) < 0 || list_joins(q, err) < 0)
        return -1;
    const bool wide = by_wide_is_open(&q->recipe), later = is_later(q, wide);
    if (choose_calibrated(q, later ? SHARES_ALL : SHARES_ALL | HOLDS_OUT, wide, changed,
                          later ? more : NULL, err) < 0)
        return -1;
    *changed = *changed || q->recipe.wide_below > 0 || q->recipe.float_joins.on;
    return 0;
}

int by_choose_methods(struct by_quantization *q, bool *changed, struct baryon_error *err)
{
    return choose_calibrated(q, HOLDS_OUT, false, changed, NULL, err);
}
