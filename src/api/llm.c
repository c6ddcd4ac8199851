/* The public interface: commands on checkpoints of language models. */
#include "api/api.h"
#include "llm/compare.h"
#include "llm/inspect.h"
#include "settings/llm_auto.h"
#include "settings/llm_eval.h"

#include <string.h>

/* --- What goes in and out --- */

struct job {
    struct by_config config;
    struct by_api_log log;
};

static int open_job(struct job *job, const struct baryon_llm_options *theirs,
                    struct baryon_error *err)
{
    struct baryon_llm_options options = {.size = sizeof options};
    by_config_init(&job->config);
    if (by_api_options(&options, sizeof options, theirs, err))
        return -1;
    by_api_log_open(&job->log, options.log, options.context, BY_LOG_NOTICE);
    return 0;
}

static int take_settings(struct job *job, const struct by_option_group *group, void *settings,
                         struct by_llm_writing *writing, const char *out,
                         const struct baryon_setting *given, size_t count, struct baryon_error *err)
{
    if (by_config_bind(&job->config, group, settings, err) ||
        by_config_bind(&job->config, &by_llm_writing_group, writing, err) ||
        by_api_settings(&job->config, given, count, err))
        return -1;
    if (writing->out)
        return by_fail(err, BARYON_ERR_USAGE, "out is an argument, not a setting");
    writing->out = out;
    return by_llm_writing_check(writing, err);
}

static int give_summary(struct baryon_llm_summary *theirs, const struct baryon_llm_summary *ours,
                        struct baryon_error *err)
{
    if (!theirs)
        return 0;
    const size_t size = theirs->size;
    if (size < sizeof size || size > sizeof *ours)
        return by_fail(err, BARYON_ERR_USAGE,
                       "a summary with a size of %zu, must be the size of the struct", size);
    memcpy(theirs, ours, size);
    theirs->size = size;
    return 0;
}

static struct baryon_llm_summary summarize(const struct by_llm_quantized *result)
{
    return (struct baryon_llm_summary){.tensors = result->layers,
                                       .weights = result->weights,
                                       .others = result->kept,
                                       .bytes_in = result->bytes_in,
                                       .bytes_out = result->bytes_out,
                                       .signal = result->sums.energy,
                                       .error = result->sums.error,
                                       .minmax_error = result->sums.minmax_error};
}

/* --- Commands --- */

static int quantize(struct job *job, const char *model, const char *out,
                    const struct baryon_setting *given, size_t count,
                    struct baryon_llm_summary *summary, struct baryon_error *err)
{
    struct by_llm_quantize_settings settings = {0};
    struct by_llm_quantize_options options;
    struct by_llm_quantized result;
    if (take_settings(job, &by_llm_quantize_group, &settings, &settings.writing, out, given, count,
                      err) ||
        by_llm_quantize_take(&job->config, &settings, &options, err) ||
        by_llm_quantize(model, out, &options, &job->log.log, &result, err))
        return -1;
    *summary = summarize(&result);
    return 0;
}

static int dequantize(struct job *job, const char *model, const char *out,
                      const struct baryon_setting *given, size_t count,
                      struct baryon_llm_summary *summary, struct baryon_error *err)
{
    struct by_llm_dequantize_settings settings = {0};
    struct by_llm_quantize_options options;
    struct by_llm_quantized result;
    if (take_settings(job, &by_llm_dequantize_group, &settings, &settings.writing, out, given,
                      count, err))
        return -1;
    by_llm_dequantize_take(&settings, &options);
    if (by_llm_dequantize(model, out, settings.to, &options, &job->log.log, &result, err))
        return -1;
    *summary = summarize(&result);
    return 0;
}

static int convert(struct job *job, const char *model, const char *out,
                   const struct baryon_setting *given, size_t count,
                   struct baryon_llm_summary *summary, struct baryon_error *err)
{
    struct by_llm_convert_settings settings = {0};
    struct by_llm_convert how;
    struct by_llm_converted done;
    if (take_settings(job, &by_llm_convert_group, &settings, &settings.writing, out, given, count,
                      err))
        return -1;
    by_llm_convert_take(&settings, model, &how);
    const int status = by_llm_convert(&how, &done, err);
    if (!status) {
        by_log_lines(&job->log.log, BY_LOG_NOTICE, by_str_text(&done.notices));
        *summary = (struct baryon_llm_summary){
            .tensors = done.tensors, .bytes_in = done.bytes_in, .bytes_out = done.bytes_out};
    }
    by_llm_converted_release(&done);
    return status;
}

