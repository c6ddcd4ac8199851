/* Measures candidates on samples of a search against the float model's outputs. */
#include "search/samples_internal.h"

#include "base/format.h"
#include "engine/pair.h"
#include "evaluate/parts.h"
#include "onnx/load.h"
#include "trial/more_outputs.h"

#include <math.h>
#include <string.h>

/* With more nodes ONNX Runtime takes longer to optimize a graph than runs gain. */
#define MANY_NODES 4000

struct measuring {
    struct by_auto_samples *samples;
    size_t first; /* of the batch */
    struct by_run *runs[BY_SAMPLES_TOGETHER];
    struct by_evaluation *evaluation;
};

static const struct by_auto_kept *kept_of(const struct measuring *measuring, size_t place)
{
    return &measuring->samples->kept[measuring->first + place];
}

/* The one that this model had before; NULL: none. */
static struct by_run *run_before(const struct measuring *measuring, size_t place)
{
    const struct by_auto_opened *opened = &measuring->samples->opened;
    const size_t at = measuring->first + place - opened->ran.first;
    return at < opened->ran.count ? opened->runs[at] : NULL;
}

static int unpark_arrays(struct by_auto_samples *samples, const struct by_parked *parked,
                         size_t count, struct by_array *arrays, struct by_unpark_room *rooms,
                         struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (by_unpark(samples->depot, &parked[i], &rooms[i], &arrays[i], err) < 0)
            return -1;
    return 0;
}

static int run_candidate(struct measuring *measuring, size_t place, struct by_arena *arena,
                         struct by_unpark_room *rooms, struct baryon_error *err)
{
    struct by_auto_samples *samples = measuring->samples;
    const struct by_auto_opened *opened = &samples->opened;
    struct by_array *inputs = by_arena_alloc(arena, samples->input_count + 1, sizeof *inputs, err);
    struct by_fitted fitted = opened->fitted; /* arrays of its own */
    fitted.arrays = by_arena_alloc(arena, fitted.count + 1, sizeof *fitted.arrays, err);
    if (!inputs || !fitted.arrays ||
        unpark_arrays(samples, kept_of(measuring, place)->inputs, samples->input_count, inputs,
                      rooms, err) < 0 ||
        by_fitted_take(&fitted, inputs, arena, err) < 0)
        return -1;
    return by_session_run(opened->session, fitted.arrays, fitted.count, opened->names,
                          samples->outputs.count, &measuring->runs[place], err);
}

static int run_some(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    struct measuring *measuring = context;
    const size_t count = measuring->samples->input_count;
    int status = 0;
    (void)worker;
    for (size_t i = begin; status == 0 && i < end; i++) {
        struct by_arena arena;
        if (kept_of(measuring, i)->skipped || run_before(measuring, i))
            continue;
        by_arena_init(&arena, 0);
        struct by_unpark_room *rooms = by_arena_alloc(&arena, count + 1, sizeof *rooms, err);
        status = rooms ? run_candidate(measuring, i, &arena, rooms, err) : -1;
        for (size_t k = 0; rooms && k < count; k++)
            by_unpark_room_release(&rooms[k]);
        by_arena_release(&arena);
        if (status < 0)
            by_err_in(err, "sample '%s'", kept_of(measuring, i)->name);
    }
    return status;
}

static const int64_t *labels_of(const struct by_auto_samples *samples, size_t sample, size_t output)
{
    const size_t row = sample * samples->label_rows;
    if (!samples->labels.count || output != samples->label_output ||
        row + samples->label_rows > samples->labels.count)
        return NULL;
    return samples->labels.at + row;
}

struct outputs {
    const struct by_array *want, *got;
    const int64_t *labels;
};

/* Parts have no labels; where an output does not have the parts, it is no part of it. */
static int compare_parts(struct measuring *measuring, size_t output, size_t place,
                         const char *sample, const struct outputs *outputs,
                         struct baryon_error *err)
{
    const struct by_joined *joined = &measuring->samples->outputs.joined[output];
    const struct by_joined parts = by_joined_of(joined, outputs->want);
    if (parts.count == 1 || by_joined_of(joined, outputs->got).count == 1)
        return by_evaluation_add(measuring->evaluation, place, sample, outputs->want, outputs->got,
                                 outputs->labels, err);
    return by_evaluation_add_parts(measuring->evaluation, &parts, place, sample, outputs->want,
                                   outputs->got, err);
}

