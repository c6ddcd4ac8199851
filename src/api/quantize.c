/* The public interface: quantization. */
#include "api/need.h"
#include "api/plan.h"
#include "api/quality.h"
#include "api/work.h"
#include "base/file.h"
#include "base/str.h"
#include "calibrate/begin.h"
#include "onnx/external.h"
#include "onnx/save.h"
#include "rounding/rounding.h"
#include "search/mixed.h"
#include "settings/recipe/take.h"

#include <math.h>
#include <string.h>

struct job {
    struct by_api_work work;
    struct by_quantize_settings settings;
    struct by_quantize_options options;
    const char *out;           /* where it is written, NULL: it stays in memory */
    bool overwrite;            /* the model's own file */
    struct baryon_plan **plan; /* wanted, or NULL */
    bool plan_only;
    struct by_verify_settings verify;
    struct by_quantization quantization;
    struct by_mixed mixed;
    struct baryon_quality **quality; /* wanted, or NULL */
    struct by_quality_options judge;
    struct by_quality_run quality_run;
    struct by_session *opened; /* by the verification, for measuring */
};

/* --- What was asked for --- */

static int take_plan(struct job *job, struct baryon_plan **plan, struct baryon_error *err)
{
    if (job->plan_only && plan)
        return by_fail(err, BARYON_ERR_USAGE, "the plan is requested twice");
    if (plan) {
        *plan = NULL;
        job->plan = plan;
    }
    return 0;
}

/* Measuring costs time, so that it is for who takes the result. */
static int take_quality(struct job *job, const struct baryon_quantize_options *options,
                        struct baryon_error *err)
{
    job->quality = options->quality;
    if (job->quality)
        *job->quality = NULL;
    return by_quantize_take_quality(&job->work.config, &job->settings, job->work.given,
                                    &job->options, &job->judge, err);
}

static int take_quantize_options(struct job *job, bool file, const struct baryon_setting *settings,
                                 size_t count, const struct baryon_quantize_options *theirs,
                                 struct baryon_error *err)
{
    struct baryon_quantize_options options = {.size = sizeof options};
    struct by_api_work *work = &job->work;
    if (by_api_options(&options, sizeof options, theirs, err) < 0 ||
        by_recipe_bind(&work->config, &job->settings.recipe, err) < 0 ||
        by_running_bind(&work->config, &job->settings.running, &by_quantize_statistics_group,
                        &job->settings, file, err) < 0 ||
        (file && by_config_bind(&work->config, &by_verify_group, &job->verify, err) < 0) ||
        (!job->plan_only &&
         by_config_bind(&work->config, &by_quantize_quality_group, &job->settings, err) < 0) ||
        by_api_settings(&work->config, settings, count, err) < 0 ||
        by_api_work_take(work, options.samples, options.progress, options.log, options.context,
                         err) < 0)
        return -1;
    job->settings.judges = options.quality != NULL && !job->plan_only;
    if (by_quantize_take(&work->config, &job->settings, work->given, &work->log.log, &job->options,
                         err) < 0 ||
        take_quality(job, &options, err) < 0)
        return -1;
    by_api_work_watch(work, &job->options.calibrate);
    job->overwrite = options.overwrite;
    return take_plan(job, options.plan, err);
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
        summary->multiply_adds += node->open ? (double)NAN : node->macs;
        summary->quantized_multiply_adds += quantized ? node->macs : 0;
    }
    if (isnan(summary->multiply_adds))
        summary->quantized_multiply_adds = (double)NAN;
    summary->samples = by_quantization_samples(quantization);
    for (size_t i = 0; i < quantization->report.stage_count; i++)
        summary->seconds += quantization->report.stages[i].seconds;
}

/* Who asked for reconstruction and gets none has to know. */
static void tell_given_up(const struct by_solved *solved, const struct by_log *log)
{
    struct by_str text;
    if (!solved->count || by_solved_kept(solved))
        return;
    by_str_init(&text);
    by_solved_say(solved, &text);
    by_log(log, BY_LOG_NOTICE, "%s", by_str_text(&text));
    by_str_release(&text);
}

static int give_summary(struct baryon_quantize_summary *theirs,
                        const struct baryon_quantize_summary *ours, struct baryon_error *err)
{
    const size_t size = theirs->size;
    if (size < sizeof size || size > sizeof *ours)
        return by_fail(err, BARYON_ERR_USAGE,
                       "a summary with a size of %zu, must be the size of the struct", size);
    memcpy(theirs, ours, size);
    theirs->size = size;
    return 0;
}

/* --- Running --- */

static int spill_and_lower(struct job *job, struct baryon_model *model,
                           struct by_quantization *quantization, struct baryon_error *err)
{
    if (by_quality_keep(&job->quality_run, quantization, err) < 0)
        return -1;
    if (job->out)
        by_quantization_spill(quantization, job->out, model->file.size + by_model_data_size(model));
    return by_quantization_lower(quantization, err);
}

static int quantize_model(struct job *job, struct baryon_model *model,
                          struct baryon_quantize_summary *theirs, struct baryon_error *err)
{
    struct by_quantization *quantization = &job->quantization;
    struct baryon_quantize_summary summary = {.size = sizeof summary};
    const bool custom = job->settings.running.engine.ops_library.count > 0;
    if (theirs && give_summary(theirs, &summary, err) < 0)
        return -1;
    if (by_calibrate_prepare(model, custom, &job->options.calibrate, err) < 0)
        return -1;
    if (by_quality_begin(&job->quality_run, model, &job->judge, &job->options, err) < 0)
        return -1;
    int status = by_mixed_open(&job->mixed, quantization, model, &job->options, err);
    if (status == 0)
        summarize(quantization, &summary);
    if (status == 0)
        tell_given_up(&quantization->report.solved, job->options.log);
    if (status == 0 && job->plan)
        status = by_api_plan_make(job->plan, quantization->plan, err);
    if (status == 0 && !job->plan_only)
        status = spill_and_lower(job, model, quantization, err);
    if (status == 0 && job->plan)
        by_api_plan_report(*job->plan, &quantization->report);
    return status == 0 && theirs ? give_summary(theirs, &summary, err) : status;
}

