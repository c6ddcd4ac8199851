/*
 * Chooses by the model, verifies a real candidate, corrects the model by what it was, and chooses
 * again. When corrections do not reach the goal, sources are measured in place, where errors add.
 * When the goal is met, the corrected model is asked for something cheaper, until it has nothing.
 */
#include "search/decision_internal.h"
#include "search/halving.h"

#include <math.h>
#include <string.h>

#define VERIFICATIONS 12
#define AROUNDS       2    /* times that sources are measured in place */
#define STEP          2.0  /* dB that the goal of the model rises where only the caller knows */
#define NEAR          0.25 /* dB between what meets and what does not */
#define CLOSE         0.5  /* dB that prediction and candidate may differ before it is corrected */
#define ADDS          0.5  /* share of a predicted gain that there is where errors add */
#define APART         8    /* candidates of a search that counts sources one by one */
#define APART_NEAR    1.0  /* dB between what meets and what does not, there */
#define APART_SAVES   0.01 /* of the best one's cost: what saves less is no candidate there */
#define LITTLE        0.1  /* share of what can be saved that is hardly worth anything */
#define CONFIRMED     6    /* sets that are asked about, at most */

struct searching {
    struct by_decisions *d;
    const struct by_search_options *options;
    bool *best;
    struct by_prediction best_predicted;
    struct by_verified best_verified;
    bool any;
    size_t verified, rounds; /* candidates that were quantized, all with remembered ones */
    size_t arounds;          /* times that sources may still be measured in place */
    double begin;            /* dB */
    size_t noted;            /* sets whose gain was looked at */
    bool adds;               /* the first set gained about what was predicted */
    bool dear;               /* what was chosen last costs too much to be verified */
};

static bool same(const struct by_decisions *d, const bool *one, const bool *other)
{
    return !memcmp(one, other, d->decision_count);
}

/* --- Verifying --- */

static const struct by_decide_verified *recall(const struct by_decisions *d, const bool *on)
{
    const struct by_decide_verified *known = d->work->verified;
    while (known && !same(d, known->on, on))
        known = known->next;
    return known;
}

double by_decisions_verified(const struct by_decisions *d, const bool *on)
{
    const struct by_decide_verified *known = recall(d, on);
    return known ? known->verified.sqnr : (double)NAN;
}

static int remember(struct by_decisions *d, const bool *on, const struct by_verified *verified,
                    struct baryon_error *err)
{
    struct by_decide_verified *known = BY_ARENA_NEW(&d->arena, struct by_decide_verified, err);
    bool *copy = by_arena_alloc(&d->arena, d->decision_count + 1, sizeof *copy, err);
    if (!known || !copy)
        return -1;
    memcpy(copy, on, d->decision_count);
    *known = (struct by_decide_verified){d->work->verified, copy, *verified};
    d->work->verified = known;
    return 0;
}

static int quantize_and_verify(const struct searching *searching, const bool *on,
                               struct by_verified *verified, struct baryon_error *err)
{
    const struct by_search_options *options = searching->options;
    int status;
    *verified = (struct by_verified){.sqnr = -INFINITY};
    if (options->verify)
        status = options->verify(options->context, searching->d, on, verified, err);
    else
        status = by_decisions_judge(searching->d, on, NULL, &verified->sqnr, err);
    if (status < 0 && err->code == BARYON_ERR_USAGE) { /* rules that leave nothing to quantize */
        by_err_clear(err);
        *verified = (struct by_verified){.sqnr = -INFINITY, .empty = true};
        return 0;
    }
    return status;
}

/* A caller's measure knows whether its goals are met; ours depends on the goal in dB. Both have to
 * reach that goal, which a caller raises where whole quantizations fall short. */
static bool reaches(const struct searching *searching, const struct by_verified *verified)
{
    const double goal = searching->options->limits.sqnr;
    if (!searching->options->verify)
        return verified->sqnr >= goal;
    return verified->meets && !(isfinite(goal) && verified->sqnr < goal + verified->asks);
}

