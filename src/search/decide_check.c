/*
 * Checks what sources do alone, as few runs told, beside a run of each by itself on samples that it
 * was not measured on: whether both have them in the same order.
 */
#include "search/decision_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Energies of sources at outputs on samples. */
struct energies {
    double *at; /* [(source * outputs + output) * samples + sample] */
    size_t sources, outputs, samples;
};

struct check {
    struct by_decisions *d;
    struct by_alone_source *alone;
    size_t count;
    size_t *others, other_count; /* samples */
    bool *on;                    /* none, then each alone */
    double *places;
    struct energies ran;
    double *signal; /* [output * samples + sample] */
};

static double energy_of(const struct energies *energies, size_t source, size_t output,
                        size_t sample)
{
    return energies->at[(source * energies->outputs + output) * energies->samples + sample];
}

/* --- What it comes to --- */

/* signal: as check has it; every `step`th sample from `first` on. */
static void sum_output(const struct energies *energies, const double *signal, size_t output,
                       size_t first, size_t step, size_t source, struct by_alone *sum)
{
    double noise = 0, all = 0;
    for (size_t i = first; i < energies->samples; i += step) {
        double together = 0;
        for (size_t k = 0; k < energies->sources; k++)
            together += energy_of(energies, k, output, i);
        const double own = energy_of(energies, source, output, i);
        sum->share += together > 0 && isfinite(together) ? own / together : 0;
        noise += own;
        all += signal[output * energies->samples + i];
    }
    sum->noise += all > 0 && isfinite(noise) ? noise / all : 0;
}

static struct by_alone sum_alone(const struct energies *energies, const double *signal,
                                 size_t first, size_t step, size_t source)
{
    struct by_alone sum = {0, 0};
    for (size_t k = 0; k < energies->outputs; k++)
        sum_output(energies, signal, k, first, step, source, &sum);
    const double count = (double)(energies->outputs + !energies->outputs);
    const double samples = ceil((double)(energies->samples - first) / (double)step);
    return (struct by_alone){sum.noise / count, samples > 0 ? sum.share / count / samples : 0};
}

/* --- Which --- */

static int by_share(const void *a, const void *b)
{
    const struct by_alone_source *one = a, *other = b;
    if (one->measured.share != other->measured.share)
        return one->measured.share > other->measured.share ? -1 : 1;
    return one->source < other->source ? -1 : one->source > other->source;
}

/* Where all samples have the same signal, as only its sum is known. */
static int list_measured(const struct by_decisions *d, struct by_alone_source *list,
                         struct baryon_error *err)
{
    const struct energies measured = {d->work->noise.each, d->source_count, d->output_count,
                                      d->samples};
    double *signal = by_alloc(d->output_count * d->samples + 1, sizeof *signal, err);
    if (!signal)
        return -1;
    for (size_t i = 0; i < d->output_count * d->samples; i++)
        signal[i] = d->signal[i / d->samples] / (double)d->samples;
    for (size_t i = 0; i < d->source_count; i++)
        list[i] = (struct by_alone_source){.source = i,
                                           .measured = sum_alone(&measured, signal, 0, 1, i)};
    by_free(signal);
    return 0;
}

/* Evenly over the order of all. */
static int choose_sources(struct check *check, size_t most, struct baryon_error *err)
{
    const size_t all = check->d->source_count, count = most < all ? most : all;
    struct by_alone_source *list = by_alloc_zero(all + 1, sizeof *list, err);
    if (!list || list_measured(check->d, list, err) < 0) {
        by_free(list);
        return -1;
    }
    qsort(list, all, sizeof *list, by_share);
    for (size_t i = 0; i < count; i++)
        check->alone[i] = list[count > 1 ? i * (all - 1) / (count - 1) : 0];
    check->count = count;
    by_free(list);
    return 0;
}

static bool is_measured_on(const struct by_decisions *d, size_t sample)
{
    for (size_t i = 0; i < d->samples; i++)
        if (d->measured[i] == sample)
            return true;
    return false;
}

static int choose_others(struct check *check, size_t most, struct baryon_error *err)
{
    const size_t all = by_judge_count(check->d->judge);
    check->others = by_alloc_zero(all + 1, sizeof *check->others, err);
    if (!check->others)
        return -1;
    for (size_t i = 0; i < all && check->other_count < most; i++)
        if (!is_measured_on(check->d, i))
            check->others[check->other_count++] = i;
    return 0;
}

/* --- Runs --- */

