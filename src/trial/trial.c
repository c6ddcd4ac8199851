/* Opens a trial: reads samples, runs the float model on them, adopts the best candidate. */
#include "adjust/smooth.h"
#include "base/thread.h"
#include "calibrate/size.h"
#include "onnx/load.h"
#include "quant/floats.h"
#include "trial/biases.h"
#include "trial/trial_internal.h"

#define LOOK 8 /* samples that ranges come from; those after them judge */

/* Samples that judge: as many as have so many values in the model together, of those limits, and
 * so many bytes of inputs are kept. */
#define ASIDE_LEAST 8
#define ASIDE_MOST  BY_TRIAL_ASIDE
#define JUDGED      ((uint64_t)64 << 20)
#define KEPT        ((uint64_t)64 << 20)
/* Weights of a float model that stays open during calibration. */
#define RESTING ((uint64_t)16 << 20)

/* --- Progress --- */

/* Comes from several threads, and is told to one at a time. */
static bool step_progress(struct by_trial *trial, uint64_t count, const char *sample)
{
    const struct by_calibrate_options *options = &trial->q->options->calibrate;
    struct by_calibrate_progress *progress = &trial->progress;
    pthread_mutex_lock(&trial->lock);
    progress->done += count;
    progress->sample = sample;
    if (progress->done > progress->total)
        progress->total = progress->done;
    struct by_calibrate_progress now = *progress;
    now.seconds = by_seconds() - progress->seconds;
    if (options->progress && !trial->stopped)
        trial->stopped = options->progress(options->context, &now);
    const bool stopped = trial->stopped;
    pthread_mutex_unlock(&trial->lock);
    return stopped;
}

int by_trial_go_on(struct by_trial *trial, uint64_t count, struct baryon_error *err)
{
    return step_progress(trial, count, NULL)
               ? by_fail(err, BARYON_ERR_CANCELLED, "%s: stopped", trial->progress.stage)
               : 0;
}

struct look {
    struct by_trial *trial;
    uint64_t done;
};

static bool step_look(void *context, const struct by_calibrate_progress *now)
{
    struct look *look = context;
    const uint64_t more = now->done - look->done;
    look->done = now->done;
    return step_progress(look->trial, more, now->sample);
}

bool by_trial_has_samples(const struct by_quantization *q)
{
    const struct by_input_callback *samples = q->options->calibrate.samples;
    return samples ? samples->rewind != NULL : !q->options->stats;
}

/* --- Looking at a few samples --- */

int by_trial_want_channels(struct by_quant_plan *plan, struct by_calibrate_options *options,
                           struct baryon_error *err)
{
    if (by_trial_want(plan, by_biases_need_means(plan->recipe), options, err) < 0)
        return -1;
    options->per_channel = true;
    return plan->recipe->smooth != BY_SMOOTH_OFF || plan->recipe->split != BY_SPLIT_OFF
               ? by_smooth_want(plan, &options->names, &options->name_count, err)
               : 0;
}

static int want_to_see(const struct by_trial *trial, struct by_quant_plan *plan, bool per_channel,
                       struct by_calibrate_options *options, struct baryon_error *err)
{
    *options = trial->q->options->calibrate;
    options->per_channel = false;
    return per_channel
               ? by_trial_want_channels(plan, options, err)
               : by_trial_want(plan, by_biases_need_means(trial->q->options->recipe), options, err);
}

int by_trial_look(struct by_trial *trial, struct baryon_model *model, struct by_quant_plan *plan,
                  bool per_channel, struct by_stats **stats, struct by_calibrate_report *report,
                  struct baryon_error *err)
{
    struct by_calibrate_options options;
    struct by_judge_reader reader;
    struct by_input_callback samples;
    struct look look = {.trial = trial};
    if (want_to_see(trial, plan, per_channel, &options, err) < 0)
        return -1;
    if (!options.name_count) /* floats and blocks have no ranges */
        return 0;
    by_judge_read(trial->judge, &reader, &samples);
    options.samples = &samples;
    options.model = options.data = "";
    options.checkpoint = NULL;
    options.progress = step_look;
    options.context = &look;
    options.store = by_judge_looks_are_first(trial->judge) ? trial->q->options->store : NULL;
    options.first = by_judge_looks(trial->judge);
    options.session.threads = trial->threads;
    options.lanes = trial->q->lanes;
    options.gate = trial->gate;
    options.input.random = false;
    options.input.count = 0;
    options.input.log = NULL; /* calibration says the same of the same samples */
    return by_calibrate(stats, model, NULL, &options, report, err);
}

