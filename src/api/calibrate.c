/* The public interface: calibration. */
#include "settings/calibrate.h"
#include "api/need.h"
#include "api/work.h"
#include "calibrate/begin.h"

struct job {
    struct by_api_work work;
    struct by_calibrate_settings settings;
    struct by_calibrate_options options;
    struct by_calibration *calibration;
    struct by_stats *stats;
};

/* --- What was asked for --- */

/* Settings that speak of files nobody named. */
static int refuse_without_out(const struct job *job, struct baryon_error *err)
{
    static const char *const names[] = {"max-memory", "checkpoint-seconds", "restart", "force"};
    for (size_t i = 0; !job->settings.out && i < sizeof names / sizeof *names; i++)
        if (by_config_given(&job->work.config, names[i]))
            return by_fail(err, BARYON_ERR_USAGE, "--%s requires --out", names[i]);
    return 0;
}

static int name_things(struct job *job, struct baryon_error *err)
{
    const char *data = job->settings.running.data.data, *out = job->settings.out;
    struct by_arena *arena = &job->work.config.arena;
    const struct by_input_callback *callback = job->options.samples;
    job->options.model =
        job->work.path ? by_calibrate_label(arena, job->work.path, err) : "in memory";
    if (callback)
        job->options.data = callback->what ? callback->what : "given by the caller";
    else
        job->options.data = data ? by_calibrate_label(arena, data, err) : "random";
    if (out)
        job->options.checkpoint = by_calibrate_checkpoint(arena, out, err);
    return job->options.model && job->options.data && (!out || job->options.checkpoint) ? 0 : -1;
}

static int take_calibrate_options(struct job *job, bool file, const struct baryon_setting *settings,
                                  size_t count, const struct baryon_calibrate_options *theirs,
                                  struct baryon_error *err)
{
    struct baryon_calibrate_options options = {.size = sizeof options};
    struct by_api_work *work = &job->work;
    if (by_api_options(&options, sizeof options, theirs, err) < 0 ||
        by_running_bind(&work->config, &job->settings.running, &by_calibrate_group, &job->settings,
                        file, err) < 0 ||
        by_api_settings(&work->config, settings, count, err) < 0 ||
        refuse_without_out(job, err) < 0 ||
        by_api_work_take(work, options.samples, options.progress, options.log, options.context,
                         err) < 0 ||
        by_calibrate_take(&work->config, &job->settings, work->given, &work->log.log, &job->options,
                          err) < 0)
        return -1;
    by_api_work_watch(work, &job->options);
    return name_things(job, err);
}

/* --- Running --- */

static int run_calibrate_job(struct job *job, struct baryon_error *err)
{
    const char *out = job->settings.out;
    if (out && !job->settings.force &&
        by_calibrate_judge_existing(job->calibration, out, false, &job->stats, err) < 0)
        return -1;
    if (!job->stats && (by_calibration_run(job->calibration, &job->stats, NULL, err) < 0 ||
                        (out && by_stats_save(job->stats, out, 0, err) < 0)))
        return -1;
    return out ? by_calibrate_clean(job->options.checkpoint, err) : 0;
}

static int calibrate(struct job *job, struct baryon_model *model, struct baryon_error *err)
{
    const struct by_calibrate_settings *settings = &job->settings;
    const char *data = settings->running.data.data;
    if (settings->out &&
        by_calibrate_check_out(settings->out, settings->out, job->work.path, data, err) < 0)
        return -1;
    int status = by_calibrate_prepare(model, settings->running.engine.ops_library.count > 0,
                                      &job->options, err);
    if (status == 0)
        status = by_calibration_open(&job->calibration, model, data, &job->options, err);
    return by_model_judge_run(model, job->work.path, status, err) < 0 ? -1
                                                                      : run_calibrate_job(job, err);
}

static void release_calibrate_job(struct job *job)
{
    by_stats_close(job->stats);
    by_calibration_close(job->calibration);
    by_api_work_close(&job->work);
}

static int finish_calibrate_job(struct job *job, int status, struct baryon_statistics **out,
                                struct baryon_error *err)
{
    if (status == 0 && out) {
        status = by_api_give_statistics(out, job->stats, err);
        job->stats = NULL;
    }
    release_calibrate_job(job);
    return status;
}

/* Statistics that go nowhere would be made for nothing. */
static int check_use(const struct job *job, struct baryon_statistics *const *out,
                     struct baryon_error *err)
{
    if (out || job->settings.out)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE,
                   "the statistics have no destination: give a pointer or the setting out");
}

int baryon_calibrate(struct baryon_statistics **statistics, struct baryon_model *model,
                     const struct baryon_setting *settings, size_t count,
                     const struct baryon_calibrate_options *options, struct baryon_error *err)
{
    if (BY_NEED(model, err) || BY_NEED_LIST(settings, count, err))
        return -1;
    struct job job = {0};
    struct baryon_error own;
    err = err ? err : &own;
    if (statistics)
        *statistics = NULL;
    by_api_work_init(&job.work, model->path);
    int status = take_calibrate_options(&job, false, settings, count, options, err);
    if (status == 0)
        status = check_use(&job, statistics, err);
    if (status == 0)
        status = by_model_settle(model, err);
    if (status == 0)
        status = calibrate(&job, model, err);
    return finish_calibrate_job(&job, status, statistics, err);
}

int baryon_calibrate_file(struct baryon_statistics **statistics, const char *path,
                          const struct baryon_setting *settings, size_t count,
                          const struct baryon_calibrate_options *options, struct baryon_error *err)
{
    if (BY_NEED(path, err) || BY_NEED_LIST(settings, count, err))
        return -1;
    struct job job = {0};
    struct baryon_model *model = NULL;
    struct baryon_error own;
    err = err ? err : &own;
    if (statistics)
        *statistics = NULL;
    by_api_work_init(&job.work, path);
    int status = take_calibrate_options(&job, true, settings, count, options, err);
    if (status == 0)
        status = check_use(&job, statistics, err);
    if (status == 0)
        status = by_api_work_load(&job.work, job.settings.running.model.allow_links, &model, err);
    if (status == 0)
        status = calibrate(&job, model, err);
    status = finish_calibrate_job(&job, status, statistics, err);
    by_model_free(model);
    return status;
}
