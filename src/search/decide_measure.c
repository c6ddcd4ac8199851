/*
 * Measures the noise of sources at the outputs, in runs of the session with switches.
 *
 * With fewer runs than sources neighbours are measured together; what is found is divided among
 * them in proportion to their own noise over signal, since they reach the outputs by nearly the
 * same way. Then the groups with most of the noise are split.
 */
#include "search/decision_internal.h"

#include "quant/floats.h"
#include "quant/rounded.h"

#include <math.h>
#include <string.h>

#define FEWEST_SAMPLES 2
#define USUAL_SAMPLES  8
#define FIRST_RUNS     0.6  /* of all: groups of one size; the others split the worst */
#define SPLITS         8    /* groups that are split in one go */
#define LOST           1e3  /* noise over signal of what is not finite */
#define AROUND         48   /* sources that are measured in place */
#define AROUND_SHARE   2e-3 /* of all noise: others are not worth a run */
#define OFF            0.1  /* a decision that leaves less of a source counts as removing it */

/* Consecutive sources. */
struct group {
    size_t begin, end;
    double noise[BY_DECISION_OUTPUTS];
};

struct measuring {
    struct by_decisions *d;
    const bool *on; /* [set * source_count + source] */
    size_t sets;
    struct by_judgement *each; /* [set * samples + sample] */
    const char *what;
    size_t done, all; /* sets, for the progress */
};

int by_decide_go_on(const struct by_decisions *d, const char *what, size_t done, size_t all,
                    struct baryon_error *err)
{
    const struct by_decide_options *options = &d->work->options;
    if (!options->progress || options->progress(options->context, what, done, all))
        return 0;
    return by_fail(err, BARYON_ERR_CANCELLED, "stopped while decisions were measured");
}

/* --- Runs --- */

/* Evenly over those that judge. */
static size_t sample_at(const struct by_decisions *d, size_t index)
{
    return index * by_judge_count(d->judge) / d->samples;
}

static int run_each(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    const struct measuring *measuring = context;
    const struct by_decisions *d = measuring->d;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (by_switches_run(d->work->switches, measuring->on + i / d->samples * d->source_count,
                            sample_at(d, i % d->samples), &measuring->each[i], err) < 0)
            return -1;
    return 0;
}

/* A few sets at a time, so that it can be stopped in between. */
static int run_sets(struct measuring *measuring, struct baryon_error *err)
{
    struct by_decisions *d = measuring->d;
    const size_t together = 1 + by_pool_threads(d->q->pool);
    const bool *on = measuring->on;
    struct by_judgement *each = measuring->each;
    int status = 0;
    for (size_t done = 0, some; status == 0 && done < measuring->sets; done += some) {
        some = measuring->sets - done < together ? measuring->sets - done : together;
        struct measuring part = *measuring;
        part.on = on + done * d->source_count;
        part.each = each + done * d->samples;
        status =
            by_decide_go_on(d, measuring->what, measuring->done + done, measuring->all, err) < 0
                ? -1
                : by_par_for(d->q->pool, some * d->samples, 1, run_each, &part, err);
        d->runs += some * d->samples;
    }
    return status;
}

/* Over samples, in their order. What is not finite is lost: far more than the signal. */
static void add_up(struct by_decisions *d, const struct by_judgement *each, double *noise)
{
    double signal[BY_DECISION_OUTPUTS] = {0};
    memset(noise, 0, BY_DECISION_OUTPUTS * sizeof *noise);
    d->output_count = each->count < BY_DECISION_OUTPUTS ? each->count : BY_DECISION_OUTPUTS;
    for (size_t k = 0; k < d->output_count; k++) {
        for (size_t i = 0; i < d->samples; i++) {
            signal[k] += each[i].outputs[k].signal;
            noise[k] += each[i].outputs[k].noise;
        }
        if (!isfinite(noise[k]))
            noise[k] = LOST * (signal[k] > 0 ? signal[k] : 1);
    }
    memcpy(d->signal, signal, sizeof signal);
}