uint64_t by_trial_seen_bytes(const struct by_trial *trial)
{
    const struct by_stats *seen = trial->seen[0].stats;
    uint64_t bytes = 0;
    if (!seen)
        return by_activation_bytes(trial->q->model->graph, &bytes, NULL) || bytes == UINT64_MAX
                   ? 0
                   : bytes;
    for (size_t i = 0; i < seen->tensor_count; i++) {
        const struct by_sketch *sketch = &seen->tensors[i].sketch;
        bytes += sketch->samples ? sketch->count / sketch->samples * sizeof(float) : 0;
    }
    return bytes;
}

/* --- The model as it is --- */

/* look: samples that ranges come from. */
static int open_judge(struct by_trial *trial, size_t look, bool judges, struct baryon_error *err)
{
    const struct by_quantize_options *all = trial->q->options;
    struct by_judge_options options = {
        .data = all->data,
        .samples = all->calibrate.samples,
        .input = all->calibrate.input,
        .session = all->calibrate.session,
        .look = look,
        .aside = judges ? ASIDE_LEAST : 0,
        .most = judges ? ASIDE_MOST : 0,
        .unsaturated = !all->recipe->compat,
    };
    options.input.log = NULL;
    if (trial->part) {
        options.skip = by_stats_covered(trial->part);
        options.aside = BY_TRIAL_ASIDE;
    } else if (options.input.random)
        options.input.count = look + ASIDE_MOST;
    if (judges && trial->q->exact.count && by_frame_copy(&trial->q->exact, &trial->exact, err) < 0)
        return -1;
    return by_judge_open(&trial->judge, trial->exact ? trial->exact : trial->q->model, &options,
                         err);
}

/* What an earlier trial saw of the candidate that the model has become since. */
static int take_begun(struct by_trial *trial, bool *taken, struct baryon_error *err)
{
    struct by_quantization *q = trial->q;
    struct by_calibrate_options options;
    *taken = false;
    if (!q->begun || !q->begun_by_channel)
        return 0;
    if (want_to_see(trial, q->plan, true, &options, err) < 0 ||
        by_calibrate_is_begun(q->begun, q->model, &options, taken, err) < 0)
        return -1;
    *taken = *taken && q->begun->covered.at[0].end == by_judge_looks(trial->judge);
    if (!*taken)
        return 0;
    trial->seen[0].stats = q->begun;
    q->begun = NULL;
    return 0;
}

static int look_as_it_is(struct by_trial *trial, struct baryon_error *err)
{
    struct by_calibrate_report report = {.lanes = trial->q->lanes};
    bool taken;
    trial->threads = by_pool_threads(trial->q->pool);
    if (take_begun(trial, &taken, err) < 0)
        return -1;
    if (!taken && by_trial_look(trial, trial->q->model, trial->q->plan, true, &trial->seen[0].stats,
                                &report, err) < 0)
        return -1;
    trial->q->lanes = report.lanes;
    return 0;
}

static int run_reference(struct by_trial *trial, size_t sample, struct baryon_error *err)
{
    by_gate_enter(trial->gate);
    const int status = by_judge_reference(trial->judge, sample, err);
    by_gate_leave(trial->gate);
    return status < 0 ? -1 : by_trial_go_on(trial, 1, err);
}

static int look_or_run(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    struct by_trial *trial = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (i == 0 ? look_as_it_is(trial, err) < 0 : run_reference(trial, i - 1, err) < 0)
            return -1;
    return 0;
}

/* The look has threads of its own. */
static int look_and_run(struct by_trial *trial, bool judges, struct baryon_error *err)
{
    struct by_gate gate;
    trial->referenced = judges ? by_judge_count(trial->judge) : 0;
    by_gate_open(&gate, by_pool_threads(trial->q->pool));
    trial->gate = &gate;
    const int status =
        by_par_for(trial->q->pool, 1 + trial->referenced, 1, look_or_run, trial, err);
    trial->gate = NULL;
    by_gate_close(&gate);
    if (status < 0)
        return -1;
    if (trial->seen[0].stats)
        (void)by_stats_find(trial->seen[0].stats, ""); /* from here on it is only read */
    return 0;
}

static int run_references(void *context, size_t begin, size_t end, unsigned worker,
                          struct baryon_error *err)
{
    struct by_trial *trial = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (run_reference(trial, trial->referenced + i, err) < 0)
            return -1;
    return 0;
}

int by_trial_references(struct by_trial *trial, size_t count, struct baryon_error *err)
{
    if (count <= trial->referenced)
        return 0;
    if (by_par_for(trial->q->pool, count - trial->referenced, 1, run_references, trial, err) < 0)
        return -1;
    trial->referenced = count;
    if (count == by_judge_count(trial->judge))
        by_judge_end_references(trial->judge);
    return 0;
}

/* What samples say of outputs that saturate differs much, and of small models many cost little. A
 * large one would stay open for them. */