static int verify(struct searching *searching, const bool *on, struct by_verified *verified,
                  struct baryon_error *err)
{
    const struct by_decide_verified *known = recall(searching->d, on);
    searching->rounds++;
    if (known) {
        *verified = known->verified;
    } else {
        searching->verified++;
        if (quantize_and_verify(searching, on, verified, err) < 0 ||
            remember(searching->d, on, verified, err) < 0)
            return -1;
    }
    verified->meets = reaches(searching, verified);
    return 0;
}

static bool is_within(const struct searching *searching, const struct by_prediction *predicted)
{
    return predicted->wide_share <= searching->options->limits.wide_share + 1e-12 &&
           predicted->bytes <= searching->options->limits.bytes;
}

static bool is_better(const struct searching *searching, const struct by_prediction *predicted,
                      const struct by_verified *verified)
{
    const struct by_verified *best = &searching->best_verified;
    const bool within = is_within(searching, predicted);
    const bool best_within = is_within(searching, &searching->best_predicted);
    if (!searching->any || within != best_within)
        return !searching->any || within;
    if (verified->meets != best->meets)
        return verified->meets;
    if (!verified->meets || isinf(searching->options->limits.sqnr))
        return verified->sqnr > best->sqnr;
    return predicted->cost < searching->best_predicted.cost;
}

/* What the model predicted becomes what was measured: by how much errors do not add. */
static void correct(struct by_decisions *d, double predicted, double real)
{
    if (!isfinite(real))
        return;
    for (size_t i = 0; i < d->output_count; i++)
        d->scale[i] *= exp10((predicted - real) / 10);
}

/* Of the first set that was chosen. */
static void note_gain(struct searching *searching, double predicted, double real)
{
    const double gain = real - searching->begin, expected = predicted - searching->begin;
    searching->noted++;
    if (searching->noted == 1)
        searching->begin = real;
    else if (searching->noted == 2)
        searching->adds = expected <= 0 || gain >= ADDS * expected;
}

/* It says nothing to the model. */
static int verify_alone(struct searching *searching, const char *what, const bool *on,
                        struct by_search_step *step, struct baryon_error *err)
{
    struct by_decisions *d = searching->d;
    *step = (struct by_search_step){.what = what};
    by_decisions_predict(d, on, &step->predicted);
    if (verify(searching, on, &step->verified, err) < 0)
        return -1;
    for (size_t i = 0; i < d->decision_count; i++)
        step->chosen += on[i];
    if (is_better(searching, &step->predicted, &step->verified)) {
        memcpy(searching->best, on, d->decision_count);
        searching->best_predicted = step->predicted;
        searching->best_verified = step->verified;
        searching->any = true;
    }
    return searching->options->step
               ? searching->options->step(searching->options->context, d, on, step, err)
               : 0;
}

static int verify_step(struct searching *searching, const char *what, const bool *on,
                       struct by_verified *verified, struct baryon_error *err)
{
    struct by_decisions *d = searching->d;
    struct by_search_step step;
    if (verify_alone(searching, what, on, &step, err) < 0)
        return -1;
    *verified = step.verified;
    note_gain(searching, step.predicted.sqnr, verified->sqnr);
    if (!d->work->apart && fabs(step.predicted.sqnr - verified->sqnr) > 1e-3)
        correct(d, step.predicted.sqnr, verified->sqnr);
    return 0;
}

static bool may_verify(const struct searching *searching)
{
    const size_t asked = searching->options->verifications;
    const size_t most = asked ? asked : VERIFICATIONS;
    return searching->verified < most && searching->rounds < 2 * most;
}

/* With nothing quantized the model meets all that can be met. */
static bool suffices(const struct by_verified *verified)
{
    return verified->meets || verified->empty;
}

/* --- To a goal in dB --- */

/* One round of choosing and verifying. *stuck: there is nothing new to verify that costs less than
 * `most`. */
static int go_below(struct searching *searching, double sqnr, double most, const char *what,
                    bool *on, struct by_verified *verified, bool *stuck, struct baryon_error *err)
{
    struct by_decisions *d = searching->d;
    struct by_choice_goal goal = searching->options->limits;
    bool *next = by_alloc_zero(d->decision_count + 1, sizeof *next, err), reached;
    if (!next)
        return -1;
    goal.sqnr = sqnr;
    int status = by_decisions_choose(d, &goal, next, &reached, err);
    struct by_prediction predicted = {0};
    if (status == 0 && isfinite(most))
        by_decisions_predict(d, next, &predicted);
    searching->dear = isfinite(most) && predicted.cost >= most;
    *stuck = status == 0 && (same(d, next, on) || searching->dear);
    if (status == 0 && !*stuck) {
        memcpy(on, next, d->decision_count);
        status = verify_step(searching, what, on, verified, err);
    }
    by_free(next);
    return status;
}

