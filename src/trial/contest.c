/* Compares candidates on the samples that judge them. */
#include "trial/biases.h"
#include "trial/trial_internal.h"

#define MOST 16 /* candidates, in a contest */

struct contest {
    struct by_trial *trial;
    struct by_trial_entry *entries[MOST];
    size_t known[MOST]; /* how many samples had judged each before */
    size_t count;
    size_t end; /* of the samples that judge now */
    const struct by_trial_question *questions;
    size_t question_count; /* 0: whoever asked wants all of them */
};

/* --- Entries --- */

static struct by_trial_seen *find_seen(struct by_trial *trial, const struct by_candidate *candidate,
                                       struct baryon_error *err)
{
    size_t place = 0;
    while (place < trial->seen_count && !by_candidate_same_model(&trial->seen[place].of, candidate))
        place++;
    struct by_trial_seen *seen = &trial->seen[place];
    if (place == trial->seen_count) {
        *seen = (struct by_trial_seen){.of = *candidate};
        trial->seen_count++;
    }
    return (seen->known || by_known_open(&seen->known, err) == 0) &&
                   (seen->ranges || by_known_open(&seen->ranges, err) == 0)
               ? seen
               : NULL;
}

static struct by_trial_entry *
add_entry(struct by_trial *trial, const struct by_candidate *candidate, struct baryon_error *err)
{
    if (trial->entry_count == BY_TRIAL_ENTRIES || trial->seen_count == BY_TRIAL_ENTRIES) {
        by_fail(err, BARYON_ERR_INTERNAL, "more than %d candidates", BY_TRIAL_ENTRIES);
        return NULL;
    }
    struct by_trial_entry *entry = &trial->entries[trial->entry_count];
    *entry =
        (struct by_trial_entry){.candidate = *candidate, .seen = find_seen(trial, candidate, err)};
    if (!entry->seen)
        return NULL;
    entry->judgements = by_alloc_zero(by_judge_count(trial->judge), sizeof *entry->judgements, err);
    return entry->judgements ? &trial->entries[trial->entry_count++] : NULL;
}

static struct by_trial_entry *
find_entry(struct by_trial *trial, const struct by_candidate *candidate, struct baryon_error *err)
{
    for (size_t i = 0; i < trial->entry_count; i++)
        if (by_candidate_same(&trial->entries[i].candidate, candidate))
            return &trial->entries[i];
    return add_entry(trial, candidate, err);
}

static bool takes_part(const struct contest *contest, const struct by_trial_entry *entry)
{
    for (size_t i = 0; i < contest->count; i++)
        if (contest->entries[i] == entry)
            return true;
    return false;
}

/* The first one of those that share a model observes it for the others. */
static bool must_wait(const struct contest *contest, size_t place)
{
    const struct by_trial_seen *seen = contest->entries[place]->seen;
    for (size_t i = 0; i < place; i++)
        if (contest->entries[i]->seen == seen)
            return !seen->observed;
    return false;
}

static int prepare_contest(struct contest *contest, struct baryon_error *err)
{
    struct by_trial_entry *fresh[MOST];
    size_t count = 0, waiting = 0;
    for (size_t i = 0; i < contest->count; i++) {
        struct by_trial_entry *entry = contest->entries[i];
        if (entry->session || entry->judged || entry->recalled || entry->failed)
            continue;
        if (must_wait(contest, i))
            waiting++;
        else
            fresh[count++] = entry;
    }
    if (count && by_trial_prepare(contest->trial, fresh, count, err) < 0)
        return -1;
    return waiting ? prepare_contest(contest, err) : 0;
}

/* Those that are in no contest any more make room; those that are new are prepared. */
static int enter(struct contest *contest, struct baryon_error *err)
{
    struct by_trial *trial = contest->trial;
    for (size_t i = 0; i < contest->count; i++)
        contest->entries[i]->ahead = false;
    for (size_t i = 0; i < trial->entry_count; i++)
        if (!takes_part(contest, &trial->entries[i]) && !trial->entries[i].ahead)
            by_trial_leave_session(trial, &trial->entries[i]);
    return prepare_contest(contest, err);
}

