/*
 * Chooses the decisions that reach a goal at the least cost, by the additive model: by gain per
 * cost, then what is not needed is taken back, and what a cheaper one can do is replaced. Few
 * decisions are chosen exactly.
 */
#include "search/decision_internal.h"

#include <math.h>
#include <string.h>

#define EXACT     12               /* decisions of which all sets are tried */
#define EXCHANGES ((size_t)400000) /* pairs of decisions that are looked at */
#define SAME      1e-9             /* dB */

struct choosing {
    const struct by_decisions *d;
    const struct by_choice_goal *goal;
    struct by_decide_state state;
};

static double share_of(const struct by_decide_state *state)
{
    return state->macs > 0 ? state->wide / state->macs : 0;
}

/* What breaks a limit already may be made better. */
static bool keeps_limits(const struct choosing *choosing, const struct by_decide_state *trial)
{
    const struct by_choice_goal *goal = choosing->goal;
    const struct by_decide_state *state = &choosing->state;
    return (share_of(trial) <= goal->wide_share + 1e-12 || trial->wide < state->wide) &&
           (trial->bytes <= goal->bytes || trial->bytes < state->bytes);
}

static bool reached(const struct choosing *choosing, const struct by_decide_state *state)
{
    return state->sqnr >= choosing->goal->sqnr - SAME &&
           share_of(state) <= choosing->goal->wide_share + 1e-12 &&
           state->bytes <= choosing->goal->bytes;
}

/* Within the limits, whatever the goal. */
static bool is_within(const struct choosing *choosing)
{
    return share_of(&choosing->state) <= choosing->goal->wide_share + 1e-12 &&
           choosing->state.bytes <= choosing->goal->bytes;
}

/* --- By gain per cost --- */

/* Gains beyond the goal are worth nothing. */
static double worth_of(const struct choosing *choosing, const struct by_decide_state *trial)
{
    const struct by_decide_state *state = &choosing->state;
    const double gain = fmin(trial->sqnr, choosing->goal->sqnr) - state->sqnr;
    const double cost = trial->cost - state->cost;
    if (!(gain > SAME))
        return 0;
    return gain / fmax(cost, choosing->d->work->tiny + 1e-30);
}

static size_t best_next(const struct choosing *choosing)
{
    const struct by_decisions *d = choosing->d;
    struct by_decide_state trial;
    double most = 0;
    size_t best = BY_NONE;
    for (size_t i = 0; i < d->decision_count; i++) {
        const size_t place = d->decisions[i].place;
        if (choosing->state.at[place] == i)
            continue;
        by_decide_state_try(&choosing->state, place, i, &trial);
        const double worth = keeps_limits(choosing, &trial) ? worth_of(choosing, &trial) : 0;
        if (worth > most) {
            most = worth;
            best = i;
        }
    }
    return best;
}

static void climb(struct choosing *choosing)
{
    while (!reached(choosing, &choosing->state)) {
        const size_t next = best_next(choosing);
        if (next == BY_NONE)
            return;
        by_decide_state_set(&choosing->state, choosing->d->decisions[next].place, next);
    }
}

/* Where only several at once would do: none is chosen. */
static bool begin_again(struct choosing *choosing)
{
    bool any = false;
    for (size_t i = 0; i < choosing->d->work->place_count; i++) {
        if (choosing->state.at[i] == BY_NONE)
            continue;
        by_decide_state_set(&choosing->state, i, BY_NONE);
        any = true;
    }
    return any;
}

/* What breaks a limit is made cheaper, at the least loss for what that gives. */
static void shrink(struct choosing *choosing)
{
    const struct by_decisions *d = choosing->d;
    struct by_decide_state trial;
    while (!is_within(choosing)) {
        const bool bytes = choosing->state.bytes > choosing->goal->bytes;
        double least = INFINITY;
        size_t best = BY_NONE, place = BY_NONE;
        for (size_t i = 0; i < d->decision_count; i++) {
            const bool chosen = choosing->state.at[d->decisions[i].place] == i;
            by_decide_state_try(&choosing->state, d->decisions[i].place, chosen ? BY_NONE : i,
                                &trial);
            const double saved =
                bytes ? choosing->state.bytes - trial.bytes : choosing->state.wide - trial.wide;
            const double loss = (choosing->state.sqnr - trial.sqnr) / saved;
            if (!(saved > 0) || loss >= least)
                continue;
            least = loss;
            best = chosen ? BY_NONE : i;
            place = d->decisions[i].place;
        }
        if (place == BY_NONE && !begin_again(choosing))
            return;
        if (place != BY_NONE)
            by_decide_state_set(&choosing->state, place, best);
    }
}

/* --- Back --- */

/* One place, to that decision or none, where the goal stays reached and the cost falls most. */
static bool cheapen(struct choosing *choosing)
{
    const struct by_decisions *d = choosing->d;
    struct by_decide_state trial;
    double most = choosing->d->work->tiny / 2;
    size_t place = BY_NONE, decision = BY_NONE;
    for (size_t i = 0; i < d->decision_count; i++) {
        const size_t now = choosing->state.at[d->decisions[i].place];
        const size_t to = now == i ? BY_NONE : i;
        by_decide_state_try(&choosing->state, d->decisions[i].place, to, &trial);
        const double saved = choosing->state.cost - trial.cost;
        if (saved <= most || !reached(choosing, &trial))
            continue;
        most = saved;
        place = d->decisions[i].place;
        decision = to;
    }
    if (place != BY_NONE)
        by_decide_state_set(&choosing->state, place, decision);
    return place != BY_NONE;
}

