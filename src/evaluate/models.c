/* Two models on the same samples. */
#include "evaluate/evaluate.h"

#include "base/thread.h"
#include "evaluate/parts.h"
#include "input/ahead.h"
#include "onnx/load.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct job {
    const struct by_evaluate_options *options;
    struct by_evaluation *evaluation;
    struct by_arena arena;
    struct by_session *baseline, *result;
    const char **names; /* of the outputs */
    size_t name_count;
    struct by_measured_outputs measured;
    struct by_input *input;
    size_t port_count;
    struct by_fitted fitted; /* for the quantized model */
    struct by_labels labels;
    size_t rows; /* of the samples so far, as labels count them */
    struct {
        double *at; /* SQNR by sample, NaN where it was skipped; where samples are shown */
        size_t count, cap;
    } sqnr;
    double start;
};

/* --- Opening --- */

static int open_session(struct by_session **session, struct baryon_model *model,
                        const struct by_evaluate_options *options, struct baryon_error *err)
{
    const int status = by_session_open_model(session, model, 0, &options->run.session, err);
    return by_model_judge_run(model, model->path, status, err);
}

static int choose_outputs(struct job *job, struct baryon_error *err)
{
    const char **same;
    const struct by_setting_texts *wanted = &job->options->settings->output;
    if (by_session_choose_outputs(job->baseline, wanted->at, wanted->count, &job->arena,
                                  &job->names, &job->name_count, err) < 0)
        return -1;
    if (by_session_choose_outputs(job->result, job->names, job->name_count, &job->arena, &same,
                                  &job->name_count, err) < 0)
        return by_err_in(err, "quantized model");
    return 0;
}

static int open_evaluation_job(struct job *job, struct baryon_model *baseline,
                               struct baryon_model *result, struct baryon_error *err)
{
    const struct by_evaluate_options *options = job->options;
    const char *labels = options->settings->labels;
    struct baryon_model *parted = options->settings->compat ? NULL : baseline; /* Quark has none */
    if (labels && by_labels_read(&job->arena, labels, &job->labels, err) < 0)
        return -1;
    if (open_session(&job->baseline, baseline, options, err) < 0 ||
        open_session(&job->result, result, options, err) < 0 || choose_outputs(job, err) < 0 ||
        by_fitted_open(&job->fitted, job->baseline, job->result, &job->arena, options->run.log,
                       err) < 0 ||
        by_measured_outputs_find(&job->measured, parted, job->names, job->name_count, &job->arena,
                                 err) < 0 ||
        by_evaluation_open(&job->evaluation, options->settings, job->measured.names,
                           job->measured.count, err) < 0 ||
        by_input_open_for(&job->input, job->baseline, options->run.samples, options->data,
                          &options->run.input, err) < 0)
        return -1;
    by_session_inputs(job->baseline, &job->port_count);
    by_input_describe(job->input, job->evaluation->data, sizeof job->evaluation->data);
    return 0;
}

static void close_all(struct job *job)
{
    by_input_close(job->input);
    by_session_close(job->result);
    by_session_close(job->baseline);
    by_arena_release(&job->arena);
}

/* --- One sample --- */

/* Labels count rows of the first output that has classes. */
static int find_labels(struct job *job, const struct by_array *outputs, const int64_t **labels,
                       struct baryon_error *err)
{
    *labels = NULL;
    for (size_t i = 0; job->labels.count && i < job->name_count; i++) {
        size_t rows, classes;
        struct by_compared pair = {.rank = outputs[i].rank, .dims = outputs[i].dims};
        if (by_dims_count(pair.dims, pair.rank, &pair.count, err) < 0)
            return -1;
        if (!by_metric_is_classes(&pair))
            continue;
        by_metric_rows(&pair, &rows, &classes);
        if (rows > job->labels.count - job->rows)
            return by_fail(err, BARYON_ERR_INPUT, "%zu labels for %zu rows of samples so far",
                           job->labels.count, job->rows + rows);
        *labels = job->labels.at + job->rows;
        job->rows += rows;
        return 0;
    }
    return job->labels.count
               ? by_fail(err, BARYON_ERR_USAGE,
                         "labels are given, but no output has the shape (rows, classes)")
               : 0;
}

