/* Runs a search: opens what it needs, climbs, and concludes. */
#include "search/auto_internal.h"

#include "base/file.h"
#include "base/format.h"
#include "base/thread.h"
#include "calibrate/store.h"
#include "onnx/load.h"
#include "quantize/refuse.h"

#include <math.h>
#include <string.h>

/* --- What was asked for --- */

static bool needs_command(const struct by_auto_settings *settings)
{
    return settings->goal_command != NULL;
}

int by_auto_check(const struct by_auto_settings *settings, bool has_value, struct baryon_error *err)
{
    struct by_arena arena;
    struct by_auto_goals goals;
    struct by_ladder ladder;
    by_arena_init(&arena, 0);
    const struct by_ladder *from = by_ladder_find(settings->target, err);
    int status = from ? 0 : -1;
    if (status == 0)
        status = by_auto_goals_read(&goals, &settings->goal, has_value || needs_command(settings),
                                    settings->labels != NULL, &arena, err);
    if (status == 0 && settings->goal_command)
        status = by_auto_command_check(settings->goal_command, err);
    if (status == 0)
        status = by_ladder_take_costs(&ladder, from, settings->costs, &arena, err);
    by_arena_release(&arena);
    return status;
}

static int take_settings(struct by_auto_work *work, struct baryon_error *err)
{
    struct by_auto *out = work->out;
    const struct by_auto_settings *settings = work->options->settings;
    out->ladder = by_ladder_find(settings->target, err);
    if (!out->ladder ||
        by_ladder_take_costs(&work->ladder, out->ladder, settings->costs, &out->arena, err) < 0)
        return -1;
    return by_auto_goals_read(&out->goals, &settings->goal,
                              work->options->value || needs_command(settings),
                              settings->labels != NULL, &out->arena, err);
}

/* --- Samples, command --- */

static int take_source(struct by_auto_work *work, struct baryon_error *err)
{
    const struct by_auto_options *options = work->options;
    const struct by_running_settings *running = options->running;
    struct by_auto_source *source = &work->source;
    struct by_config *given = (struct by_config *)(uintptr_t)options->given; /* its arena is used */
    *source = (struct by_auto_source){
        .data = options->samples ? NULL : running->data.data,
        .callback = options->samples,
        .labels = options->settings->labels,
        .folder = work->base.folder,
        .memory = options->settings->max_memory,
    };
    return by_running_take(given, running, options->samples, options->log, &source->session,
                           &source->input, err);
}

static bool stop_command(void *context)
{
    struct by_auto_work *work = context;
    const struct by_calibrate_progress now = {.stage = "goal command", .keeps = true};
    return work->base.progress(work, &now);
}

static int take_command(struct by_auto_work *work, struct baryon_error *err)
{
    const struct by_auto_options *options = work->options;
    const char *text = options->settings->goal_command;
    if (!text)
        return 0;
    if (!options->out)
        return by_fail(err, BARYON_ERR_USAGE,
                       "goal-command requires an output file: candidates are written beside it");
    const size_t size = strlen(options->out) + sizeof ".candidate.onnx";
    char *place = by_arena_alloc(&work->out->arena, size, 1, err);
    if (!place)
        return -1;
    by_format(place, size, "%s.candidate.onnx", options->out);
    work->command = (struct by_auto_command){.text = text,
                                             .place = place,
                                             .seconds = options->settings->goal_seconds,
                                             .stop = stop_command,
                                             .context = work};
    return by_auto_command_check(text, err) < 0 ? -1 : by_writer_probe(place, 0, err);
}

static int take_solved(struct by_auto_work *work, struct baryon_error *err)
{
    const char *out = work->options->out;
    const size_t size = out ? strlen(out) + sizeof BY_AUTO_SOLVED : 0;
    char *path = out ? by_arena_alloc(&work->out->arena, size, 1, err) : NULL;
    if (out && !path)
        return -1;
    if (out)
        by_format(path, size, "%s" BY_AUTO_SOLVED, out);
    work->base.solved = path;
    return 0;
}

static int take_folder(struct by_auto_work *work, struct baryon_error *err)
{
    const char *out = work->options->out;
    char *folder = out ? by_arena_alloc(&work->out->arena, strlen(out) + 2, 1, err) : NULL;
    if (out && !folder)
        return -1;
    if (out && by_folder_of(out, folder, strlen(out) + 2))
        work->base.folder = folder;
    return 0;
}

/* --- Opening --- */

static int open_samples(struct by_auto_work *work, struct baryon_model *model,
                        struct baryon_error *err)
{
    struct by_auto *out = work->out;
    const struct by_auto_options *options = work->options;
    const enum by_auto_effort effort = (enum by_auto_effort)options->settings->effort;
    if (by_pool_open(&work->pool, (unsigned)options->running->engine.threads, err) < 0 ||
        by_auto_samples_open(&work->samples, model, &work->source, &out->goals, effort, work->pool,
                             options->log, err) < 0)
        return -1;
    out->parts = *by_auto_samples_parts(work->samples);
    const char *text = by_auto_samples_text(work->samples);
    out->samples = by_arena_text(&out->arena, text, strlen(text), err);
    if (!out->samples)
        return -1;
    if (by_auto_samples_calibrate(work->samples, &work->base.samples, err) < 0)
        return -1;
    work->base.from_caller = options->samples != NULL;
    return by_auto_config_head(options->given, options->running, &out->parts, &work->head, err);
}

