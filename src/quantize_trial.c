#include "quantize_trial.h"

#include "base/thread.h"
#include "calibrate_size.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "onnx/save.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/place.h"
#include "quant/refine.h"
#include "quantize_biases.h"
#include "report/judge.h"
#include "solve/cle.h"

#include <math.h>

#define LOOK  8 /* samples that ranges come from; those behind them judge */
#define WAYS  2 /* at most, in a call */
#define MODES (BY_CLE_KEEP + 1)
#define CLEAR 3 /* dB behind the best after half of the samples: out of the question */

/* Copies stand side by side as long as they take no more than this; each takes about so many times
 * its weights, and what a run holds. */
#define TOGETHER ((uint64_t)512 << 20)
#define COPIES   4

struct by_trial {
    struct by_quantization *q;
    struct by_judge *judge;
    struct by_stats *seen[MODES]; /* by equalization; NULL: not looked at yet */
    struct by_str bytes;          /* of the model as it is; copies are views of it */
    unsigned threads;             /* of one look */
    pthread_mutex_t lock;
    struct by_calibrate_progress progress;
    bool stopped;
};

/* A copy of the model with its plan. */
struct candidate {
    struct by_trial *trial;
    struct by_trial_way way;
    struct baryon_model *model;
    struct by_origins *origins;
    struct by_quant_plan *plan;
    struct by_session *session;      /* NULL: out of the question */
    struct by_judgement *judgements; /* by sample */
    double sqnr;
};

const char *by_cle_mode_name(enum by_cle_mode mode)
{
    static const char *const names[] = {
        [BY_CLE_OFF] = "off",         [BY_CLE_AUTO] = "auto", [BY_CLE_EXACT] = "exact",
        [BY_CLE_REPLACE] = "replace", [BY_CLE_KEEP] = "keep",
    };
    return names[mode];
}

/* --- Progress --- */

/* Comes from several threads, and is told to one at a time. */
static bool step(struct by_trial *trial, uint64_t count, const char *sample)
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

static int go_on(struct by_trial *trial, uint64_t count, struct baryon_error *err)
{
    return step(trial, count, NULL)
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
    return step(look->trial, more, now->sample);
}

/* --- Looking at a few samples --- */

static int look_at(struct by_trial *trial, struct baryon_model *model, struct by_quant_plan *plan,
                   bool per_channel, struct by_stats **stats, struct baryon_error *err)
{
    struct by_calibrate_options options = trial->q->options->calibrate;
    struct by_judge_reader reader;
    struct by_input_callback samples;
    struct look look = {.trial = trial};
    const bool corrects = trial->q->options->recipe->bias_correction != BY_BIASES_KEPT;
    if (by_quantize_want(plan, corrects, &options, err) < 0)
        return -1;
    by_judge_read(trial->judge, &reader, &samples);
    options.samples = &samples;
    options.model = options.data = "";
    options.per_channel = per_channel;
    options.checkpoint = NULL;
    options.progress = step_look;
    options.context = &look;
    options.session.threads = trial->threads;
    options.input.random = false;
    options.input.count = 0;
    options.input.log = NULL; /* calibration says the same of the same samples */
    return by_calibrate(stats, model, NULL, &options, NULL, err);
}

/* --- Copies --- */

/* Nodes of a copy stand where the original's do, and stay float where those do. */
static int copy_exclusions(struct candidate *candidate, struct baryon_error *err)
{
    const struct by_quantization *q = candidate->trial->q;
    const struct by_ptrs *nodes = &q->model->graph->node;
    if (by_origins_open(&candidate->origins, candidate->model, err) < 0)
        return -1;
    size_t count;
    struct by_user_node *user = by_origins_user(candidate->origins, &count);
    for (size_t i = 0; i < candidate->model->graph->node.count; i++) {
        size_t from_count;
        const char *why = by_origins_excluded(q->origins, nodes->at[i]);
        const size_t *from =
            by_origins_of(candidate->origins, candidate->model->graph->node.at[i], &from_count);
        for (size_t k = 0; why && k < from_count; k++) {
            user[from[k]].excluded = true;
            user[from[k]].why = why;
        }
    }
    return 0;
}