/* The noise of each of so many sets. */
static int measure_sets(struct by_decisions *d, const char *what, const bool *on, size_t sets,
                        double (*noise)[BY_DECISION_OUTPUTS], size_t done, size_t all,
                        struct baryon_error *err)
{
    struct measuring measuring = {
        .d = d, .on = on, .sets = sets, .what = what, .done = done, .all = all};
    measuring.each = by_alloc_zero(sets * d->samples + 1, sizeof *measuring.each, err);
    const int status = measuring.each ? run_sets(&measuring, err) : -1;
    for (size_t i = 0; status == 0 && i < sets; i++)
        add_up(d, measuring.each + i * d->samples, noise[i]);
    by_free(measuring.each);
    return status;
}

/* --- Groups --- */

static int measure_groups(struct by_decisions *d, struct group *groups, size_t count, size_t done,
                          size_t all, struct baryon_error *err)
{
    bool *on = by_alloc_zero(count * d->source_count + 1, sizeof *on, err);
    double(*noise)[BY_DECISION_OUTPUTS] = by_alloc_zero(count + 1, sizeof *noise, err);
    int status = on && noise ? 0 : -1;
    for (size_t i = 0; status == 0 && i < count; i++)
        for (size_t k = groups[i].begin; k < groups[i].end; k++)
            on[i * d->source_count + k] = true;
    if (status == 0)
        status = measure_sets(d, "measure", on, count, noise, done, all, err);
    for (size_t i = 0; status == 0 && i < count; i++)
        for (size_t k = 0; k < d->output_count; k++)
            groups[i].noise[k] = fmax(noise[i][k] - d->floor[k], 0);
    by_free(noise);
    by_free(on);
    return status;
}

static double share_of(const struct by_decisions *d, const double *noise)
{
    double share = 0;
    for (size_t k = 0; k < d->output_count; k++)
        share += d->signal[k] > 0 ? noise[k] / d->signal[k] : 0;
    return share;
}

static size_t worst_group(const struct by_decisions *d, const struct group *groups, size_t count)
{
    size_t worst = BY_NONE;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const double share = share_of(d, groups[i].noise);
        if (groups[i].end - groups[i].begin < 2 || share <= most)
            continue;
        most = share;
        worst = i;
    }
    return worst;
}

/* The worst ones lose their second halves, which are measured with the first ones. */
static int split_worst(struct by_decisions *d, struct group *groups, size_t *count, size_t most,
                       size_t done, size_t all, struct baryon_error *err)
{
    struct group halves[2 * SPLITS];
    size_t from[SPLITS], splits = 0;
    for (; splits < most && splits < SPLITS; splits++) {
        const size_t worst = worst_group(d, groups, *count);
        if (worst == BY_NONE)
            break;
        const size_t middle = (groups[worst].begin + groups[worst].end) / 2;
        from[splits] = worst;
        halves[2 * splits] = (struct group){.begin = groups[worst].begin, .end = middle};
        halves[2 * splits + 1] = (struct group){.begin = middle, .end = groups[worst].end};
        memset(groups[worst].noise, 0, sizeof groups[worst].noise); /* not again in this go */
    }
    if (measure_groups(d, halves, 2 * splits, done, all, err) < 0)
        return -1;
    for (size_t i = 0; i < splits; i++) {
        groups[from[i]] = halves[2 * i];
        groups[(*count)++] = halves[2 * i + 1];
    }
    return (int)splits;
}

/* --- Within a group --- */

/* Noise over signal of a weight by itself. */
static int own_noise(const struct by_decisions *d, size_t source, double *noise,
                     struct baryon_error *err)
{
    const size_t row = d->sources[source].row;
    const struct by_quant_row *at = &d->q->plan->rows.at[row];
    struct by_floats_view floats;
    *noise = d->work->noise_of[source];
    if (!isnan(*noise) || !d->sources[source].weight)
        return 0;
    if (by_floats_open(&floats, at->value->initializer, err) < 0)
        return -1;
    float *rounded = by_alloc(floats.count + 1, sizeof *rounded, err);
    const int status =
        rounded ? by_quant_round(d->q->plan, row, floats.values, d->q->pool, rounded, err) : -1;
    double signal = 0, sum = 0;
    for (size_t i = 0; status == 0 && i < floats.count; i++) {
        const double error = (double)floats.values[i] - (double)rounded[i];
        signal += (double)floats.values[i] * (double)floats.values[i];
        sum += error * error;
    }
    if (status == 0)
        *noise = d->work->noise_of[source] = signal > 0 ? sum / signal : 0;
    by_free(rounded);
    by_floats_close(&floats);
    return status;
}