/* first: of the samples, which are as many as were measured on at most. */
static void take_energies(struct check *check, size_t first, size_t samples)
{
    const struct by_decide_noise *noise = &check->d->work->noise;
    const struct energies *ran = &check->ran;
    const double *none = check->places;
    for (size_t set = 0; set <= check->count; set++)
        for (size_t k = 0; k < noise->outputs; k++)
            for (size_t i = 0; i < samples; i++) {
                const double *places = check->places + set * noise->dims;
                const size_t begin = noise->begin[k] + i * noise->bins[k];
                double sum = 0;
                for (size_t at = begin; at < begin + noise->bins[k]; at++) {
                    const double value = set ? places[at] - none[at] : none[at];
                    sum += value * value;
                }
                *(set ? &ran->at[((set - 1) * ran->outputs + k) * ran->samples + first + i]
                      : &check->signal[k * ran->samples + first + i]) = sum;
            }
}

static int run_check(struct check *check, struct baryon_error *err)
{
    struct by_decisions *d = check->d;
    const size_t sets = check->count + 1, dims = d->work->noise.dims;
    check->ran = (struct energies){NULL, check->count, d->output_count, check->other_count};
    check->on = by_alloc_zero(sets * d->source_count + 1, sizeof *check->on, err);
    check->places = by_alloc(sets * dims + 1, sizeof *check->places, err);
    check->ran.at =
        by_alloc_zero(sets * d->output_count * check->other_count + 1, sizeof *check->ran.at, err);
    check->signal =
        by_alloc_zero(d->output_count * check->other_count + 1, sizeof *check->signal, err);
    if (!check->on || !check->places || !check->ran.at || !check->signal)
        return -1;
    for (size_t i = 0; i < check->count; i++)
        check->on[(i + 1) * d->source_count + check->alone[i].source] = true;
    for (size_t done = 0, some; done < check->other_count; done += some) {
        some = check->other_count - done < d->samples ? check->other_count - done : d->samples;
        memset(check->places, 0, sets * dims * sizeof *check->places);
        if (by_decide_go_on(d, "check", done, check->other_count, err) < 0 ||
            by_decide_run_samples(d, check->on, check->others + done, some, sets, check->places,
                                  err) < 0)
            return -1;
        take_energies(check, done, some);
    }
    for (size_t i = 0; i < check->count; i++) {
        check->alone[i].run = sum_alone(&check->ran, check->signal, 0, 1, i);
        for (size_t half = 0; half < 2 && half < check->other_count; half++)
            check->alone[i].half[half] = sum_alone(&check->ran, check->signal, half, 2, i);
    }
    return 0;
}

/* --- Order --- */

/* Of equal values the mean of their places. */
static double place_in_order(const double *values, size_t count, size_t one)
{
    double rank = 0;
    for (size_t i = 0; i < count; i++)
        rank += values[i] < values[one] ? 1 : values[i] == values[one] ? 0.5 : 0;
    return rank;
}

/* Pearson's correlation of the ranks, whose mean is half of the count. */
static double correlate(const double *one, const double *other, size_t count)
{
    const double mean = (double)count / 2;
    double both = 0, first = 0, second = 0;
    for (size_t i = 0; i < count; i++) {
        const double a = place_in_order(one, count, i) - mean,
                     b = place_in_order(other, count, i) - mean;
        both += a * b;
        first += a * a;
        second += b * b;
    }
    return first > 0 && second > 0 ? both / sqrt(first * second) : (double)NAN;
}

static int compare(const struct check *check, struct by_checked *checked, struct baryon_error *err)
{
    const size_t count = check->count;
    double *values = by_alloc(4 * count + 1, sizeof *values, err);
    if (!values)
        return -1;
    for (size_t i = 0; i < count; i++) {
        values[i] = check->alone[i].measured.noise;
        values[count + i] = check->alone[i].run.noise;
        values[2 * count + i] = check->alone[i].measured.share;
        values[3 * count + i] = check->alone[i].run.share;
    }
    *checked = (struct by_checked){
        .sources = count,
        .samples = check->other_count,
        .noise = correlate(values, values + count, count),
        .share = correlate(values + 2 * count, values + 3 * count, count),
    };
    by_free(values);
    return 0;
}

int by_decisions_check(struct by_decisions *d, size_t sources, size_t samples,
                       struct by_alone_source *alone, struct by_checked *checked,
                       struct baryon_error *err)
{
    struct check check = {.d = d, .alone = alone};
    *checked = (struct by_checked){.noise = (double)NAN, .share = (double)NAN};
    int status = choose_others(&check, samples, err);
    if (status == 0 && check.other_count && d->work->noise.groups) {
        status = choose_sources(&check, sources, err);
        if (status == 0)
            status = run_check(&check, err);
        if (status == 0)
            status = compare(&check, checked, err);
    }
    by_free(check.others);
    by_free(check.on);
    by_free(check.places);
    by_free(check.ran.at);
    by_free(check.signal);
    return status;
}
