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

#define FIRST_RUNS    0.6    /* of all: groups of one size; the others split the worst */
#define SHARPEN_SHARE 2e-2   /* of all noise */
#define SPLITS        8      /* groups that are split in one go */
#define AROUND        48     /* sources that are measured in place, at most */
#define AROUNDS       2      /* times */
#define AROUND_SHARE  2e-3   /* of all noise: others are not worth a run */
#define AROUND_COVERS 0.7    /* of all noise: what the others have is not looked at */
#define PARTS         12     /* sessions with a part of the sources */
#define PARTS_MOST    64     /* that begin where their first source is */
#define PART_GROUPS   4      /* groups of such a part at least, as opening it takes some runs */
#define PARTS_BYTES   2.56e8 /* of weights in all of them at most */

/* Consecutive sources. */
struct group {
    size_t begin, end, place; /* among groups of the noise */
    size_t part;              /* session that has them; BY_NONE: that with all */
};

struct measuring {
    const struct by_decisions *d;
    const struct group *groups; /* by set; NULL: all sources are there */
    const bool *on;             /* [set * source_count + source] */
    const double *factors;      /* the same of scales; NULL: 1 */
    double *places;             /* [set * dims]; NULL: not wanted */
    struct by_judgement *each;  /* [set * samples + sample]; NULL: not wanted */
    const size_t *samples;      /* that are run; NULL: those that are measured on */
    size_t count;               /* of them */
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

static int run_each(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    const struct measuring *measuring = context;
    const struct by_decisions *d = measuring->d;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const size_t set = i / measuring->count, index = i % measuring->count;
        const size_t part = measuring->groups ? measuring->groups[set].part : BY_NONE;
        if (by_switches_run(
                part == BY_NONE ? d->work->switches : d->work->parts[part].switches,
                measuring->on + set * d->source_count,
                measuring->factors ? measuring->factors + set * d->source_count : NULL,
                measuring->samples[index], index, measuring->each ? &measuring->each[i] : NULL,
                measuring->places ? measuring->places + set * d->work->noise.dims : NULL, err) < 0)
            return -1;
    }
    return 0;
}

static int run_sets(struct by_decisions *d, struct measuring *measuring, size_t sets,
                    struct baryon_error *err)
{
    measuring->d = d;
    if (!measuring->samples) {
        measuring->samples = d->measured;
        measuring->count = d->samples;
    }
    d->runs += sets * measuring->count;
    return by_par_for(d->q->pool, sets * measuring->count, 1, run_each, measuring, err);
}

int by_decide_run_factors(struct by_decisions *d, const bool *on, const double *factors,
                          size_t sets, double *places, struct baryon_error *err)
{
    struct measuring measuring = {.on = on, .factors = factors, .places = places};
    return run_sets(d, &measuring, sets, err);
}

int by_decide_run_samples(struct by_decisions *d, const bool *on, const size_t *samples,
                          size_t count, size_t sets, double *places, struct baryon_error *err)
{
    struct measuring measuring = {.on = on, .places = places, .samples = samples, .count = count};
    return run_sets(d, &measuring, sets, err);
}

/* --- Groups --- */

/* Sets of one go: so many that threads have work, and it can be stopped in between. */
static size_t sets_together(const struct by_decisions *d)
{
    return 1 + by_pool_threads(d->q->pool);
}

/* Each group of a go alone, or with `base` that without it. */
static int run_groups(struct by_decisions *d, const struct group *groups, size_t count,
                      const bool *base, double *places, struct baryon_error *err)
{
    bool *on = by_alloc_zero(count * d->source_count + 1, sizeof *on, err);
    if (!on)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (base)
            memcpy(on + i * d->source_count, base, d->source_count);
        for (size_t k = groups[i].begin; k < groups[i].end; k++)
            on[i * d->source_count + k] = !base;
    }
    struct measuring measuring = {.on = on, .places = places, .groups = base ? NULL : groups};
    const int status = run_sets(d, &measuring, count, err);
    by_free(on);
    return status;
}

