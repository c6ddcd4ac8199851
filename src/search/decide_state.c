/* The additive model: noise and cost of a set of decisions, and what one more changes. */
#include "search/decision_internal.h"

#include <math.h>
#include <string.h>

#define LEAST_NOISE 1e-2 /* of what sources have one by one: no more is known to cancel */
#define USUAL_BITS  16   /* of a wider type */
#define BY_MOVES    16   /* groups that one change touches */
#define WORST                                                                                      \
    4.0 /* power of noise whose sum stands for the worst output: with the minimum a                \
           change of any other output gains nothing */

/* A change of one place, that was not made yet. */
struct change {
    const struct by_decide_state *state;
    size_t place, decision;
};

static size_t decision_at(const struct change *change, size_t place)
{
    return place == change->place ? change->decision : change->state->at[place];
}

/* --- Factors --- */

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

/* --- Noise --- */

/* A source that is changed has an error of its own, which has nothing to do with the others. */
static void add_other(const struct by_decisions *d, size_t source, double factor, double sign,
                      struct by_decide_sums *sums)
{
    const struct by_decide_noise *noise = &d->work->noise;
    const size_t group = noise->group_of[source];
    if (factor == 1 && !noise->lost[group])
        return;
    for (size_t k = 0; k < noise->outputs; k++)
        sums->other[k] += sign * factor * noise->share_of[source] * noise->energy[group][k];
}

/* The groups of a change, and how much more of their errors there is. */
struct moves {
    size_t group[BY_MOVES];
    double share[BY_MOVES];
    size_t count;
};

static void move_share(struct moves *moves, size_t group, double share)
{
    size_t i = 0;
    while (i < moves->count && moves->group[i] != group)
        i++;
    if (i == BY_MOVES)
        return;
    moves->share[i] = i < moves->count ? moves->share[i] + share : share;
    moves->group[i] = group;
    moves->count += i == moves->count;
}

static void move_sources(const struct change *change, size_t decision, size_t beside,
                         struct moves *moves, struct by_decide_sums *sums)
{
    const struct by_decisions *d = change->state->d;
    for (size_t i = 0; decision != BY_NONE && i < d->decisions[decision].count; i++) {
        const size_t source = d->touches[d->decisions[decision].first + i].source;
        bool seen = false;
        for (size_t k = 0; beside != BY_NONE && k < d->decisions[beside].count; k++)
            seen = seen || d->touches[d->decisions[beside].first + k].source == source;
        const double before = change->state->factor[source], after = factor_of(change, source);
        if (seen || before == after || !d->work->noise.groups) /* not measured yet */
            continue;
        add_other(d, source, before, -1, sums);
        add_other(d, source, after, 1, sums);
        move_share(moves, d->work->noise.group_of[source],
                   d->work->noise.share_of[source] * ((after == 1) - (before == 1)));
    }
}

/* Of the error vectors' sum, when some amplitudes change. */
static void apply_moves(const struct by_decide_state *state, const struct moves *moves,
                        struct by_decide_sums *sums)
{
    const struct by_decide_noise *noise = &state->d->work->noise;
    double more[BY_MOVES];
    for (size_t i = 0; i < moves->count; i++) {
        const double present = state->present[moves->group[i]];
        more[i] = sqrt(fmax(present + moves->share[i], 0)) - sqrt(present);
    }
    for (size_t i = 0; i < moves->count; i++) {
        const size_t group = moves->group[i];
        if (noise->lost[group])
            continue;
        for (size_t k = 0; k < noise->outputs; k++) {
            sums->sum[k] += 2 * more[i] * state->product[group][k] +
                            more[i] * more[i] * noise->energy[group][k];
            sums->with_rest[k] += more[i] * noise->rested[group][k];
            sums->left[k] += moves->share[i] * noise->energy[group][k];
            for (size_t j = 0; j < i; j++)
                sums->sum[k] += 2 * more[i] * more[j] *
                                by_decide_noise_product(noise, k, group, moves->group[j]);
        }
    }
}

/* What does not add fades with what is left of the sources. */
static double joint_noise(const struct by_decide_noise *noise, const struct by_decide_sums *sums,
                          size_t k)
{
    const double left = fmax(sums->left[k], 0), other = fmax(sums->other[k], 0);
    const double fade = noise->all[k] > 0 ? left / noise->all[k] : 0;
    const double joint =
        sums->sum[k] + 2 * fade * sums->with_rest[k] + fade * fade * noise->rest_energy[k];
    return fmax(joint + sums->other[k], LEAST_NOISE * (left + other));
}

