/* The additive model: noise and cost of a set of decisions, and what one more changes. */
#include "search/decision_internal.h"

#include <math.h>
#include <string.h>

#define LEAST_NOISE 1e-3 /* of what sources say: more cannot be known of sums that do not add */

/* A change of one place, that was not made yet. */
struct change {
    const struct by_decide_state *state;
    size_t place, decision;
};

static size_t decision_at(const struct change *change, size_t place)
{
    return place == change->place ? change->decision : change->state->at[place];
}

/* --- Noise --- */

static double factor_of_touch(const struct by_decisions *d, size_t decision, size_t source)
{
    const struct by_decision *at = &d->decisions[decision];
    for (size_t i = 0; i < at->count; i++)
        if (d->touches[at->first + i].source == source)
            return d->touches[at->first + i].factor;
    return 1;
}

/* What makes a source better counts, else what makes it worse. */
static double factor_of(const struct change *change, size_t source)
{
    const struct by_decisions *d = change->state->d;
    const struct by_decide_index *index = &d->work->touching;
    double factor = 1;
    for (size_t i = index->start[source]; i < index->start[source + 1]; i++) {
        const size_t decision = index->at[i];
        if (decision_at(change, d->decisions[decision].place) != decision)
            continue;
        const double own = factor_of_touch(d, decision, source);
        factor = own < 1 ? fmin(factor, own) : factor < 1 ? factor : fmax(factor, own);
    }
    return factor;
}

static void change_noise(const struct change *change, size_t decision, size_t beside,
                         struct by_decide_state *trial)
{
    const struct by_decisions *d = change->state->d;
    if (decision == BY_NONE)
        return;
    const struct by_decision *at = &d->decisions[decision];
    for (size_t i = 0; i < at->count; i++) {
        const size_t source = d->touches[at->first + i].source;
        bool seen = false;
        for (size_t k = 0; beside != BY_NONE && k < d->decisions[beside].count; k++)
            seen = seen || d->touches[d->decisions[beside].first + k].source == source;
        if (seen)
            continue;
        const double more = factor_of(change, source) - change->state->factor[source];
        for (size_t k = 0; k < d->output_count; k++)
            trial->noise[k] += more * d->sources[source].now[k];
    }
}

static double sqnr_of(const struct by_decisions *d, const double *noise)
{
    double sum = 0;
    for (size_t i = 0; i < d->output_count; i++) {
        const double most = fmax(d->floor[i], 0) + fabs(noise[i]);
        const double real = fmax(d->floor[i] + noise[i], LEAST_NOISE * most);
        sum += by_decibels(d->signal[i], d->scale[i] * real);
    }
    return d->output_count ? sum / (double)d->output_count : 0;
}

/* --- Cost --- */

static size_t input_type(const struct change *change, const struct by_decide_layer *layer,
                         size_t own, size_t source)
{
    const struct by_decide_work *work = change->state->d->work;
    if (own != BY_NONE && work->activation_type[own] != BY_NONE)
        return work->activation_type[own];
    const size_t tensor = decision_at(change, source);
    (void)layer;
    return tensor != BY_NONE ? work->activation_type[tensor] : work->type_of[source];
}

static void add_layer(const struct change *change, const struct by_decide_layer *layer, double sign,
                      struct by_decide_state *sum)
{
    const struct by_decisions *d = change->state->d;
    const struct by_decide_work *work = d->work;
    const size_t own = decision_at(change, layer->place);
    const size_t weight = own != BY_NONE && work->weight_type[own] != BY_NONE
                              ? work->weight_type[own]
                              : layer->weight_type;
    double cost = 0;
    bool wide = layer->stays_float || !layer->input_count;
    for (size_t i = 0; i < layer->input_count; i++) {
        const size_t type = input_type(change, layer, own, work->inputs[layer->first + i]);
        cost = fmax(cost, work->costs[type * work->type_count + weight]);
        wide = wide || work->wides[type * work->type_count + weight];
    }
    const double bytes = (double)layer->elements * work->bits[weight] / 8;
    sum->cost += sign * (cost * layer->macs + bytes * d->ladder->byte_cost);
    sum->wide += wide ? sign * layer->macs : 0;
    sum->macs += sign * layer->macs;
    sum->bytes += sign * bytes;
}

