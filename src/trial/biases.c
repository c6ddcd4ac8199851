/* Corrects biases with the channel means of statistics, and collects what that needs. */
#include "trial/biases.h"

#include "adjust/bias_correct.h"
#include "quant/own_sqnr.h"
#include "quant/params.h"
#include "quant/refine.h"

bool by_biases_corrected(const struct by_recipe *recipe)
{
    if (recipe->bias_correction == BY_BIASES_AUTO)
        return recipe->bias_kind != BY_BIAS_OWN;
    return recipe->bias_correction == BY_BIASES_CORRECTED;
}

bool by_biases_need_means(const struct by_recipe *recipe)
{
    return recipe->bias_correction != BY_BIASES_KEPT || by_trial_before_rounding(recipe);
}

bool by_trial_before_rounding(const struct by_recipe *recipe)
{
    return recipe->rounding != BY_ROUNDING_NEAREST && recipe->cle == BY_CLE_AUTO;
}

bool by_trial_leaves_weights(const struct by_recipe *recipe)
{
    return by_trial_before_rounding(recipe) && !recipe->weight.format && !recipe->compat;
}

/* --- What is to be looked at --- */

/* Names after those that are asked for already; some may be both. */
static int join_names(struct by_quant_plan *plan, const char *const *more, size_t more_count,
                      struct by_calibrate_options *options, struct baryon_error *err)
{
    const size_t count = options->name_count + more_count;
    const char **names = by_arena_alloc(&plan->arena, count + 1, sizeof *names, err);
    if (!names)
        return -1;
    for (size_t i = 0; i < options->name_count; i++)
        names[i] = options->names[i];
    for (size_t i = 0; i < more_count; i++)
        names[options->name_count + i] = more[i];
    options->names = names;
    options->name_count = count;
    return 0;
}

/* What layers read. */
static int join_inputs(struct by_quant_plan *plan, const struct by_bias_job *job,
                       struct by_calibrate_options *options, struct baryon_error *err)
{
    const char **names = by_arena_alloc(&plan->arena, job->input_count + 1, sizeof *names, err);
    if (!names)
        return -1;
    for (size_t i = 0; i < job->input_count; i++)
        names[i] = job->inputs[i].name;
    return join_names(plan, names, job->input_count, options, err);
}

/* What 16 bits may be chosen for. */
static int join_known_ranges(struct by_quant_plan *plan, struct by_calibrate_options *options,
                             struct baryon_error *err)
{
    const char *const *names;
    size_t count;
    return by_quant_own_wanted(plan, &names, &count, err) < 0
               ? -1
               : join_names(plan, names, count, options, err);
}

static bool has_open_size(const struct baryon_value *value)
{
    return value->is_input && !value->initializer && value->elem == BY_ELEM_FLOAT &&
           value->use_count && !by_shape_is_static(value->shape);
}

/* Sizes that the model leaves open follow from those of its inputs, which may stay float. */
static int join_open_inputs(struct by_quant_plan *plan, struct by_calibrate_options *options,
                            struct baryon_error *err)
{
    const struct by_ptrs *inputs = &plan->model->graph->input;
    if (!options->name_count)
        return 0;
    const char **names = by_arena_alloc(&plan->arena, inputs->count, sizeof *names, err);
    size_t count = 0;
    if (!names)
        return -1;
    for (size_t i = 0; i < inputs->count; i++) {
        const struct by_value_info *info = inputs->at[i];
        const struct baryon_value *value = by_graph_value(plan->model->graph, info->name);
        if (value && has_open_size(value))
            names[count++] = value->name;
    }
    return join_names(plan, names, count, options, err);
}

int by_trial_want(struct by_quant_plan *plan, bool corrects, struct by_calibrate_options *options,
                  struct baryon_error *err)
{
    struct by_bias_job job;
    options->means = corrects;
    if (by_quant_wanted(plan, &options->names, &options->name_count, err) < 0 ||
        by_quant_votes(plan, &options->votes, &options->vote_count, err) < 0 ||
        join_known_ranges(plan, options, err) < 0 || join_open_inputs(plan, options, err) < 0)
        return -1;
    if (!options->means)
        return 0;
    int status = by_bias_survey(plan, &job, err);
    if (status == 0)
        status = join_inputs(plan, &job, options, err);
    by_bias_close(&job);
    return status;
}

/* --- The correction --- */

/* Sizes that the model leaves open. */
static void take_sizes(struct by_bias_input *input, const struct by_tensor_stats *tensor)
{
    if (!input->rank)
        input->rank = tensor->rank;
    if (input->rank != tensor->rank)
        return;
    for (size_t i = 0; i < input->rank; i++)
        if (input->dims[i] <= 0)
            input->dims[i] = tensor->dims[i] == BY_DIM_VARIES ? -1 : tensor->dims[i];
}

/* Layers of an input that has no means are left as they are. Says how many have. */
static size_t take_means(struct by_bias_job *job, struct by_stats *stats)
{
    for (size_t i = 0; i < job->input_count; i++) {
        struct by_bias_input *input = &job->inputs[i];
        const struct by_tensor_stats *tensor = by_stats_find(stats, input->name);
        if (!tensor || tensor->means.sums.count != input->channels ||
            !by_tensor_stats_means(tensor, input->means))
            input->means = NULL;
        else
            take_sizes(input, tensor);
    }
    size_t count = 0;
    for (size_t i = 0; i < job->layer_count; i++)
        count += job->inputs[job->layers[i].input].means != NULL;
    return count;
}

static int correct(struct by_quant_plan *plan, struct by_bias_job *job, struct by_stats *stats,
                   struct by_pool *pool, const struct by_log *log, struct baryon_error *err)
{
    const size_t count = take_means(job, stats);
    if (count < job->layer_count)
        by_log(
            log, BY_LOG_INFO,
            "bias correction skipped for %zu layers: the statistics have no means of their inputs",
            job->layer_count - count);
    if (!count)
        return 0;
    if (by_bias_correct(plan, job, pool, err) < 0)
        return -1;
    by_log(log, BY_LOG_INFO, "bias correction: %zu layers", count);
    return by_refine(plan, err);
}

int by_biases_correct(struct by_quant_plan *plan, struct by_stats *stats, struct by_pool *pool,
                      const struct by_log *log, struct baryon_error *err)
{
    struct by_bias_job job;
    int status = by_bias_survey(plan, &job, err);
    if (status == 0)
        status = correct(plan, &job, stats, pool, log, err);
    by_bias_close(&job);
    return status;
}
