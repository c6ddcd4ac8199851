/* The public interface: quantization. */
#include "api.h"
#include "api_samples.h"
#include "base/file.h"
#include "calibrate_begin.h"
#include "onnx/external.h"
#include "onnx/save.h"
#include "quantize_take.h"

#include <string.h>

struct job {
    struct baryon_quantize_options theirs;
    struct by_config config;
    struct by_quantize_settings settings;
    struct by_quantize_options options;
    struct by_api_samples samples;
    struct by_input_callback callback;
    struct by_log log;
    const char *path; /* of the model, NULL: it came from memory */
    const char *out;  /* where it is written, NULL: it stays in memory */
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
    if (by_recipe_bind(config, &job->settings.recipe, err) < 0 ||
        by_config_bind(config, &by_data_group, &running->data, err) < 0 ||
        by_config_bind(config, &by_prep_group, &running->prep, err) < 0 ||
        by_config_bind(config, &by_quantize_statistics_group, &job->settings, err) < 0 ||
        by_config_bind(config, &by_engine_group, &running->engine, err) < 0 ||
        by_config_bind(config, &by_runtime_group, &running->runtime, err) < 0)
        return -1;
    return file ? by_config_bind(config, &by_model_group, &running->model, err) : 0;
}

static int take(struct job *job, bool file, const struct baryon_setting *settings, size_t count,
                const struct baryon_quantize_options *theirs, struct baryon_error *err)
{
    job->theirs.size = sizeof job->theirs;
    if (by_api_options(&job->theirs, sizeof job->theirs, theirs, err) < 0 ||
        bind(job, file, err) < 0 || by_api_settings(&job->config, settings, count, err) < 0)
        return -1;
    const struct baryon_samples *samples = job->theirs.samples;
    if (samples && by_api_samples_open(&job->samples, samples, &job->callback, err) < 0)
        return -1;
    if (job->theirs.log)
        job->log = (struct by_log){.write = pass_log, .context = job, .level = BY_LOG_NOTICE};
    if (by_quantize_take(&job->config, &job->settings, samples ? &job->callback : NULL, &job->log,
                         &job->options, err) < 0)
        return -1;
    job->options.calibrate.progress = job->theirs.progress ? pass_progress : NULL;
    job->options.calibrate.context = job;
    return 0;
}

/* --- What comes out --- */

static void summarize(const struct by_quantization *quantization,
                      struct baryon_quantize_summary *summary)
{
    const struct by_quant_plan *plan = quantization->plan;
    for (size_t i = 0; i < plan->node_count; i++) {
        const struct by_quant_node *node = &plan->nodes[i];
        const bool quantized = node->state == BY_NODE_QUANTIZED;
        summary->quantized_nodes += quantized;
        summary->float_nodes += node->state == BY_NODE_FLOAT;
        summary->multiply_adds += node->macs;
        summary->quantized_multiply_adds += quantized ? node->macs : 0;
    }
    summary->samples = quantization->report.calibration.samples;
    for (size_t i = 0; i < quantization->report.stage_count; i++)
        summary->seconds += quantization->report.stages[i].seconds;
}

static int give_summary(struct baryon_quantize_summary *theirs,
                        const struct baryon_quantize_summary *ours, struct baryon_error *err)
{
    const size_t size = theirs->size;
    if (size < sizeof size || size > sizeof *ours)
        return by_fail(err, BARYON_ERR_USAGE, "a summary with a size of %zu, its own is expected",
                       size);
    memcpy(theirs, ours, size);
    theirs->size = size;
    return 0;
}

/* --- Running --- */

static int quantize(struct job *job, struct baryon_model *model,
                    struct baryon_quantize_summary *theirs, struct baryon_error *err)
{
    struct by_quantization quantization;
    struct baryon_quantize_summary summary = {.size = sizeof summary};
    const bool custom = job->settings.running.engine.ops_library.count > 0;
    if (theirs && give_summary(theirs, &summary, err) < 0)
        return -1;
    if (by_calibrate_prepare(model, custom, &job->options.calibrate, err) < 0)
        return -1;
    int status = by_quantization_open(&quantization, model, &job->options, err);
    if (status == 0)
        summarize(&quantization, &summary);
    if (status == 0 && job->out)
        by_quantization_spill(&quantization, job->out,
                              model->file.size + by_model_data_size(model));
    if (status == 0)
        status = by_quantization_lower(&quantization, err);
    by_quantization_close(&quantization);
    return status == 0 && theirs ? give_summary(theirs, &summary, err) : status;
}

/* Found before the work begins. */
static int check_out(const char *out, struct baryon_error *err)
{
    if (!out)
        return by_fail(err, BARYON_ERR_USAGE, "no file is named for the quantized model");
    return by_writer_probe(out, err);
}

static void release(struct job *job)
{
    by_api_samples_close(&job->samples);
    by_config_release(&job->config);
}

int baryon_quantize(struct baryon_model *model, const struct baryon_setting *settings, size_t count,
                    const struct baryon_quantize_options *options,
                    struct baryon_quantize_summary *summary, struct baryon_error *err)
{
    struct job job = {.path = model->path};
    struct baryon_error own;
    err = err ? err : &own;
    by_config_init(&job.config);
    int status = take(&job, false, settings, count, options, err);
    if (status == 0)
        status = by_model_settle(model, err);
    if (status == 0)
        status = by_model_judge_run(model, job.path, quantize(&job, model, summary, err), err);
    release(&job);
    return status;
}

int baryon_quantize_file(const char *path, const char *out, const struct baryon_setting *settings,
                         size_t count, const struct baryon_quantize_options *options,
                         struct baryon_quantize_summary *summary, struct baryon_error *err)
{
    struct job job = {.path = path, .out = out};
    struct baryon_model *model = NULL;
    struct baryon_error own;
    err = err ? err : &own;
    by_config_init(&job.config);
    int status = take(&job, true, settings, count, options, err);
    if (status == 0)
        status = check_out(out, err);
    if (status == 0) {
        const struct by_load_options load = {.allow_links = job.settings.running.model.allow_links,
                                             .log = &job.log};
        status = by_model_load(&model, path, &load, err);
    }
    if (status == 0)
        status = by_model_judge_run(model, job.path, quantize(&job, model, summary, err), err);
    if (status == 0)
        status = by_model_save(model, out, &(struct by_save_options){.data = BY_SAVE_KEEP}, err);
    release(&job);
    by_model_free(model);
    return status;
}