static void add_tensor(const struct change *change, size_t source, double sign,
                       struct by_decide_state *sum)
{
    const struct by_decisions *d = change->state->d;
    const size_t tensor = decision_at(change, source);
    const size_t type =
        tensor != BY_NONE ? d->work->activation_type[tensor] : d->work->type_of[source];
    if (!d->sources[source].weight)
        sum->cost +=
            sign * d->work->elements_of[source] * d->work->bits[type] / 8 * d->ladder->byte_cost;
    if (tensor != BY_NONE)
        sum->cost += sign * d->work->tiny;
}

static void add_place(const struct change *change, double sign, struct by_decide_state *sum)
{
    const struct by_decisions *d = change->state->d;
    const struct by_decide_work *work = d->work;
    if (change->place >= d->source_count) {
        add_layer(change, &work->layers[change->place - d->source_count], sign, sum);
        sum->cost += decision_at(change, change->place) != BY_NONE ? sign * work->tiny : 0;
        return;
    }
    add_tensor(change, change->place, sign, sum);
    const struct by_decide_index *index = &work->reading;
    for (size_t i = index->start[change->place]; i < index->start[change->place + 1]; i++)
        add_layer(change, &work->layers[index->at[i]], sign, sum);
}

/* --- States --- */

void by_decide_state_try(const struct by_decide_state *state, size_t place, size_t decision,
                         struct by_decide_state *trial)
{
    const struct change before = {state, place, state->at[place]};
    const struct change after = {state, place, decision};
    *trial = *state;
    change_noise(&after, before.decision, BY_NONE, trial);
    change_noise(&after, decision, before.decision, trial);
    add_place(&before, -1, trial);
    add_place(&after, 1, trial);
    trial->sqnr = sqnr_of(state->d, trial->noise);
}

static void sum_up(struct by_decide_state *state)
{
    const struct by_decisions *d = state->d;
    const struct change none = {state, BY_NONE, BY_NONE};
    memset(state->noise, 0, sizeof state->noise);
    state->cost = state->wide = state->macs = state->bytes = 0;
    for (size_t i = 0; i < d->source_count; i++) {
        for (size_t k = 0; k < d->output_count; k++)
            state->noise[k] += state->factor[i] * d->sources[i].now[k];
        add_tensor(&none, i, 1, state);
    }
    for (size_t i = 0; i < d->work->layer_count; i++) {
        add_layer(&none, &d->work->layers[i], 1, state);
        state->cost += state->at[d->work->layers[i].place] != BY_NONE ? d->work->tiny : 0;
    }
    state->sqnr = sqnr_of(d, state->noise);
}

/* All is added up anew, so that no difference of large numbers is left. */
void by_decide_state_set(struct by_decide_state *state, size_t place, size_t decision)
{
    const struct by_decisions *d = state->d;
    const size_t both[] = {state->at[place], decision};
    state->at[place] = decision;
    const struct change none = {state, BY_NONE, BY_NONE};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; both[i] != BY_NONE && k < d->decisions[both[i]].count; k++) {
            const size_t source = d->touches[d->decisions[both[i]].first + k].source;
            state->factor[source] = factor_of(&none, source);
        }
    sum_up(state);
}

int by_decide_state_open(struct by_decide_state *state, const struct by_decisions *d,
                         const bool *on, struct baryon_error *err)
{
    *state = (struct by_decide_state){.d = d};
    state->at = by_alloc(d->work->place_count + 1, sizeof *state->at, err);
    state->factor = by_alloc(d->source_count + 1, sizeof *state->factor, err);
    if (!state->at || !state->factor)
        return -1;
    for (size_t i = 0; i < d->work->place_count; i++)
        state->at[i] = BY_NONE;
    for (size_t i = 0; on && i < d->decision_count; i++)
        if (on[i])
            state->at[d->decisions[i].place] = i;
    const struct change none = {state, BY_NONE, BY_NONE};
    for (size_t i = 0; i < d->source_count; i++)
        state->factor[i] = factor_of(&none, i);
    sum_up(state);
    return 0;
}

void by_decide_state_close(struct by_decide_state *state)
{
    by_free(state->at);
    by_free(state->factor);
    *state = (struct by_decide_state){.d = NULL};
}

void by_decide_state_read(const struct by_decide_state *state, bool *on)
{
    for (size_t i = 0; i < state->d->decision_count; i++)
        on[i] = state->at[state->d->decisions[i].place] == i;
}