static int export(struct job *job, const char *model, const char *out,
                  const struct baryon_setting *given, size_t count,
                  struct baryon_llm_summary *summary, struct baryon_error *err)
{
    struct by_llm_export_settings settings = {0};
    struct by_llm_export_options options;
    struct by_llm_exported done;
    if (by_config_bind(&job->config, &by_llm_export_group, &settings, err) ||
        by_config_bind(&job->config, &by_llm_reading_group, &settings.reading, err) ||
        by_api_settings(&job->config, given, count, err))
        return -1;
    if (settings.out)
        return by_fail(err, BARYON_ERR_USAGE, "out is an argument, not a setting");
    settings.out = out;
    if (by_llm_export_take(&settings, &options, err) ||
        by_llm_export(model, &options, &job->log.log, &done, err))
        return -1;
    *summary = (struct baryon_llm_summary){.tensors = done.packed, .bytes_out = done.bytes};
    return 0;
}

typedef int command_fn(struct job *job, const char *model, const char *out,
                       const struct baryon_setting *given, size_t count,
                       struct baryon_llm_summary *summary, struct baryon_error *err);

static int run_command(command_fn *command, const char *model, const char *out,
                       const struct baryon_setting *settings, size_t count,
                       const struct baryon_llm_options *options, struct baryon_llm_summary *theirs,
                       struct baryon_error *err)
{
    struct job job = {0};
    struct baryon_llm_summary summary = {0};
    struct baryon_error own;
    err = err ? err : &own;
    int status = BY_NEED(model, err) || BY_NEED(out, err) || BY_NEED_LIST(settings, count, err) ||
                 give_summary(theirs, &summary, err) || open_job(&job, options, err);
    if (!status)
        status = command(&job, model, out, settings, count, &summary, err) ||
                 give_summary(theirs, &summary, err);
    by_config_release(&job.config);
    return status ? -1 : 0;
}

int baryon_llm_quantize(const char *model, const char *out, const struct baryon_setting *settings,
                        size_t count, const struct baryon_llm_options *options,
                        struct baryon_llm_summary *summary, struct baryon_error *err)
{
    return run_command(quantize, model, out, settings, count, options, summary, err);
}

int baryon_llm_dequantize(const char *model, const char *out, const struct baryon_setting *settings,
                          size_t count, const struct baryon_llm_options *options,
                          struct baryon_llm_summary *summary, struct baryon_error *err)
{
    return run_command(dequantize, model, out, settings, count, options, summary, err);
}

int baryon_llm_convert(const char *model, const char *out, const struct baryon_setting *settings,
                       size_t count, const struct baryon_llm_options *options,
                       struct baryon_llm_summary *summary, struct baryon_error *err)
{
    return run_command(convert, model, out, settings, count, options, summary, err);
}

int baryon_llm_export(const char *model, const char *out, const struct baryon_setting *settings,
                      size_t count, const struct baryon_llm_options *options,
                      struct baryon_llm_summary *summary, struct baryon_error *err)
{
    return run_command(export, model, out, settings, count, options, summary, err);
}

/* The text as bytes of the caller's; released in any case. */
static int give_text(struct by_str *text, void **json, size_t *size, struct baryon_error *err)
{
    int status = by_str_error(text, err);
    if (!status && !(*json = by_alloc(text->size + 1, 1, err)))
        status = -1;
    if (!status) {
        memcpy(*json, by_str_text(text), text->size + 1);
        *size = text->size;
    }
    by_str_release(text);
    return status;
}

/* --- A search --- */

static int take_auto(struct job *job, const char *out, const struct baryon_setting *given,
                     size_t count, struct by_llm_auto_options *options, struct baryon_error *err)
{
    struct by_llm_auto_settings *settings =
        BY_ARENA_NEW(&job->config.arena, struct by_llm_auto_settings, err);
    if (!settings || take_settings(job, &by_llm_auto_group, settings, &settings->writing, out,
                                   given, count, err))
        return -1;
    if (settings->report)
        return by_fail(err, BARYON_ERR_USAGE, "report is what the call gives, not a setting");
    return by_llm_auto_take(settings, options, err);
}

static int run_auto(struct job *job, const char *model, const char *out,
                    const struct by_llm_auto_options *options, void **json, size_t *size,
                    struct baryon_error *err)
{
    struct by_llm_auto_result result;
    struct by_str text;
    by_str_init(&text);
    int status = by_llm_auto(model, out, options, &job->log.log, &result, err);
    if (!status) {
        by_llm_auto_json(&result, model, out, NULL, &text);
        status = give_text(&text, json, size, err);
    }
    if (!status)
        status = by_llm_auto_judge(&result, err);
    by_llm_auto_release(&result);
    return status;
}

