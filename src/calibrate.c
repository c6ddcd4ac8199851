#include "calibrate.h"

#include "calibrate_keep.h"
#include "calibrate_key.h"
#include "calibrate_plan.h"
#include "calibrate_watch.h"
#include "input/ahead.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct by_calibration {
    struct by_arena arena;
    struct baryon_model *model;
    const struct by_calibrate_options *options;
    struct by_plan plan;
    struct by_watch *watch;
    struct by_port *ports; /* a copy: sessions come and go */
    size_t port_count;
    struct by_input *input;
    struct by_stats_key key;
    struct by_sample_range range;
    struct by_keep keep;
    struct by_calibrate_report report;
};

/* --- Opening --- */

static uint64_t memory_of(const struct by_calibrate_options *options)
{
    return options->max_memory ? options->max_memory : BY_CALIBRATE_MEMORY;
}

static int make_plan(struct by_calibration *calibration, struct baryon_error *err)
{
    const struct by_calibrate_options *options = calibration->options;
    struct by_plan *plan = &calibration->plan;
    if (by_plan_make(plan, calibration->model->graph, options->targets, options->per_channel,
                     options->moments, err) < 0)
        return -1;
    if (!plan->target_count && !plan->layer_count)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "the model has no values of a float type, there is nothing to calibrate");
    return by_plan_divide(plan, 0, options->checkpoint ? memory_of(options) : UINT64_MAX, err);
}

static int copy_port(struct by_arena *arena, struct by_port *to, const struct by_port *from,
                     struct baryon_error *err)
{
    int64_t *dims = by_arena_alloc(arena, from->rank, sizeof *dims, err);
    const char **symbols = by_arena_alloc(arena, from->rank, sizeof *symbols, err);
    *to = *from;
    to->name = by_arena_text(arena, from->name, strlen(from->name), err);
    if (!dims || !symbols || !to->name)
        return -1;
    for (size_t i = 0; i < from->rank; i++) {
        dims[i] = from->dims[i];
        symbols[i] = by_arena_text(arena, from->symbols[i], strlen(from->symbols[i]), err);
        if (!symbols[i])
            return -1;
    }
    to->dims = dims;
    to->symbols = symbols;
    return 0;
}

static int copy_ports(struct by_calibration *calibration, struct baryon_error *err)
{
    size_t count;
    const struct by_port *ports = by_session_inputs(by_watch_session(calibration->watch), &count);
    calibration->ports =
        by_arena_alloc(&calibration->arena, count, sizeof *calibration->ports, err);
    if (!calibration->ports)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (copy_port(&calibration->arena, &calibration->ports[i], &ports[i], err) < 0)
            return -1;
    calibration->port_count = count;
    return 0;
}

/* Shard s of n has the samples from s / n of them on; their sizes differ by one at most. */
static int choose_range(struct by_calibration *calibration, struct baryon_error *err)
{
    const uint64_t total = by_input_count(calibration->input);
    const uint64_t shards = calibration->options->shards ? calibration->options->shards : 1;
    const uint64_t shard = calibration->options->shard;
    if (shards > total)
        return by_fail(err, BARYON_ERR_USAGE,
                       "%" PRIu64 " shards of %" PRIu64 " samples, each needs one at least", shards,
                       total);
    const uint64_t each = total / shards, longer = total % shards;
    calibration->range.begin = each * shard + (shard < longer ? shard : longer);
    calibration->range.end = calibration->range.begin + each + (shard < longer);
    return 0;
}

static int open_watch(struct by_calibration *calibration, size_t pass, struct baryon_error *err)
{
    if (calibration->watch && by_watch_pass(calibration->watch) == pass)
        return 0;
    by_watch_close(calibration->watch);
    calibration->watch = NULL;
    return by_watch_open(&calibration->watch, calibration->model, &calibration->plan, pass,
                         &calibration->options->session, err);
}

