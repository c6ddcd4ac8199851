/* The public interface: evaluation. */
#include "settings/evaluate.h"
#include "api/need.h"
#include "api/work.h"
#include "onnx/check.h"

struct baryon_evaluation {
    struct by_evaluation *inner;
    struct baryon_score *scores;
    size_t count;
};

struct job {
    struct by_api_work work;
    struct by_running_settings running;
    struct by_evaluate_settings settings;
    struct by_evaluate_options options;
};

/* --- What comes out --- */

static bool is_missed(const struct by_evaluation *inner, const struct by_score *score)
{
    for (size_t i = 0; i < inner->missed.count; i++)
        if (inner->missed.at[i].score == score)
            return true;
    return false;
}

static void fill_score(struct baryon_score *out, const struct by_evaluation *inner,
                       const struct by_score *score)
{
    *out = (struct baryon_score){.output = score->output,
                                 .metric = score->metric->name,
                                 .mean = score->mean,
                                 .worst = score->worst,
                                 .worst_sample = score->worst_sample,
                                 .samples = score->samples,
                                 .higher = score->metric->higher,
                                 .missed = is_missed(inner, score)};
}

/* Takes inner over. */
static int return_evaluation(struct baryon_evaluation **out, struct by_evaluation *inner,
                             struct baryon_error *err)
{
    struct baryon_evaluation *evaluation = by_alloc_zero(1, sizeof *evaluation, err);
    size_t count = 0;
    while (by_evaluation_score(inner, count))
        count++;
    struct baryon_score *scores = evaluation ? by_alloc(count, sizeof *scores, err) : NULL;
    if (!scores) {
        by_free(evaluation);
        by_evaluation_close(inner);
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        fill_score(&scores[i], inner, by_evaluation_score(inner, i));
    *evaluation = (struct baryon_evaluation){inner, scores, count};
    *out = evaluation;
    return by_evaluation_judge(inner, err);
}

void baryon_evaluation_free(struct baryon_evaluation *evaluation)
{
    if (!evaluation)
        return;
    by_evaluation_close(evaluation->inner);
    by_free(evaluation->scores);
    by_free(evaluation);
}

const struct baryon_score *baryon_evaluation_score(const struct baryon_evaluation *evaluation,
                                                   size_t place)
{
    return evaluation && place < evaluation->count ? &evaluation->scores[place] : NULL;
}

uint64_t baryon_evaluation_samples(const struct baryon_evaluation *evaluation)
{
    return evaluation ? evaluation->inner->samples : 0;
}

/* --- What goes in --- */

static int take_options(struct job *job, const struct baryon_evaluate_options *theirs,
                        struct baryon_error *err)
{
    struct baryon_evaluate_options options = {.size = sizeof options};
    if (by_api_options(&options, sizeof options, theirs, err) < 0)
        return -1;
    return by_api_work_take(&job->work, options.samples, options.progress, options.log,
                            options.context, err);
}

static int take_models(struct job *job, const struct baryon_setting *settings, size_t count,
                       const struct baryon_evaluate_options *theirs, struct baryon_error *err)
{
    struct by_config *config = &job->work.config;
    if (by_running_bind(config, &job->running, &by_evaluate_group, &job->settings, false, err) <
            0 ||
        by_api_settings(config, settings, count, err) < 0 || take_options(job, theirs, err) < 0 ||
        by_evaluate_take(config, &job->running, &job->settings, job->work.given, &job->work.log.log,
                         &job->options, err) < 0)
        return -1;
    by_api_work_watch(&job->work, &job->options.run);
    return 0;
}

static int prepare_evaluated_model(const struct job *job, struct baryon_model *model,
                                   struct baryon_error *err)
{
    const struct by_check_options rules = {.custom_ops = job->running.engine.ops_library.count > 0,
                                           .any_order = true};
    if (by_model_settle(model, err) < 0)
        return -1;
    return by_model_judge_run(model, model->path, by_model_check(model, &rules, NULL, NULL, err),
                              err);
}

static int take_folders(struct job *job, const struct baryon_setting *settings, size_t count,
                        const struct baryon_evaluate_options *theirs, struct baryon_error *err)
{
    struct by_config *config = &job->work.config;
    if (by_config_bind(config, &by_evaluate_group, &job->settings, err) < 0 ||
        by_api_settings(config, settings, count, err) < 0 || take_options(job, theirs, err) < 0)
        return -1;
    if (job->work.given)
        return by_fail(err, BARYON_ERR_USAGE, "samples are not valid with folders of results");
    return by_evaluate_take_folders(config, &job->settings, &job->work.log.log, &job->options, err);
}

int baryon_evaluate_models(struct baryon_evaluation **out, struct baryon_model *baseline,
                           struct baryon_model *quantized, const struct baryon_setting *settings,
                           size_t count, const struct baryon_evaluate_options *options,
                           struct baryon_error *err)
{
    if (BY_NEED(out, err) || BY_NEED(baseline, err) || BY_NEED(quantized, err) ||
        BY_NEED_LIST(settings, count, err))
        return -1;
    struct job job = {0};
    struct by_evaluation *inner;
    struct baryon_error own;
    err = err ? err : &own;
    *out = NULL;
    by_api_work_init(&job.work, NULL);
    int status = take_models(&job, settings, count, options, err) < 0 ||
                         prepare_evaluated_model(&job, baseline, err) < 0 ||
                         prepare_evaluated_model(&job, quantized, err) < 0 ||
                         by_evaluate_models(&inner, baseline, quantized, &job.options, err) < 0
                     ? -1
                     : return_evaluation(out, inner, err);
    by_api_work_close(&job.work);
    return status;
}

int baryon_evaluate_folders(struct baryon_evaluation **out, const char *baseline,
                            const char *quantized, const struct baryon_setting *settings,
                            size_t count, const struct baryon_evaluate_options *options,
                            struct baryon_error *err)
{
    if (BY_NEED(out, err) || BY_NEED(baseline, err) || BY_NEED(quantized, err) ||
        BY_NEED_LIST(settings, count, err))
        return -1;
    struct job job = {0};
    struct by_evaluation *inner;
    struct baryon_error own;
    err = err ? err : &own;
    *out = NULL;
    by_api_work_init(&job.work, NULL);
    int status = take_folders(&job, settings, count, options, err) < 0 ||
                         by_evaluate_folders(&inner, baseline, quantized, &job.options, err) < 0
                     ? -1
                     : return_evaluation(out, inner, err);
    by_api_work_close(&job.work);
    return status;
}