static int take_more(struct by_trial *trial, struct baryon_error *err)
{
    if (by_frame_payload(&trial->frame) > RESTING)
        return 0;
    const uint64_t values = by_trial_seen_bytes(trial) / sizeof(float) + 1,
                   kept = KEPT / (by_judge_sample_bytes(trial->judge) + 1);
    const uint64_t worth = JUDGED / values < kept ? JUDGED / values : kept;
    const size_t most = worth < ASIDE_MOST ? (size_t)worth : ASIDE_MOST;
    return most > by_judge_count(trial->judge) ? by_judge_more(trial->judge, most, err) : 0;
}

/* Of an earlier trial: it has as many samples as were worth it, and the reference of those that
 * judged. The float model is the same but for what rounding in floats does. */
static bool take_judge(struct by_trial *trial)
{
    struct by_quantization *q = trial->q;
    if (!q->judge)
        return false;
    trial->judge = q->judge;
    trial->referenced = q->judge_referenced;
    trial->recall = q->recall;
    q->judge = NULL;
    q->recall = NULL;
    return true;
}

static int look_again_at_all(struct by_trial *trial, struct baryon_error *err)
{
    if (look_as_it_is(trial, err) < 0)
        return -1;
    if (trial->seen[0].stats)
        (void)by_stats_find(trial->seen[0].stats, ""); /* from here on it is only read */
    return 0;
}

static int rewind_samples(const struct by_trial *trial, struct baryon_error *err)
{
    const struct by_input_callback *samples = trial->q->options->calibrate.samples;
    return samples ? samples->rewind(samples->context, err) : 0;
}

static int look_at_all(struct by_trial *trial, bool judges, struct baryon_error *err)
{
    if (take_judge(trial))
        return look_again_at_all(trial, err);
    if (open_judge(trial, LOOK, judges, err) < 0 || look_and_run(trial, judges, err) < 0 ||
        (judges && take_more(trial, err) < 0))
        return -1;
    /* Models with large activations have no further samples: their memory is given back now. */
    if (trial->referenced == by_judge_count(trial->judge) || !judges)
        by_judge_end_references(trial->judge);
    /* Calibration begins with the first one again. */
    return rewind_samples(trial, err);
}

/* All candidates share what calibration saw, or what it saw before the samples that judge. */
static int share_calibration(struct by_trial *trial, struct baryon_error *err)
{
    trial->seen[0].stats = trial->part ? trial->part : trial->q->stats;
    (void)by_stats_find(trial->seen[0].stats, ""); /* from here on it is only read */
    if (trial->part)                               /* other samples judge */
        by_trial_forget(trial->q);
    if (take_judge(trial))
        return 0;
    if (rewind_samples(trial, err) < 0 || open_judge(trial, 0, true, err) < 0)
        return -1;
    return take_more(trial, err);
}

static int open_parts(struct by_trial *trial, size_t candidates, bool calibrated,
                      struct baryon_error *err)
{
    const size_t look = calibrated ? 0 : LOOK;
    trial->progress =
        (struct by_calibrate_progress){.stage = calibrated ? "compare" : "equalize",
                                       .total = look + candidates * (look + ASIDE_LEAST),
                                       .seconds = by_seconds()};
    if (by_trial_go_on(trial, 0, err) < 0 || by_floats_align(trial->q->model, err) < 0 ||
        (candidates && by_frame_take(&trial->frame, trial->q->model, err) < 0) ||
        (calibrated ? share_calibration(trial, err) : look_at_all(trial, candidates > 0, err)) < 0)
        return -1;
    trial->judges = candidates > 0;
    if (!candidates)
        return 0;
    trial->progress.total =
        trial->progress.done + candidates * (look + by_judge_count(trial->judge)) - look;
    return 0;
}

static int open_trial(struct by_trial **out, struct by_quantization *q, size_t candidates,
                      bool calibrated, bool holds_out, struct baryon_error *err)
{
    *out = NULL;
    struct by_trial *trial = by_alloc_zero(1, sizeof *trial, err);
    if (!trial)
        return -1;
    trial->q = q;
    trial->seen_count = 1;
    trial->seen[0].observed = true;
    trial->seen[0].known = q->known;
    trial->calibrated = calibrated;
    trial->part = holds_out ? q->part : NULL;
    pthread_mutex_init(&trial->lock, NULL);
    pthread_cond_init(&trial->opened, NULL);
    if (open_parts(trial, candidates, calibrated, err) < 0) {
        by_trial_close(trial);
        return -1;
    }
    *out = trial;
    return 0;
}

int by_trial_open(struct by_trial **trial, struct by_quantization *q, size_t candidates,
                  struct baryon_error *err)
{
    return open_trial(trial, q, candidates, false, false, err);
}

int by_trial_open_calibrated(struct by_trial **trial, struct by_quantization *q, size_t candidates,
                             bool holds_out, struct baryon_error *err)
{
    return open_trial(trial, q, candidates, true, holds_out, err);
}

