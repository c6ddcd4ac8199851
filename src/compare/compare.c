/* Compares two models: what they are, and what they give on samples. */
#include "compare/compare.h"

#include "compare/ports.h"
#include "ir/infer.h"

#include <string.h>

static int open_side(struct by_compared_model *side, const struct by_compare_model *model,
                     struct by_comparison *comparison, struct baryon_error *err)
{
    side->name = by_arena_text(&comparison->arena, model->name, strlen(model->name), err);
    side->bytes = model->bytes;
    if (!side->name || by_profile_open(&side->profile, model->model, err) < 0)
        return by_err_file(err, model->name);
    return by_compare_types(side, &comparison->arena, err);
}

static int look_at_models(struct by_comparison *comparison, const struct by_compare_model *a,
                          const struct by_compare_model *b, struct baryon_error *err)
{
    if (open_side(&comparison->a, a, comparison, err) < 0 ||
        open_side(&comparison->b, b, comparison, err) < 0)
        return -1;
    if (!by_profile_is_quantized(&comparison->a.profile) &&
        !by_profile_is_quantized(&comparison->b.profile)) {
        by_fail(err, BARYON_ERR_INPUT, "%s and %s are both not quantized", a->name, b->name);
        return by_err_hint(err, "'baryon evaluate' compares outputs of float models");
    }
    if (by_compare_layers(comparison, err) < 0)
        return -1;
    return by_compare_tensors(comparison, err);
}

int by_compare_open(struct by_comparison **out, const struct by_compare_model *a,
                    const struct by_compare_model *b, struct baryon_error *err)
{
    struct by_comparison *comparison = by_alloc_zero(1, sizeof *comparison, err);
    *out = NULL;
    if (!comparison)
        return -1;
    by_arena_init(&comparison->arena, 0);
    if (look_at_models(comparison, a, b, err) < 0) {
        by_compare_close(comparison);
        return -1;
    }
    *out = comparison;
    return 0;
}

void by_compare_close(struct by_comparison *comparison)
{
    if (!comparison)
        return;
    by_evaluation_close(comparison->outputs);
    by_evaluation_close(comparison->a_outputs);
    by_evaluation_close(comparison->b_outputs);
    by_profile_close(&comparison->a.profile);
    by_profile_close(&comparison->b.profile);
    by_arena_release(&comparison->arena);
    by_free(comparison);
}

/* --- Outputs --- */

/* The second's outputs against those of the first; without a choice, all that both have. */
static int run_pair(struct by_comparison *comparison, struct by_evaluation **evaluation,
                    const struct by_compared_model *from, const struct by_compared_model *to,
                    const struct by_evaluate_options *options, struct baryon_error *err)
{
    struct by_evaluate_settings settings = *options->settings;
    struct by_evaluate_options own = *options;
    own.settings = &settings;
    if (by_compare_inputs(from, to, err) < 0 ||
        (!settings.output.count && by_compare_outputs(from, to, &comparison->arena,
                                                      &settings.output, options->run.log, err) < 0))
        return -1;
    return by_evaluate_models(evaluation, from->profile.model, to->profile.model, &own, err);
}

/* Samples of a program begin again. */
static int rewind_samples(const struct by_evaluate_options *options, struct baryon_error *err)
{
    const struct by_input_callback *samples = options->run.samples;
    return samples && samples->rewind ? samples->rewind(samples->context, err) : 0;
}

/* Goals are those of B against A. */
static int run_reference(struct by_comparison *comparison, const struct by_compare_model *model,
                         const struct by_evaluate_options *options, struct baryon_error *err)
{
    struct by_compared_model reference = {.name = model->name};
    struct by_evaluate_settings settings = *options->settings;
    struct by_evaluate_options own = *options;
    settings.min = settings.max = (struct by_setting_pairs){0};
    own.settings = &settings;
    if (by_profile_open(&reference.profile, model->model, err) < 0)
        return by_err_file(err, model->name);
    int status = 0;
    if (by_profile_is_quantized(&reference.profile)) {
        by_fail(err, BARYON_ERR_INPUT, "the model of --float is quantized, must be a float model");
        status = by_err_file(err, model->name);
    }
    if (status == 0 && (status = rewind_samples(&own, err)) == 0)
        status =
            run_pair(comparison, &comparison->a_outputs, &reference, &comparison->a, &own, err);
    if (status == 0 && (status = rewind_samples(&own, err)) == 0)
        status =
            run_pair(comparison, &comparison->b_outputs, &reference, &comparison->b, &own, err);
    by_profile_close(&reference.profile);
    return status;
}

int by_compare_run(struct by_comparison *comparison, const struct by_compare_model *reference,
                   const struct by_evaluate_options *options, struct baryon_error *err)
{
    if (run_pair(comparison, &comparison->outputs, &comparison->a, &comparison->b, options, err) <
        0)
        return -1;
    return reference ? run_reference(comparison, reference, options, err) : 0;
}

const struct by_score *by_compare_score(const struct by_evaluation *evaluation, const char *output,
                                        const char *metric)
{
    const struct by_score *score;
    for (size_t i = 0; evaluation && (score = by_evaluation_score(evaluation, i)); i++)
        if (!strcmp(score->output, output) && !strcmp(score->metric->name, metric))
            return score;
    return NULL;
}
