/* Runs one pass over the samples and writes checkpoints of it. */
#include "base/cpu.h"
#include "calibrate/calibrate_internal.h"
#include "calibrate/lanes.h"
#include "input/ahead.h"

#include <inttypes.h>
#include <stdio.h>

/* What further lanes may take together, on top of what one run of the model takes. */
#define ALLOWANCE (UINT64_C(48) << 20)

struct stage {
    struct by_calibration *calibration;
    size_t pass;
    struct by_stats *stats; /* what this pass fills */
    struct by_ahead *ahead;
    struct by_lanes *lanes;
    uint64_t next;   /* the next sample to read */
    bool stop;       /* somebody wants it */
    bool spoilt;     /* a sample is in the statistics in part */
    bool alone;      /* more lanes are to come */
    uint64_t memory; /* resident before the first sample */
    uint64_t done, before;
    char name[64];
    double start;
};

static bool report_stage_progress(const struct stage *stage, const char *sample)
{
    const struct by_calibrate_options *options = stage->calibration->options;
    const struct by_sample_range *range = &stage->calibration->range;
    const struct by_calibrate_progress progress = {
        .stage = stage->name,
        .done = stage->done,
        .total = range->end - range->begin,
        .before = stage->before,
        .sample = sample,
        .seconds = by_keep_clock() - stage->start,
        .model_seconds = by_lanes_busy(stage->lanes),
    };
    return options->progress && options->progress(options->context, &progress);
}

static uint64_t next_sample(const struct stage *stage, uint64_t sample)
{
    const uint64_t end = stage->calibration->range.end;
    while (sample < end && by_stats_covers(stage->stats, sample))
        sample++;
    return sample;
}

static int keep_pass(struct stage *stage, struct baryon_error *err)
{
    return by_keep_write(&stage->calibration->keep, stage->pass, stage->stats, err);
}

/* Those skipped before an interruption count too. */
static int skip_sample(struct stage *stage, const struct by_lane_job *job, struct baryon_error *err)
{
    const struct by_stats *stats = stage->stats;
    const double share = stage->calibration->options->input.skip_bad;
    if (stats->skipped.count >= (size_t)(share * (double)stats->total)) {
        by_fail(err, BARYON_ERR_INPUT, "sample '%s': %s", job->held.name, job->held.reason);
        return by_err_hint(err, "bad samples skipped so far: %zu, --skip-bad allows no more",
                           stats->skipped.count);
    }
    return by_stats_skip(stage->stats, job->sample, job->held.name, job->held.reason, err);
}

/* --- Reading --- */

static void read_sample(struct stage *stage, struct by_lane_job *job)
{
    const struct by_array *arrays;
    const char *name;
    const uint64_t end = stage->calibration->range.end;
    const uint64_t next = next_sample(stage, stage->next + 1);
    job->sample = stage->next;
    stage->next = next;
    by_err_clear(&job->done.error);
    job->done.status = by_ahead_get(stage->ahead, job->sample, next < end ? next : BY_AHEAD_NONE,
                                    &arrays, &name, &job->done.error);
    job->unread = job->done.status < 0;
    if (job->unread)
        stage->next = end; /* it ends here */
    else
        by_ahead_take(stage->ahead, &job->held);
}

static void fill_lanes(struct stage *stage)
{
    struct by_lane_job *job;
    while (stage->next < stage->calibration->range.end && (job = by_lanes_place(stage->lanes))) {
        read_sample(stage, job);
        by_lanes_give(stage->lanes);
    }
}

/* --- Taking in --- */

static int take_run(struct stage *stage, const struct by_lane_job *job, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    stage->spoilt = true; /* until it is covered */
    if (job->done.status < 0) {
        if (err)
            *err = job->done.error;
        return by_err_in(err, "sample %s", by_quote(quoted, job->held.name));
    }
    stage->stats->content = by_hash128_sum(stage->stats->content, job->done.content);
    return job->done.nonfinite
               ? by_watch_name(stage->calibration->watch, job->sample, job->held.name, err)
               : 0;
}

