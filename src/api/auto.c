/* The public interface: the search for a quantization. */
#include "search/auto.h"
#include "api/need.h"
#include "api/work.h"
#include "calibrate/begin.h"
#include "onnx/external.h"
#include "onnx/load.h"

#include <string.h>

struct baryon_auto {
    struct by_auto *inner;
    struct baryon_auto_summary summary;
    struct baryon_auto_point *points;
    struct by_str config, json;
};

struct job {
    struct by_api_work work;
    struct by_running_settings running;
    struct by_auto_settings settings;
    struct baryon_auto_options theirs;
    struct by_auto_options options;
    struct by_calibrate_options watch; /* progress alone */
};

/* --- What goes in --- */

static int take_auto_options(struct job *job, const struct baryon_setting *settings, size_t count,
                             const struct baryon_auto_options *theirs, struct baryon_error *err)
{
    struct by_api_work *work = &job->work;
    job->theirs = (struct baryon_auto_options){.size = sizeof job->theirs};
    return by_api_options(&job->theirs, sizeof job->theirs, theirs, err) < 0 ||
                   by_running_bind(&work->config, &job->running, &by_auto_group, &job->settings,
                                   false, err) < 0 ||
                   by_api_settings(&work->config, settings, count, err) < 0
               ? -1
               : by_api_work_take(work, job->theirs.samples, job->theirs.progress, job->theirs.log,
                                  job->theirs.context, err);
}

static int pass_value(void *context, struct baryon_model *model, double *value,
                      struct baryon_error *err)
{
    const struct job *job = context;
    return job->theirs.value(job->theirs.context, model, value, err);
}

static bool pass_progress(void *context, const struct by_calibrate_progress *progress)
{
    const struct job *job = context;
    return job->watch.progress && job->watch.progress(job->watch.context, progress);
}

static int refuse_once(const struct by_api_work *work, struct baryon_error *err)
{
    if (!work->given || work->given->rewind)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE,
                   "the samples come only once, a search requires rewind: it reads them for each "
                   "candidate");
}

static int prepare(struct job *job, struct baryon_model *model, struct baryon_error *err)
{
    struct by_calibrate_options quiet = {0};
    by_engine_options(&job->running.engine, &job->running.runtime, &quiet.session);
    if (by_model_settle(model, err) < 0)
        return -1;
    const int status =
        by_calibrate_prepare(model, job->running.engine.ops_library.count > 0, &quiet, err);
    return by_model_judge_run(model, job->work.path, status, err);
}

/* --- What comes out --- */

static int fill_points(struct baryon_auto *search, struct baryon_error *err)
{
    const struct by_auto *inner = search->inner;
    search->points =
        by_arena_alloc(&search->inner->arena, inner->points.count + 1, sizeof *search->points, err);
    if (!search->points)
        return -1;
    for (size_t i = 0; i < inner->points.count; i++) {
        const struct by_auto_point *point = &inner->points.at[i];
        search->points[i] = (struct baryon_auto_point){
            .name = point->name,
            .text = point->text,
            .config = point->yaml,
            .why = point->why,
            .chosen = point->choose[0],
            .last = point->last[0],
            .sqnr = point->sqnr,
            .met = point->met,
            .cost = point->figures.cost,
            .low_bits_share = point->figures.low_share,
            .bytes = point->bytes,
            .seconds = point->seconds,
        };
    }
    return 0;
}

static int fill_texts(struct baryon_auto *search, const char *model, struct baryon_error *err)
{
    struct by_json json;
    by_auto_write_config(search->inner, model, &search->config);
    by_json_init(&json, &search->json, false);
    by_json_open(&json, NULL, '{');
    by_auto_json(search->inner, &json);
    by_json_close(&json, '}');
    return by_str_error(&search->config, err) < 0 ? -1 : by_str_error(&search->json, err);
}

static void fill_summary(struct baryon_auto *search)
{
    const struct by_auto *inner = search->inner;
    search->summary = (struct baryon_auto_summary){
        .met = inner->met,
        .outcome = inner->outcome,
        .needs = inner->needs,
        .config = by_str_text(&search->config),
        .json = by_str_text(&search->json),
        .calibrate_samples = inner->parts.of[BY_PART_CALIBRATE].count,
        .choose_samples = inner->parts.of[BY_PART_CHOOSE].count,
        .last_samples = inner->parts.of[BY_PART_LAST].count,
        .best = inner->best,
        .seconds = inner->seconds,
    };
}

/* Takes inner over. */
static int return_search(struct baryon_auto **out, struct by_auto *inner, const char *model,
                         struct baryon_error *err)
{
    struct baryon_auto *search = by_alloc_zero(1, sizeof *search, err);
    if (!search) {
        by_auto_close(inner);
        return -1;
    }
    search->inner = inner;
    by_str_init(&search->config);
    by_str_init(&search->json);
    if (fill_points(search, err) < 0 || fill_texts(search, model, err) < 0) {
        baryon_auto_free(search);
        return -1;
    }
    fill_summary(search);
    *out = search;
    return by_auto_judge(inner, err);
}

/* --- The whole --- */

static int run_search(struct job *job, struct baryon_auto **out, struct baryon_model *model,
                      struct baryon_error *err)
{
    struct by_auto *inner;
    job->options = (struct by_auto_options){
        .settings = &job->settings,
        .given = &job->work.config,
        .running = &job->running,
        .samples = job->work.given,
        .out = job->theirs.out,
        .bytes_before = model->file.size + by_model_data_size(model),
        .value = job->theirs.value ? pass_value : NULL,
        .progress = pass_progress,
        .context = job,
        .log = &job->work.log.log,
    };
    by_api_work_watch(&job->work, &job->watch);
    if (by_auto_check(&job->settings, job->theirs.value != NULL, err) < 0 ||
        refuse_once(&job->work, err) < 0 || prepare(job, model, err) < 0)
        return -1;
    const int status = by_auto_run(&inner, model, &job->options, err);
    if (by_model_judge_run(model, job->work.path, status, err) < 0)
        return -1;
    by_auto_clean(&job->options);
    return return_search(out, inner, job->work.path ? job->work.path : "MODEL", err);
}

int baryon_auto(struct baryon_auto **search, struct baryon_model *model,
                const struct baryon_setting *settings, size_t count,
                const struct baryon_auto_options *options, struct baryon_error *err)
{
    if (BY_NEED(search, err) || BY_NEED(model, err) || BY_NEED_LIST(settings, count, err))
        return -1;
    struct job job = {0};
    struct baryon_error own;
    err = err ? err : &own;
    *search = NULL;
    by_api_work_init(&job.work, model->path);
    int status = take_auto_options(&job, settings, count, options, err);
    if (status == 0)
        status = run_search(&job, search, model, err);
    by_api_work_close(&job.work);
    return status;
}

void baryon_auto_free(struct baryon_auto *search)
{
    if (!search)
        return;
    by_str_release(&search->config);
    by_str_release(&search->json);
    by_auto_close(search->inner);
    by_free(search);
}

struct baryon_model *baryon_auto_model(const struct baryon_auto *search)
{
    return search ? search->inner->model : NULL;
}

const struct baryon_auto_summary *baryon_auto_summary(const struct baryon_auto *search)
{
    return search ? &search->summary : NULL;
}

const struct baryon_auto_point *baryon_auto_point(const struct baryon_auto *search, size_t place)
{
    return search && place < search->inner->points.count ? &search->points[place] : NULL;
}