/* --- Measuring --- */

static int measure(struct job *job, struct baryon_model *model, struct baryon_error *err)
{
    const struct by_quality_written written = {
        .path = job->out, .model = model, .session = job->opened};
    struct by_quality quality;
    if (!job->quality)
        return 0;
    job->opened = NULL;
    int status = by_quality_measure(&quality, &job->quality_run, &job->quantization, &written, err);
    if (status == 0)
        by_quality_warn(&quality, &job->work.log.log);
    if (status == 0 && quality.asked)
        status = by_api_quality_make(job->quality, &quality, err);
    else
        by_quality_release(&quality);
    if (status < 0 && job->out)
        by_err_hint(err, "the model is written; no-judge does not measure it");
    return status;
}

/* --- From and to files, in memory --- */

/* Found before the work begins. */
static int check_out(const struct job *job, const char *path, struct baryon_error *err)
{
    if (!job->out)
        return by_fail(err, BARYON_ERR_USAGE, "no output file is given for the quantized model");
    if (!job->overwrite && by_same_file(path, job->out)) {
        by_fail(err, BARYON_ERR_USAGE, "the output file is the input model");
        by_err_hint(err, "give another file, or set overwrite");
        return by_err_file(err, job->out);
    }
    return by_writer_probe(job->out, 0, err);
}

static int close_job(struct job *job, int status)
{
    by_session_close(job->opened);
    by_quality_end(&job->quality_run);
    by_quantization_close(&job->quantization);
    by_mixed_close(&job->mixed);
    by_api_work_close(&job->work);
    if (status < 0 && job->plan) {
        baryon_plan_free(*job->plan);
        *job->plan = NULL;
    }
    return status;
}

static int in_memory(struct job *job, struct baryon_model *model,
                     const struct baryon_setting *settings, size_t count,
                     const struct baryon_quantize_options *options,
                     struct baryon_quantize_summary *summary, struct baryon_error *err)
{
    by_api_work_init(&job->work, model->path);
    int status = take_quantize_options(job, false, settings, count, options, err);
    if (status == 0)
        status = by_model_settle(model, err);
    if (status == 0)
        status = by_model_judge_run(model, job->work.path, quantize_model(job, model, summary, err),
                                    err);
    if (status == 0)
        status = measure(job, model, err);
    return close_job(job, status);
}

int baryon_quantize(struct baryon_model *model, const struct baryon_setting *settings, size_t count,
                    const struct baryon_quantize_options *options,
                    struct baryon_quantize_summary *summary, struct baryon_error *err)
{
    if (BY_NEED(model, err) || BY_NEED_LIST(settings, count, err))
        return -1;
    struct job job = {0};
    struct baryon_error own;
    return in_memory(&job, model, settings, count, options, summary, err ? err : &own);
}

int baryon_plan_make(struct baryon_plan **plan, struct baryon_model *model,
                     const struct baryon_setting *settings, size_t count,
                     const struct baryon_quantize_options *options, struct baryon_error *err)
{
    if (BY_NEED(plan, err) || BY_NEED(model, err) || BY_NEED_LIST(settings, count, err))
        return -1;
    struct job job = {.plan = plan, .plan_only = true};
    struct baryon_error own;
    *plan = NULL;
    return in_memory(&job, model, settings, count, options, NULL, err ? err : &own);
}

static int save_model(struct job *job, struct baryon_model *model, struct baryon_error *err)
{
    struct by_saved_size size;
    const struct by_save_options options = {.data = BY_SAVE_KEEP, .size = &size};
    if (by_model_save(model, job->out, &options, err) < 0)
        return -1;
    by_rounding_clean(&job->options);
    const struct by_verify verify = {
        .path = job->out,
        .before = by_quantization_samples(&job->quantization) ? NULL : model->path,
        .model = model,
        .bytes = size.model + size.data,
        .session = job->options.calibrate.session,
        .keep = job->quality_run.reference.count &&
                        by_quality_takes_session(&job->options.calibrate.session, model)
                    ? &job->opened
                    : NULL,
    };
    return by_verify_take(&job->verify, &verify, &job->work.log.log, err);
}

int baryon_quantize_file(const char *path, const char *out, const struct baryon_setting *settings,
                         size_t count, const struct baryon_quantize_options *options,
                         struct baryon_quantize_summary *summary, struct baryon_error *err)
{
    if (BY_NEED(path, err) || BY_NEED_LIST(settings, count, err))
        return -1;
    struct job job = {.out = out};
    struct baryon_model *model = NULL;
    struct baryon_error own;
    err = err ? err : &own;
    by_api_work_init(&job.work, path);
    int status = take_quantize_options(&job, true, settings, count, options, err);
    if (status == 0)
        status = check_out(&job, path, err);
    if (status == 0)
        status = by_quantize_beside(&job.options, &job.work.config.arena, out, err);
    if (status == 0)
        status = by_api_work_load(&job.work, job.settings.running.model.allow_links, &model, err);
    if (status == 0)
        status = by_model_judge_run(model, job.work.path, quantize_model(&job, model, summary, err),
                                    err);
    if (status == 0)
        status = save_model(&job, model, err);
    if (status == 0)
        status = measure(&job, model, err);
    status = close_job(&job, status);
    by_model_free(model);
    return status;
}