static int compare_sample(struct measuring *measuring, size_t place, const struct by_run *run,
                          struct baryon_error *err)
{
    size_t count, part = 0;
    struct by_auto_samples *samples = measuring->samples;
    const struct by_auto_kept *kept = kept_of(measuring, place);
    const struct by_array *got = by_run_outputs(run, &count);
    struct by_unpark_room room = {0};
    int status = 0;
    for (size_t i = 0; status == 0 && i < samples->outputs.count; i++) {
        struct by_array want;
        status = by_unpark(samples->depot, &kept->outputs[i], &room, &want, err);
        const struct outputs outputs = {&want, &got[i],
                                        labels_of(samples, measuring->first + place, i)};
        if (status == 0)
            status = compare_parts(measuring, i, part, kept->name, &outputs, err);
        part += samples->outputs.joined[i].count;
    }
    by_unpark_room_release(&room);
    return status;
}

static void release_runs(struct by_run **runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        by_run_free(runs[i]);
        runs[i] = NULL;
    }
}

static void keep_runs(struct measuring *measuring, size_t count)
{
    struct by_auto_opened *opened = &measuring->samples->opened;
    memcpy(opened->runs, measuring->runs, count * sizeof *opened->runs);
    memset(measuring->runs, 0, count * sizeof *measuring->runs);
    opened->ran = (struct by_auto_range){measuring->first, count};
}

/* In the order of the samples, so that sums do not depend on threads. */
static int measure_batch(struct measuring *measuring, size_t first, size_t count, bool whole,
                         struct baryon_error *err)
{
    struct by_auto_samples *samples = measuring->samples;
    measuring->first = first;
    int status = by_par_for(samples->pool, count, 1, run_some, measuring, err);
    for (size_t i = 0; status == 0 && i < count; i++) {
        const struct by_run *before = run_before(measuring, i);
        const struct by_run *run = before ? before : measuring->runs[i];
        if (run)
            status = compare_sample(measuring, i, run, err);
    }
    if (status == 0 && whole && !samples->opened.ran.count)
        keep_runs(measuring, count);
    release_runs(measuring->runs, count);
    return status;
}

/* Of the worst output; NULL: none has the metric. */
static const struct by_score *worst_value(const struct by_evaluation *evaluation,
                                          const char *metric, bool worst, double *value)
{
    const struct by_score *score, *of = NULL;
    *value = (double)NAN;
    for (size_t i = 0; (score = by_evaluation_score(evaluation, i)); i++) {
        const double found = worst ? score->worst : score->mean;
        if (strcmp(score->metric->name, metric) != 0)
            continue;
        if (!of || isnan(*value) || (score->metric->higher ? found < *value : found > *value)) {
            *value = found;
            of = score;
        }
    }
    return of;
}

/* The mean of other samples differs from this one by both errors. */
static double margin_of(const struct by_auto_parts *parts, enum by_auto_part part,
                        const struct by_score *score)
{
    const double ratio = (double)parts->of[part].count / (double)parts->of[BY_PART_LAST].count;
    return score && !parts->shared ? by_score_margin(score, sqrt(1 + ratio)) : 0;
}

static void take_values(const struct measuring *measuring, enum by_auto_part part,
                        struct by_auto_measured *measured)
{
    const struct by_auto_goals *goals = measuring->samples->goals;
    for (size_t i = 0; i < goals->count; i++) {
        const struct by_auto_goal *goal = &goals->at[i];
        const struct by_score *score = NULL;
        measured->values[i] = (double)NAN;
        if (goal->metric)
            score =
                worst_value(measuring->evaluation, goal->name, goal->worst, &measured->values[i]);
        if (measured->margins)
            measured->margins[i] =
                margin_of(&measuring->samples->parts, part, goal->worst ? NULL : score);
    }
    worst_value(measuring->evaluation, "sqnr", false, &measured->sqnr);
}

/* --- The session --- */

/* What outputs are selected from may have another name there. */
static int open_shown(struct by_auto_samples *samples, struct baryon_model *model,
                      const struct by_session_options *options, struct baryon_error *err)
{
    struct by_auto_opened *opened = &samples->opened;
    const size_t own = samples->outputs.count - samples->outputs.selected_count;
    struct baryon_value *values[BY_SELECTS_MOST];
    char quoted[BY_QUOTE_MAX];
    const char **names = by_arena_alloc(&opened->arena, samples->outputs.count, sizeof *names, err);
    if (!names)
        return -1;
    opened->names = names;
    for (size_t i = 0; i < samples->outputs.count; i++) {
        names[i] = samples->outputs.names[i];
        if (i < own)
            continue;
        if (!(values[i - own] = by_selects_value(model->graph, names[i])))
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "the quantized model has no value %s, which outputs are selected from",
                           by_quote(quoted, names[i]));
        names[i] = by_arena_text(&opened->arena, values[i - own]->name,
                                 strlen(values[i - own]->name), err);
        if (!names[i])
            return -1;
    }
    return by_more_outputs_session(&opened->session, model, values, samples->outputs.selected_count,
                                   options, err);
}