int by_trial_ahead(struct by_trial *trial, const struct by_candidate *candidates, size_t count,
                   struct baryon_error *err)
{
    struct contest contest = {.trial = trial, .count = count};
    for (size_t i = 0; i < count; i++)
        if (!(contest.entries[i] = find_entry(trial, &candidates[i], err)))
            return -1;
    if (contest.entries[0]->judged)
        return 0;
    for (size_t i = 0; i < count; i++)
        contest.entries[i]->ahead = true;
    return prepare_contest(&contest, err);
}

/* --- Judging --- */

static int judge_one(struct by_trial *trial, struct by_trial_entry *entry, size_t sample,
                     struct baryon_error *err)
{
    struct baryon_error refusal = {0};
    const struct by_array *table = entry->table.count ? &entry->table.array : NULL;
    if (by_judge_run(trial->judge, entry->session, table, sample, &entry->judgements[sample],
                     &refusal) < 0 &&
        !by_trial_refused(trial, entry, &refusal)) {
        if (err)
            *err = refusal;
        return -1;
    }
    return by_trial_go_on(trial, 1, err);
}

/* Pieces are samples of one entry after the other. */
static int judge_each(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct contest *contest = context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        struct by_trial_entry *entry = contest->entries[i / contest->end];
        const size_t sample = i % contest->end;
        if (entry->session && sample >= entry->judged &&
            judge_one(contest->trial, entry, sample, err) < 0)
            return -1;
    }
    return 0;
}

static void log_not_finite(const struct by_trial *trial, const struct by_trial_entry *entry)
{
    char text[256];
    by_log(trial->q->options->log, BY_LOG_NOTICE,
           "candidate %s is out, because its outputs are not finite",
           by_candidate_describe(&entry->candidate, text, sizeof text));
}

/* What was on all samples has nothing more to run. */
static void add_up(struct by_trial *trial, struct by_trial_entry *entry, size_t judged)
{
    const bool known = entry->session || entry->recalled >= judged;
    if (!known || entry->lost || entry->judged >= judged)
        return;
    entry->judged = judged;
    entry->sqnr = by_judge_sqnr(entry->judgements, judged);
    if (!by_judge_is_finite(entry->judgements, judged)) {
        log_not_finite(trial, entry);
        entry->lost = true;
    }
    if (judged == by_judge_count(trial->judge) || entry->lost)
        by_trial_leave_session(trial, entry);
}

static void log_contest_score(const struct by_trial *trial, const struct by_trial_entry *entry)
{
    char text[256];
    by_log(trial->q->options->log, BY_LOG_INFO, "candidate: %s: %.2f dB on %zu samples",
           by_candidate_describe(&entry->candidate, text, sizeof text), entry->sqnr, entry->judged);
}

/* What an earlier trial said of a candidate does not suffice any more. */
static int wake(struct contest *contest, struct baryon_error *err)
{
    struct by_trial_entry *awake[MOST];
    size_t count = 0;
    for (size_t i = 0; i < contest->count; i++) {
        struct by_trial_entry *entry = contest->entries[i];
        if (entry->wakes || entry->lost || !entry->recalled || entry->recalled >= contest->end)
            continue;
        entry->wakes = true;
        entry->judged = entry->recalled;
        awake[count++] = entry;
    }
    return count ? by_trial_prepare(contest->trial, awake, count, err) : 0;
}

static int judge_until(struct contest *contest, size_t end, struct baryon_error *err)
{
    contest->end = end;
    if (wake(contest, err) < 0 || by_trial_references(contest->trial, end, err) < 0 ||
        by_par_for(contest->trial->q->pool, contest->count * end, 1, judge_each, contest, err) < 0)
        return -1;
    for (size_t i = 0; i < contest->count; i++)
        add_up(contest->trial, contest->entries[i], end);
    return 0;
}