static int go_once(struct searching *searching, double sqnr, const char *what, bool *on,
                   struct by_verified *verified, bool *stuck, struct baryon_error *err)
{
    return go_below(searching, sqnr, INFINITY, what, on, verified, stuck, err);
}

/* Where corrections alone led nowhere. */
static int measure_around(struct searching *searching, const bool *on, bool *did,
                          struct baryon_error *err)
{
    *did = searching->adds && searching->arounds > 0;
    if (!*did)
        return 0;
    searching->arounds--;
    return by_decisions_measure_around(searching->d, on, err);
}

/* Goals in dB that were asked of the model as it was first: the greatest that led to a miss, and
 * the least that met. Corrections alone swing where their size depends on what is chosen. */
struct bracket {
    double low, high, scale;
};

static struct bracket open_bracket(const struct by_decisions *d)
{
    return (struct bracket){-INFINITY, INFINITY, d->scale[0]};
}

/* What was corrected since the bracket was opened, in dB. */
static double corrected_by(const struct bracket *bracket, const struct by_decisions *d)
{
    return 10 * log10(d->scale[0] / bracket->scale);
}

/* The goal, or the middle of the bracket where the goal is not inside. */
static double within_bracket(const struct bracket *bracket, double goal)
{
    if (isfinite(bracket->low) && isfinite(bracket->high) &&
        !(goal > bracket->low && goal < bracket->high))
        return (bracket->low + bracket->high) / 2;
    return goal;
}

static void note_goal(struct bracket *bracket, double goal, bool meets)
{
    if (meets)
        bracket->high = fmin(bracket->high, goal);
    else
        bracket->low = fmax(bracket->low, goal);
}

/* Both ends are known, and too near for another set between them. */
static bool is_narrow(const struct bracket *bracket)
{
    return bracket->high - bracket->low < NEAR / 4;
}

static int search_sqnr(struct searching *searching, bool *on, struct by_verified *verified,
                       struct baryon_error *err)
{
    struct bracket bracket = open_bracket(searching->d);
    double before = verified->sqnr;
    unsigned misses = 0;
    while (may_verify(searching) && !is_narrow(&bracket)) {
        bool stuck, around = false;
        const double moved = corrected_by(&bracket, searching->d);
        const double asked = searching->options->limits.sqnr + verified->asks;
        const double goal = within_bracket(&bracket, asked + moved);
        if (go_once(searching, goal - moved, misses ? "correct" : "widen", on, verified, &stuck,
                    err) < 0)
            return -1;
        const bool bisects = isfinite(bracket.low) && isfinite(bracket.high);
        if (stuck && !bisects && (verified->meets || isinf(asked)))
            return 0;
        note_goal(&bracket, goal, suffices(verified));
        misses = suffices(verified) || verified->sqnr > before ? 0 : misses + 1;
        before = verified->sqnr;
        if (bisects || (!stuck && misses < 2))
            continue;
        if (measure_around(searching, on, &around, err) < 0)
            return -1;
        if (around)
            bracket = open_bracket(searching->d);
        else if (stuck || !searching->adds)
            return 0;
    }
    return 0;
}

/* --- To a goal that only the caller knows --- */

/* The model's goal rises until the caller's is met, and falls to where it just is. */
static int search_other(struct searching *searching, bool *on, struct by_verified *verified,
                        struct baryon_error *err)
{
    double low = verified->sqnr, high = INFINITY, step = STEP;
    if (!isfinite(low))
        low = 0;
    while (may_verify(searching) && high - low > NEAR) {
        const double target = isinf(high) ? low + step : (low + high) / 2;
        bool stuck;
        if (go_once(searching, target, isinf(high) ? "widen" : "narrow", on, verified, &stuck,
                    err) < 0)
            return -1;
        if (stuck && isinf(high) && target > BY_SQNR_MAX)
            return 0;
        if (suffices(verified))
            high = target;
        else
            low = target;
        step *= isinf(high) ? 2 : 1;
    }
    return 0;
}

