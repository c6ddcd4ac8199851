/*
 * Chooses factors of ranges of activations by the errors that they make at the outputs.
 *
 * Each source with much noise is run alone with each factor. Errors of all sources add as vectors,
 * so that the factors of all are chosen together, one after the other until none changes. Those
 * that were chosen are also run among all others as they are, and it is chosen again between them
 * and 1 by the mean of both differences. Where errors do not add either choice may be the better
 * one: what a tensor loses may be lost before it, so that factors of both gain, and one alone does
 * not. So both choices are run, and the outputs decide.
 */
#include "search/decision_internal.h"

#include "quant/range_factor.h"

#include <math.h>
#include <string.h>

#define FACTORS     6
#define WHOLE_LEAST 1.3  /* nothing is cut off: tried where that is so much wider */
#define WHOLE_MOST  64.0 /* steps are so coarse then that nothing is left */
#define ROUNDS      16
#define CROSSING    16   /* values for each source with which products count half */
#define LEAST_SHARE 1e-2 /* of energies one by one: no more is known to cancel */

/* A source whose range may change; the first factor is 1. */
struct tuned {
    size_t source, count, now;
    double factors[FACTORS];
    float *errors[FACTORS]; /* the first one belongs to the noise; NULL: not finite */
    double energy[FACTORS][BY_DECISION_OUTPUTS];
};

struct sums {
    double square[BY_DECISION_OUTPUTS]; /* energy of the errors' sum */
    double each[BY_DECISION_OUTPUTS];   /* energies one by one */
    double doubt[BY_DECISION_OUTPUTS];  /* of those with another factor */
};

struct tuning {
    struct by_decisions *d;
    struct tuned *tuned;
    size_t count;
    float *room, *sum, *change; /* vectors of candidates; of all */
    double crossing;            /* how much products of sources count */
    double doubt;               /* of an energy that few values tell, as a share of it */
    struct sums sums;
};

/* --- Which sources, which factors --- */

bool by_decisions_has_range(const struct by_decisions *d, size_t source, size_t row)
{
    const struct by_quant_plan *plan = d->q->plan;
    return d->work->source_of[row] == source && by_range_factor_fits(&plan->rows.at[row]) &&
           by_decide_same_grid(by_quant_params(plan, row),
                               by_quant_params(plan, d->sources[source].row));
}

static double noise_over_signal(const struct by_decisions *d, size_t source)
{
    double share = 0;
    for (size_t k = 0; k < d->output_count; k++)
        share += d->signal[k] > 0 ? d->sources[source].alone[k] / d->signal[k] : 0;
    return share;
}

/* A factor with which nothing that samples showed is cut off; 0: unknown. */
static double whole_factor(const struct by_decisions *d, size_t source)
{
    const struct by_quant_row *row = &d->q->plan->rows.at[d->sources[source].row];
    const struct by_tensor_stats *stats = by_stats_find(d->q->stats, row->value->name);
    if (!stats)
        return 0;
    const double low = row->range.low < 0 ? fmin((double)stats->sketch.min, 0) / row->range.low : 0;
    const double high =
        row->range.high > 0 ? fmax((double)stats->sketch.max, 0) / row->range.high : 0;
    return fmax(low, high);
}

static void list_factors(const struct by_decisions *d, struct tuned *tuned)
{
    static const double fine[] = {0.5, 0.7, 0.85, 1.2}, powers[] = {0.25, 0.5, 2};
    const bool pow2 =
        d->q->plan->rows.at[d->sources[tuned->source].row].spec.scale == BY_SCALE_POW2;
    const double *list = pow2 ? powers : fine;
    const size_t count = pow2 ? sizeof powers / sizeof *powers : sizeof fine / sizeof *fine;
    double whole = whole_factor(d, tuned->source);
    tuned->factors[0] = 1;
    memcpy(tuned->factors + 1, list, count * sizeof *list);
    tuned->count = 1 + count;
    if (pow2 && whole > 0)
        whole = exp2(ceil(log2(whole)));
    if (whole > fmax(WHOLE_LEAST, list[count - 1]) && whole <= WHOLE_MOST)
        tuned->factors[tuned->count++] = whole;
}

