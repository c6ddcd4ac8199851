/* The public interface: calibration. */
#include "api.h"
#include "api_samples.h"
#include "calibrate_begin.h"
#include "calibrate_settings.h"

struct job {
    struct baryon_calibrate_options theirs;
    struct by_config config;
    struct by_calibrate_settings settings;
    struct by_calibrate_options options;
    struct by_api_samples samples;
    struct by_input_callback callback;
    struct by_log log;
    const char *path; /* of the model, NULL: it came from memory */
    struct by_calibration *calibration;
    struct by_stats *stats;
};

/* --- What was asked for --- */

static void pass_log(void *context, enum by_log_level level, const char *text)
{
    const struct job *job = context;
    (void)level;
    job->theirs.log(job->theirs.context, text);
}

static bool pass_progress(void *context, const struct by_calibrate_progress *now)
{
    const struct job *job = context;
    const struct baryon_progress progress = {.stage = now->stage,
                                             .done = now->done,
                                             .total = now->total,
                                             .sample = now->sample,
                                             .seconds = now->seconds};
    return !job->theirs.progress(job->theirs.context, &progress);
}

static int bind(struct job *job, bool file, struct baryon_error *err)
{
    struct by_running_settings *running = &job->settings.running;
    struct by_config *config = &job->config;
    if (by_config_bind(config, &by_data_group, &running->data, err) < 0 ||
        by_config_bind(config, &by_prep_group, &running->prep, err) < 0 ||
        by_config_bind(config, &by_calibrate_group, &job->settings, err) < 0 ||
        by_config_bind(config, &by_engine_group, &running->engine, err) < 0 ||
        by_config_bind(config, &by_runtime_group, &running->runtime, err) < 0)
        return -1;
    return file ? by_config_bind(config, &by_model_group, &running->model, err) : 0;
}

/* Settings that speak of files nobody named. */
static int refuse_without_out(const struct job *job, struct baryon_error *err)
{
    static const char *const names[] = {"max-memory", "checkpoint-seconds", "restart", "force"};
    for (size_t i = 0; !job->settings.out && i < sizeof names / sizeof *names; i++)
        if (by_config_given(&job->config, names[i]))
            return by_fail(err, BARYON_ERR_USAGE, "--%s has no meaning without --out", names[i]);
    return 0;
}

static int name_things(struct job *job, struct baryon_error *err)
{
    const char *data = job->settings.running.data.data, *out = job->settings.out;
    struct by_arena *arena = &job->config.arena;
    const struct by_input_callback *callback = job->options.samples;
    job->options.model = job->path ? by_calibrate_label(arena, job->path, err) : "in memory";
    if (callback)
        job->options.data = callback->what ? callback->what : "given by the caller";
    else
        job->options.data = data ? by_calibrate_label(arena, data, err) : "random";
    if (out)
        job->options.checkpoint = by_calibrate_checkpoint(arena, out, err);
    return job->options.model && job->options.data && (!out || job->options.checkpoint) ? 0 : -1;
}

static int take(struct job *job, bool file, const struct baryon_setting *settings, size_t count,
                const struct baryon_calibrate_options *theirs, struct baryon_error *err)
{
    job->theirs.size = sizeof job->theirs;
    if (by_api_options(&job->theirs, sizeof job->theirs, theirs, err) < 0 ||
        bind(job, file, err) < 0 || by_api_settings(&job->config, settings, count, err) < 0 ||
        refuse_without_out(job, err) < 0)
        return -1;
    const struct baryon_samples *samples = job->theirs.samples;
    if (samples && by_api_samples_open(&job->samples, samples, &job->callback, err) < 0)
        return -1;
    if (job->theirs.log)
        job->log = (struct by_log){.write = pass_log, .context = job, .level = BY_LOG_NOTICE};
    if (by_calibrate_take(&job->config, &job->settings, samples ? &job->callback : NULL, &job->log,
                          &job->options, err) < 0)
        return -1;
    job->options.progress = job->theirs.progress ? pass_progress : NULL;
    job->options.context = job;
    return name_things(job, err);
}

/* --- Running --- */

static int run(struct job *job, struct baryon_error *err)
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
        by_calibrate_check_out(settings->out, settings->out, job->path, data, err) < 0)
        return -1;
    int status = by_calibrate_prepare(model, settings->running.engine.ops_library.count > 0,
                                      &job->options, err);
    if (status == 0)
        status = by_calibration_open(&job->calibration, model, data, &job->options, err);
    return by_model_judge_run(model, job->path, status, err) < 0 ? -1 : run(job, err);
}

static void release(struct job *job)
{
    by_stats_close(job->stats);
    by_calibration_close(job->calibration);
    by_api_samples_close(&job->samples);
    by_config_release(&job->config);
}

static int finish(struct job *job, int status, struct baryon_statistics **out,
                  struct baryon_error *err)
{
    if (status == 0 && out) {
        status = by_api_give_statistics(out, job->stats, err);
        job->stats = NULL;
    }
    release(job);
    return status;
}

/* Statistics that go nowhere would be made for nothing. */
static int check_use(const struct job *job, struct baryon_statistics *const *out,
                     struct baryon_error *err)
{
    if (out || job->settings.out)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE,
                   "the statistics go nowhere: neither a pointer nor the setting out is given");
}

int baryon_calibrate(struct baryon_statistics **statistics, struct baryon_model *model,
                     const struct baryon_setting *settings, size_t count,
                     const struct baryon_calibrate_options *options, struct baryon_error *err)
{
    struct job job = {.path = model->path};
    struct baryon_error own;
    err = err ? err : &own;
    if (statistics)
        *statistics = NULL;
    by_config_init(&job.config);
    int status = take(&job, false, settings, count, options, err);
    if (status == 0)
        status = check_use(&job, statistics, err);
    if (status == 0)
        status = by_model_settle(model, err);
    if (status == 0)
        status = calibrate(&job, model, err);
    return finish(&job, status, statistics, err);
}

int baryon_calibrate_file(struct baryon_statistics **statistics, const char *path,
                          const struct baryon_setting *settings, size_t count,
                          const struct baryon_calibrate_options *options, struct baryon_error *err)
{
    struct job job = {.path = path};
    struct baryon_model *model = NULL;
    struct baryon_error own;
    err = err ? err : &own;
    if (statistics)
        *statistics = NULL;
    by_config_init(&job.config);
    int status = take(&job, true, settings, count, options, err);
    if (status == 0)
        status = check_use(&job, statistics, err);
    if (status == 0) {
        const struct by_load_options load = {.allow_links = job.settings.running.model.allow_links,
                                             .log = &job.log};
        status = by_model_load(&model, path, &load, err);
    }
    if (status == 0)
        status = calibrate(&job, model, err);
    status = finish(&job, status, statistics, err);
    by_model_free(model);
    return status;
}