static int divide_group(struct by_decisions *d, const struct group *group, struct baryon_error *err)
{
    const size_t count = group->end - group->begin;
    double sum = 0, noise;
    for (size_t i = group->begin; count > 1 && i < group->end; i++) {
        if (own_noise(d, i, &noise, err) < 0)
            return -1;
        sum += isnan(noise) ? 0 : noise;
    }
    for (size_t i = group->begin; i < group->end; i++) {
        const double own = d->work->noise_of[i];
        const double share = count == 1 ? 1
                             : sum > 0  ? (isnan(own) ? 0 : own / sum)
                                        : 1 / (double)count;
        for (size_t k = 0; k < d->output_count; k++)
            d->sources[i].alone[k] = d->sources[i].now[k] = share * group->noise[k];
    }
    return 0;
}

/* --- All of it --- */

/* None on, and all. */
static int measure_ends(struct by_decisions *d, double *all, struct baryon_error *err)
{
    double noise[2][BY_DECISION_OUTPUTS];
    bool *on = by_alloc_zero(2 * d->source_count + 1, sizeof *on, err);
    int status = on ? 0 : -1;
    for (size_t i = 0; status == 0 && i < d->source_count; i++)
        on[d->source_count + i] = true;
    if (status == 0)
        status = measure_sets(d, "measure", on, 2, noise, 0, 2, err);
    by_free(on);
    if (status < 0)
        return -1;
    memcpy(d->floor, noise[0], sizeof d->floor);
    memcpy(all, noise[1], sizeof noise[1]);
    return 0;
}

static void fit_scale(struct by_decisions *d, const double *all)
{
    for (size_t k = 0; k < d->output_count; k++) {
        double sum = d->floor[k];
        for (size_t i = 0; i < d->source_count; i++)
            sum += d->sources[i].now[k];
        d->scale[k] = sum > 0 && all[k] > 0 ? all[k] / sum : 1;
    }
}

static size_t sets_of(const struct by_decisions *d)
{
    const size_t runs = d->work->options.runs / d->samples;
    if (!d->work->options.runs || runs >= d->source_count + 2)
        return d->source_count;
    return runs > 4 ? runs - 2 : 2;
}

static size_t group_evenly(const struct by_decisions *d, size_t wanted, struct group *groups)
{
    const size_t count = wanted < d->source_count ? wanted : d->source_count;
    for (size_t i = 0; i < count; i++)
        groups[i] = (struct group){.begin = i * d->source_count / count,
                                   .end = (i + 1) * d->source_count / count};
    return count;
}

static int measure_all(struct by_decisions *d, struct group *groups, struct baryon_error *err)
{
    const size_t most = sets_of(d);
    const bool each = most >= d->source_count;
    size_t count = group_evenly(d, each ? most : (size_t)ceil(FIRST_RUNS * (double)most), groups);
    if (measure_groups(d, groups, count, 0, most, err) < 0)
        return -1;
    for (size_t used = count; !each && used + 1 < most;) {
        const int splits = split_worst(d, groups, &count, (most - used) / 2, used, most, err);
        if (splits < 0)
            return -1;
        if (!splits)
            break;
        used += 2 * (size_t)splits;
    }
    for (size_t i = 0; i < count; i++)
        if (divide_group(d, &groups[i], err) < 0)
            return -1;
    return 0;
}

static void choose_samples(struct by_decisions *d)
{
    const struct by_decide_options *options = &d->work->options;
    const size_t count = by_judge_count(d->judge), sets = d->source_count + 2;
    size_t wanted = options->samples;
    if (!wanted && options->runs)
        wanted = options->runs / sets > FEWEST_SAMPLES ? options->runs / sets : FEWEST_SAMPLES;
    if (!options->samples && (!wanted || wanted > USUAL_SAMPLES))
        wanted = USUAL_SAMPLES;
    d->samples = wanted < count ? wanted : count;
}

