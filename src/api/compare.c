/* The public interface: comparison of two models. */
#include "compare/compare.h"
#include "api/need.h"
#include "api/work.h"
#include "ir/infer.h"
#include "onnx/check.h"
#include "settings/evaluate.h"

struct baryon_comparison {
    struct by_str json;
};

struct job {
    struct by_api_work work;
    struct by_running_settings running;
    struct by_evaluate_settings settings;
    struct by_evaluate_options options;
    bool runs;
};

/* --- What comes out --- */

static int return_comparison(struct baryon_comparison **out, const struct by_comparison *inner,
                             struct baryon_error *err)
{
    struct by_json json;
    struct baryon_comparison *comparison = by_alloc_zero(1, sizeof *comparison, err);
    if (!comparison)
        return -1;
    by_str_init(&comparison->json);
    by_json_init(&json, &comparison->json, false);
    by_json_open(&json, NULL, '{');
    by_compare_json(inner, &json);
    by_json_close(&json, '}');
    if (by_str_error(&comparison->json, err) < 0) {
        baryon_comparison_free(comparison);
        return -1;
    }
    *out = comparison;
    return inner->outputs ? by_evaluation_judge(inner->outputs, err) : 0;
}

const char *baryon_comparison_json(const struct baryon_comparison *comparison)
{
    return comparison ? by_str_text(&comparison->json) : "";
}

void baryon_comparison_free(struct baryon_comparison *comparison)
{
    if (!comparison)
        return;
    by_str_release(&comparison->json);
    by_free(comparison);
}

/* --- What goes in --- */

static int take_compare_settings(struct job *job, const struct baryon_setting *settings,
                                 size_t count, const struct baryon_evaluate_options *theirs,
                                 bool has_reference, struct baryon_error *err)
{
    struct by_config *config = &job->work.config;
    struct baryon_evaluate_options options = {.size = sizeof options};
    if (by_running_bind(config, &job->running, &by_evaluate_group, &job->settings, false, err) <
            0 ||
        by_api_settings(config, settings, count, err) < 0 ||
        by_api_options(&options, sizeof options, theirs, err) < 0 ||
        by_api_work_take(&job->work, options.samples, options.progress, options.log,
                         options.context, err) < 0)
        return -1;
    job->runs = job->work.given || has_reference || by_evaluate_is_given(config);
    if (!job->runs)
        return 0;
    if (by_evaluate_take(config, &job->running, &job->settings, job->work.given, &job->work.log.log,
                         &job->options, err) < 0)
        return -1;
    by_api_work_watch(&job->work, &job->options.run);
    return 0;
}

static int prepare_compared_model(const struct job *job, struct baryon_model *model,
                                  struct baryon_error *err)
{
    const struct by_check_options rules = {.custom_ops = job->running.engine.ops_library.count > 0,
                                           .any_order = true};
    if (by_model_settle(model, err) < 0 || by_model_link(model, err) < 0 ||
        by_model_infer(model, NULL, err) < 0)
        return -1;
    return job->runs ? by_model_judge_run(model, model->path,
                                          by_model_check(model, &rules, NULL, NULL, err), err)
                     : 0;
}

static struct by_compare_model as_compared(struct baryon_model *model, const char *name)
{
    uint64_t bytes = model->file.size;
    for (size_t i = 0; i < model->data_files.count; i++)
        bytes += ((const struct by_data_file *)model->data_files.at[i])->mapped.size;
    return (struct by_compare_model){model, model->path ? model->path : name, bytes};
}

static int run_comparison(struct job *job, struct baryon_comparison **out,
                          struct baryon_model *first, struct baryon_model *second,
                          struct baryon_model *reference, struct baryon_error *err)
{
    struct by_comparison *inner;
    if (prepare_compared_model(job, first, err) < 0 ||
        prepare_compared_model(job, second, err) < 0 ||
        (reference && prepare_compared_model(job, reference, err) < 0))
        return -1;
    const struct by_compare_model a = as_compared(first, "the first model"),
                                  b = as_compared(second, "the second model");
    struct by_compare_model other = {0};
    if (reference)
        other = as_compared(reference, "the float model");
    if (by_compare_open(&inner, &a, &b, err) < 0)
        return -1;
    int status =
        job->runs ? by_compare_run(inner, reference ? &other : NULL, &job->options, err) : 0;
    if (status == 0)
        status = return_comparison(out, inner, err);
    by_compare_close(inner);
    return status;
}

int baryon_compare(struct baryon_comparison **out, struct baryon_model *first,
                   struct baryon_model *second, struct baryon_model *reference,
                   const struct baryon_setting *settings, size_t count,
                   const struct baryon_evaluate_options *options, struct baryon_error *err)
{
    if (BY_NEED(out, err) || BY_NEED(first, err) || BY_NEED(second, err) ||
        BY_NEED_LIST(settings, count, err))
        return -1;
    struct job job = {0};
    struct baryon_error own;
    err = err ? err : &own;
    *out = NULL;
    by_api_work_init(&job.work, NULL);
    const int status =
        take_compare_settings(&job, settings, count, options, reference != NULL, err) < 0
            ? -1
            : run_comparison(&job, out, first, second, reference, err);
    by_api_work_close(&job.work);
    return status;
}