static int fit_inputs(struct by_auto_samples *samples, struct baryon_error *err)
{
    struct by_auto_opened *opened = &samples->opened;
    struct by_fitted *fitted = &opened->fitted;
    fitted->ports = by_session_inputs(opened->session, &fitted->count);
    fitted->from = by_arena_alloc(&opened->arena, fitted->count + 1, sizeof *fitted->from, err);
    if (!fitted->from)
        return -1;
    for (size_t i = 0; i < fitted->count; i++) {
        size_t k = 0;
        while (k < samples->input_count && strcmp(samples->input_names[k], fitted->ports[i].name))
            k++;
        if (k == samples->input_count)
            return by_fail(err, BARYON_ERR_UNSUPPORTED, "the float model has no input %s",
                           fitted->ports[i].name);
        fitted->from[i] = k;
    }
    return 0;
}

/* The model itself is written to a file, or has decisions that are about its pairs. */
static int join_pairs(struct by_auto_opened *opened, struct baryon_model *model,
                      struct baryon_error *err)
{
    size_t joined;
    return by_frame_take(&opened->frame, model, err) < 0 ||
                   by_frame_copy(&opened->frame, &opened->joined, err) < 0 ||
                   by_pairs_join(opened->joined, &joined, err) < 0
               ? -1
               : 0;
}

static int open_candidate(struct by_auto_samples *samples, struct baryon_model *model,
                          struct baryon_error *err)
{
    struct by_session_options options = by_auto_lone_session(samples);
    if (samples->opened.model == model)
        return 0;
    by_auto_samples_leave(samples);
    samples->opened.model = model;
    by_arena_init(&samples->opened.arena, 0);
    if (join_pairs(&samples->opened, model, err) < 0)
        return -1;
    model = samples->opened.joined;
    options.as_written = true;
    options.shares_memory = true;
    options.optimization = model->graph->node.count < MANY_NODES ? -1 : 0;
    return open_shown(samples, model, &options, err) < 0 ? -1 : fit_inputs(samples, err);
}

void by_auto_samples_leave(struct by_auto_samples *samples)
{
    if (!samples->opened.model)
        return;
    release_runs(samples->opened.runs, samples->opened.ran.count);
    by_session_close(samples->opened.session);
    by_model_free(samples->opened.joined);
    by_frame_release(&samples->opened.frame);
    by_arena_release(&samples->opened.arena);
    samples->opened = (struct by_auto_opened){.model = NULL};
}

/* --- A part --- */

static int measure_part(struct measuring *measuring, struct baryon_model *model,
                        enum by_auto_part part, struct baryon_error *err)
{
    struct by_auto_samples *samples = measuring->samples;
    const struct by_auto_range *range = &samples->parts.of[part];
    if (by_evaluation_open(&measuring->evaluation, &samples->settings, samples->outputs.parts,
                           samples->outputs.part_count, err) < 0 ||
        open_candidate(samples, model, err) < 0)
        return -1;
    measuring->evaluation->keeps_each = true;
    for (size_t done = 0; done < range->count; done += BY_SAMPLES_TOGETHER) {
        const size_t left = range->count - done;
        const size_t count = left < BY_SAMPLES_TOGETHER ? left : BY_SAMPLES_TOGETHER;
        if (measure_batch(measuring, range->first + done, count, count == range->count, err) < 0)
            return -1;
    }
    return by_evaluation_finish(measuring->evaluation, err);
}

static bool ends_the_search(const struct baryon_error *err)
{
    return err->code == BARYON_ERR_NOMEM || err->code == BARYON_ERR_IO ||
           err->code == BARYON_ERR_CANCELLED;
}

/* A candidate that cannot be measured is lost, and the search goes on. */
static int lose(struct by_auto_measured *measured, const struct by_auto_goals *goals,
                struct baryon_error *err)
{
    if (ends_the_search(err))
        return -1;
    by_format(measured->why, sizeof measured->why, "%s", err->message);
    for (size_t i = 0; i < goals->count; i++) {
        measured->values[i] = (double)NAN;
        if (measured->margins)
            measured->margins[i] = 0;
    }
    measured->sqnr = (double)NAN;
    by_err_clear(err);
    return 0;
}

int by_auto_samples_measure(struct by_auto_samples *samples, struct baryon_model *model,
                            enum by_auto_part part, struct by_auto_measured *measured,
                            struct baryon_error *err)
{
    struct measuring measuring = {.samples = samples};
    measured->why[0] = '\0';
    int status = measure_part(&measuring, model, part, err);
    if (status == 0) {
        take_values(&measuring, part, measured);
    } else {
        by_auto_samples_leave(samples);
        status = lose(measured, samples->goals, err);
    }
    by_evaluation_close(measuring.evaluation);
    return status;
}
