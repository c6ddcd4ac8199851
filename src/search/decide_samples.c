/* Chooses the samples that sources are measured on, and how many runs there are for them. */
#include "search/decision_internal.h"

#include <math.h>
#include <string.h>

#define GOOD_SAMPLES  4
#define USUAL_SAMPLES 8
#define SOURCE_WORK   2e5 /* multiply-adds that a pair takes as long as, in a run */

/* --- How many --- */

/* Of the sessions, and all sources at the ends and among all others. */
static size_t sets_in_all(const struct by_decisions *d)
{
    return d->source_count + 3 + BY_DECIDE_SHARPENED;
}

/* More than asked for where they are cheap. 0: any. */
size_t by_decide_runs(const struct by_decisions *d)
{
    const struct by_decide_options *options = &d->work->options;
    const size_t wanted = GOOD_SAMPLES * sets_in_all(d);
    double run = SOURCE_WORK * (double)d->source_count;
    for (size_t i = 0; i < d->work->layer_count; i++)
        run += d->work->layers[i].macs;
    return options->runs && options->runs < wanted && (double)wanted * run <= options->work
               ? wanted
               : options->runs;
}

void by_decide_choose_samples(struct by_decisions *d)
{
    const struct by_decide_options *options = &d->work->options;
    const size_t count = by_judge_count(d->judge), runs = by_decide_runs(d);
    size_t wanted = options->samples;
    if (!wanted && runs)
        wanted = runs / sets_in_all(d) > GOOD_SAMPLES ? runs / sets_in_all(d) : GOOD_SAMPLES;
    if (!options->samples && (!wanted || wanted > USUAL_SAMPLES))
        wanted = USUAL_SAMPLES;
    d->samples = wanted < count ? wanted : count;
}

/* --- Which --- */

struct judging {
    const struct by_decisions *d;
    const bool *on;
    struct by_judgement *each;
};

static int judge_each(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct judging *judging = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (by_switches_run(judging->d->work->switches, judging->on, NULL, i, i, &judging->each[i],
                            NULL, err) < 0)
            return -1;
    return 0;
}

/* Of all outputs, each over its energy in all samples, or in this one. */
static double noise_of_sample(const struct by_decisions *d, const struct by_judgement *each,
                              size_t sample, bool own)
{
    double noise = 0;
    for (size_t k = 0; k < each[sample].count; k++) {
        double signal = own ? each[sample].outputs[k].signal : 0;
        for (size_t i = 0; !own && i < by_judge_count(d->judge); i++)
            signal += each[i].outputs[k].signal;
        noise += signal > 0 ? each[sample].outputs[k].noise / signal : 0;
    }
    return isfinite(noise) ? noise : INFINITY;
}

/* Over all samples the ones with the greatest errors decide, and when those are gone the ones that
 * suffer most for their size: both by turns. Places stay in order. */
static void take_noisiest(struct by_decisions *d, const struct by_judgement *each, bool *taken)
{
    const size_t all = by_judge_count(d->judge);
    size_t count = 0;
    for (size_t n = 0; n < d->samples; n++) {
        size_t worst = all;
        double most = -1;
        for (size_t i = 0; i < all; i++) {
            const double noise = taken[i] ? -1 : noise_of_sample(d, each, i, n % 2);
            if (noise <= most)
                continue;
            most = noise;
            worst = i;
        }
        if (worst < all)
            taken[worst] = true;
    }
    for (size_t i = 0; i < all; i++)
        if (taken[i])
            d->measured[count++] = i;
}

int by_decide_find_samples(struct by_decisions *d, struct baryon_error *err)
{
    const size_t count = by_judge_count(d->judge);
    d->measured = by_arena_alloc(&d->arena, count + 1, sizeof *d->measured, err);
    if (!d->measured)
        return -1;
    for (size_t i = 0; i < d->samples; i++)
        d->measured[i] = i;
    if (d->samples == count)
        return 0;
    bool *on = by_alloc(d->source_count + 1, sizeof *on, err);
    struct by_judgement *each = by_alloc_zero(count + 1, sizeof *each, err);
    struct judging judging = {d, on, each};
    bool *taken = by_alloc_zero(count + 1, sizeof *taken, err);
    int status = on && each && taken ? 0 : -1;
    if (status == 0) {
        memset(on, true, d->source_count);
        d->runs += count;
        status = by_par_for(d->q->pool, count, 1, judge_each, &judging, err);
    }
    if (status == 0)
        take_noisiest(d, each, taken);
    by_free(on);
    by_free(taken);
    by_free(each);
    return status;
}