static int open_switches(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    if (work->switches)
        return 0;
    if (!by_judge_count(d->judge))
        return by_fail(err, BARYON_ERR_INPUT, "no sample is left to measure decisions on");
    choose_samples(d);
    return by_decide_go_on(d, "measure", 0, d->source_count, err) < 0
               ? -1
               : by_switches_open(&work->switches, d, err);
}

/* What is predicted of each decision by itself. */
static int find_gains(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_state state, trial;
    int status = by_decide_state_open(&state, d, NULL, err);
    for (size_t i = 0; status == 0 && i < d->decision_count; i++) {
        by_decide_state_try(&state, d->decisions[i].place, i, &trial);
        d->decisions[i].gain = trial.sqnr - state.sqnr;
    }
    by_decide_state_close(&state);
    return status;
}

int by_decisions_measure(struct by_decisions *d, struct baryon_error *err)
{
    double all[BY_DECISION_OUTPUTS];
    struct group *groups = by_alloc(d->source_count + 2, sizeof *groups, err);
    int status = groups ? open_switches(d, err) : -1;
    if (status == 0)
        status = measure_ends(d, all, err);
    if (status == 0)
        status = measure_all(d, groups, err);
    by_free(groups);
    if (status < 0)
        return -1;
    fit_scale(d, all);
    return find_gains(d, err);
}

/* --- In place --- */

static double now_share(const struct by_decisions *d, size_t source, double factor)
{
    double share = 0;
    for (size_t k = 0; k < d->output_count; k++)
        share += d->signal[k] > 0 ? factor * d->sources[source].now[k] / d->signal[k] : 0;
    return share;
}

/* The worst of those that are on, in the order of noise. */
static size_t list_worst(const struct by_decisions *d, const double *factor, size_t *list)
{
    size_t count = 0;
    double all = 0;
    for (size_t i = 0; i < d->source_count; i++)
        all += now_share(d, i, factor[i]);
    for (size_t i = 0; i < d->source_count; i++) {
        const double share = now_share(d, i, factor[i]);
        if (factor[i] < OFF || share < AROUND_SHARE * all)
            continue;
        size_t at = count < AROUND ? count++ : AROUND;
        for (; at > 0 && now_share(d, list[at - 1], factor[list[at - 1]]) < share; at--)
            if (at < AROUND)
                list[at] = list[at - 1];
        if (at < AROUND)
            list[at] = i;
    }
    return count;
}

/* What is left out of a set gains the difference. */
static int measure_without(struct by_decisions *d, const double *factor, const size_t *list,
                           size_t count, double (*noise)[BY_DECISION_OUTPUTS],
                           struct baryon_error *err)
{
    bool *on = by_alloc_zero((count + 1) * d->source_count + 1, sizeof *on, err);
    if (!on)
        return -1;
    for (size_t i = 0; i <= count; i++)
        for (size_t k = 0; k < d->source_count; k++)
            on[i * d->source_count + k] = factor[k] >= OFF && (i == 0 || k != list[i - 1]);
    const int status = measure_sets(d, "measure around", on, count + 1, noise, 0, count + 1, err);
    by_free(on);
    return status;
}

int by_decisions_measure_around(struct by_decisions *d, const bool *on, struct baryon_error *err)
{
    struct by_decide_state state;
    size_t list[AROUND + 1];
    double(*noise)[BY_DECISION_OUTPUTS] = by_alloc_zero(AROUND + 2, sizeof *noise, err);
    int status = noise ? open_switches(d, err) : -1;
    if (status == 0)
        status = by_decide_state_open(&state, d, on, err);
    if (status < 0) {
        by_free(noise);
        return -1;
    }
    const size_t count = list_worst(d, state.factor, list);
    status = measure_without(d, state.factor, list, count, noise, err);
    for (size_t i = 0; status == 0 && i < count; i++)
        for (size_t k = 0; k < d->output_count; k++)
            d->sources[list[i]].now[k] = fmax(noise[0][k] - noise[i + 1][k], 0);
    for (size_t k = 0; status == 0 && k < d->output_count; k++) {
        double sum = 0;
        for (size_t i = 0; i < d->source_count; i++)
            sum += state.factor[i] * d->sources[i].now[k];
        d->floor[k] = noise[0][k] - sum;
        d->scale[k] = 1;
    }
    by_decide_state_close(&state);
    by_free(noise);
    return status;
}