static int take_in(struct stage *stage, const struct by_lane_job *job, struct baryon_error *err)
{
    if (job->unread) {
        if (err)
            *err = job->done.error;
        return -1;
    }
    if (job->held.arrays ? take_run(stage, job, err) < 0 : skip_sample(stage, job, err) < 0)
        return -1;
    if (by_stats_cover(stage->stats, job->sample, job->sample + 1, err) < 0) {
        stage->spoilt = true;
        return -1;
    }
    stage->spoilt = false;
    stage->done++;
    if (stage->pass == 0)
        stage->calibration->report.samples++;
    stage->stop = stage->stop || report_stage_progress(stage, job->held.name); /* asked once */
    return 0;
}

/* What lanes have begun comes in, so that the statistics are whole; what they have not stays. */
static int settle_stage(struct stage *stage, struct baryon_error *err)
{
    const struct by_lane_job *job;
    int status = 0;
    by_lanes_pause(stage->lanes);
    while (!stage->spoilt && (job = by_lanes_first(stage->lanes)) && job->state == BY_JOB_DONE) {
        if (take_in(stage, job, status ? NULL : err) < 0)
            status = -1;
        by_lanes_release(stage->lanes);
    }
    return status;
}

/* What was whole before is kept. */
static int keep_and_fail(struct stage *stage)
{
    struct baryon_error second;
    (void)settle_stage(stage, &second);
    if (!stage->spoilt && stage->done > stage->before)
        (void)keep_pass(stage, &second);
    return -1;
}

static int stopped(struct stage *stage, struct baryon_error *err)
{
    const struct by_calibration *calibration = stage->calibration;
    if (settle_stage(stage, err) < 0)
        return keep_and_fail(stage);
    if (keep_pass(stage, err) < 0)
        return -1;
    by_fail(err, BARYON_ERR_CANCELLED, "%s: stopped after %" PRIu64 " of %" PRIu64 " samples",
            stage->name, stage->done, calibration->range.end - calibration->range.begin);
    return calibration->keep.path ? by_err_hint(err, "run the same command to resume") : -1;
}

static bool is_due(const struct stage *stage)
{
    const struct by_calibration *calibration = stage->calibration;
    return !stage->stop && stage->done < calibration->range.end - calibration->range.begin &&
           by_keep_due(&calibration->keep);
}

static int keep_on_the_way(struct stage *stage, struct baryon_error *err)
{
    if (settle_stage(stage, err) < 0)
        return keep_and_fail(stage);
    if (keep_pass(stage, err) < 0)
        return -1;
    by_lanes_resume(stage->lanes);
    return 0;
}

/* --- Lanes --- */

static uint64_t memory_taken(const struct by_stats *stats)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < stats->tensor_count; i++)
        bytes += by_sketch_bytes(&stats->tensors[i].sketch) + stats->tensors[i].channels.count * 9;
    for (size_t i = 0; i < stats->layer_count; i++) {
        const struct by_moments *moments = &stats->layers[i].moments;
        bytes += (moments->mean.count) * 16;
        for (size_t tile = 0; tile < moments->tile_count; tile++)
            bytes += moments->tiles[tile].count * 16;
        if (moments->counts)
            bytes += (uint64_t)stats->layers[i].layer.columns * 8;
    }
    return bytes;
}

/* What one more lane takes: known from the model, or by what the first sample took. */
static uint64_t lane_bytes(const struct stage *stage)
{
    const uint64_t known = stage->calibration->activations, now = by_resident_bytes();
    const uint64_t counted = stage->memory + memory_taken(stage->stats);
    if (known != UINT64_MAX)
        return known;
    return now > counted ? now - counted : 0;
}