/* Most noise first. */
static void list_tuned(struct tuning *tuning, size_t most)
{
    const struct by_decisions *d = tuning->d;
    for (size_t i = 0; i < d->source_count; i++) {
        const double noise = noise_over_signal(d, i);
        size_t at = tuning->count;
        if (!(noise > 0) || d->work->noise.share_of[i] != 1 ||
            d->work->noise.lost[d->work->noise.group_of[i]] ||
            !by_decisions_has_range(d, i, d->sources[i].row))
            continue;
        while (at > 0 && noise_over_signal(d, tuning->tuned[at - 1].source) < noise)
            at--;
        if (at == most)
            continue;
        tuning->count += tuning->count < most;
        memmove(tuning->tuned + at + 1, tuning->tuned + at,
                (tuning->count - 1 - at) * sizeof *tuning->tuned);
        tuning->tuned[at] = (struct tuned){.source = i};
    }
    for (size_t i = 0; i < tuning->count; i++)
        list_factors(d, &tuning->tuned[i]);
}

/* --- Measuring --- */

/* NULL in the candidate's place where what came out is not finite. */
static void keep_errors(struct tuning *tuning, struct tuned *tuned, size_t factor,
                        const double *places, float *errors)
{
    const struct by_decide_noise *noise = &tuning->d->work->noise;
    bool finite = true;
    for (size_t i = 0; i < noise->dims; i++) {
        errors[i] = (float)(places[i] - noise->none[i]);
        finite = finite && isfinite(errors[i]);
    }
    tuned->errors[factor] = finite ? errors : NULL;
    for (size_t k = 0; finite && k < noise->outputs; k++)
        tuned->energy[factor][k] = by_decide_noise_dot(noise, k, errors, errors);
}

static int measure_factors(struct tuning *tuning, struct tuned *tuned, float *room,
                           struct baryon_error *err)
{
    struct by_decisions *d = tuning->d;
    const size_t dims = d->work->noise.dims, sets = tuned->count - 1, each = d->source_count;
    bool *on = by_alloc_zero(sets * each + 1, sizeof *on, err);
    double *factors = by_alloc(sets * each + 1, sizeof *factors, err);
    double *places = by_alloc_zero(sets * dims + 1, sizeof *places, err);
    int status = on && factors && places ? 0 : -1;
    for (size_t i = 0; status == 0 && i < sets * each; i++) {
        on[i] = i % each == tuned->source;
        factors[i] = on[i] ? tuned->factors[1 + i / each] : 1;
    }
    if (status == 0)
        status = by_decide_run_factors(d, on, factors, sets, places, err);
    for (size_t i = 0; status == 0 && i < sets; i++)
        keep_errors(tuning, tuned, 1 + i, places + i * dims, room + i * dims);
    by_free(places);
    by_free(factors);
    by_free(on);
    return status;
}

static int measure_tuned(struct tuning *tuning, struct baryon_error *err)
{
    struct by_decisions *d = tuning->d;
    const struct by_decide_noise *noise = &d->work->noise;
    for (size_t i = 0; i < tuning->count; i++) {
        struct tuned *tuned = &tuning->tuned[i];
        const size_t group = noise->group_of[tuned->source];
        tuned->errors[0] = noise->errors + group * noise->dims;
        memcpy(tuned->energy[0], noise->energy[group], sizeof tuned->energy[0]);
        if (by_decide_go_on(d, "measure ranges", i, tuning->count, err) < 0 ||
            measure_factors(tuning, tuned, tuning->room + i * (FACTORS - 1) * noise->dims, err) < 0)
            return -1;
    }
    return 0;
}

/* --- Choosing --- */

/* Few values tell little: of n the energy has a relative standard error of sqrt(2 / n), and two
 * energies differ by more than both. Products of two sources say something where there are more
 * values than sources: else factors would be found whose errors cancel by chance. */
static void find_doubt(struct tuning *tuning)
{
    const struct by_decide_noise *noise = &tuning->d->work->noise;
    size_t values = 0;
    for (size_t i = 0; i < noise->dims; i++)
        values += noise->none[i] != 0 || noise->total[i] != 0;
    tuning->crossing = (double)values / (double)(values + CROSSING * tuning->count + 1);
    tuning->doubt = 2 / sqrt((double)(values + 1) / (double)noise->outputs);
}

/* All as it is: what the outputs lose together, and energies one by one. */
static void sum_up(struct tuning *tuning)
{
    const struct by_decide_noise *noise = &tuning->d->work->noise;
    tuning->sums = (struct sums){0};
    for (size_t i = 0; i < noise->dims; i++) {
        const double error = noise->total[i] - noise->none[i];
        tuning->sum[i] = isfinite(error) ? (float)error : 0;
    }
    for (size_t k = 0; k < noise->outputs; k++)
        tuning->sums.square[k] = by_decide_noise_dot(noise, k, tuning->sum, tuning->sum);
    for (size_t i = 0; i < tuning->d->source_count; i++)
        for (size_t k = 0; k < noise->outputs; k++)
            tuning->sums.each[k] += tuning->d->sources[i].alone[k];
    for (size_t i = 0; i < tuning->count; i++)
        tuning->tuned[i].now = 0;
}