/* --- Where errors do not add --- */

/* met: whether `on` met, before and after. */
static int verify_apart(struct searching *searching, double sqnr, const char *what, bool *on,
                        bool *met, enum by_halved *outcome, struct baryon_error *err)
{
    bool stuck;
    struct by_verified verified = {.sqnr = -INFINITY};
    const double most = searching->best_verified.meets
                            ? (1 - APART_SAVES) * searching->best_predicted.cost
                            : INFINITY;
    if (go_below(searching, sqnr, most, what, on, &verified, &stuck, err) < 0)
        return -1;
    const struct by_halved_set set = {
        .dear = searching->dear, .verified = !stuck, .meets = suffices(&verified)};
    *outcome = by_halving_outcome(&set, met);
    return 0;
}

/* The widest first, then the goal in the middle between what meets and what does not. */
static int bisect_apart(struct searching *searching, bool *on, struct baryon_error *err)
{
    struct by_prediction least, most;
    enum by_halved outcome;
    double goal;
    bool met = false;
    by_decisions_predict(searching->d, on, &least);
    if (verify_apart(searching, INFINITY, "widest", on, &met, &outcome, err) < 0)
        return -1;
    if (outcome == BY_HALVED_MISSED)
        return 0;
    by_decisions_predict(searching->d, on, &most);
    struct by_halving halving = {
        .low = least.sqnr, .high = most.sqnr, .near = APART_NEAR, .left = APART - 1};
    while (by_halving_next(&halving, &goal)) {
        if (verify_apart(searching, goal, "apart", on, &met, &outcome, err) < 0)
            return -1;
        by_halving_take(&halving, goal, outcome);
    }
    return 0;
}

/* Of a model that answers small changes with large ones the sum of errors says little, and a set
 * with less noise of each source is still the better one. */
static int search_apart(struct searching *searching, bool *on, struct baryon_error *err)
{
    struct by_decisions *d = searching->d;
    struct by_decide_noise *noise = &d->work->noise;
    const struct by_decide_noise now = *noise;
    double scale[BY_DECISION_OUTPUTS];
    memcpy(scale, d->scale, sizeof scale);
    for (size_t i = 0; i < BY_DECISION_OUTPUTS; i++)
        d->scale[i] = 1;
    noise->group_of = noise->first_group; /* before any was measured in place */
    noise->share_of = noise->first_share;
    memset(on, 0, d->decision_count);
    d->work->apart = true;
    const int status = bisect_apart(searching, on, err);
    d->work->apart = false;
    noise->group_of = now.group_of;
    noise->share_of = now.share_of;
    memcpy(d->scale, scale, sizeof scale);
    return status;
}

/* --- The whole --- */

static int rescue(struct searching *searching, bool *on, struct baryon_error *err)
{
    if (searching->best_verified.meets || isinf(searching->options->limits.sqnr))
        return 0;
    return search_apart(searching, on, err);
}

/* Where errors of the worst output cancel, every single change makes it worse, and choosing by it
 * ends before the goal: the mean of all outputs leads on. */
static int choose_measure(struct searching *searching, double goal, const bool *on,
                          struct baryon_error *err)
{
    struct by_decisions *d = searching->d;
    struct by_choice_goal limits = searching->options->limits;
    bool reached = true;
    if (!d->work->options.worst || d->output_count < 2 || !isfinite(goal))
        return 0;
    bool *next = by_alloc_zero(d->decision_count + 1, sizeof *next, err);
    if (!next)
        return -1;
    limits.sqnr = goal;
    memcpy(next, on, d->decision_count);
    const int status = by_decisions_choose(d, &limits, next, &reached, err);
    d->work->options.worst = reached;
    by_free(next);
    return status;
}

/* Not even the best under the limits meets the goal. */
static int is_hopeless(struct searching *searching, const bool *on, bool *hopeless,
                       struct baryon_error *err)
{
    struct by_decisions *d = searching->d;
    struct by_choice_goal limits = searching->options->limits;
    struct by_search_step step;
    bool reached, *next = by_alloc_zero(d->decision_count + 1, sizeof *next, err);
    if (!next)
        return -1;
    limits.sqnr = INFINITY;
    memcpy(next, on, d->decision_count);
    int status = by_decisions_choose(d, &limits, next, &reached, err);
    if (status == 0)
        status = verify_alone(searching, "widest", next, &step, err);
    *hopeless = status == 0 && !step.verified.meets;
    by_free(next);
    return status;
}

