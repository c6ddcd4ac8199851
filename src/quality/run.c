/* Runs both models on the samples, in batches until the standard error is small. */
#include "base/thread.h"
#include "quality/quality_internal.h"

/* Samples that are in memory together hold no more than this, but for one. */
#define TOGETHER ((uint64_t)512 << 20)

struct batch {
    struct by_quality_job *job;
    pthread_mutex_t lock; /* of the source and of progress */
    size_t next, end;     /* samples, from the first that is measured on */
    size_t done, total;
    size_t measured; /* without those that are skipped */
};

/* --- One sample --- */

static int tell_progress(struct batch *batch, const char *sample, struct baryon_error *err)
{
    const struct by_calibrate_options *options = &batch->job->q->options->calibrate;
    const struct by_calibrate_progress now = {.stage = "measure",
                                              .done = batch->done,
                                              .total = batch->total,
                                              .sample = sample,
                                              .seconds = by_seconds() - batch->job->begin,
                                              .keeps = true};
    if (!options->progress || !options->progress(options->context, &now))
        return 0;
    return by_fail(err, BARYON_ERR_CANCELLED, "stopped while its quality was measured");
}

/* In their order, whoever asks. A sample that is skipped has no arrays. */
static int read_next(struct batch *batch, struct by_sample *sample, size_t *place,
                     struct baryon_error *err)
{
    pthread_mutex_lock(&batch->lock);
    *place = batch->next++;
    const int status =
        by_input_get_into(batch->job->input, (size_t)batch->job->out->first + *place, sample, err);
    pthread_mutex_unlock(&batch->lock);
    return status;
}

static int finish_sample(struct batch *batch, const struct by_sample *sample,
                         struct baryon_error *err)
{
    pthread_mutex_lock(&batch->lock);
    batch->done++;
    batch->measured += sample->arrays != NULL;
    const int status = tell_progress(batch, sample->name, err);
    pthread_mutex_unlock(&batch->lock);
    return status;
}

/* Sums of parts that the output does not have stay zero. */
static int compare_parts(const struct by_joined *joined, const struct by_array *want,
                         const struct by_array *got, struct by_arena *arena,
                         struct by_quality_sums *sums, struct baryon_error *err)
{
    const struct by_joined parts = by_joined_of(joined, want);
    const struct by_joined others = by_joined_of(joined, got);
    if (parts.count != others.count)
        return by_quality_compare(want, got, sums, err);
    for (size_t i = 0; i < parts.count; i++) {
        struct by_array one, other;
        if (by_joined_take(&parts, i, want, arena, &one, err) < 0 ||
            by_joined_take(&others, i, got, arena, &other, err) < 0 ||
            by_quality_compare(&one, &other, &sums[i], err) < 0)
            return -1;
    }
    return 0;
}

static int compare_runs(const struct by_quality_job *job, struct by_quality_runs *runs,
                        struct by_quality_sums *sums, struct baryon_error *err)
{
    size_t count;
    const struct by_array *want = by_run_outputs(runs->reference, &count);
    const struct by_array *got = by_run_outputs(runs->written, &count);
    for (size_t i = 0; i < job->outputs.count; i++) {
        if (compare_parts(&job->outputs.joined[i], &want[i], &got[i], &runs->arena, sums, err) < 0)
            return -1;
        sums += job->outputs.joined[i].count;
    }
    return 0;
}

static int run_written(const struct by_quality_job *job, const struct by_array *arrays,
                       struct by_arena *arena, struct by_run **run, struct baryon_error *err)
{
    struct by_fitted fitted = job->fitted; /* arrays of its own */
    fitted.arrays = by_arena_alloc(arena, fitted.count, sizeof *fitted.arrays, err);
    if (!fitted.arrays || by_fitted_take(&fitted, arrays, arena, err) < 0)
        return -1;
    return by_session_run(job->written, fitted.arrays, fitted.count, job->written_names,
                          job->outputs.count, run, err);
}

int by_quality_run_both(const struct by_quality_job *job, const struct by_array *arrays,
                        struct by_quality_runs *runs, struct baryon_error *err)
{
    *runs = (struct by_quality_runs){.reference = NULL};
    by_arena_init(&runs->arena, 0);
    if (by_session_run(job->reference, arrays, job->port_count, job->outputs.names,
                       job->outputs.count, &runs->reference, err) < 0)
        return -1;
    return run_written(job, arrays, &runs->arena, &runs->written, err);
}

void by_quality_end_both(struct by_quality_runs *runs)
{
    by_run_free(runs->written);
    by_run_free(runs->reference);
    by_arena_release(&runs->arena);
}

static int measure_sample(const struct by_quality_job *job, const struct by_array *arrays,
                          struct by_quality_sums *sums, struct baryon_error *err)
{
    struct by_quality_runs runs;
    int status = by_quality_run_both(job, arrays, &runs, err);
    if (status == 0)
        status = compare_runs(job, &runs, sums, err);
    by_quality_end_both(&runs);
    return status;
}

static int measure_next(struct batch *batch, struct baryon_error *err)
{
    struct by_quality_job *job = batch->job;
    struct by_sample sample;
    size_t place;
    by_sample_init(&sample);
    int status = read_next(batch, &sample, &place, err);
    if (status == 0 && sample.arrays)
        status = measure_sample(job, sample.arrays, &job->sums[place * job->out->count], err);
    if (status == 0)
        status = finish_sample(batch, &sample, err);
    by_sample_release(&sample);
    return status;
}

/* --- Batches --- */

static int measure_some(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (measure_next(context, err) < 0)
            return -1;
    return 0;
}

/* Samples one after the other in each of so many pieces. */
static size_t grain_of(const struct by_quality_job *job, size_t count)
{
    const uint64_t held = job->activations == UINT64_MAX ? 0 : job->activations;
    const uint64_t most = held < TOGETHER / 2 ? TOGETHER / (2 * held + 1) : 1;
    const size_t lanes = most < count ? (size_t)most : count;
    return (count + lanes - 1) / lanes;
}

static int run_batch(struct batch *batch, struct baryon_error *err)
{
    const size_t count = batch->end - batch->next;
    return by_par_for(batch->job->q->pool, count, grain_of(batch->job, count), measure_some, batch,
                      err);
}

static void add_up_outputs(struct by_quality_job *job, size_t samples)
{
    struct by_quality *out = job->out;
    for (size_t i = 0; i < out->count; i++)
        by_quality_add_up(&job->sums[i], samples, out->count, &out->outputs[i]);
}

static bool all_sure(const struct by_quality *out)
{
    for (size_t i = 0; i < out->count; i++) {
        const struct by_gain sqnr = {out->outputs[i].sqnr, out->outputs[i].error};
        if (!isnan(sqnr.decibels) && !by_quality_is_sure(&sqnr))
            return false;
    }
    return true;
}

int by_quality_run_samples(struct by_quality_job *job, struct baryon_error *err)
{
    const size_t count = (size_t)job->out->samples;
    struct batch batch = {.job = job, .lock = PTHREAD_MUTEX_INITIALIZER, .total = count};
    bool sure = false;
    int status = tell_progress(&batch, NULL, err);
    while (status == 0 && !sure && batch.next < count) {
        batch.end = by_quality_batch(batch.next, count);
        status = run_batch(&batch, err);
        add_up_outputs(job, batch.next);
        sure = all_sure(job->out);
    }
    job->out->samples = batch.measured;
    job->run_count = batch.next;
    pthread_mutex_destroy(&batch.lock);
    return status;
}