static int place(struct candidate *candidate, struct baryon_error *err)
{
    by_quant_plan_close(candidate->plan);
    candidate->plan = NULL;
    if (by_model_settle(candidate->model, err) < 0 ||
        by_model_infer(candidate->model, NULL, err) < 0)
        return -1;
    const struct by_recipe *recipe = candidate->trial->q->options->recipe;
    if (by_quant_plan_open(&candidate->plan, candidate->model, recipe, err) < 0)
        return -1;
    return by_place(candidate->plan, candidate->origins, err);
}

static int copy(struct candidate *candidate, struct baryon_error *err)
{
    const struct by_str *bytes = &candidate->trial->bytes;
    if (by_model_load_bytes(&candidate->model, bytes->text, bytes->size, NULL, NULL, err) < 0 ||
        by_model_link(candidate->model, err) < 0 || copy_exclusions(candidate, err) < 0)
        return -1;
    return place(candidate, err);
}

static int equalize(struct candidate *candidate, struct baryon_error *err)
{
    struct by_trial *trial = candidate->trial;
    struct by_stats **seen = &trial->seen[candidate->way.mode];
    if (by_trial_equalize(candidate->plan, trial->seen[BY_CLE_OFF], candidate->way.mode, err) < 0 ||
        place(candidate, err) < 0)
        return -1;
    return *seen ? 0 : look_at(trial, candidate->model, candidate->plan, false, seen, err);
}

static int quantize(struct candidate *candidate, struct by_pool *pool, struct baryon_error *err)
{
    if (candidate->way.mode != BY_CLE_OFF && equalize(candidate, err) < 0)
        return -1;
    struct by_stats *stats = candidate->trial->seen[candidate->way.mode];
    if (by_quant_find_params(candidate->plan, stats, pool, err) < 0 ||
        by_refine(candidate->plan, err) < 0 ||
        (candidate->way.corrects &&
         by_quantize_correct(candidate->plan, stats, pool, NULL, err) < 0))
        return -1;
    return by_lower(candidate->plan, pool, err);
}

/* The session is all that is left of it. */
static int prepare(struct candidate *candidate, struct baryon_error *err)
{
    struct by_trial *trial = candidate->trial;
    int status = go_on(trial, 0, err);
    if (status == 0)
        status = copy(candidate, err);
    if (status == 0)
        status = quantize(candidate, trial->q->pool, err);
    if (status == 0)
        status = by_judge_session(trial->judge, candidate->model, &candidate->session, err);
    by_quant_plan_close(candidate->plan);
    by_origins_close(candidate->origins);
    by_model_free(candidate->model);
    return status;
}

/* --- Several copies side by side --- */

struct batch {
    struct by_trial *trial;
    struct candidate *candidates;
    size_t count;
    size_t begin, end; /* of the samples that judge */
};

static int prepare_each(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct batch *batch = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (prepare(&batch->candidates[i], err) < 0)
            return -1;
    return 0;
}

/* All that was looked at in a sample: more than is alive at once. */
static uint64_t seen_bytes(const struct by_stats *seen)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < seen->tensor_count; i++) {
        const struct by_sketch *sketch = &seen->tensors[i].sketch;
        bytes += sketch->samples ? sketch->count / sketch->samples * sizeof(float) : 0;
    }
    return bytes;
}

/* How many fit into memory together while they are made. */
static int together(const struct by_trial *trial, size_t *count, struct baryon_error *err)
{
    uint64_t held;
    if (by_activation_bytes(trial->q->model->graph, &held, err) < 0)
        return -1;
    if (held == UINT64_MAX)
        held = seen_bytes(trial->seen[BY_CLE_OFF]);
    const unsigned threads = by_pool_threads(trial->q->pool);
    const uint64_t weights = COPIES * (uint64_t)trial->bytes.size + 1;
    const uint64_t most = held < TOGETHER ? TOGETHER / (weights + held) : 1;
    *count = most < threads ? (size_t)most : threads;
    if (!*count)
        *count = 1;
    return 0;
}

/* Those that others wait for. */
static unsigned count_looks(const struct batch *part)
{
    unsigned looks = 0;
    for (size_t i = 0; i < part->count; i++)
        looks += !part->trial->seen[part->candidates[i].way.mode];
    return looks ? looks : 1;
}