static double predicted_sqnr(const struct by_decisions *d, const struct by_decide_sums *sums)
{
    const struct by_decide_noise *noise = &d->work->noise;
    double sqnr = 0, powers = 0;
    for (size_t k = 0; k < noise->outputs; k++) {
        const double real =
            d->work->apart ? fmax(sums->left[k] + sums->other[k], 0) : joint_noise(noise, sums, k);
        const double own = by_decibels(d->signal[k], d->scale[k] * (d->floor[k] + real));
        sqnr += own;
        powers += exp10(-own / 10 * WORST);
    }
    if (d->work->options.worst && powers > 0)
        return -10 * log10(powers) / WORST;
    return noise->outputs ? sqnr / (double)noise->outputs : 0;
}

/* --- Cost --- */

/* input: place in work->inputs; own: the decision about its layer. */
static size_t input_type(const struct change *change, size_t own, size_t input)
{
    const struct by_decide_work *work = change->state->d->work;
    const size_t source = work->inputs[input], tensor = decision_at(change, source);
    const bool owns = own != BY_NONE && work->activation_type[own] != BY_NONE;
    const bool is_float =
        owns && change->state->d->decisions[own].alternative->kind == BY_DECIDE_FLOAT;
    if (owns && (is_float || (tensor == BY_NONE && work->alone[input])))
        return work->activation_type[own];
    return tensor != BY_NONE ? work->activation_type[tensor] : work->type_of[source];
}

/* About a tensor beside which the layer stays float; BY_NONE: there is none. */
static size_t decision_around(const struct change *change, const struct by_decide_layer *layer)
{
    const struct by_decisions *d = change->state->d;
    const struct by_decide_index *index = &d->work->covering;
    const size_t place = (size_t)(layer - d->work->layers);
    for (size_t i = index->start[place]; i < index->start[place + 1]; i++)
        if (decision_at(change, d->decisions[index->at[i]].place) == index->at[i])
            return index->at[i];
    return BY_NONE;
}

static void cost_layer(const struct change *change, const struct by_decide_layer *layer,
                       double sign, struct by_decide_state *sum)
{
    const struct by_decisions *d = change->state->d;
    const struct by_decide_work *work = d->work;
    const size_t around = decision_around(change, layer);
    const size_t own = decision_at(change, layer->place);
    const size_t shared = layer->weight != BY_NONE ? decision_at(change, layer->weight) : BY_NONE;
    const size_t given = shared != BY_NONE ? work->activation_type[shared] : layer->weight_type;
    const size_t chosen =
        own != BY_NONE && work->weight_type[own] != BY_NONE ? work->weight_type[own] : given;
    const size_t weight = around != BY_NONE ? work->activation_type[around] : chosen;
    double cost = 0;
    bool wide = layer->stays_float || !layer->input_count;
    for (size_t i = 0; i < layer->input_count; i++) {
        const size_t type = around != BY_NONE ? work->activation_type[around]
                                              : input_type(change, own, layer->first + i);
        const size_t pair = type * work->type_count + (weight == BY_NONE ? type : weight);
        cost = fmax(cost, work->costs[pair]);
        wide = wide || work->wides[pair];
    }
    const double bytes = weight == BY_NONE ? 0 : (double)layer->elements * work->bits[weight] / 8;
    sum->cost += sign * (cost * layer->macs + bytes * d->ladder->byte_cost);
    sum->wide += wide ? sign * layer->macs : 0;
    sum->macs += sign * layer->macs;
    sum->bytes += sign * bytes;
}

static void cost_tensor(const struct change *change, size_t source, double sign,
                        struct by_decide_state *sum)
{
    const struct by_decisions *d = change->state->d;
    const size_t tensor = decision_at(change, source);
    const size_t type =
        tensor != BY_NONE ? d->work->activation_type[tensor] : d->work->type_of[source];
    if (!d->sources[source].weight)
        sum->cost +=
            sign * d->work->elements_of[source] * d->work->bits[type] / 8 * d->ladder->byte_cost;
    if (tensor != BY_NONE) /* of what costs the same otherwise the narrower type */
        sum->cost += sign * d->work->tiny * d->work->bits[type] / USUAL_BITS;
}

static void add_place(const struct change *change, double sign, struct by_decide_state *sum)
{
    const struct by_decisions *d = change->state->d;
    const struct by_decide_work *work = d->work;
    if (change->place >= d->source_count) {
        cost_layer(change, &work->layers[change->place - d->source_count], sign, sum);
        sum->cost += decision_at(change, change->place) != BY_NONE ? sign * work->tiny : 0;
        return;
    }
    cost_tensor(change, change->place, sign, sum);
    const struct by_decide_index *index = &work->reading;
    for (size_t i = index->start[change->place]; i < index->start[change->place + 1]; i++)
        cost_layer(change, &work->layers[index->at[i]], sign, sum);
}

/* --- States --- */