/* 10 log10 of the noise, mean over the outputs. */
static double level_of(const struct tuning *tuning, const struct sums *sums)
{
    const struct by_decisions *d = tuning->d;
    double level = 0;
    for (size_t k = 0; k < d->output_count; k++) {
        const double crossed = sums->each[k] + tuning->crossing * (sums->square[k] - sums->each[k]);
        const double noise =
            fmax(crossed, LEAST_SHARE * sums->each[k]) + sums->doubt[k] + d->floor[k];
        level += noise > 0 ? 10 * log10(noise) : 0;
    }
    return d->output_count ? level / (double)d->output_count : 0;
}

/* Sums with another factor of one source; what changes of the errors is in tuning->change. */
static void try_factor(struct tuning *tuning, const struct tuned *tuned, size_t factor,
                       struct sums *sums)
{
    const struct by_decide_noise *noise = &tuning->d->work->noise;
    const float *from = tuned->errors[tuned->now], *to = tuned->errors[factor];
    *sums = tuning->sums;
    for (size_t i = 0; i < noise->dims; i++)
        tuning->change[i] = to[i] - from[i];
    for (size_t k = 0; k < noise->outputs; k++) {
        const double before = tuned->energy[tuned->now][k], after = tuned->energy[factor][k];
        sums->square[k] += 2 * by_decide_noise_dot(noise, k, tuning->sum, tuning->change) +
                           by_decide_noise_dot(noise, k, tuning->change, tuning->change);
        sums->each[k] += after - before;
        sums->doubt[k] += tuning->doubt * ((factor ? after : 0) - (tuned->now ? before : 0));
    }
}

static void take_factor(struct tuning *tuning, struct tuned *tuned, size_t factor)
{
    struct sums sums;
    try_factor(tuning, tuned, factor, &sums);
    for (size_t i = 0; i < tuning->d->work->noise.dims; i++)
        tuning->sum[i] += tuning->change[i];
    tuning->sums = sums;
    tuned->now = factor;
}

static bool choose_factor(struct tuning *tuning, struct tuned *tuned)
{
    struct sums sums;
    double least = level_of(tuning, &tuning->sums);
    size_t best = tuned->now;
    for (size_t i = 0; i < tuned->count; i++) {
        if (i == tuned->now || !tuned->errors[i])
            continue;
        try_factor(tuning, tuned, i, &sums);
        const double level = level_of(tuning, &sums);
        if (level < least) {
            least = level;
            best = i;
        }
    }
    if (best == tuned->now)
        return false;
    take_factor(tuning, tuned, best);
    return true;
}

static void choose_all(struct tuning *tuning)
{
    sum_up(tuning);
    bool changed = true;
    for (unsigned round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (size_t i = 0; i < tuning->count; i++)
            changed = choose_factor(tuning, &tuning->tuned[i]) || changed;
    }
}

/* --- In place --- */

/* The factor that was chosen keeps the mean of what it changes alone and in place; others go. */
static void average(struct tuning *tuning, struct tuned *tuned, const double *places)
{
    const struct by_decide_noise *noise = &tuning->d->work->noise;
    const float *base = tuned->errors[0];
    float *errors = tuned->errors[tuned->now];
    for (size_t i = 1; i < tuned->count; i++)
        tuned->errors[i] = i == tuned->now ? errors : NULL;
    for (size_t i = 0; i < noise->dims; i++) {
        const double moved = places[i] - noise->total[i];
        if (!isfinite(moved))
            tuned->errors[tuned->now] = NULL;
        errors[i] = (float)(((double)errors[i] + (double)base[i] + moved) / 2);
    }
    for (size_t k = 0; k < noise->outputs; k++)
        tuned->energy[tuned->now][k] = by_decide_noise_dot(noise, k, errors, errors);
}

static int measure_in_place(struct tuning *tuning, struct tuned *tuned, struct baryon_error *err)
{
    struct by_decisions *d = tuning->d;
    double *places = by_alloc_zero(d->work->noise.dims + 1, sizeof *places, err);
    double *factors = by_alloc(d->source_count + 1, sizeof *factors, err);
    int status = places && factors ? 0 : -1;
    for (size_t i = 0; status == 0 && i < d->source_count; i++)
        factors[i] = i == tuned->source ? tuned->factors[tuned->now] : 1;
    if (status == 0)
        status = by_decide_run_factors(d, d->work->all, factors, 1, places, err);
    if (status == 0)
        average(tuning, tuned, places);
    by_free(factors);
    by_free(places);
    return status;
}

