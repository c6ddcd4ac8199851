/* Finding the scales: every link in turn makes both sides' peaks equal, until nothing moves. */
#include "adjust/cle_internal.h"

#include <math.h>
#include <string.h>

#define STILL  1e-3 /* a round that moves no scale by more is the last */
#define ROUNDS 50

/* --- Peaks --- */

/* fmax() is a call, and orders NaN, of which there are none. */
static double greater(double one, double other)
{
    return one > other ? one : other;
}

#define LANES 4

typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t masks __attribute__((vector_size(LANES * sizeof(int32_t))));

static floats load(const float *from)
{
    floats values;
    memcpy(&values, from, sizeof values);
    return values;
}

static floats greater_lanes(floats one, floats other)
{
    const masks which = one > other;
    return (floats)(((masks)one & which) | ((masks)other & ~which));
}

static float greatest_of(const float *peaks, const float *scales, size_t count)
{
    floats lanes = {0};
    float greatest = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        lanes = greater_lanes(lanes, load(peaks + i) * load(scales + i));
    for (size_t lane = 0; lane < LANES; lane++)
        greatest = lanes[lane] > greatest ? lanes[lane] : greatest;
    for (; i < count; i++)
        greatest = peaks[i] * scales[i] > greatest ? peaks[i] * scales[i] : greatest;
    return greatest;
}

/* greatest[i] becomes values[i] * scale where that is greater. */
static void raise_by(float *greatest, const float *values, float scale, size_t count)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const floats raised = greater_lanes(load(values + i) * scale, load(greatest + i));
        memcpy(greatest + i, &raised, sizeof raised);
    }
    for (; i < count; i++)
        greatest[i] = values[i] * scale > greatest[i] ? values[i] * scale : greatest[i];
}

void by_cle_out_peaks(const struct by_cle_layer *layer, double *peaks)
{
    const size_t ins = layer->group_ins, group_outs = layer->outs / layer->groups;
    for (size_t in = 0; in < ins * layer->groups; in++)
        layer->work[in] = layer->in_scale ? (float)layer->in_scale[in] : 1;
    for (size_t out = 0; out < layer->outs; out++) {
        const float *scales = layer->work + out / group_outs * ins;
        peaks[out] = (double)greatest_of(layer->peak + out * ins, scales, ins);
        if (layer->out_scale)
            peaks[out] /= layer->out_scale[out];
    }
}

void by_cle_in_peaks(const struct by_cle_layer *layer, double *peaks)
{
    const size_t ins = layer->group_ins, group_outs = layer->outs / layer->groups;
    for (size_t in = 0; in < ins * layer->groups; in++)
        layer->work[in] = 0;
    for (size_t out = 0; out < layer->outs; out++) {
        const double scale = layer->out_scale ? 1 / layer->out_scale[out] : 1;
        raise_by(layer->work + out / group_outs * ins, layer->peak + out * ins, (float)scale, ins);
    }
    for (size_t in = 0; in < ins * layer->groups; in++)
        peaks[in] = (double)layer->work[in] * (layer->in_scale ? layer->in_scale[in] : 1);
}

/* --- Balancing --- */

struct balance {
    struct by_cle *cle;
    double threshold;
    double *before, *behind; /* peaks of a link's two sides */
};

/* The factor that makes both sides' peaks of a channel equal, 1 where one side has none. */
static double factor(double before, double behind, double least_before, double least_behind,
                     double threshold)
{
    if (before <= least_before || behind <= least_behind || before + behind < threshold)
        return 1;
    return sqrt(before / behind);
}

/* Returns the greatest move, as a logarithm. */
static double balance_link(const struct balance *balance, struct by_cle_link *link)
{
    const struct by_cle_layer *from = &balance->cle->layers.at[link->from];
    const struct by_cle_layer *to = &balance->cle->layers.at[link->to];
    const double least_before = BY_CLE_DEAD * (double)from->greatest;
    const double least_behind = BY_CLE_DEAD * (double)to->greatest;
    double least = 1, most = 1;
    by_cle_out_peaks(from, balance->before);
    by_cle_in_peaks(to, balance->behind);
    for (size_t i = 0; i < link->channels; i++) {
        const double old = link->scale[i];
        link->scale[i] = greater(old * factor(balance->before[i], balance->behind[i], least_before,
                                              least_behind, balance->threshold),
                                 link->low[i]);
        const double moved = link->scale[i] / old;
        least = moved < least ? moved : least;
        most = greater(most, moved);
    }
    link->stale = 0;
    return greater(log(most), -log(least));
}

/* A link's peaks are moved by the links that stand beside it. */
static void tell_neighbours(struct by_cle *cle, const struct by_cle_link *moved, double by)
{
    const size_t places[] = {cle->layers.at[moved->from].before, cle->layers.at[moved->to].behind};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] != BY_CLE_NONE)
            cle->links.at[places[i]].stale += by;
}

static double balance_round(const struct balance *balance)
{
    double most = 0;
    for (size_t i = 0; i < balance->cle->links.count; i++) {
        struct by_cle_link *link = &balance->cle->links.at[i];
        if (link->stale < STILL)
            continue;
        const double moved = balance_link(balance, link);
        tell_neighbours(balance->cle, link, moved);
        most = greater(most, moved);
    }
    return most;
}

static void balance_all(const struct balance *balance, const struct by_cle_options *options,
                        struct by_cle_report *report)
{
    const size_t rounds = options->steps > 0 ? (size_t)options->steps : ROUNDS;
    for (report->rounds = 0; report->rounds < rounds;) {
        const double moved = balance_round(balance);
        report->rounds++;
        report->change = exp(moved);
        if (moved < STILL)
            return;
    }
}

int by_cle_balance(struct by_cle *cle, const struct by_cle_options *options,
                   struct by_cle_report *report, struct baryon_error *err)
{
    size_t most = 1;
    for (size_t i = 0; i < cle->links.count; i++) {
        cle->links.at[i].stale = INFINITY;
        if (cle->links.at[i].channels > most)
            most = cle->links.at[i].channels;
    }
    const struct balance balance = {
        .cle = cle,
        .threshold = options->threshold,
        .before = by_arena_alloc(&cle->arena, most, sizeof *balance.before, err),
        .behind = by_arena_alloc(&cle->arena, most, sizeof *balance.behind, err),
    };
    if (!balance.before || !balance.behind)
        return -1;
    balance_all(&balance, options, report);
    return 0;
}