void by_decide_state_try(const struct by_decide_state *state, size_t place, size_t decision,
                         struct by_decide_state *trial)
{
    const struct change before = {state, place, state->at[place]};
    const struct change after = {state, place, decision};
    struct moves moves = {.count = 0};
    *trial = *state;
    move_sources(&after, before.decision, BY_NONE, &moves, &trial->sums);
    move_sources(&after, decision, before.decision, &moves, &trial->sums);
    apply_moves(state, &moves, &trial->sums);
    add_place(&before, -1, trial);
    add_place(&after, 1, trial);
    trial->sqnr = predicted_sqnr(state->d, &trial->sums);
}

static double amplitude_of(const struct by_decide_state *state, size_t group)
{
    return sqrt(fmax(state->present[group], 0));
}

void by_decide_state_errors(const struct by_decide_state *state, float *sum)
{
    const struct by_decide_noise *noise = &state->d->work->noise;
    memset(sum, 0, noise->dims * sizeof *sum);
    for (size_t i = 0; i < noise->groups; i++) {
        const float *errors = noise->errors + i * noise->dims;
        const float amplitude = (float)amplitude_of(state, i);
        for (size_t k = 0; amplitude > 0 && k < noise->dims; k++)
            sum[k] += amplitude * errors[k];
    }
}

static void find_present(struct by_decide_state *state)
{
    const struct by_decisions *d = state->d;
    const struct by_decide_noise *noise = &d->work->noise;
    memset(state->present, 0, noise->groups * sizeof *state->present);
    for (size_t i = 0; noise->groups && i < d->source_count; i++) {
        add_other(d, i, state->factor[i], 1, &state->sums);
        state->present[noise->group_of[i]] += state->factor[i] == 1 ? noise->share_of[i] : 0;
    }
}

/* What the sum of errors comes to, and its products with those of each group. */
static void sum_errors(struct by_decide_state *state)
{
    const struct by_decide_noise *noise = &state->d->work->noise;
    struct by_decide_sums *sums = &state->sums;
    memset(sums, 0, sizeof *sums);
    find_present(state);
    memset(state->product, 0, noise->groups * sizeof *state->product);
    for (size_t i = 0; i < noise->groups; i++) {
        const double amplitude = amplitude_of(state, i);
        for (size_t k = 0; amplitude > 0 && k < noise->outputs; k++) {
            for (size_t j = 0; j < noise->groups; j++)
                state->product[j][k] += amplitude * by_decide_noise_product(noise, k, i, j);
            sums->with_rest[k] += amplitude * noise->rested[i][k];
            sums->left[k] += noise->lost[i] ? 0 : state->present[i] * noise->energy[i][k];
        }
    }
    for (size_t i = 0; i < noise->groups; i++)
        for (size_t k = 0; k < noise->outputs; k++)
            sums->sum[k] += amplitude_of(state, i) * state->product[i][k];
    state->sqnr = predicted_sqnr(state->d, sums);
}

static void sum_costs(struct by_decide_state *state)
{
    const struct by_decisions *d = state->d;
    const struct change none = {state, BY_NONE, BY_NONE};
    state->cost = state->wide = state->macs = state->bytes = 0;
    for (size_t i = 0; i < d->source_count; i++)
        cost_tensor(&none, i, 1, state);
    for (size_t i = 0; i < d->work->layer_count; i++) {
        cost_layer(&none, &d->work->layers[i], 1, state);
        state->cost += state->at[d->work->layers[i].place] != BY_NONE ? d->work->tiny : 0;
    }
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
    sum_errors(state);
    sum_costs(state);
}

int by_decide_state_open(struct by_decide_state *state, const struct by_decisions *d,
                         const bool *on, struct baryon_error *err)
{
    const struct by_decide_noise *noise = &d->work->noise;
    *state = (struct by_decide_state){.d = d};
    state->at = by_alloc(d->work->place_count + 1, sizeof *state->at, err);
    state->factor = by_alloc(d->source_count + 1, sizeof *state->factor, err);
    state->present = by_alloc_zero(noise->groups + 1, sizeof *state->present, err);
    state->product = by_alloc_zero(noise->groups + 1, sizeof *state->product, err);
    if (!state->at || !state->factor || !state->present || !state->product)
        return -1;
    for (size_t i = 0; i < d->work->place_count; i++)
        state->at[i] = BY_NONE;
    for (size_t i = 0; on && i < d->decision_count; i++)
        if (on[i])
            state->at[d->decisions[i].place] = i;
    const struct change none = {state, BY_NONE, BY_NONE};
    for (size_t i = 0; i < d->source_count; i++)
        state->factor[i] = factor_of(&none, i);
    sum_errors(state);
    sum_costs(state);
    return 0;
}

void by_decide_state_close(struct by_decide_state *state)
{
    by_free(state->at);
    by_free(state->factor);
    by_free(state->present);
    by_free(state->product);
    *state = (struct by_decide_state){.d = NULL};
}

void by_decide_state_read(const struct by_decide_state *state, bool *on)
{
    for (size_t i = 0; i < state->d->decision_count; i++)
        on[i] = state->at[state->d->decisions[i].place] == i;
}
