/* Runs a calibration: opens the parts, runs all passes over the samples, returns the statistics. */
#include "calibrate/calibrate.h"

#include "calibrate/calibrate_internal.h"
#include "calibrate/key.h"
#include "calibrate/size.h"
#include "calibrate/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Some kernels of ONNX Runtime give other bits for another number of threads: work is cut for
 * this many, whatever number there is. */
#define CUTS 32
/* Of models that take more than this, no two samples are run at once. */
#define ACTIVATIONS_MAX (UINT64_C(48) << 20)

/* --- Opening --- */

uint64_t by_calibration_memory(const struct by_calibration *calibration)
{
    const struct by_calibrate_options *options = calibration->options;
    if (!options->checkpoint)
        return UINT64_MAX; /* there is nowhere to park moments: one pass takes them all */
    return options->max_memory ? options->max_memory : BY_CALIBRATE_MEMORY;
}

static int make_plan(struct by_calibration *calibration, struct baryon_error *err)
{
    const struct by_calibrate_options *options = calibration->options;
    struct by_calibrate_plan *plan = &calibration->plan;
    if (by_calibrate_plan_make(plan, calibration->model->graph, options, err) < 0)
        return -1;
    if (!plan->target_count && !plan->layer_count)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "the model has no float tensors to calibrate");
    return by_calibrate_plan_divide(plan, 0, by_calibration_memory(calibration), err);
}

/* Shard s of n has the samples from s / n of them on; their sizes differ by one at most. */
static int choose_range(struct by_calibration *calibration, struct baryon_error *err)
{
    const uint64_t total = by_input_count(calibration->input);
    const uint64_t shard = calibration->options->shard;
    uint64_t shards = calibration->options->shards ? calibration->options->shards : 1;
    if (shards > total && calibration->options->spare_shards)
        shards = total;
    if (shards > total)
        return by_fail(err, BARYON_ERR_USAGE,
                       "%" PRIu64 " shards for %" PRIu64
                       " samples, each shard requires at least one",
                       shards, total);
    if (shard >= shards) {
        calibration->range.begin = calibration->range.end = total;
        return 0;
    }
    const uint64_t each = total / shards, longer = total % shards;
    calibration->range.begin = each * shard + (shard < longer ? shard : longer);
    calibration->range.end = calibration->range.begin + each + (shard < longer);
    return 0;
}

static int open_watch(struct by_calibration *calibration, struct baryon_error *err)
{
    struct by_session_options session = calibration->options->session;
    session.shares_memory = true;
    calibration->threads = session.threads ? session.threads : by_cpu_count();
    if (by_activation_bytes(calibration->model->graph, &calibration->activations, err) < 0)
        return -1;
    /* Which of the two is for the model to say, not for the threads: bits depend on it. */
    calibration->side_by_side =
        calibration->activations == UINT64_MAX || calibration->activations <= ACTIVATIONS_MAX;
    if (calibration->side_by_side)
        session.threads = 1;
    else
        session.cuts = CUTS;
    return by_watch_open(&calibration->watch, calibration->model, &calibration->plan, &session,
                         err);
}

static int open_input(struct by_calibration *calibration, const char *data,
                      struct baryon_error *err)
{
    const struct by_calibrate_options *options = calibration->options;
    const struct by_session *session = by_watch_session(calibration->watch);
    struct by_input_options input = options->input;
    input.random_max =
        options->max_memory > BY_CALIBRATE_MEMORY ? options->max_memory : BY_CALIBRATE_MEMORY;
    by_session_inputs(session, &calibration->port_count);
    if (by_input_open_for(&calibration->input, session, options->samples, data, &input, err) < 0)
        return -1;
    return by_input_find_count(calibration->input, err);
}

static int open_calibration_parts(struct by_calibration *calibration, const char *data,
                                  struct baryon_error *err)
{
    const struct by_calibrate_options *options = calibration->options;
    if (make_plan(calibration, err) < 0 || open_watch(calibration, err) < 0 ||
        open_input(calibration, data, err) < 0 || choose_range(calibration, err) < 0 ||
        by_calibrate_key(&calibration->key, calibration->model, &calibration->plan,
                         calibration->input, options, err) < 0)
        return -1;
    calibration->keep = (struct by_keep){
        .path = options->checkpoint,
        .log = options->log,
        .key = &calibration->key,
        .range = calibration->range,
        .interval = options->checkpoint_seconds,
    };
    return 0;
}

int by_calibration_open(struct by_calibration **out, struct baryon_model *model, const char *data,
                        const struct by_calibrate_options *options, struct baryon_error *err)
{
    *out = NULL;
    struct by_calibration *calibration = by_alloc_zero(1, sizeof *calibration, err);
    if (!calibration)
        return -1;
    calibration->model = model;
    calibration->options = options;
    if (open_calibration_parts(calibration, data, err) < 0) {
        by_calibration_close(calibration);
        return -1;
    }
    *out = calibration;
    return 0;
}

