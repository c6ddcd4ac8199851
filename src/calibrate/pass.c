/* Runs the passes of a calibration and takes up those that a checkpoint has. */
#include "calibrate/calibrate_internal.h"
#include "calibrate/key.h"

#include <string.h>

static int start_layers(const struct by_calibrate_plan *plan, size_t pass, struct by_stats *stats,
                        struct baryon_error *err)
{
    size_t first, end;
    if (by_stats_set_layers(stats, plan->layers, plan->layer_count, err) < 0)
        return -1;
    for (size_t i = 0; i < plan->layer_count; i++) {
        struct by_moments *moments = &stats->layers[i].moments;
        if (!by_calibrate_plan_part(plan, pass, i, &first, &end))
            continue;
        by_moments_release(moments);
        if (by_moments_init(moments, &plan->layers[i], first, end, err) < 0)
            return -1;
    }
    return 0;
}

/* What the statistics are of. */
static int label(const struct by_calibration *calibration, struct by_stats *stats,
                 struct baryon_error *err)
{
    char settings[128], prepared[1024];
    const struct by_calibrate_options *options = calibration->options;
    stats->key = calibration->key;
    stats->total = by_input_count(calibration->input);
    by_input_describe(calibration->input, prepared, sizeof prepared);
    stats->prepared = by_arena_text(&stats->arena, prepared, strlen(prepared), err);
    if (!stats->prepared)
        return -1;
    return by_stats_describe(stats, options->model, options->data,
                             by_calibrate_describe(options, settings, sizeof settings), err);
}

/* Empty statistics for a pass. */
static int start_pass(struct by_calibration *calibration, size_t pass, struct by_stats **stats,
                      struct baryon_error *err)
{
    const struct by_calibrate_plan *plan = &calibration->plan;
    if (by_stats_open(stats, err) < 0)
        return -1;
    if (label(calibration, *stats, err) == 0 &&
        (pass > 0 || by_stats_set_targets(*stats, plan->targets, plan->target_count, err) == 0) &&
        start_layers(plan, pass, *stats, err) == 0)
        return 0;
    by_stats_close(*stats);
    *stats = NULL;
    return -1;
}

static bool is_of_first(const struct by_stats *begun, const struct by_stats_key *key)
{
    return begun && by_hash128_equal(begun->key.model, key->model) &&
           by_hash128_equal(begun->key.settings, key->settings) && !begun->layer_count &&
           !begun->skipped.count && begun->covered.count == 1 && !begun->covered.at[0].begin;
}

int by_calibrate_is_begun(const struct by_stats *begun, struct baryon_model *model,
                          const struct by_calibrate_options *options, bool *is_begun,
                          struct baryon_error *err)
{
    struct by_stats_key key;
    const int status = by_calibrate_key_alone(&key, model, options, err);
    *is_begun = status == 0 && is_of_first(begun, &key);
    return status;
}

static bool is_begun(const struct by_calibration *calibration, const struct by_stats *begun)
{
    const struct by_sample_range range = calibration->range;
    return is_of_first(begun, &calibration->key) && !range.begin &&
           begun->covered.at[0].end <= range.end;
}

static int take_begun(struct by_calibration *calibration, struct by_stats **stats,
                      struct baryon_error *err)
{
    *stats = *calibration->options->begun;
    *calibration->options->begun = NULL;
    return label(calibration, *stats, err);
}

/* Tiles of a pass that was taken up, numbered through; they may be others than we planned. */
static struct by_calibrate_pass tiles_of(const struct by_calibrate_plan *plan,
                                         const struct by_stats *stats)
{
    struct by_calibrate_pass tiles = {.begin = SIZE_MAX};
    for (size_t i = 0; i < plan->layer_count; i++)
        for (size_t tile = plan->first_tile[i]; tile < plan->first_tile[i + 1]; tile++)
            if (by_layer_stats_has(&stats->layers[i], tile - plan->first_tile[i])) {
                tiles.begin = tiles.begin == SIZE_MAX ? tile : tiles.begin;
                tiles.end = tile + 1;
            }
    return tiles;
}