static int check_in_place(struct tuning *tuning, struct baryon_error *err)
{
    for (size_t i = 0; i < tuning->count; i++)
        if (by_decide_go_on(tuning->d, "check ranges", i, tuning->count, err) < 0 ||
            (tuning->tuned[i].now && measure_in_place(tuning, &tuning->tuned[i], err) < 0))
            return -1;
    for (size_t i = 0; i < tuning->count; i++)
        if (!tuning->tuned[i].now)
            tuning->tuned[i].count = 1;
    return 0;
}

/* --- The choices as a whole --- */

/* What the sources have, by source. */
static void read_choice(const struct tuning *tuning, double *factors)
{
    for (size_t i = 0; i < tuning->d->source_count; i++)
        factors[i] = 1;
    for (size_t i = 0; i < tuning->count; i++) {
        const struct tuned *tuned = &tuning->tuned[i];
        factors[tuned->source] = tuned->factors[tuned->now];
    }
}

/* What outputs lose, as level_of(); NAN: they are not finite. */
static double lost_level(const struct tuning *tuning, const double *places)
{
    const struct by_decisions *d = tuning->d;
    const struct by_decide_noise *noise = &d->work->noise;
    double level = 0;
    for (size_t k = 0; k < d->output_count; k++) {
        double energy = d->floor[k];
        for (size_t i = noise->begin[k]; i < noise->begin[k + 1]; i++)
            energy += (places[i] - noise->none[i]) * (places[i] - noise->none[i]);
        level += energy > 0 ? 10 * log10(energy) : isnan(energy) ? NAN : 0;
    }
    return d->output_count ? level / (double)d->output_count : 0;
}

static int run_choice(const struct tuning *tuning, const double *factors, double *level,
                      struct baryon_error *err)
{
    struct by_decisions *d = tuning->d;
    double *places = by_alloc_zero(d->work->noise.dims + 1, sizeof *places, err);
    const int status =
        places ? by_decide_run_factors(d, d->work->all, factors, 1, places, err) : -1;
    if (status == 0)
        *level = lost_level(tuning, places);
    by_free(places);
    return status;
}

/* The better one of two stays in `chosen`. */
static int compare_choices(const struct tuning *tuning, double *chosen, const double *other,
                           double *gain, struct baryon_error *err)
{
    const size_t bytes = tuning->d->source_count * sizeof *chosen;
    const double before = lost_level(tuning, tuning->d->work->noise.total);
    double one, two;
    if (run_choice(tuning, chosen, &one, err) < 0 || run_choice(tuning, other, &two, err) < 0)
        return -1;
    if (two < one || isnan(one))
        memcpy(chosen, other, bytes);
    *gain = before - fmin(one, two);
    return 0;
}

static int measure_and_choose(struct tuning *tuning, double *chosen, double *gain,
                              struct baryon_error *err)
{
    double *other = by_alloc(tuning->d->source_count + 1, sizeof *other, err);
    int status = other ? measure_tuned(tuning, err) : -1;
    if (status == 0) {
        find_doubt(tuning);
        choose_all(tuning);
        read_choice(tuning, chosen);
        status = check_in_place(tuning, err);
    }
    if (status == 0) {
        choose_all(tuning);
        read_choice(tuning, other);
        status = compare_choices(tuning, chosen, other, gain, err);
    }
    by_free(other);
    return status;
}

/* --- All of it --- */

int by_decisions_ranges(struct by_decisions *d, size_t most, double *chosen, double *gain,
                        struct baryon_error *err)
{
    const size_t dims = d->work->noise.dims;
    struct tuning tuning = {.d = d};
    tuning.tuned = by_alloc_zero(most + 1, sizeof *tuning.tuned, err);
    tuning.room = by_alloc(most * (FACTORS - 1) * dims + 1, sizeof *tuning.room, err);
    tuning.sum = by_alloc_zero(dims + 1, sizeof *tuning.sum, err);
    tuning.change = by_alloc_zero(dims + 1, sizeof *tuning.change, err);
    int status = tuning.tuned && tuning.room && tuning.sum && tuning.change ? 0 : -1;
    if (status == 0) {
        list_tuned(&tuning, most);
        status = measure_and_choose(&tuning, chosen, gain, err);
    }
    by_free(tuning.change);
    by_free(tuning.sum);
    by_free(tuning.room);
    by_free(tuning.tuned);
    return status;
}