void by_calibration_close(struct by_calibration *calibration)
{
    if (!calibration)
        return;
    by_input_close(calibration->input);
    by_watch_close(calibration->watch);
    by_calibrate_plan_release(&calibration->plan);
    by_free(calibration);
}

const struct by_stats_key *by_calibration_key(const struct by_calibration *calibration)
{
    return &calibration->key;
}

struct by_sample_range by_calibration_range(const struct by_calibration *calibration)
{
    return calibration->range;
}

const struct by_input *by_calibration_input(const struct by_calibration *calibration)
{
    return calibration->input;
}

const struct by_ort *by_calibration_ort(const struct by_calibration *calibration)
{
    return by_session_ort(by_watch_session(calibration->watch));
}

bool by_calibration_covered(const struct by_calibration *calibration, const struct by_stats *stats)
{
    return stats->covered.count == 1 && stats->covered.at[0].begin == calibration->range.begin &&
           stats->covered.at[0].end == calibration->range.end;
}

bool by_calibration_matches(const struct by_calibration *calibration, const struct by_stats *stats)
{
    return by_stats_check_key(&stats->key, &calibration->key, NULL) == 0 &&
           by_calibration_covered(calibration, stats);
}

bool by_calibration_matches_all(const struct by_calibration *calibration,
                                const struct by_stats *stats)
{
    return by_stats_check_key(&stats->key, &calibration->key, NULL) == 0 &&
           by_stats_complete(stats);
}

static void tell_passes(const struct by_calibration *calibration)
{
    char text[2][32];
    const struct by_calibrate_options *options = calibration->options;
    const struct by_calibrate_plan *plan = &calibration->plan;
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->pass_count; i++)
        bytes += by_calibrate_plan_bytes(plan, i);
    snprintf(text[0], sizeof text[0], "%.1f MiB", (double)bytes / (1 << 20));
    snprintf(text[1], sizeof text[1], "%.1f MiB",
             (double)by_calibration_memory(calibration) / (1 << 20));
    if (plan->pass_count > 1)
        by_log(options->log, BY_LOG_NOTICE,
               "statistics require %s, --max-memory is %s: %zu passes over the samples", text[0],
               text[1], plan->pass_count);
}

int by_calibration_run(struct by_calibration *calibration, struct by_stats **stats,
                       struct by_calibrate_report *report, struct baryon_error *err)
{
    *stats = NULL;
    calibration->report = (struct by_calibrate_report){0};
    if (calibration->options->restart &&
        by_keep_remove(calibration->options->checkpoint, 0, err) < 0)
        return -1;
    tell_passes(calibration);
    /* A pass may find more or less passes after it than were planned. */
    for (size_t pass = 0; pass < calibration->plan.pass_count; pass++)
        if (by_calibration_pass(calibration, pass, stats, err) < 0) {
            by_stats_close(*stats);
            *stats = NULL;
            return -1;
        }
    calibration->report.passes = calibration->plan.pass_count;
    if (report)
        *report = calibration->report;
    return 0;
}

int by_calibrate_clean(const char *checkpoint, struct baryon_error *err)
{
    return by_keep_remove(checkpoint, 0, err);
}

static int run_calibration(struct by_stats **stats, struct baryon_model *model, const char *data,
                           const struct by_calibrate_options *options,
                           struct by_calibrate_report *report, struct baryon_error *err)
{
    struct by_calibration *calibration;
    if (by_calibration_open(&calibration, model, data, options, err) < 0)
        return -1;
    int status = by_calibration_run(calibration, stats, report, err);
    by_calibration_close(calibration);
    return status;
}

static bool uses_store(const struct by_calibrate_options *options)
{
    return options->store && !options->moments && !options->checkpoint && !options->shards;
}

/* What was begun is a part of what the store has. */
static void drop_begun(const struct by_calibrate_options *options)
{
    if (!options->begun)
        return;
    by_stats_close(*options->begun);
    *options->begun = NULL;
}

static int calibrate_once(struct by_stats **stats, struct baryon_model *model, const char *data,
                          const struct by_calibrate_options *options,
                          struct by_calibrate_report *report, struct baryon_error *err)
{
    struct by_store_key key = {.first = options->first,
                               .aside = options->part ? options->aside : 0};
    struct by_calibrate_report own = {0};
    if (by_calibrate_key_alone(&key.stats, model, options, err) < 0 ||
        by_stats_store_take(options->store, &key, stats, options->part, report, err) < 0)
        return -1;
    if (*stats) {
        drop_begun(options);
        return 0;
    }
    if (run_calibration(stats, model, data, options, &own, err) < 0)
        return -1;
    if (report)
        *report = own;
    return by_stats_store_keep(options->store, &key, *stats, options->part ? *options->part : NULL,
                               &own, err);
}

int by_calibrate(struct by_stats **stats, struct baryon_model *model, const char *data,
                 const struct by_calibrate_options *options, struct by_calibrate_report *report,
                 struct baryon_error *err)
{
    *stats = NULL;
    return uses_store(options) ? calibrate_once(stats, model, data, options, report, err)
                               : run_calibration(stats, model, data, options, report, err);
}