/* One decision in place of another that was chosen. */
static bool exchange_one(struct choosing *choosing, size_t chosen)
{
    const struct by_decisions *d = choosing->d;
    const size_t place = d->decisions[chosen].place;
    const double cost = choosing->state.cost;
    struct by_decide_state trial;
    by_decide_state_set(&choosing->state, place, BY_NONE);
    for (size_t i = 0; i < d->decision_count; i++) {
        if (choosing->state.at[d->decisions[i].place] == i || i == chosen)
            continue;
        by_decide_state_try(&choosing->state, d->decisions[i].place, i, &trial);
        if (trial.cost < cost - d->work->tiny / 2 && reached(choosing, &trial)) {
            by_decide_state_set(&choosing->state, d->decisions[i].place, i);
            return true;
        }
    }
    by_decide_state_set(&choosing->state, place, chosen);
    return false;
}

static bool exchange(struct choosing *choosing)
{
    const struct by_decisions *d = choosing->d;
    size_t chosen = 0;
    for (size_t i = 0; i < d->decision_count; i++)
        chosen += choosing->state.at[d->decisions[i].place] == i;
    if (chosen * d->decision_count > EXCHANGES)
        return false;
    for (size_t i = 0; i < d->decision_count; i++)
        if (choosing->state.at[d->decisions[i].place] == i && exchange_one(choosing, i))
            return true;
    return false;
}

/* --- Few --- */

/* A walk over all sets that changes one place a step: a reflected Gray code, whose digits are the
 * decisions of a place. */
struct walk {
    size_t place[EXACT];
    size_t choices[EXACT][EXACT + 1]; /* by place; the first is BY_NONE */
    size_t choice_count[EXACT];
    size_t digit[EXACT];
    bool downwards[EXACT];
    size_t count;
};

static struct walk walk_over(const struct by_decisions *d)
{
    struct walk walk = {.count = 0};
    for (size_t i = 0; i < d->decision_count; i++) {
        size_t k = 0;
        while (k < walk.count && walk.place[k] != d->decisions[i].place)
            k++;
        if (k == walk.count) {
            walk.place[walk.count++] = d->decisions[i].place;
            walk.choices[k][walk.choice_count[k]++] = BY_NONE;
        }
        walk.choices[k][walk.choice_count[k]++] = i;
    }
    return walk;
}

static bool walk_on(struct walk *walk, struct by_decide_state *state)
{
    for (size_t i = 0; i < walk->count; i++) {
        const size_t end = walk->downwards[i] ? 0 : walk->choice_count[i] - 1;
        if (walk->digit[i] != end) {
            walk->digit[i] = walk->downwards[i] ? walk->digit[i] - 1 : walk->digit[i] + 1;
            by_decide_state_set(state, walk->place[i], walk->choices[i][walk->digit[i]]);
            return true;
        }
        walk->downwards[i] = !walk->downwards[i];
    }
    return false;
}

static void choose_exactly(struct choosing *choosing)
{
    struct walk walk = walk_over(choosing->d);
    size_t best[EXACT] = {0};
    double least = INFINITY;
    begin_again(choosing);
    do {
        if (!reached(choosing, &choosing->state) || choosing->state.cost >= least)
            continue;
        least = choosing->state.cost;
        memcpy(best, walk.digit, sizeof best);
    } while (walk_on(&walk, &choosing->state));
    for (size_t i = 0; i < walk.count; i++)
        by_decide_state_set(&choosing->state, walk.place[i], walk.choices[i][best[i]]);
}

/* --- The whole --- */

int by_decisions_choose(const struct by_decisions *d, const struct by_choice_goal *goal, bool *on,
                        bool *is_reached, struct baryon_error *err)
{
    struct choosing choosing = {.d = d, .goal = goal};
    int status = by_decide_state_open(&choosing.state, d, on, err);
    if (status == 0) {
        if (isfinite(goal->sqnr) && d->decision_count <= EXACT)
            choose_exactly(&choosing);
        shrink(&choosing);
        climb(&choosing);
        *is_reached =
            isinf(goal->sqnr) ? is_within(&choosing) : reached(&choosing, &choosing.state);
        while (*is_reached && isfinite(goal->sqnr) && (cheapen(&choosing) || exchange(&choosing)))
            continue;
        by_decide_state_read(&choosing.state, on);
    }
    by_decide_state_close(&choosing.state);
    return status;
}

void by_decisions_predict(const struct by_decisions *d, const bool *on,
                          struct by_prediction *prediction)
{
    struct by_decide_state state;
    *prediction = (struct by_prediction){.sqnr = NAN, .cost = NAN, .wide_share = 1};
    if (by_decide_state_open(&state, d, on, NULL) == 0)
        *prediction = (struct by_prediction){.sqnr = state.sqnr,
                                             .cost = state.cost,
                                             .wide_share = share_of(&state),
                                             .bytes = state.bytes};
    by_decide_state_close(&state);
}
