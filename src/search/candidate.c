/* Quantizes a copy of the model by a config as text. */
#include "search/candidate.h"

#include "base/format.h"
#include "calibrate/begin.h"
#include "onnx/load.h"
#include "search/ranges.h"

#include <string.h>

/* --- Config --- */

/* What changes no byte, or is said otherwise. */
static bool stands_in_config(const void *context, const struct by_option *option)
{
    static const char *const others[] = {"limit", "random", "threads"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(option->name, others[i]))
            return false;
    return !option->not_in_files && by_config_given(context, option->name);
}

int by_auto_config_head(const struct by_config *given, const struct by_running_settings *running,
                        const struct by_auto_parts *parts, struct by_str *yaml,
                        struct baryon_error *err)
{
    const struct by_option_group *const groups[] = {&by_data_group, &by_prep_group,
                                                    &by_engine_group};
    by_str_puts(yaml, "# Samples\n");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        by_config_write(given, groups[i], stands_in_config, given, yaml);
    by_str_printf(yaml, "%s: %zu\n", running->data.random ? "random" : "limit",
                  parts->of[BY_PART_CALIBRATE].count);
    return by_str_error(yaml, err);
}

static int load_config(struct by_auto_candidate *candidate, const struct by_auto_base *base,
                       const char *yaml, struct baryon_error *err)
{
    struct by_config *config = &candidate->config;
    struct by_quantize_settings *settings = &candidate->settings;
    if (by_recipe_bind(config, &settings->recipe, err) < 0 ||
        by_running_bind(config, &settings->running, &by_quantize_statistics_group, settings, true,
                        err) < 0 ||
        by_config_load_text(config, yaml, "the candidate's config", err) < 0)
        return -1;
    settings->running.engine = base->running->engine;
    settings->running.runtime = base->running->runtime;
    settings->running.model = base->running->model;
    settings->max_memory = base->memory;
    return 0;
}

/* In place of the config's data, which they are, prepared already. */
static void take_kept(struct by_quantize_options *options, const struct by_input_callback *samples)
{
    struct by_input_options *input = &options->calibrate.input;
    options->data = NULL;
    options->calibrate.samples = samples;
    input->random = false;
    input->count = 0;
}

static int take_options(struct by_auto_candidate *candidate, const struct by_auto_base *base,
                        bool keeps, struct baryon_error *err)
{
    struct by_quantize_options *options = &candidate->options;
    candidate->settings.measures = keeps; /* decisions need samples, where BF16 does not */
    /* Notices would come once for each candidate. */
    if (by_quantize_take(&candidate->config, &candidate->settings,
                         base->from_caller ? base->samples : NULL, NULL, options, err) < 0)
        return -1;
    if (base->samples && !base->from_caller)
        take_kept(options, base->samples);
    options->folder = base->folder;
    options->keeps_float = keeps;
    options->tries_all = true;
    options->choose_ranges = by_output_ranges;
    if (options->recipe->rounding != BY_ROUNDING_NEAREST)
        options->checkpoint = base->solved;
    options->calibrate.model = options->calibrate.data = "";
    options->store = base->store;
    options->calibrate.progress = base->progress;
    options->calibrate.context = base->context;
    return 0;
}

/* --- The quantization --- */

static int copy_model(struct by_auto_candidate *candidate, const struct by_auto_base *base,
                      struct baryon_error *err)
{
    const bool custom = base->running->engine.ops_library.count > 0;
    return by_frame_copy(base->frame, &candidate->model, err) < 0
               ? -1
               : by_calibrate_prepare(candidate->model, custom, &candidate->options.calibrate, err);
}

int by_auto_candidate_begin(struct by_auto_candidate *candidate, const struct by_auto_base *base,
                            const char *yaml, bool keeps, struct baryon_error *err)
{
    memset(candidate, 0, sizeof *candidate);
    by_config_init(&candidate->config);
    if (base->samples && base->samples->rewind(base->samples->context, err) < 0)
        return -1;
    return load_config(candidate, base, yaml, err) < 0 ||
                   take_options(candidate, base, keeps, err) < 0
               ? -1
               : copy_model(candidate, base, err);
}

int by_auto_candidate_plan(struct by_auto_candidate *candidate, struct baryon_error *err)
{
    return by_quantization_open(&candidate->q, candidate->model, &candidate->options, err);
}

int by_auto_candidate_open(struct by_auto_candidate *candidate, const struct by_auto_base *base,
                           const char *yaml, bool keeps, struct baryon_error *err)
{
    return by_auto_candidate_begin(candidate, base, yaml, keeps, err) < 0
               ? -1
               : by_auto_candidate_plan(candidate, err);
}

int by_auto_candidate_emit(struct by_auto_candidate *candidate, struct baryon_error *err)
{
    return by_quantization_lower(&candidate->q, err);
}

struct baryon_model *by_auto_candidate_take(struct by_auto_candidate *candidate)
{
    struct baryon_model *model = candidate->model;
    candidate->model = NULL;
    return model;
}

void by_auto_candidate_close(struct by_auto_candidate *candidate)
{
    by_quantization_close(&candidate->q);
    by_model_free(candidate->model);
    by_config_release(&candidate->config);
    memset(candidate, 0, sizeof *candidate);
}