static const double *none_of(const struct by_decisions *d, const struct group *group)
{
    return group->part == BY_NONE ? d->work->noise.none : d->work->parts[group->part].none;
}

static int measure_part(struct by_decisions *d, struct group *groups, size_t count,
                        const bool *base, const double *with, struct baryon_error *err)
{
    const size_t dims = d->work->noise.dims;
    double *places = by_alloc_zero(count * dims + 1, sizeof *places, err);
    const int status = places ? run_groups(d, groups, count, base, places, err) : -1;
    for (size_t i = 0; status == 0 && i < count; i++) {
        const double *ran = places + i * dims;
        const bool mean = groups[i].place != BY_NONE;
        if (!mean)
            groups[i].place = by_decide_noise_add(d);
        by_decide_noise_set(d, groups[i].place, base ? with : ran,
                            base ? ran : none_of(d, &groups[i]), mean);
    }
    by_free(places);
    return status;
}

struct counted {
    const char *what;
    size_t done, all;
};

static int measure_groups(struct by_decisions *d, struct group *groups, size_t count,
                          const bool *base, const double *with, struct counted *counted,
                          struct baryon_error *err)
{
    const size_t together = sets_together(d);
    for (size_t done = 0, some; done < count; done += some) {
        some = count - done < together ? count - done : together;
        if (by_decide_go_on(d, counted->what, counted->done, counted->all, err) < 0 ||
            measure_part(d, groups + done, some, base, with, err) < 0)
            return -1;
        counted->done += some;
    }
    return 0;
}

static double noise_share(const struct by_decisions *d, const double *energy)
{
    double share = 0;
    for (size_t k = 0; k < d->output_count; k++)
        share += d->signal[k] > 0 ? energy[k] / d->signal[k] : 0;
    return share;
}

static size_t worst_group(const struct by_decisions *d, const struct group *groups, size_t count)
{
    size_t worst = BY_NONE;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        if (groups[i].end - groups[i].begin < 2 || groups[i].place == BY_NONE)
            continue;
        const double share = noise_share(d, d->work->noise.energy[groups[i].place]);
        if (share <= most)
            continue;
        most = share;
        worst = i;
    }
    return worst;
}