/* NULL: all lost. */
static struct by_trial_entry *best_of(const struct contest *contest)
{
    struct by_trial_entry *best = NULL;
    for (size_t i = 0; i < contest->count; i++)
        if (!contest->entries[i]->lost && (!best || contest->entries[i]->sqnr > best->sqnr))
            best = contest->entries[i];
    return best;
}

static const struct by_threshold *threshold_of(const struct by_quantization *q,
                                               enum by_verdict_rule rule)
{
    return by_threshold(rule, q->options->recipe->weight.format != NULL);
}

static bool is_answered(const struct contest *contest, const struct by_trial_question *question)
{
    const struct by_trial_entry *one = contest->entries[question->one],
                                *other = contest->entries[question->other];
    if (one->lost || other->lost)
        return true;
    const struct by_gain gain = by_judge_gain(one->judgements, other->judgements, contest->end);
    return by_verdict_foretold(threshold_of(contest->trial->q, question->rule), &gain, contest->end,
                               by_judge_count(contest->trial->judge));
}

static bool is_all_answered(const struct contest *contest)
{
    size_t answered = 0;
    while (answered < contest->question_count &&
           is_answered(contest, &contest->questions[answered]))
        answered++;
    return contest->question_count && answered == contest->question_count;
}

/* Whether more samples are worth running: not where one candidate is left, nor where no other one
 * can be better than the best by much. */
static bool is_open(const struct contest *contest, const struct by_trial_entry *best)
{
    size_t left = 0;
    for (size_t i = 0; i < contest->count; i++) {
        const struct by_trial_entry *entry = contest->entries[i];
        if (entry == best || entry->lost)
            continue;
        const struct by_gain gain =
            by_judge_gain(best->judgements, entry->judgements, contest->end);
        left += !by_verdict_settled(&gain);
    }
    return left > 0;
}

/* What stays unless both measures are against it is not out by one of them. */
static bool is_defended(const struct contest *contest, const struct by_trial_entry *entry)
{
    for (size_t i = 0; i < contest->question_count; i++) {
        const struct by_trial_question *question = &contest->questions[i];
        if (contest->entries[question->other] == entry &&
            threshold_of(contest->trial->q, question->rule)->measure == BY_MEASURE_BOTH)
            return true;
    }
    return false;
}

static bool drop_losers(struct contest *contest)
{
    const struct by_trial_entry *best = best_of(contest);
    const struct by_threshold *leads = by_threshold(BY_VERDICT_LEADS, false);
    for (size_t i = 0; best && i < contest->count; i++) {
        struct by_trial_entry *entry = contest->entries[i];
        if (!entry->lost && !is_defended(contest, entry) &&
            by_verdict_of(leads, best->judgements, entry->judgements, contest->end)) {
            entry->lost = true;
            by_trial_leave_session(contest->trial, entry);
        }
    }
    return best && is_open(contest, best) && !is_all_answered(contest);
}

/* A quarter of the samples judges first, then twice as many, as long as that may change what is
 * chosen. */
static int judge_all(struct contest *contest, struct baryon_error *err)
{
    const size_t samples = by_judge_count(contest->trial->judge);
    const size_t first = samples / 4 > BY_TRIAL_FEWEST ? samples / 4 : BY_TRIAL_FEWEST;
    bool open = true;
    for (size_t end = first; open; end *= 2) {
        if (judge_until(contest, end < samples ? end : samples, err) < 0)
            return -1;
        open = drop_losers(contest) && end < samples;
    }
    return 0;
}