static size_t rows_of(const struct by_array *array)
{
    size_t rows, classes, count;
    if (by_dims_count(array->dims, array->rank, &count, NULL) < 0)
        return 0;
    by_metric_rows(&(struct by_compared){.rank = array->rank, .dims = array->dims, .count = count},
                   &rows, &classes);
    return rows;
}

static int say_where(const struct job *job, size_t output, const struct by_array *baseline,
                     const struct by_array *result, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const bool same = baseline->rank == result->rank &&
                      !memcmp(baseline->dims, result->dims, baseline->rank * sizeof(int64_t));
    if (!same)
        by_err_hint(err, "where values decide what comes out, as with NonMaxSuppression, 'baryon "
                         "sensitivity' compares what it is selected from");
    return by_err_in(err, "output %s", by_quote(quoted, job->names[output]));
}

static int compare_model_outputs(struct job *job, const char *sample,
                                 const struct by_array *baseline, const struct by_array *result,
                                 struct baryon_error *err)
{
    const int64_t *labels;
    const size_t before = job->rows;
    size_t place = 0;
    if (find_labels(job, baseline, &labels, err) < 0)
        return -1;
    for (size_t i = 0; i < job->name_count; i++) {
        const bool fits = labels && rows_of(&baseline[i]) == job->rows - before;
        const struct by_joined *joined = &job->measured.joined[i];
        const struct by_joined parts = by_joined_of(joined, &baseline[i]);
        if (by_evaluation_add(job->evaluation, place++, sample, &baseline[i], &result[i],
                              fits ? labels : NULL, err) < 0)
            return say_where(job, i, &baseline[i], &result[i], err);
        if (by_evaluation_add_parts(job->evaluation, &parts, place, sample, &baseline[i],
                                    &result[i], err) < 0)
            return -1;
        place += joined->count > 1 ? joined->count : 0;
    }
    job->evaluation->samples++;
    return 0;
}

static int run_baseline(const struct job *job, const struct by_array *arrays, struct by_run **run,
                        struct baryon_error *err)
{
    if (by_session_run(job->baseline, arrays, job->port_count, job->names, job->name_count, run,
                       err) == 0)
        return 0;
    return by_err_in(err, "baseline");
}

static int run_result(struct job *job, const struct by_array *arrays, struct by_arena *arena,
                      struct by_run **run, struct baryon_error *err)
{
    if (by_fitted_take(&job->fitted, arrays, arena, err) < 0)
        return -1;
    if (by_session_run(job->result, job->fitted.arrays, job->fitted.count, job->names,
                       job->name_count, run, err) == 0)
        return 0;
    return by_err_in(err, "quantized model");
}

static int note_sqnr(struct job *job, size_t index, const struct by_array *want,
                     const struct by_array *got, struct baryon_error *err)
{
    if (!job->options->show.show)
        return 0;
    if (by_list_reserve(&job->arena, &job->sqnr, index + 1 - job->sqnr.count, sizeof(double), err))
        return -1;
    while (job->sqnr.count <= index)
        job->sqnr.at[job->sqnr.count++] = (double)NAN;
    return by_shown_worst(want, got, job->name_count, &job->sqnr.at[index], err);
}

static int show_outputs(const struct job *job, const struct by_array *arrays,
                        const struct by_array *want, const struct by_array *got,
                        struct by_shown *shown, struct baryon_error *err)
{
    shown->inputs = arrays;
    shown->input_count = job->port_count;
    shown->names = job->names;
    shown->want = want;
    shown->got = got;
    shown->output_count = job->name_count;
    return job->options->show.show(job->options->show.context, shown, err);
}