static int search(struct searching *searching, bool *on, struct baryon_error *err)
{
    struct by_verified verified;
    bool hopeless = false;
    if (verify_step(searching, "begin", on, &verified, err) < 0)
        return -1;
    if (verified.meets && !searching->options->narrows)
        return 0;
    if (searching->options->brief && !verified.meets &&
        is_hopeless(searching, on, &hopeless, err) < 0)
        return -1;
    if (hopeless)
        return 0;
    const double goal = searching->options->limits.sqnr;
    if (choose_measure(searching, goal, on, err) < 0)
        return -1;
    if (!(verified.sqnr >= goal) || memchr(on, true, searching->d->decision_count))
        verified.asks = 0; /* the error of what misses by far says little of what meets */
    if (isnan(goal))
        return search_other(searching, on, &verified, err) < 0 ? -1 : rescue(searching, on, err);
    if (search_sqnr(searching, on, &verified, err) < 0 || rescue(searching, on, err) < 0)
        return -1;
    if (searching->best_verified.meets || searching->adds)
        return 0;
    searching->adds = true; /* costs more than all candidates before it */
    searching->verified = searching->rounds = 0;
    return search_sqnr(searching, on, &verified, err);
}

/* --- Where the margin costs nearly all --- */

/* The cheapest one that nearly meets the goals and costs more than `above`; NULL: none. A goal that
 * was raised is no margin. */
static const struct by_decide_verified *next_near(const struct searching *searching, double above,
                                                  double below, struct by_prediction *predicted)
{
    const struct by_decisions *d = searching->d;
    const struct by_decide_verified *found = NULL;
    for (const struct by_decide_verified *at = d->work->verified; at; at = at->next) {
        struct by_prediction now;
        if (!at->verified.nearly || at->verified.sqnr < searching->options->limits.sqnr)
            continue;
        by_decisions_predict(d, at->on, &now);
        if (!is_within(searching, &now) || !(now.cost > above && now.cost < below))
            continue;
        found = at;
        below = now.cost;
        *predicted = now;
    }
    return found;
}

/* A few samples with nearly all of the error ask for a margin that only a model has in which hardly
 * anything is quantized. What meets the goals without it is of more use. */
static int spare_margin(struct searching *searching, bool *spared, struct baryon_error *err)
{
    double above = -INFINITY;
    struct by_prediction predicted = {0};
    const struct by_decide_verified *near;
    *spared = false;
    if (!searching->options->confirm || !searching->best_verified.meets)
        return 0;
    const double most = by_decide_float_cost(searching->d);
    const double saved = most - searching->best_predicted.cost;
    for (size_t i = 0; i < CONFIRMED && !*spared; i++, above = predicted.cost) {
        near = next_near(searching, above, (1 - LITTLE) * most, &predicted);
        if (!near || !(saved < LITTLE * (most - predicted.cost)))
            return 0;
        if (searching->options->confirm(searching->options->context, searching->d, near->on, spared,
                                        err) < 0)
            return -1;
        if (*spared)
            memcpy(searching->best, near->on, searching->d->decision_count);
    }
    return 0;
}

int by_decisions_search(struct by_decisions *d, const struct by_search_options *options, bool *on,
                        bool *met, struct baryon_error *err)
{
    struct searching searching = {
        .d = d, .options = options, .arounds = options->brief ? 0 : AROUNDS, .adds = true};
    bool spared = false;
    searching.best = by_alloc_zero(d->decision_count + 1, sizeof *searching.best, err);
    int status = searching.best ? search(&searching, on, err) : -1;
    if (status == 0 && !options->brief)
        status = spare_margin(&searching, &spared, err);
    if (searching.any)
        memcpy(on, searching.best, d->decision_count);
    *met = searching.any && searching.best_verified.meets && !spared &&
           is_within(&searching, &searching.best_predicted);
    by_free(searching.best);
    return status;
}