static int prepare_all(struct batch *batch, struct baryon_error *err)
{
    struct by_trial *trial = batch->trial;
    const unsigned threads = by_pool_threads(trial->q->pool);
    size_t most;
    if (together(trial, &most, err) < 0)
        return -1;
    for (size_t done = 0, some; done < batch->count; done += some) {
        some = batch->count - done < most ? batch->count - done : most;
        struct batch part = {.trial = trial, .candidates = batch->candidates + done, .count = some};
        /* Each thread holds a sample's values. */
        const unsigned looks = count_looks(&part);
        trial->threads = threads > looks ? threads / looks : 1;
        if (by_par_for(trial->q->pool, some, 1, prepare_each, &part, err) < 0)
            return -1;
    }
    return 0;
}

/* Pieces are samples of one candidate after the other. */
static int judge_each(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct batch *batch = context;
    const size_t samples = batch->end - batch->begin;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        struct candidate *candidate = &batch->candidates[i / samples];
        const size_t sample = batch->begin + i % samples;
        if (candidate->session && by_judge_run(batch->trial->judge, candidate->session, sample,
                                               &candidate->judgements[sample], err) < 0)
            return -1;
        if (go_on(batch->trial, 1, err) < 0)
            return -1;
    }
    return 0;
}

static double sqnr_of(const struct candidate *candidate, size_t begin, size_t end)
{
    struct by_judgement sum = {0};
    for (size_t i = begin; i < end; i++)
        by_judgement_add(&sum, &candidate->judgements[i]);
    return sum.sqnr;
}

static void score(const struct candidate *candidate, size_t samples, struct by_trial_score *score)
{
    *score = (struct by_trial_score){.sqnr = candidate->sqnr};
    if (candidate->sqnr > -INFINITY)
        for (; score->count < samples; score->count++)
            score->each[score->count] = sqnr_of(candidate, score->count, score->count + 1);
}

static int judge_part(struct batch *batch, size_t begin, size_t end, struct baryon_error *err)
{
    struct by_trial *trial = batch->trial;
    batch->begin = begin;
    batch->end = end;
    if (by_par_for(trial->q->pool, batch->count * (end - begin), 1, judge_each, batch, err) < 0)
        return -1;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->candidates[i].session)
            batch->candidates[i].sqnr = sqnr_of(&batch->candidates[i], 0, end);
    return 0;
}

static void tell(const struct batch *batch, const struct candidate *candidate)
{
    by_log(batch->trial->q->options->log, BY_LOG_INFO, "equalization %s%s: %.2f dB on %zu samples",
           by_cle_mode_name(candidate->way.mode),
           candidate->way.corrects ? ", biases corrected" : "", candidate->sqnr, batch->end);
}

static void drop_losers(struct batch *batch)
{
    double best = -INFINITY;
    for (size_t i = 0; i < batch->count; i++)
        best = fmax(best, batch->candidates[i].sqnr);
    for (size_t i = 0; i < batch->count; i++) {
        struct candidate *candidate = &batch->candidates[i];
        if (candidate->sqnr >= best - CLEAR)
            continue;
        tell(batch, candidate);
        by_session_close(candidate->session);
        candidate->session = NULL;
        candidate->sqnr = -INFINITY;
    }
}

static int judge_all(struct batch *batch, struct baryon_error *err)
{
    const size_t samples = by_judge_count(batch->trial->judge), half = samples / 2;
    if (half) {
        if (judge_part(batch, 0, half, err) < 0)
            return -1;
        drop_losers(batch);
    }
    if (judge_part(batch, half, samples, err) < 0)
        return -1;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->candidates[i].session)
            tell(batch, &batch->candidates[i]);
    return 0;
}

int by_trial_run(struct by_trial *trial, const struct by_trial_way *ways, size_t count,
                 struct by_trial_score *scores, struct baryon_error *err)
{
    struct candidate candidates[WAYS] = {0};
    struct batch batch = {.trial = trial, .candidates = candidates, .count = count};
    const size_t samples = by_judge_count(trial->judge);
    struct by_judgement *judgements = by_alloc_zero(count * samples, sizeof *judgements, err);
    for (size_t i = 0; judgements && i < count; i++)
        candidates[i] = (struct candidate){
            .trial = trial, .way = ways[i], .judgements = judgements + i * samples};
    int status = judgements ? prepare_all(&batch, err) : -1;
    if (status == 0)
        status = judge_all(&batch, err);
    for (size_t i = 0; i < count; i++) {
        by_session_close(candidates[i].session);
        if (status == 0)
            score(&candidates[i], samples, &scores[i]);
    }
    by_free(judgements);
    return status;
}

