/* Compares candidates of equalization on the samples that judge them. */
#include "trial/trial_internal.h"
#include "trial/verdict.h"

#define WAYS 4 /* at most, in a contest */

struct contest {
    struct by_trial *trial;
    struct by_trial_entry *entries[WAYS];
    size_t known[WAYS]; /* how many samples had judged each before */
    size_t count;
    size_t end; /* of the samples that judge now */
};

/* --- Entries --- */

static bool same_way(struct by_trial_way one, struct by_trial_way other)
{
    return one.mode == other.mode && one.corrects == other.corrects;
}

static struct by_trial_entry *find_entry(struct by_trial *trial, struct by_trial_way way,
                                         struct baryon_error *err)
{
    for (size_t i = 0; i < trial->entry_count; i++)
        if (same_way(trial->entries[i].way, way))
            return &trial->entries[i];
    struct by_trial_entry *entry = &trial->entries[trial->entry_count];
    *entry = (struct by_trial_entry){.way = way};
    entry->judgements = by_alloc_zero(by_judge_count(trial->judge), sizeof *entry->judgements, err);
    return entry->judgements ? &trial->entries[trial->entry_count++] : NULL;
}

static bool takes_part(const struct contest *contest, const struct by_trial_entry *entry)
{
    for (size_t i = 0; i < contest->count; i++)
        if (contest->entries[i] == entry)
            return true;
    return false;
}

static void leave_contest(struct by_trial_entry *entry)
{
    by_session_close(entry->session);
    entry->session = NULL;
}

/* Two that equalize alike look at the same, and one of them has to be first. */
static bool must_wait(const struct contest *contest, size_t place)
{
    const enum by_cle_mode mode = contest->entries[place]->way.mode;
    for (size_t i = 0; i < place; i++)
        if (contest->entries[i]->way.mode == mode)
            return !contest->trial->seen[mode];
    return false;
}

static int prepare_contest(struct contest *contest, struct baryon_error *err)
{
    struct by_trial_entry *fresh[WAYS];
    size_t count = 0, waiting = 0;
    for (size_t i = 0; i < contest->count; i++) {
        struct by_trial_entry *entry = contest->entries[i];
        if (entry->session || entry->judged)
            continue;
        if (must_wait(contest, i))
            waiting++;
        else
            fresh[count++] = entry;
    }
    if (count && by_candidates_prepare(contest->trial, fresh, count, err) < 0)
        return -1;
    return waiting ? prepare_contest(contest, err) : 0;
}

/* Those that are in no contest any more make room; those that are new are prepared. */
static int enter(struct contest *contest, struct baryon_error *err)
{
    struct by_trial *trial = contest->trial;
    for (size_t i = 0; i < trial->entry_count; i++)
        if (!takes_part(contest, &trial->entries[i]))
            leave_contest(&trial->entries[i]);
    return prepare_contest(contest, err);
}

/* --- Judging --- */

/* Pieces are samples of one entry after the other. */
static int judge_each(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct contest *contest = context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        struct by_trial_entry *entry = contest->entries[i / contest->end];
        const size_t sample = i % contest->end;
        if (!entry->session || sample < entry->judged)
            continue;
        if (by_judge_run(contest->trial->judge, entry->session, sample, &entry->judgements[sample],
                         err) < 0 ||
            by_trial_go_on(contest->trial, 1, err) < 0)
            return -1;
    }
    return 0;
}

/* Whoever has been on all samples has nothing more to run. */
static void add_up(struct by_trial_entry *entry, size_t judged, size_t samples)
{
    if (!entry->session || entry->judged >= judged)
        return;
    entry->judged = judged;
    entry->sqnr = by_judge_sqnr(entry->judgements, judged);
    if (judged == samples)
        leave_contest(entry);
}

static void log_contest_score(const struct by_trial *trial, const struct by_trial_entry *entry)
{
    by_log(trial->q->options->log, BY_LOG_INFO,
           "candidate: equalization %s%s: %.2f dB on %zu samples",
           by_cle_mode_name(entry->way.mode), entry->way.corrects ? ", bias correction on" : "",
           entry->sqnr, entry->judged);
}

static int judge_until(struct contest *contest, size_t end, struct baryon_error *err)
{
    contest->end = end;
    if (by_par_for(contest->trial->q->pool, contest->count * end, 1, judge_each, contest, err) < 0)
        return -1;
    for (size_t i = 0; i < contest->count; i++)
        add_up(contest->entries[i], end, by_judge_count(contest->trial->judge));
    return 0;
}

static struct by_trial_entry *best_of(const struct contest *contest)
{
    struct by_trial_entry *best = contest->entries[0];
    for (size_t i = 1; i < contest->count; i++)
        if (contest->entries[i]->sqnr > best->sqnr)
            best = contest->entries[i];
    return best;
}

/* How many are left. */
static size_t drop_losers(struct contest *contest)
{
    size_t left = 0;
    const struct by_trial_entry *best = best_of(contest);
    const struct by_threshold *leads = by_threshold(BY_VERDICT_LEADS, false);
    for (size_t i = 0; i < contest->count; i++) {
        struct by_trial_entry *entry = contest->entries[i];
        if (by_verdict_of(leads, best->judgements, entry->judgements, contest->end)) {
            entry->lost = true;
            leave_contest(entry);
        }
        left += !entry->lost;
    }
    return left;
}

static int judge_all(struct contest *contest, struct baryon_error *err)
{
    const size_t samples = by_judge_count(contest->trial->judge), half = samples / 2;
    size_t left = contest->count;
    if (half > 1) {
        if (judge_until(contest, half, err) < 0)
            return -1;
        left = drop_losers(contest);
    }
    return left > 1 ? judge_until(contest, samples, err) : 0;
}

int by_trial_contest(struct by_trial *trial, const struct by_trial_way *ways, size_t count,
                     struct by_trial_score *scores, struct baryon_error *err)
{
    struct contest contest = {.trial = trial, .count = count};
    for (size_t i = 0; i < count; i++)
        if ((contest.entries[i] = find_entry(trial, ways[i], err)))
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