static int recall(const struct by_calibrate_plan *plan, size_t pass, struct by_stats *stats,
                  struct baryon_error *err)
{
    size_t first, end;
    for (size_t i = 0; i < plan->layer_count; i++)
        if (by_calibrate_plan_part(plan, pass, i, &first, &end) &&
            by_stats_recall(&stats->layers[i], first, end, err) < 0)
            return -1;
    return 0;
}

/* A checkpoint made with another --max-memory has other tiles: it decides. */
static int adopt(struct by_calibration *calibration, size_t pass, struct by_stats *stats,
                 struct baryon_error *err)
{
    struct by_calibrate_plan *plan = &calibration->plan;
    const struct by_calibrate_pass tiles = tiles_of(plan, stats);
    const size_t begin = pass ? plan->passes[pass - 1].end : 0;
    if (tiles.begin != SIZE_MAX && tiles.begin != begin)
        return 1;
    const size_t end = tiles.begin == SIZE_MAX ? begin : tiles.end;
    if (end != plan->passes[pass].end) {
        plan->pass_count = pass;
        if (by_calibrate_plan_add_pass(plan, end, err) < 0 ||
            by_calibrate_plan_divide(plan, pass + 1, by_calibration_memory(calibration), err) < 0)
            return -1;
    }
    return by_calibration_covered(calibration, stats) ? 0 : recall(plan, pass, stats, err);
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
    if (!pass && calibration->options->begun && is_begun(calibration, *calibration->options->begun))
        return take_begun(calibration, stats, err);
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
    return *stats ? 0 : by_fail(err, BARYON_ERR_IO, "a checkpoint cannot be read");
}

/* Where the last samples begin that others hold out; 0: nobody does. */
static uint64_t end_of_part(const struct by_calibration *calibration)
{
    const struct by_calibrate_options *options = calibration->options;
    const uint64_t count = calibration->range.end - calibration->range.begin;
    const uint64_t share = count / 2 < options->aside ? count / 2 : options->aside;
    return options->part && share && calibration->plan.pass_count == 1
               ? calibration->range.end - share
               : 0;
}

/* Runs those before them, and copies what is known then. */
static int run_part(struct by_calibration *calibration, struct by_stats *stats,
                    struct baryon_error *err)
{
    const uint64_t all = calibration->range.end, end = end_of_part(calibration);
    if (!end || by_stats_covered(stats) > end - calibration->range.begin)
        return 0;
    calibration->range.end = end;
    const int status = by_calibration_stage(calibration, 0, stats, err);
    calibration->range.end = all;
    return status < 0 || start_pass(calibration, 0, calibration->options->part, err) < 0 ||
                   by_stats_merge(*calibration->options->part, stats, err) < 0
               ? -1
               : 0;
}

static int run_pass(struct by_calibration *calibration, size_t pass, struct by_stats **stats,
                    struct baryon_error *err)
{
    if (take_up_pass(calibration, pass, stats, err) < 0)
        return -1;
    if (pass == 0)
        calibration->report.taken_up = by_stats_covered(*stats);
    if ((pass == 0 && run_part(calibration, *stats, err) < 0) ||
        by_calibration_stage(calibration, pass, *stats, err) < 0)
        return -1;
    return pass + 1 < calibration->plan.pass_count ? park(calibration, pass, stats, err) : 0;
}

static int check_any(const struct by_stats *stats, struct baryon_error *err)
{
    if (!by_stats_complete(stats) || stats->skipped.count < stats->total)
        return 0;
    return by_fail(err, BARYON_ERR_INPUT,
                   "all %zu samples were skipped, at least one must be valid",
                   stats->skipped.count);
}

int by_calibration_pass(struct by_calibration *calibration, size_t pass, struct by_stats **result,
                        struct baryon_error *err)
{
    struct by_stats *stats = NULL;
    int status = run_pass(calibration, pass, &stats, err);
    if (status == 0)
        status = pass ? by_stats_join(*result, stats, err) : check_any(stats, err);
    if (status == 0 && !pass)
        *result = stats;
    else
        by_stats_close(stats);
    return status;
}