int by_trial_ask(struct by_trial *trial, const struct by_candidate *candidates, size_t count,
                 const struct by_trial_question *questions, size_t question_count,
                 struct by_trial_score *scores, struct baryon_error *err)
{
    struct contest contest = {
        .trial = trial, .count = count, .questions = questions, .question_count = question_count};
    for (size_t i = 0; i < count; i++)
        if ((contest.entries[i] = find_entry(trial, &candidates[i], err)))
            contest.known[i] = contest.entries[i]->judged;
        else
            return -1;
    if (enter(&contest, err) < 0 || judge_all(&contest, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct by_trial_entry *entry = contest.entries[i];
        if (entry->judged > contest.known[i])
            log_contest_score(trial, entry);
        scores[i] = (struct by_trial_score){entry->judgements, entry->judged, entry->lost};
    }
    return 0;
}

int by_trial_contest(struct by_trial *trial, const struct by_candidate *candidates, size_t count,
                     struct by_trial_score *scores, struct baryon_error *err)
{
    return by_trial_ask(trial, candidates, count, NULL, 0, scores, err);
}

static size_t judged_by_both(const struct by_trial_score *one, const struct by_trial_score *other)
{
    return one->count < other->count ? one->count : other->count;
}

#define GOOD 20.0 /* dB of a model that needs none of what costs */

bool by_trial_is_good(const struct by_trial_score *score)
{
    return !score->lost && by_judge_sqnr(score->each, score->count) >= GOOD;
}

int by_trial_ask_good(struct by_trial *trial, const struct by_candidate *candidate, bool *good,
                      struct baryon_error *err)
{
    struct by_trial_score score;
    if (by_trial_contest(trial, candidate, 1, &score, err) < 0)
        return -1;
    *good = by_trial_is_good(&score);
    return 0;
}

#define ENOUGH 40.0 /* dB: errors of a hundredth, which no task notices */

int by_trial_has_enough(struct by_trial *trial, const struct by_candidate *candidate, bool *enough,
                        struct baryon_error *err)
{
    struct by_trial_score score;
    *enough = false;
    if (trial->q->options->tries_all)
        return 0;
    if (by_trial_contest(trial, candidate, 1, &score, err) < 0)
        return -1;
    *enough = !score.lost && score.count && by_judge_worst(score.each, score.count) >= ENOUGH;
    return 0;
}

bool by_trial_prefers(const struct by_quantization *q, enum by_verdict_rule rule,
                      const struct by_trial_score *one, const struct by_trial_score *other)
{
    if (one->lost || other->lost)
        return other->lost && !one->lost;
    return by_verdict_of(threshold_of(q, rule), one->each, other->each, judged_by_both(one, other));
}

int by_trial_compare(const struct by_quantization *q, struct by_trial *trial,
                     enum by_verdict_rule rule, const struct by_candidate candidates[2],
                     struct by_trial_score scores[2], bool *better, struct baryon_error *err)
{
    const struct by_trial_question question = {rule, 1, 0};
    if (by_trial_ask(trial, candidates, 2, &question, 1, scores, err) < 0)
        return -1;
    *better = by_trial_prefers(q, rule, &scores[1], &scores[0]);
    return 0;
}

struct by_gain by_trial_gain(const struct by_trial_score *one, const struct by_trial_score *other,
                             size_t *samples)
{
    *samples = judged_by_both(one, other);
    return by_judge_gain(one->each, other->each, *samples);
}

/* Solving finds biases: what comes nearest to that are corrected ones. */
struct by_candidate by_trial_unedited(const struct by_quantization *q)
{
    const struct by_recipe *recipe = q->options->recipe;
    const bool solved = by_trial_before_rounding(recipe) && !by_trial_leaves_weights(recipe);
    return (struct by_candidate){.edits = {[BY_EDIT_BIASES] = solved || q->corrects}};
}

struct by_choice_made *by_trial_report_choice(struct by_quantization *q, enum by_edit_kind kind,
                                              int value, const struct by_trial_score *one,
                                              const struct by_trial_score *other)
{
    struct by_quantize_report *report = &q->report;
    struct by_choice_made *made = &report->choices[report->choice_count];
    report->choice_count += report->choice_count + 1 < BY_CHOICES_MAX;
    *made = (struct by_choice_made){.choice = by_edit(kind)->name};
    (void)by_edit(kind)->describe(value, made->text, sizeof made->text);
    made->gain = by_trial_gain(one, other, &made->samples).decibels;
    return made;
}