/* The worst ones become their halves. How many were split, -1: failed. */
static int split_worst(struct by_decisions *d, struct group *groups, size_t *count, size_t most,
                       struct counted *counted, struct baryon_error *err)
{
    struct group halves[2 * SPLITS];
    size_t from[SPLITS], splits = 0;
    for (; splits < most && splits < SPLITS; splits++) {
        const size_t worst = worst_group(d, groups, *count);
        if (worst == BY_NONE)
            break;
        const size_t middle = (groups[worst].begin + groups[worst].end) / 2;
        from[splits] = worst;
        halves[2 * splits] =
            (struct group){groups[worst].begin, middle, BY_NONE, groups[worst].part};
        halves[2 * splits + 1] =
            (struct group){middle, groups[worst].end, BY_NONE, groups[worst].part};
        groups[worst].place = BY_NONE; /* not again in this go */
    }
    if (measure_groups(d, halves, 2 * splits, NULL, NULL, counted, err) < 0)
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

/* A source has its share of a group. */
static void take_alone(struct by_decisions *d, size_t source, size_t group)
{
    struct by_decide_noise *noise = &d->work->noise;
    for (size_t k = 0; k < d->output_count; k++) {
        double *each = noise->each + (source * noise->outputs + k) * noise->samples;
        d->sources[source].alone[k] = noise->share_of[source] * noise->energy[group][k];
        for (size_t i = 0; i < noise->samples; i++)
            each[i] = noise->share_of[source] * by_decide_noise_of_sample(noise, group, k, i);
    }
}

/* What nothing is known of has as much noise as the others of its group on average. */
static int usual_own(struct by_decisions *d, const struct group *group, double *usual,
                     struct baryon_error *err)
{
    size_t known = 0;
    double sum = 0, own;
    for (size_t i = group->begin; i < group->end; i++) {
        if (own_noise(d, i, &own, err) < 0)
            return -1;
        if (isnan(own))
            continue;
        sum += own;
        known++;
    }
    *usual = known ? sum / (double)known : 0;
    return 0;
}

static double own_or(const struct by_decisions *d, size_t source, double usual)
{
    return isnan(d->work->noise_of[source]) ? usual : d->work->noise_of[source];
}

static int divide_group(struct by_decisions *d, const struct group *group, struct baryon_error *err)
{
    struct by_decide_noise *noise = &d->work->noise;
    const size_t count = group->end - group->begin;
    double sum = 0, usual = 0;
    if (count > 1 && usual_own(d, group, &usual, err) < 0)
        return -1;
    for (size_t i = group->begin; i < group->end; i++)
        sum += own_or(d, i, usual);
    for (size_t i = group->begin; i < group->end; i++) {
        noise->group_of[i] = noise->first_group[i] = group->place;
        noise->share_of[i] = count == 1 ? 1
                             : sum > 0  ? own_or(d, i, usual) / sum
                                        : 1 / (double)count;
        noise->first_share[i] = noise->share_of[i];
        take_alone(d, i, group->place);
    }
    return 0;
}

/* --- What does not add --- */

/* total: outputs with what the state has unchanged. */
static void find_rest(struct by_decisions *d, const struct by_decide_state *state,
                      const double *total)
{
    struct by_decide_noise *noise = &d->work->noise;
    by_decide_state_errors(state, noise->rest);
    for (size_t i = 0; i < noise->dims; i++) {
        const double rest = total[i] - noise->none[i] - (double)noise->rest[i];
        noise->rest[i] = isfinite(rest) ? (float)rest : 0;
    }
    for (size_t k = 0; k < noise->outputs; k++) {
        noise->all[k] = state->sums.left[k];
        noise->rest_energy[k] = by_decide_noise_dot(noise, k, noise->rest, noise->rest);
        for (size_t i = 0; i < noise->groups; i++)
            noise->rested[i][k] =
                by_decide_noise_dot(noise, k, noise->errors + i * noise->dims, noise->rest);
        d->scale[k] = 1;
    }
}

static int fit_rest(struct by_decisions *d, const bool *on, const double *total,
                    struct baryon_error *err)
{
    struct by_decide_state state;
    const int status = by_decide_state_open(&state, d, on, err);
    if (status == 0)
        find_rest(d, &state, total);
    by_decide_state_close(&state);
    return status;
}

static double left_of(const struct by_decide_state *state, size_t source)
{
    const struct by_decide_noise *noise = &state->d->work->noise;
    return state->factor[source] == 1
               ? noise->share_of[source] *
                     noise_share(state->d, noise->energy[noise->group_of[source]])
               : 0;
}

static double all_left(const struct by_decide_state *state)
{
    double all = 0;
    for (size_t i = 0; i < state->d->source_count; i++)
        all += left_of(state, i);
    return all;
}

/* The worst of those that are on, most noise first. */
static size_t list_worst(const struct by_decide_state *state, double least, struct group *list)
{
    size_t count = 0;
    const double all = all_left(state);
    for (size_t i = 0; i < state->d->source_count; i++) {
        const double left = left_of(state, i);
        size_t at = count;
        if (left <= 0 || left < least * all)
            continue;
        while (at > 0 && left_of(state, list[at - 1].begin) < left)
            at--;
        if (at == AROUND)
            continue;
        count += count < AROUND;
        memmove(list + at + 1, list + at, (count - 1 - at) * sizeof *list);
        list[at] = (struct group){.begin = i, .end = i + 1, .place = BY_NONE, .part = BY_NONE};
    }
    return count;
}

/* How many of the worst have most of the noise. */
static size_t covering(const struct by_decide_state *state, const struct group *list, size_t count)
{
    const double all = all_left(state);
    double covered = 0;
    size_t some = 0;
    while (some < count && covered < AROUND_COVERS * all)
        covered += left_of(state, list[some++].begin);
    return some;
}

/* --- The ends --- */

/* Over samples, in their order. */
static void read_floor(struct by_decisions *d, const struct by_judgement *each)
{
    const size_t most = BY_DECISION_OUTPUTS;
    memset(d->signal, 0, sizeof d->signal);
    memset(d->floor, 0, sizeof d->floor);
    d->output_count = each->count < most ? each->count : most;
    for (size_t k = 0; k < d->output_count; k++)
        for (size_t i = 0; i < d->samples; i++) {
            d->signal[k] += each[i].outputs[k].signal;
            d->floor[k] += isfinite(each[i].outputs[k].noise) ? each[i].outputs[k].noise : 0;
        }
}

double by_decisions_ceiling(const struct by_decisions *d)
{
    double least = INFINITY;
    for (size_t k = 0; k < d->output_count; k++)
        least = fmin(least, by_decibels(d->signal[k], d->floor[k]));
    return least;
}

static int measure_none(struct by_decisions *d, const bool *on, struct baryon_error *err)
{
    struct measuring measuring = {.on = on};
    struct by_judgement *each = by_alloc_zero(d->samples + 1, sizeof *each, err);
    if (!each)
        return -1;
    measuring.each = each;
    const int status = run_sets(d, &measuring, 1, err);
    if (status == 0)
        read_floor(d, each);
    by_free(each);
    return status;
}

static int measure_places(struct by_decisions *d, const bool *on, double *places,
                          struct baryon_error *err)
{
    struct measuring measuring = {.on = on, .places = places};
    return run_sets(d, &measuring, 1, err);
}

/* --- All of it --- */

static size_t sets_of(const struct by_decisions *d)
{
    const size_t most = by_decide_noise_most(d), runs = by_decide_runs(d);
    const size_t groups = runs ? runs / d->samples : most;
    const size_t wanted = groups < most ? groups : most;
    if (wanted >= d->source_count)
        return d->source_count;
    return wanted > 2 ? wanted : 2;
}

static size_t group_evenly(const struct by_decisions *d, size_t wanted, struct group *groups)
{
    const size_t count = wanted < d->source_count ? wanted : d->source_count;
    for (size_t i = 0; i < count; i++)
        groups[i] = (struct group){.begin = i * d->source_count / count,
                                   .end = (i + 1) * d->source_count / count,
                                   .place = BY_NONE,
                                   .part = BY_NONE};
    return count;
}

/* --- Parts --- */

/* A part has the weights behind its first source alone: n of them about (n + 1) / 2 times all. Two
 * there may be of any model. */
static size_t parts_that_fit(const struct by_decisions *d, size_t parts)
{
    double floats = 0;
    for (size_t i = 0; i < d->source_count; i++)
        floats += d->sources[i].weight ? d->work->elements_of[i] : 0;
    const double times = PARTS_BYTES / (floats * sizeof(float) + 1);
    const double most = fmax(2 * times - 1, 2);
    return most < (double)parts ? (size_t)most : parts;
}

static int open_part(struct by_decisions *d, struct group *groups, size_t count, size_t part,
                     struct baryon_error *err)
{
    struct by_decide_part *at = &d->work->parts[part];
    bool *none = by_alloc_zero(d->source_count + 1, sizeof *none, err);
    struct group whole = {.part = part};
    at->none = by_arena_alloc(&d->arena, d->work->noise.dims + 1, sizeof *at->none, err);
    int status = none && at->none ? by_switches_open(&at->switches, d, groups[0].begin,
                                                     groups[count - 1].end, err)
                                  : -1;
    for (size_t i = 0; i < count; i++)
        groups[i].part = part;
    struct measuring measuring = {.on = none, .places = at->none, .groups = &whole};
    if (status == 0)
        status = run_sets(d, &measuring, 1, err);
    by_free(none);
    return status;
}

/* Few sources are on in a run, so sessions with a part of them do, which are faster. */
static int open_parts(struct by_decisions *d, struct group *groups, size_t count,
                      struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    const size_t asked = work->options.parts, most = asked ? asked : count / PART_GROUPS;
    const size_t parts = parts_that_fit(d, !asked && most > PARTS ? PARTS
                                           : most < count         ? most
                                                                  : count);
    if (parts < 2)
        return 0;
    work->parts = by_arena_alloc(&d->arena, parts, sizeof *work->parts, err);
    if (!work->parts)
        return -1;
    memset(work->parts, 0, parts * sizeof *work->parts);
    work->part_count = parts;
    size_t starts[PARTS_MOST + 1];
    for (size_t i = 0; i <= parts && parts <= PARTS_MOST; i++)
        starts[i] = i < parts ? groups[i * count / parts].begin : d->source_count;
    if (parts <= PARTS_MOST && by_begins_open(&work->begins, d, starts, parts, err) < 0)
        return -1;
    for (size_t i = 0; i < parts; i++) {
        const size_t begin = i * count / parts, end = (i + 1) * count / parts;
        if (by_decide_go_on(d, "measure", 0, d->source_count, err) < 0 ||
            open_part(d, groups + begin, end - begin, i, err) < 0)
            return -1;
    }
    return 0;
}

void by_decide_parts_close(struct by_decide_work *work)
{
    for (size_t i = 0; i < work->part_count; i++)
        by_switches_close(work->parts[i].switches);
    work->part_count = 0;
    by_begins_close(work->begins);
    work->begins = NULL;
}

static int measure_all(struct by_decisions *d, struct group *groups, struct baryon_error *err)
{
    const size_t most = sets_of(d);
    const bool each = most >= d->source_count;
    struct counted counted = {.what = "measure", .all = most};
    size_t count = group_evenly(d, each ? most : (size_t)ceil(FIRST_RUNS * (double)most), groups);
    if ((!each && by_decide_own(d, err) < 0) || open_parts(d, groups, count, err) < 0 ||
        measure_groups(d, groups, count, NULL, NULL, &counted, err) < 0)
        return -1;
    while (!each && counted.done + 1 < most) {
        const int splits = split_worst(d, groups, &count, (most - counted.done) / 2, &counted, err);
        if (splits < 0)
            return -1;
        if (!splits)
            break;
    }
    for (size_t i = 0; i < count; i++)
        if (divide_group(d, &groups[i], err) < 0)
            return -1;
    by_decide_parts_close(d->work);
    return 0;
}

static int open_switches(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    if (work->switches)
        return 0;
    if (!by_judge_count(d->judge))
        return by_fail(err, BARYON_ERR_INPUT, "no sample is left to measure decisions on");
    by_decide_choose_samples(d);
    return by_decide_go_on(d, "measure", 0, d->source_count, err) < 0 ||
                   by_switches_open(&work->switches, d, 0, d->source_count, err) < 0
               ? -1
               : by_decide_find_samples(d, err);
}

static void find_share(struct by_decisions *d, const struct by_decide_state *state, size_t source)
{
    const struct by_decide_noise *noise = &d->work->noise;
    const size_t group = noise->group_of[source];
    d->sources[source].share = 0;
    for (size_t k = 0; k < noise->outputs; k++) {
        const double all =
            state->sums.sum[k] + 2 * state->sums.with_rest[k] + noise->rest_energy[k];
        const double own = state->product[group][k] + noise->rested[group][k];
        if (all > 0)
            d->sources[source].share +=
                noise->share_of[source] * own / all / (double)noise->outputs;
    }
}

/* What each decision gains by itself, and whose noise it is. */
static int find_gains(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_state state, trial;
    const int status = by_decide_state_open(&state, d, NULL, err);
    for (size_t i = 0; status == 0 && i < d->decision_count; i++) {
        by_decide_state_try(&state, d->decisions[i].place, i, &trial);
        d->decisions[i].gain = trial.sqnr - state.sqnr;
    }
    for (size_t i = 0; status == 0 && i < d->source_count; i++)
        find_share(d, &state, i);
    by_decide_state_close(&state);
    return status;
}

static int measure_sources(struct by_decisions *d, struct group *groups, struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    bool *none = by_alloc_zero(d->source_count + 1, sizeof *none, err);
    work->all = by_arena_alloc(&d->arena, d->source_count + 1, sizeof *work->all, err);
    if (!none || !work->all) {
        by_free(none);
        return -1;
    }
    memset(work->all, true, d->source_count);
    int status = measure_none(d, none, err);
    if (status < 0 || (work->options.least > 0 && by_decisions_ceiling(d) < work->options.least)) {
        by_free(none);
        return status;
    }
    if (status == 0)
        status = by_decide_noise_open(d, sets_of(d) + AROUNDS * AROUND + 2 * SPLITS, err);
    if (status == 0)
        status = measure_places(d, none, work->noise.none, err);
    if (status == 0)
        status = measure_places(d, work->all, work->noise.total, err);
    if (status == 0)
        status = measure_all(d, groups, err);
    by_free(none);
    return status < 0 ? -1 : fit_rest(d, NULL, work->noise.total, err);
}

/* What a source does alone and what is gone without it differ where errors do not add; on the way
 * from one to the other it does about their mean. Of sources with little noise the second says
 * nothing: all that follows is rounded otherwise, too. */
static int sharpen(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_noise *noise = &d->work->noise;
    struct by_decide_state state;
    struct group list[AROUND];
    struct counted counted = {.what = "measure"};
    int status = by_decide_state_open(&state, d, NULL, err);
    const size_t all = status == 0 ? list_worst(&state, SHARPEN_SHARE, list) : 0;
    size_t count = 0;
    by_decide_state_close(&state);
    for (size_t i = 0; i < all && count < BY_DECIDE_SHARPENED; i++) {
        if (noise->share_of[list[i].begin] != 1)
            continue;
        list[count] = list[i];
        list[count++].place = noise->group_of[list[i].begin];
    }
    counted.all = count;
    if (status == 0)
        status = measure_groups(d, list, count, d->work->all, noise->total, &counted, err);
    return status < 0 ? -1 : fit_rest(d, NULL, noise->total, err);
}

int by_decisions_measure(struct by_decisions *d, struct baryon_error *err)
{
    struct group *groups = by_alloc(2 * d->source_count + 2, sizeof *groups, err);
    int status = groups ? open_switches(d, err) : -1;
    if (status == 0)
        status = measure_sources(d, groups, err);
    const bool measured = d->work->noise.groups > 0;
    if (status == 0 && measured)
        status = sharpen(d, err);
    by_free(groups);
    return status < 0 || !measured ? status : find_gains(d, err);
}

/* --- In place --- */

static int measure_in_place(struct by_decisions *d, const struct by_decide_state *state, bool *on,
                            double *total, struct baryon_error *err)
{
    struct group list[AROUND];
    struct counted counted = {.what = "measure around"};
    struct by_decide_noise *noise = &d->work->noise;
    const size_t count = covering(state, list, list_worst(state, AROUND_SHARE, list));
    if (noise->groups + count > noise->room)
        return 0;
    counted.all = count;
    for (size_t i = 0; i < d->source_count; i++)
        on[i] = state->factor[i] == 1;
    if (measure_places(d, on, total, err) < 0 ||
        measure_groups(d, list, count, on, total, &counted, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        noise->group_of[list[i].begin] = list[i].place;
        noise->share_of[list[i].begin] = 1;
    }
    return 0;
}

int by_decisions_measure_around(struct by_decisions *d, const bool *on, struct baryon_error *err)
{
    struct by_decide_state state = {.d = NULL};
    bool *sources = by_alloc_zero(d->source_count + 1, sizeof *sources, err);
    double *total = by_alloc_zero(d->work->noise.dims + 1, sizeof *total, err);
    int status = sources && total ? by_decide_state_open(&state, d, on, err) : -1;
    if (status == 0)
        status = measure_in_place(d, &state, sources, total, err);
    by_decide_state_close(&state);
    if (status == 0)
        status = fit_rest(d, on, total, err);
    by_free(total);
    by_free(sources);
    return status;
}
