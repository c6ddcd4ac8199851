/* One pass over the samples: read, run, note, keep. */
#include "calibrate_internal.h"
#include "calibrate_key.h"
#include "input/ahead.h"

#include <inttypes.h>
#include <stdio.h>

struct stage {
    struct by_calibration *calibration;
    size_t pass;
    struct by_stats *stats; /* what this pass fills */
    struct by_ahead *ahead;
    uint64_t done, before;
    char name[64];
    const char *sample; /* the last one's name */
    double start, model_seconds;
};

static bool tell(const struct stage *stage, const char *sample)
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
        .model_seconds = stage->model_seconds,
    };
    return options->progress && options->progress(options->context, &progress);
}

static int add_content(struct stage *stage, const struct by_array *arrays, uint64_t sample,
                       struct baryon_error *err)
{
    struct by_hash128 hash;
    if (by_sample_hash(&hash, arrays, stage->calibration->port_count, sample, err) < 0)
        return -1;
    stage->stats->content = by_hash128_sum(stage->stats->content, hash);
    return 0;
}

/* Until it is covered, a failure leaves the statistics good for nothing. */
static int note_sample(struct stage *stage, uint64_t sample, const struct by_array *arrays,
                       const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const double start = by_keep_clock();
    if (by_watch_sample(stage->calibration->watch, arrays, stage->calibration->port_count, sample,
                        name, err) < 0)
        return by_err_in(err, "sample %s", by_quote(quoted, name));
    const double took = by_keep_clock() - start;
    stage->model_seconds += took;
    stage->calibration->report.model_seconds += took;
    return add_content(stage, arrays, sample, err);
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

/* The data failed: what was whole before is kept. */
static int keep_and_fail(struct stage *stage)
{
    struct baryon_error second;
    if (stage->done > stage->before)
        (void)keep_pass(stage, &second);
    return -1;
}

/* Those skipped before an interruption count too. */
static int skip_sample(struct stage *stage, uint64_t sample, const char *name,
                       struct baryon_error *err)
{
    const struct by_stats *stats = stage->stats;
    const double share = stage->calibration->options->input.skip_bad;
    const char *reason = by_ahead_reason(stage->ahead);
    if (stats->skipped.count >= (size_t)(share * (double)stats->total)) {
        by_fail(err, BARYON_ERR_INPUT, "sample '%s': %s", name, reason);
        return by_err_hint(err, "bad samples skipped before: %zu, more are not allowed",
                           stats->skipped.count);
    }
    return by_stats_skip(stage->stats, sample, name, reason, err);
}

static int do_sample(struct stage *stage, uint64_t sample, struct baryon_error *err)
{
    const struct by_array *arrays;
    const char *name;
    uint64_t next = next_sample(stage, sample + 1);
    if (next >= stage->calibration->range.end)
        next = BY_AHEAD_NONE;
    if (by_ahead_get(stage->ahead, sample, next, &arrays, &name, err) < 0)
        return keep_and_fail(stage);
    stage->sample = name;
    if (arrays) {
        if (note_sample(stage, sample, arrays, name, err) < 0)
            return -1;
    } else if (skip_sample(stage, sample, name, err) < 0)
        return keep_and_fail(stage);
    if (by_stats_cover(stage->stats, sample, sample + 1, err) < 0)
        return -1;
    stage->done++;
    if (stage->pass == 0)
        stage->calibration->report.samples++;
    return 0;
}

static int stopped(struct stage *stage, struct baryon_error *err)
{
    const struct by_calibration *calibration = stage->calibration;
    if (keep_pass(stage, err) < 0)
        return -1;
    by_fail(err, BARYON_ERR_CANCELLED, "%s: stopped after %" PRIu64 " of %" PRIu64 " samples",
            stage->name, stage->done, calibration->range.end - calibration->range.begin);
    return calibration->keep.path ? by_err_hint(err, "the same command goes on from there") : -1;
}

static int run_samples(struct stage *stage, struct baryon_error *err)
{
    struct by_calibration *calibration = stage->calibration;
    const uint64_t end = calibration->range.end;
    bool stop = tell(stage, NULL);
    for (uint64_t i = next_sample(stage, calibration->range.begin); i < end;
         i = next_sample(stage, i + 1)) {
        if (stop)
            return stopped(stage, err);
        if (do_sample(stage, i, err) < 0)
            return -1;
        stop = tell(stage, stage->sample);
        if (!stop && stage->done < end - calibration->range.begin &&
            by_keep_due(&calibration->keep) && keep_pass(stage, err) < 0)
            return -1;
    }
    return 0;
}

static void name_stage(struct stage *stage)
{
    if (stage->calibration->plan.pass_count == 1)
        snprintf(stage->name, sizeof stage->name, "calibrate");
    else
        snprintf(stage->name, sizeof stage->name, "calibrate, pass %zu of %zu", stage->pass + 1,
                 stage->calibration->plan.pass_count);
}

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

static int run_stage(struct stage *stage, struct baryon_error *err)
{
    struct by_calibration *calibration = stage->calibration;
    name_stage(stage);
    stage->before = stage->done = by_stats_covered(stage->stats);
    if (stage->pass == 0)
        calibration->report.taken_up = stage->before;
    if (stage->before)
        by_log(calibration->options->log, BY_LOG_NOTICE,
               "%s: goes on after %" PRIu64 " of %" PRIu64 " samples", stage->name, stage->before,
               calibration->range.end - calibration->range.begin);
    if (by_calibration_covered(calibration, stage->stats))
        return 0;
    by_watch_into(calibration->watch, stage->stats, stage->pass);
    if (by_ahead_open(&stage->ahead, calibration->input, err) < 0)
        return -1;
    stage->start = by_keep_clock();
    calibration->keep.next = stage->start + calibration->keep.interval;
    int status = run_samples(stage, err);
    by_ahead_close(stage->ahead);
    calibration->report.seconds += by_keep_clock() - stage->start;
    const uint64_t memory = memory_taken(stage->stats);
    if (memory > calibration->report.memory)
        calibration->report.memory = memory;
    return status;
}

int by_calibration_stage(struct by_calibration *calibration, size_t pass, struct by_stats *stats,
                         struct baryon_error *err)
{
    struct stage stage = {.calibration = calibration, .pass = pass, .stats = stats};
    return run_stage(&stage, err);
}