/* shown: the sample was measured before; NULL: it is measured now. */
static int run_sample(struct job *job, const struct by_array *arrays, const char *sample,
                      size_t index, struct by_shown *shown, struct baryon_error *err)
{
    struct by_run *baseline = NULL, *result = NULL;
    struct by_arena converted;
    size_t count;
    by_arena_init(&converted, 0);
    int status = run_baseline(job, arrays, &baseline, err);
    if (status == 0)
        status = run_result(job, arrays, &converted, &result, err);
    const struct by_array *want = baseline ? by_run_outputs(baseline, &count) : NULL;
    const struct by_array *got = result ? by_run_outputs(result, &count) : NULL;
    if (status == 0 && shown)
        status = show_outputs(job, arrays, want, got, shown, err);
    else if (status == 0)
        status = compare_model_outputs(job, sample, want, got, err) < 0
                     ? -1
                     : note_sqnr(job, index, want, got, err);
    by_run_free(baseline);
    by_run_free(result);
    by_arena_release(&converted);
    return status < 0 ? by_err_in(err, "sample '%s'", sample) : 0;
}

/* --- All samples --- */

static int report_evaluation_progress(const struct job *job, size_t done, size_t total,
                                      const char *sample, struct baryon_error *err)
{
    const struct by_calibrate_progress progress = {.stage = "evaluate",
                                                   .done = done,
                                                   .total = total,
                                                   .sample = sample,
                                                   .seconds = by_seconds() - job->start};
    const struct by_calibrate_options *run = &job->options->run;
    if (!run->progress || !run->progress(run->context, &progress))
        return 0;
    return by_fail(err, BARYON_ERR_CANCELLED, "stopped after %" PRIu64 " samples",
                   job->evaluation->samples);
}

static int run_all(struct job *job, struct by_ahead *ahead, struct baryon_error *err)
{
    if (report_evaluation_progress(job, 0, by_ahead_count(ahead), NULL, err) < 0)
        return -1;
    for (size_t i = 0; i < by_ahead_count(ahead); i++) {
        const struct by_array *arrays;
        const char *sample;
        if (by_ahead_get(ahead, i, i + 1, &arrays, &sample, err) < 0 ||
            (arrays && run_sample(job, arrays, sample, i, NULL, err) < 0))
            return -1;
        if (i < by_ahead_count(ahead) &&
            report_evaluation_progress(job, i + 1, by_ahead_count(ahead), sample, err) < 0)
            return -1;
    }
    job->evaluation->skipped = by_ahead_skipped(ahead);
    if (!job->evaluation->samples)
        return by_fail(err, BARYON_ERR_INPUT, "there are no samples to compare the models on");
    if (job->rows < job->labels.count && !job->options->run.input.count)
        return by_fail(err, BARYON_ERR_INPUT, "%zu labels for %zu rows of samples, must be as many",
                       job->labels.count, job->rows);
    return by_evaluation_finish(job->evaluation, err);
}

static int run_model_samples(struct job *job, struct baryon_error *err)
{
    struct by_ahead *ahead;
    job->start = by_seconds();
    if (by_ahead_open(&ahead, job->input, err) < 0)
        return -1;
    const int status = run_all(job, ahead, err);
    by_ahead_close(ahead);
    return status;
}

/* Read again. */
static int show_some(struct job *job, struct baryon_error *err)
{
    struct by_shown_place chosen[BY_SHOWN_MOST];
    size_t count;
    if (by_shown_choose(job->sqnr.at, job->sqnr.count, chosen, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct by_array *arrays;
        struct by_shown shown = {.index = chosen[i].place,
                                 .rank = chosen[i].rank,
                                 .sqnr = job->sqnr.at[chosen[i].place]};
        if (by_input_get(job->input, chosen[i].place, &arrays, &shown.name, err) < 0 ||
            (arrays && run_sample(job, arrays, shown.name, 0, &shown, err) < 0))
            return -1;
    }
    return 0;
}

int by_evaluate_models(struct by_evaluation **out, struct baryon_model *baseline,
                       struct baryon_model *result, const struct by_evaluate_options *options,
                       struct baryon_error *err)
{
    struct job job = {.options = options};
    by_arena_init(&job.arena, 0);
    int status = open_evaluation_job(&job, baseline, result, err);
    if (status == 0)
        status = run_model_samples(&job, err);
    if (status == 0)
        status = show_some(&job, err);
    if (status < 0) {
        by_evaluation_close(job.evaluation);
        job.evaluation = NULL;
    }
    *out = job.evaluation;
    close_all(&job);
    return status;
}