static void add_lanes(struct stage *stage)
{
    struct by_calibration *calibration = stage->calibration;
    const unsigned known = calibration->options->lanes;
    if (!calibration->lanes) {
        const uint64_t more = known ? known - 1 : ALLOWANCE / (lane_bytes(stage) + 1),
                       threads = calibration->threads;
        calibration->lanes = more + 1 < threads ? (unsigned)more + 1 : (unsigned)threads;
        calibration->report.lanes = calibration->lanes;
        by_log(calibration->options->log, BY_LOG_DEBUG, "%u samples in parallel",
               calibration->lanes);
    }
    by_lanes_grow(stage->lanes, calibration->lanes);
    stage->alone = false;
}

/* --- The stage --- */

static int run_samples(struct stage *stage, struct baryon_error *err)
{
    const struct by_lane_job *job;
    stage->stop = report_stage_progress(stage, NULL);
    while (!stage->stop) {
        fill_lanes(stage);
        if (!(job = by_lanes_first(stage->lanes)))
            return 0;
        const int status = take_in(stage, job, err);
        const bool ran = job->held.arrays != NULL;
        by_lanes_release(stage->lanes);
        if (status < 0)
            return keep_and_fail(stage);
        if (is_due(stage) && keep_on_the_way(stage, err) < 0)
            return -1;
        if (stage->alone && ran)
            add_lanes(stage);
    }
    return stopped(stage, err);
}

static void name_stage(struct stage *stage)
{
    if (stage->calibration->plan.pass_count == 1)
        snprintf(stage->name, sizeof stage->name, "calibrate");
    else
        snprintf(stage->name, sizeof stage->name, "calibrate, pass %zu of %zu", stage->pass + 1,
                 stage->calibration->plan.pass_count);
}

static int run_open(struct stage *stage, struct baryon_error *err)
{
    struct by_calibration *calibration = stage->calibration;
    stage->start = by_keep_clock();
    stage->next = next_sample(stage, calibration->range.begin);
    stage->alone = calibration->side_by_side && calibration->threads > 1;
    stage->memory = by_resident_bytes();
    if (stage->alone && (calibration->activations != UINT64_MAX || calibration->options->lanes))
        add_lanes(stage); /* nothing is left to learn from the first sample */
    calibration->keep.next = stage->start + calibration->keep.interval;
    const int status = run_samples(stage, err);
    const uint64_t memory = memory_taken(stage->stats);
    calibration->report.seconds += by_keep_clock() - stage->start;
    calibration->report.model_seconds += by_lanes_busy(stage->lanes);
    if (memory > calibration->report.memory)
        calibration->report.memory = memory;
    return status;
}

static int run_stage(struct stage *stage, struct baryon_error *err)
{
    struct by_calibration *calibration = stage->calibration;
    name_stage(stage);
    stage->before = stage->done = by_stats_covered(stage->stats);
    if (stage->before && calibration->keep.path)
        by_log(calibration->options->log, BY_LOG_NOTICE,
               "%s: resumed after %" PRIu64 " of %" PRIu64 " samples", stage->name, stage->before,
               calibration->range.end - calibration->range.begin);
    if (by_calibration_covered(calibration, stage->stats))
        return 0;
    by_watch_into(calibration->watch, stage->stats, stage->pass);
    if (by_lanes_open(&stage->lanes, calibration->watch, calibration->port_count,
                      calibration->options->gate, err) < 0)
        return -1;
    int status = by_ahead_open(&stage->ahead, calibration->input, err);
    if (status == 0)
        status = run_open(stage, err);
    by_lanes_close(stage->lanes);
    by_ahead_close(stage->ahead);
    return status;
}

int by_calibration_stage(struct by_calibration *calibration, size_t pass, struct by_stats *stats,
                         struct baryon_error *err)
{
    struct stage stage = {.calibration = calibration, .pass = pass, .stats = stats};
    return run_stage(&stage, err);
}