static int refuse_quantized(struct baryon_model *model, struct baryon_error *err)
{
    const struct by_recipe recipe = {.approach = BY_APPROACH_WEIGHTS};
    const struct by_quantize_options options = {.recipe = &recipe};
    return by_quantize_refuse(model, &options, err);
}

static int open_search(struct by_auto_work *work, struct baryon_model *model,
                       struct baryon_error *err)
{
    const struct by_auto_options *options = work->options;
    work->base.running = options->running;
    work->base.progress = by_auto_watch;
    work->base.context = work;
    work->base.frame = &work->out->frame;
    work->base.memory = options->settings->max_memory;
    if (take_settings(work, err) < 0 ||
        by_ladder_fit(&work->ladder, model, &work->out->arena, err) < 0 ||
        take_folder(work, err) < 0 || take_solved(work, err) < 0 || take_source(work, err) < 0 ||
        take_command(work, err) < 0 || refuse_quantized(model, err) < 0)
        return -1;
    if (by_frame_take(&work->out->frame, model, err) < 0 || open_samples(work, model, err) < 0 ||
        by_stats_store_open(&work->out->store, work->base.memory / 4, err) < 0)
        return -1;
    work->base.store = work->out->store;
    return by_auto_known_open(work, model, err);
}

/* --- The end --- */

static int no_point(const struct by_auto_work *work, struct baryon_error *err)
{
    const struct by_auto *out = work->out;
    for (size_t i = 0; i < out->points.count; i++)
        if (out->points.at[i].why) {
            by_fail(err, BARYON_ERR_UNSUPPORTED, "target %s has no rung for this model: %s: %s",
                    out->ladder->name, out->points.at[i].name, out->points.at[i].why);
            return by_err_hint(err, "another --target may have one; see 'baryon list ladders'");
        }
    return by_fail(err, BARYON_ERR_INTERNAL, "the search tried nothing");
}

/* The best of an earlier run is quantized once more. */
static int make_best(struct by_auto_work *work, struct baryon_error *err)
{
    if (work->options->listener)
        return by_auto_final_make(work, err);
    if (work->model)
        return 0;
    struct by_auto_candidate *candidate = by_alloc_zero(1, sizeof *candidate, err);
    const char *yaml = work->out->points.at[work->best].yaml;
    int status = candidate ? by_auto_candidate_open(candidate, &work->base, yaml, false, err) : -1;
    if (status == 0)
        status = by_auto_candidate_emit(candidate, err);
    if (status == 0)
        work->model = by_auto_candidate_take(candidate);
    if (candidate)
        by_auto_candidate_close(candidate);
    by_free(candidate);
    return status;
}

static int finish_search(struct by_auto_work *work, struct baryon_error *err)
{
    struct by_auto *out = work->out;
    if (work->best == BY_AUTO_NO_POINT)
        return no_point(work, err);
    work->finishing = true;
    if (make_best(work, err) < 0)
        return -1;
    out->best = work->best;
    out->points.at[out->best].state = BY_AUTO_FINAL;
    out->met = out->points.at[out->best].met && out->points.at[out->best].allowed;
    out->model = work->model;
    work->model = NULL;
    out->seconds = by_seconds() - work->begin;
    return by_auto_conclude(work, err);
}

/* Running out of time ends the search, not the program. */
static int climb(struct by_auto_work *work, struct baryon_error *err)
{
    const int status = by_auto_climb(work, err);
    if (status == 0 || err->code != BARYON_ERR_CANCELLED)
        return status;
    if (work->out->timed_out && !work->interrupted) {
        by_err_clear(err);
        return 0;
    }
    if (work->options->out)
        by_err_hint(err, "finished steps are kept in %s.part; the same command goes on",
                    work->options->out);
    return -1;
}

static void close_work(struct by_auto_work *work)
{
    by_journal_close(work->journal);
    by_arena_release(&work->known_arena);
    by_auto_samples_close(work->samples);
    by_model_free(work->model);
    by_pool_close(work->pool);
    by_str_release(&work->head);
}

int by_auto_run(struct by_auto **result, struct baryon_model *model,
                const struct by_auto_options *options, struct baryon_error *err)
{
    struct by_auto *out = by_alloc_zero(1, sizeof *out, err);
    if (!out)
        return -1;
    const double begin = by_seconds();
    struct by_auto_work work = {
        .out = out,
        .options = options,
        .best = BY_AUTO_NO_POINT,
        .begin = begin,
        .stepped = begin,
        .errors = 1,
    };
    by_arena_init(&out->arena, 0);
    by_arena_init(&work.known_arena, 0);
    by_str_init(&work.head);
    int status = open_search(&work, model, err);
    if (status == 0)
        status = climb(&work, err);
    const bool hopeless = status == 0 && work.best == BY_AUTO_NO_POINT;
    if (status == 0)
        status = finish_search(&work, err);
    const bool empty = work.journal && (hopeless || (!work.known.count && !out->points.count));
    close_work(&work);
    if (status < 0) {
        if (empty) /* there is nothing to go on with */
            by_auto_clean(options);
        by_auto_close(out);
        return -1;
    }
    *result = out;
    return 0;
}

void by_auto_close(struct by_auto *search)
{
    if (!search)
        return;
    by_auto_final_close(search->final);
    by_stats_store_close(search->store);
    by_model_free(search->model);
    by_frame_release(&search->frame);
    by_arena_release(&search->arena);
    by_free(search);
}
