/* Binds the settings, samples and progress of one API call of calibration or quantization. */
#include "api/work.h"

void by_api_work_init(struct by_api_work *work, const char *path)
{
    *work = (struct by_api_work){.path = path};
    by_config_init(&work->config);
}

void by_api_work_close(struct by_api_work *work)
{
    by_api_samples_close(&work->samples);
    by_config_release(&work->config);
}

int by_api_work_take(struct by_api_work *work, const struct baryon_samples *samples,
                     baryon_progress_fn *progress, baryon_log_fn *log, void *context,
                     struct baryon_error *err)
{
    work->progress = progress;
    work->context = context;
    by_api_log_open(&work->log, log, context, BY_LOG_NOTICE);
    if (!samples)
        return 0;
    work->given = &work->callback;
    return by_api_samples_open(&work->samples, samples, &work->callback, err);
}

static bool pass_progress(void *context, const struct by_calibrate_progress *now)
{
    const struct by_api_work *work = context;
    const struct baryon_progress progress = {.stage = now->stage,
                                             .done = now->done,
                                             .total = now->total,
                                             .sample = now->sample,
                                             .seconds = now->seconds};
    return !work->progress(work->context, &progress);
}

void by_api_work_watch(struct by_api_work *work, struct by_calibrate_options *options)
{
    options->progress = work->progress ? pass_progress : NULL;
    options->context = work;
}

int by_api_work_load(const struct by_api_work *work, bool allow_links, struct baryon_model **model,
                     struct baryon_error *err)
{
    const struct by_load_options load = {.allow_links = allow_links, .log = &work->log.log};
    return by_model_load(model, work->path, &load, err);
}