struct by_stats *by_trial_seen(const struct by_trial *trial)
{
    return trial->seen[0].stats;
}

/* What is not kept for lack of memory is judged again. */
static void remember(struct by_trial *trial)
{
    for (size_t i = 0; i < trial->entry_count; i++) {
        const struct by_trial_entry *entry = &trial->entries[i];
        if (entry->judged > entry->recalled)
            (void)by_recall_add(&trial->recall, entry->model, entry->judgements, entry->judged,
                                NULL);
    }
}

/* What judges after calibration shares the statistics of all samples, or reads others. */
static void keep_judge(struct by_trial *trial)
{
    struct by_quantization *q = trial->q;
    by_trial_forget(q);
    if (!trial->judges || trial->calibrated) {
        by_judge_close(trial->judge);
        by_recall_close(trial->recall);
        return;
    }
    remember(trial);
    q->judge = trial->judge;
    q->judge_referenced = trial->referenced;
    q->judge_weights =
        trial->referenced < by_judge_count(trial->judge) ? by_frame_payload(&trial->frame) : 0;
    q->recall = trial->recall;
}

void by_trial_forget(struct by_quantization *q)
{
    by_judge_close(q->judge);
    by_recall_close(q->recall);
    q->judge = NULL;
    q->recall = NULL;
}

void by_trial_rest(struct by_quantization *q)
{
    if (q->judge && q->judge_weights > RESTING)
        by_trial_forget(q);
}

void by_trial_close(struct by_trial *trial)
{
    if (!trial)
        return;
    const uint64_t weights = by_frame_payload(&trial->frame);
    for (size_t i = 0; i < trial->seen_count; i++) {
        if (trial->seen[i].known != trial->q->known)
            by_known_close(trial->seen[i].known);
        by_known_close(trial->seen[i].ranges);
        by_stats_close(trial->seen[i].wider);
        if (trial->seen[i].stats != trial->q->stats && trial->seen[i].stats != trial->q->part)
            by_stats_close(trial->seen[i].stats);
    }
    by_trial_close_sessions(trial);
    keep_judge(trial);
    for (size_t i = 0; i < trial->entry_count; i++)
        by_free(trial->entries[i].judgements);
    by_model_free(trial->exact);
    by_frame_release(&trial->frame);
    pthread_cond_destroy(&trial->opened);
    pthread_mutex_destroy(&trial->lock);
    by_free(trial);
    by_trim_after(weights);
}

void by_trial_end(struct by_trial *trial, bool changed)
{
    if (trial && !changed && !trial->q->begun && by_judge_looks_are_first(trial->judge)) {
        trial->q->begun = trial->seen[0].stats;
        trial->q->begun_by_channel = trial->q->begun != NULL;
        trial->seen[0].stats = NULL;
    }
    by_trial_close(trial);
}

/* --- The winner --- */

/* Edits of the plan are made by the stages after calibration, as the recipe asks for them. */
static int edit_quantization(struct by_trial *trial, const struct by_candidate *candidate,
                             bool *changed, struct baryon_error *err)
{
    struct by_quantization *q = trial->q;
    const struct by_edit_sources sources = {.seen = trial->seen[0].stats, .pool = q->pool};
    *changed = by_candidate_edits_model(candidate) || by_candidate_edits_config(candidate);
    if (by_candidate_edit_config(candidate, &q->recipe, err) < 0)
        return -1;
    return by_candidate_edit_model(candidate, q->plan, &sources, err);
}

/* Those of the candidate's model, if one was tried: q->known are of the model as it was. */
static struct by_trial_seen *seen_of(struct by_trial *trial, const struct by_candidate *candidate)
{
    for (size_t i = 1; i < trial->seen_count; i++)
        if (by_candidate_same_model(&trial->seen[i].of, candidate))
            return &trial->seen[i];
    return NULL;
}

static void take_known(struct by_trial *trial, struct by_trial_seen *seen)
{
    by_known_close(trial->q->known);
    trial->q->known = seen ? seen->known : NULL;
    trial->seen[0].known = NULL;
}

int by_trial_adopt(struct by_trial *trial, const struct by_candidate *candidate, bool *changed,
                   struct baryon_error *err)
{
    if (edit_quantization(trial, candidate, changed, err) < 0)
        return -1;
    if (!by_candidate_edits_model(candidate))
        return 0;
    struct by_trial_seen *seen = seen_of(trial, candidate);
    take_known(trial, seen);
    if (!seen || !by_judge_looks_are_first(trial->judge))
        return 0;
    by_stats_close(trial->q->begun);
    trial->q->begun = seen->stats;
    trial->q->begun_by_channel = seen->by_channel;
    seen->stats = NULL;
    return 0;
}