static int open_all(struct by_calibration *calibration, const char *data, struct baryon_error *err)
{
    const struct by_calibrate_options *options = calibration->options;
    if (make_plan(calibration, err) < 0 || open_watch(calibration, 0, err) < 0 ||
        copy_ports(calibration, err) < 0 ||
        by_input_open(&calibration->input, data, calibration->ports, calibration->port_count,
                      &options->input, err) < 0 ||
        choose_range(calibration, err) < 0 ||
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
    by_arena_init(&calibration->arena, 0);
    calibration->model = model;
    calibration->options = options;
    if (open_all(calibration, data, err) < 0) {
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
    by_plan_release(&calibration->plan);
    by_arena_release(&calibration->arena);
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

static bool covers(const struct by_stats *stats, const struct by_sample_range *range)
{
    return stats->covered.count == 1 && stats->covered.at[0].begin == range->begin &&
           stats->covered.at[0].end == range->end;
}

bool by_calibration_matches(const struct by_calibration *calibration, const struct by_stats *stats)
{
    return by_stats_check_key(&stats->key, &calibration->key, NULL) == 0 &&
           covers(stats, &calibration->range);
}

/* --- One sample after the other --- */

struct stage {
    struct by_calibration *calibration;
    size_t pass;
    struct by_stats *stats; /* what this pass fills */
    struct by_ahead *ahead;
    uint64_t done, before;
    char name[64];
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

/* What was whole before the data failed is kept. */
static int data_failed(struct stage *stage, struct baryon_error *err)
{
    struct baryon_error second;
    if (stage->done > stage->before)
        (void)keep_pass(stage, &second);
    (void)err;
    return -1;
}

static int do_sample(struct stage *stage, uint64_t sample, struct baryon_error *err)
{
    const struct by_array *arrays;
    const char *name;
    uint64_t next = next_sample(stage, sample + 1);
    if (next >= stage->calibration->range.end)
        next = BY_AHEAD_NONE;
    if (by_ahead_get(stage->ahead, sample, next, &arrays, &name, err) < 0)
        return data_failed(stage, err);
    if (arrays) {
        if (note_sample(stage, sample, arrays, name, err) < 0)
            return -1;
    } else if (by_stats_skip(stage->stats, sample, name, by_ahead_reason(stage->ahead), err) < 0)
        return -1;
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
        stop = tell(stage, NULL);
        if (!stop && stage->done < end - calibration->range.begin &&
            by_keep_due(&calibration->keep) && keep_pass(stage, err) < 0)
            return -1;
    }
    return 0;
}

/* --- One pass after the other --- */

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
    if (covers(stage->stats, &calibration->range))
        return 0;
    if (open_watch(calibration, stage->pass, err) < 0)
        return -1;
    by_watch_into(calibration->watch, stage->stats);
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

static int start_layers(const struct by_plan *plan, size_t pass, struct by_stats *stats,
                        struct baryon_error *err)
{
    size_t first, end;
    if (by_stats_set_layers(stats, plan->layers, plan->layer_count, err) < 0)
        return -1;
    for (size_t i = 0; i < plan->layer_count; i++) {
        struct by_moments *moments = &stats->layers[i].moments;
        if (!by_plan_part(plan, pass, i, &first, &end))
            continue;
        by_moments_release(moments);
        if (by_moments_init(moments, &plan->layers[i], first, end, err) < 0)
            return -1;
    }
    return 0;
}

/* Empty statistics for a pass. */
static int start_pass(struct by_calibration *calibration, size_t pass, struct by_stats **stats,
                      struct baryon_error *err)
{
    char settings[128];
    const struct by_calibrate_options *options = calibration->options;
    const struct by_plan *plan = &calibration->plan;
    if (by_stats_open(stats, err) < 0)
        return -1;
    (*stats)->key = calibration->key;
    (*stats)->total = by_input_count(calibration->input);
    if (by_stats_describe(*stats, options->model, options->data,
                          by_calibrate_describe(options, settings, sizeof settings), err) == 0 &&
        (pass > 0 || by_stats_set_targets(*stats, plan->targets, plan->target_count, err) == 0) &&
        start_layers(plan, pass, *stats, err) == 0)
        return 0;
    by_stats_close(*stats);
    *stats = NULL;
    return -1;
}

/* Tiles of a pass that was taken up, numbered through; they may be others than we planned. */
static struct by_pass tiles_of(const struct by_plan *plan, const struct by_stats *stats)
{
    struct by_pass tiles = {.begin = SIZE_MAX};
    for (size_t i = 0; i < plan->layer_count; i++)
        for (size_t tile = plan->first_tile[i]; tile < plan->first_tile[i + 1]; tile++)
            if (by_layer_stats_has(&stats->layers[i], tile - plan->first_tile[i])) {
                tiles.begin = tiles.begin == SIZE_MAX ? tile : tiles.begin;
                tiles.end = tile + 1;
            }
    return tiles;
}

static int recall(const struct by_plan *plan, size_t pass, struct by_stats *stats,
                  struct baryon_error *err)
{
    size_t first, end;
    for (size_t i = 0; i < plan->layer_count; i++)
        if (by_plan_part(plan, pass, i, &first, &end) &&
            by_stats_recall(&stats->layers[i], first, end, err) < 0)
            return -1;
    return 0;
}

/* A checkpoint made with another --max-memory has other tiles: it decides. */
static int adopt(struct by_calibration *calibration, size_t pass, struct by_stats *stats,
                 struct baryon_error *err)
{
    struct by_plan *plan = &calibration->plan;
    const struct by_pass tiles = tiles_of(plan, stats);
    const size_t begin = pass ? plan->passes[pass - 1].end : 0;
    if (tiles.begin != SIZE_MAX && tiles.begin != begin)
        return 1;
    const size_t end = tiles.begin == SIZE_MAX ? begin : tiles.end;
    if (end != plan->passes[pass].end) {
        plan->pass_count = pass;
        if (by_plan_add_pass(plan, end, err) < 0 ||
            by_plan_divide(plan, pass + 1, memory_of(calibration->options), err) < 0)
            return -1;
        by_watch_close(calibration->watch);
        calibration->watch = NULL;
    }
    return covers(stats, &calibration->range) ? 0 : recall(plan, pass, stats, err);
}

static int take_up_pass(struct by_calibration *calibration, size_t pass, struct by_stats **stats,
                        struct baryon_error *err)
{
    if (by_keep_take_up(&calibration->keep, pass, stats, err) < 0)
        return -1;
    if (*stats) {
        int other = adopt(calibration, pass, *stats, err);
        if (other == 0)
            return 0;
        by_stats_close(*stats);
        *stats = NULL;
        if (other < 0)
            return -1;
    }
    if (by_keep_remove(calibration->options->checkpoint, pass, err) < 0)
        return -1;
    return start_pass(calibration, pass, stats, err);
}

/* The pass's tiles go to its file and out of memory. */
static int park(struct by_calibration *calibration, size_t pass, struct by_stats **stats,
                struct baryon_error *err)
{
    if (by_keep_write(&calibration->keep, pass, *stats, err) < 0)
        return -1;
    by_stats_close(*stats);
    *stats = NULL;
    if (by_keep_take_up(&calibration->keep, pass, stats, err) < 0)
        return -1;
    return *stats ? 0 : by_fail(err, BARYON_ERR_IO, "a checkpoint cannot be read back");
}

static int run_pass(struct by_calibration *calibration, size_t pass, struct by_stats **result,
                    struct baryon_error *err)
{
    struct stage stage = {.calibration = calibration, .pass = pass};
    int status = take_up_pass(calibration, pass, &stage.stats, err);
    if (status == 0 && (status = run_stage(&stage, err)) == 0 &&
        pass + 1 < calibration->plan.pass_count)
        status = park(calibration, pass, &stage.stats, err);
    if (status == 0 && pass == 0) {
        *result = stage.stats;
        return 0;
    }
    if (status == 0)
        status = by_stats_join(*result, stage.stats, err);
    by_stats_close(stage.stats);
    return status;
}

static void tell_passes(const struct by_calibration *calibration)
{
    char text[2][32];
    const struct by_calibrate_options *options = calibration->options;
    const struct by_plan *plan = &calibration->plan;
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->pass_count; i++)
        bytes += by_plan_bytes(plan, i);
    snprintf(text[0], sizeof text[0], "%.1f MiB", (double)bytes / (1 << 20));
    snprintf(text[1], sizeof text[1], "%.1f MiB", (double)memory_of(options) / (1 << 20));
    if (plan->pass_count > 1)
        by_log(options->log, BY_LOG_NOTICE,
               "statistics take %s, over the %s of --max-memory: %zu passes over the samples",
               text[0], text[1], plan->pass_count);
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
    /* A pass may find more or less passes behind it than were planned. */
    for (size_t pass = 0; pass < calibration->plan.pass_count; pass++)
        if (run_pass(calibration, pass, stats, err) < 0) {
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

int by_calibrate(struct by_stats **stats, struct baryon_model *model, const char *data,
                 const struct by_calibrate_options *options, struct by_calibrate_report *report,
                 struct baryon_error *err)
{
    struct by_calibration *calibration;
    *stats = NULL;
    if (by_calibration_open(&calibration, model, data, options, err) < 0)
        return -1;
    int status = by_calibration_run(calibration, stats, report, err);
    by_calibration_close(calibration);
    return status;
}