int baryon_llm_auto(const char *model, const char *out, const struct baryon_setting *settings,
                    size_t count, const struct baryon_llm_options *options, void **json,
                    size_t *size, struct baryon_error *err)
{
    struct job job = {0};
    struct by_llm_auto_options how;
    struct baryon_error own;
    err = err ? err : &own;
    if (BY_NEED(model, err) || BY_NEED(out, err) || BY_NEED_LIST(settings, count, err) ||
        BY_NEED(json, err) || BY_NEED(size, err))
        return -1;
    *json = NULL;
    *size = 0;
    const int status = open_job(&job, options, err) ||
                       take_auto(&job, out, settings, count, &how, err) ||
                       run_auto(&job, model, out, &how, json, size, err);
    by_config_release(&job.config);
    return status ? -1 : 0;
}

/* --- An evaluation --- */

static int take_eval(struct job *job, const char *model, const struct baryon_setting *given,
                     size_t count, struct by_llm_eval_options *options, struct baryon_error *err)
{
    struct by_llm_eval_settings *settings =
        BY_ARENA_NEW(&job->config.arena, struct by_llm_eval_settings, err);
    if (!settings || by_config_bind(&job->config, &by_llm_eval_group, settings, err) ||
        by_config_bind(&job->config, &by_llm_reading_group, &settings->reading, err) ||
        by_api_settings(&job->config, given, count, err))
        return -1;
    if (settings->report)
        return by_fail(err, BARYON_ERR_USAGE, "report is what the call gives, not a setting");
    return by_llm_eval_take(settings, model, options, err);
}

static int run_eval(struct by_llm_eval_options *options, void **json, size_t *size,
                    struct baryon_error *err)
{
    struct by_llm_evaluation result = {0};
    struct by_str text;
    by_str_init(&text);
    int status = by_llm_evaluate(&result, options, err);
    if (!status) {
        by_llm_evaluation_json(&result, options, NULL, &text);
        status = give_text(&text, json, size, err);
    }
    by_llm_evaluation_release(&result);
    return status;
}

int baryon_llm_evaluate(const char *model, const struct baryon_setting *settings, size_t count,
                        const struct baryon_llm_options *options, void **json, size_t *size,
                        struct baryon_error *err)
{
    struct job job = {0};
    struct by_llm_eval_options how;
    struct baryon_error own;
    err = err ? err : &own;
    if (BY_NEED(model, err) || BY_NEED_LIST(settings, count, err) || BY_NEED(json, err) ||
        BY_NEED(size, err))
        return -1;
    *json = NULL;
    *size = 0;
    int status = open_job(&job, options, err) || take_eval(&job, model, settings, count, &how, err);
    if (!status) {
        how.log = &job.log.log;
        status = run_eval(&how, json, size, err);
    }
    by_config_release(&job.config);
    return status ? -1 : 0;
}

/* --- What is there --- */

int baryon_llm_inspect(const char *model, bool tensors, void **json, size_t *size,
                       struct baryon_error *err)
{
    struct by_checkpoint *checkpoint;
    struct by_llm_summary summary;
    struct by_json out;
    struct by_str text;
    if (BY_NEED(model, err) || BY_NEED(json, err) || BY_NEED(size, err) ||
        by_checkpoint_open(&checkpoint, model, err))
        return -1;
    by_str_init(&text);
    by_json_init(&out, &text, false);
    int status = by_llm_inspect(&summary, checkpoint, err);
    if (!status)
        by_llm_summary_json(&summary, checkpoint, tensors, &out);
    if (!status)
        status = by_checkpoint_check(checkpoint, err);
    by_checkpoint_close(checkpoint);
    if (!status)
        return give_text(&text, json, size, err);
    by_str_release(&text);
    return by_err_file(err, model);
}

int baryon_llm_compare(const char *a, const char *b, unsigned threads, void **json, size_t *size,
                       struct baryon_error *err)
{
    struct by_llm_comparison comparison;
    struct by_json out;
    struct by_str text;
    if (BY_NEED(a, err) || BY_NEED(b, err) || BY_NEED(json, err) || BY_NEED(size, err))
        return -1;
    if (threads > BY_THREADS_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "threads %u, must be at most %d", threads,
                       BY_THREADS_MAX);
    by_str_init(&text);
    by_json_init(&out, &text, false);
    const int status = by_llm_compare(&comparison, a, b, threads, err);
    if (!status)
        by_llm_comparison_json(&comparison, &out);
    by_llm_comparison_release(&comparison);
    if (!status)
        return give_text(&text, json, size, err);
    by_str_release(&text);
    return -1;
}