/* --- The model as it is --- */

static int open_judge(struct by_trial *trial, bool judges, struct baryon_error *err)
{
    const struct by_quantize_options *all = trial->q->options;
    struct by_judge_options options = {
        .data = all->data,
        .samples = all->calibrate.samples,
        .input = all->calibrate.input,
        .session = all->calibrate.session,
        .look = LOOK,
        .aside = judges ? BY_TRIAL_ASIDE : 0,
    };
    options.input.log = NULL;
    if (options.input.random)
        options.input.count = LOOK + BY_TRIAL_ASIDE;
    if (by_judge_open(&trial->judge, trial->q->model, &options, err) < 0)
        return -1;
    /* Calibration begins with the first one again. */
    return options.samples ? options.samples->rewind(options.samples->context, err) : 0;
}

static int look_or_run(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    struct by_trial *trial = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (i == 0 ? look_at(trial, trial->q->model, trial->q->plan, true, &trial->seen[BY_CLE_OFF],
                             err) < 0
                   : by_judge_reference(trial->judge, i - 1, err) < 0 || go_on(trial, 1, err) < 0)
            return -1;
    return 0;
}

static int look_at_all(struct by_trial *trial, bool judges, struct baryon_error *err)
{
    const size_t runs = judges ? by_judge_count(trial->judge) : 0;
    trial->threads = by_pool_threads(trial->q->pool);
    if (by_par_for(trial->q->pool, 1 + runs, 1, look_or_run, trial, err) < 0)
        return -1;
    by_judge_end_references(trial->judge);
    (void)by_stats_find(trial->seen[BY_CLE_OFF], ""); /* from here on it is only read */
    return 0;
}

static int open_all(struct by_trial *trial, size_t ways, struct baryon_error *err)
{
    trial->progress = (struct by_calibrate_progress){.stage = "equalize",
                                                     .total = LOOK + ways * (LOOK + BY_TRIAL_ASIDE),
                                                     .seconds = by_seconds()};
    if (go_on(trial, 0, err) < 0 || open_judge(trial, ways > 0, err) < 0 ||
        look_at_all(trial, ways > 0, err) < 0)
        return -1;
    if (!ways)
        return 0;
    return by_model_settle(trial->q->model, err) < 0 ||
                   by_model_save_bytes(trial->q->model, &trial->bytes, err) < 0
               ? -1
               : 0;
}

int by_trial_open(struct by_trial **out, struct by_quantization *q, size_t ways,
                  struct baryon_error *err)
{
    *out = NULL;
    struct by_trial *trial = by_alloc_zero(1, sizeof *trial, err);
    if (!trial)
        return -1;
    trial->q = q;
    by_str_init(&trial->bytes);
    pthread_mutex_init(&trial->lock, NULL);
    if (open_all(trial, ways, err) < 0) {
        by_trial_close(trial);
        return -1;
    }
    *out = trial;
    return 0;
}

void by_trial_close(struct by_trial *trial)
{
    if (!trial)
        return;
    for (size_t i = 0; i < MODES; i++)
        by_stats_close(trial->seen[i]);
    by_judge_close(trial->judge);
    by_str_release(&trial->bytes);
    pthread_mutex_destroy(&trial->lock);
    by_free(trial);
}

struct by_stats *by_trial_seen(const struct by_trial *trial)
{
    return trial->seen[BY_CLE_OFF];
}

int by_trial_equalize(struct by_quant_plan *plan, struct by_stats *seen, enum by_cle_mode mode,
                      struct baryon_error *err)
{
    bool replaced;
    struct by_cle_report report;
    const struct by_cle_options options = {
        .mode = mode,
        .threshold = plan->recipe->cle_threshold,
        .steps = plan->recipe->cle_steps,
    };
    return by_cle_run(plan, seen, &options, &report, &replaced, err);
}
