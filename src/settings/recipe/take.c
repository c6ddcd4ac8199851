/* Turns the options of a quantization into its structs and checks the samples. */
#include "settings/recipe/take.h"

#include "base/file.h"
#include "base/format.h"
#include "calibrate/begin.h"
#include "preset/preset.h"

#include <string.h>

#define AT(member) .offset = offsetof(struct by_quantize_settings, member)

static const struct by_option rows[] = {
    {.name = "stats",
     .type = BY_OPT_TEXT,
     .arg = "FILE",
     AT(stats),
     .help = "Use statistics written by 'baryon calibrate' instead of samples; --rounding requires "
             "those of 'baryon calibrate --moments'"},
    {.name = "max-memory",
     .type = BY_OPT_BYTES,
     .arg = "BYTES",
     .min = 1,
     .max = 9.2e18,
     .fallback = "1GiB",
     AT(max_memory),
     .help =
         "Memory limit for statistics, and for activations stored during rounding reconstruction"},
};

const struct by_option_group by_quantize_statistics_group = BY_OPTION_GROUP("Statistics", rows);

static const char *const approaches[] = {
    [BY_APPROACH_STATIC] = "static",
    [BY_APPROACH_WEIGHTS] = "weights",
    [BY_APPROACH_DYNAMIC] = "dynamic",
    [BY_APPROACH_NBITS] = "nbits",
};

/* Statistics take the place of samples; how samples are read has no effect then. */
static int leave_groups(const struct by_config *config, const char *judge_data,
                        const struct by_log *log, struct baryon_error *err)
{
    const struct by_option_group *const groups[] = {&by_data_group, &by_prep_group};
    if (by_config_given(config, "data") || by_config_given(config, "random"))
        return by_fail(err, BARYON_ERR_USAGE, "--%s is not valid with --stats",
                       by_config_given(config, "data") ? "data" : "random");
    for (size_t g = 0; !judge_data && g < sizeof groups / sizeof *groups; g++) {
        size_t count;
        const struct by_option *option = by_group_rows(groups[g], &count);
        for (const struct by_option *end = option + count; option < end; option++)
            if (by_config_given(config, option->name))
                by_log(log, BY_LOG_NOTICE, "--%s has no effect with --stats", option->name);
    }
    return 0;
}

/* Statistics tell what layers read in the float model, of all their samples. */
static int check_rounding(const struct by_config *config, const struct by_recipe *recipe,
                          const struct by_log *log, struct baryon_error *err)
{
    static const char *const idle[] = {"rounding-samples", "rounding-mix"};
    if (recipe->rounding == BY_ROUNDING_NEAREST)
        return 0;
    if (by_config_given(config, "rounding-inputs") && !recipe->rounding_on_float) {
        by_fail(err, BARYON_ERR_USAGE,
                "--rounding-inputs quantized requires samples, statistics (--stats) have the "
                "inputs of the float model");
        return by_err_hint(err,
                           "give samples (--data) instead of --stats, or --rounding-inputs float");
    }
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (by_config_given(config, idle[i]))
            by_log(log, BY_LOG_NOTICE, "--%s has no effect with --stats", idle[i]);
    return 0;
}

/* Nothing is calibrated, and where nothing is measured either, nothing runs the model. */
static void leave_samples(const struct by_config *config,
                          const struct by_quantize_settings *settings,
                          const struct by_input_callback *callback, const struct by_recipe *recipe,
                          struct by_quantize_options *options)
{
    char reason[64], type[32];
    const struct by_data_settings *data = &settings->running.data;
    if (recipe->approach == BY_APPROACH_STATIC)
        by_format(reason, sizeof reason, "--activation %s",
                  by_spec_type(&recipe->activation, type, sizeof type));
    else
        by_format(reason, sizeof reason, "--approach %s", approaches[recipe->approach]);
    options->stats = NULL;
    if (settings->stats)
        by_log(options->log, BY_LOG_NOTICE, "--stats has no effect: %s requires no samples",
               reason);
    if (by_config_given(config, "max-memory"))
        by_log(options->log, BY_LOG_NOTICE, "--max-memory has no effect: %s requires no samples",
               reason);
    if (settings->measures)
        return;
    options->data = NULL;
    const bool judged = settings->judges && !settings->no_judge && !settings->judge_data;
    if (!judged && (callback || data->data || data->random))
        by_log(options->log, BY_LOG_NOTICE, "the samples have no effect: %s requires none", reason);
}

static int refuse_measuring(const struct by_recipe *recipe, struct baryon_error *err)
{
    if (recipe->approach == BY_APPROACH_STATIC || recipe->approach == BY_APPROACH_WEIGHTS)
        return 0;
    by_fail(err, BARYON_ERR_USAGE,
            "sensitivity measures weights and activations separately, which is not possible with "
            "--approach %s",
            approaches[recipe->approach]);
    return by_err_hint(
        err, "use --approach static or weights, such as the presets A8W8, XINT8, BF16 and MX6");
}

static int refuse_no_samples(const struct by_quantize_settings *settings,
                             const struct by_recipe *recipe, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_USAGE, "no samples: give --data PATH");
    if (settings->measures)
        return by_err_hint(err,
                           "the model is measured on samples; use --random COUNT for a trial only");
    if (recipe->rounding != BY_ROUNDING_NEAREST)
        return by_err_hint(err, "rounding reconstruction requires samples, --rounding nearest does "
                                "not; use --random COUNT for a trial only");
    if (!by_recipe_has_ranges(recipe) && by_recipe_searches(recipe))
        return by_err_hint(err, "--mixed requires samples, --mixed-goal 0 does not; use --random "
                                "COUNT for a trial only");
    if (!by_recipe_has_ranges(recipe) && recipe->cle != BY_CLE_AUTO)
        return by_err_hint(err, "bias correction requires samples, --bias-correction false does "
                                "not; use --random COUNT for a trial only");
    if (!by_recipe_has_ranges(recipe))
        return by_err_hint(err, "--cle auto requires samples, --cle off and exact do not; use "
                                "--random COUNT for a trial only");
    return by_err_hint(err, "or give statistics of 'baryon calibrate' with --stats FILE; use "
                            "--random COUNT for a trial only");
}

/* Quark's option, or what the preset is for. */
static bool falls_back_to_random(const struct by_recipe_settings *settings)
{
    const struct by_preset *preset =
        settings->preset ? by_preset_find(settings->preset, NULL) : NULL;
    return settings->quark_random > 0 || (!settings->quark_random && preset && preset->random);
}

static int take_random(struct by_config *config, const struct by_quantize_settings *settings,
                       struct by_quantize_options *options, struct baryon_error *err)
{
    struct by_data_settings random = settings->running.data;
    random.random = 1;
    if (!by_recipe_settings_of(config)->quark_random)
        by_log(options->log, BY_LOG_NOTICE,
               "no samples are given: one random sample is used, for a trial only");
    return by_data_options(config, &random, &options->calibrate.input, err);
}

static int take_samples(struct by_config *config, const struct by_quantize_settings *settings,
                        const struct by_input_callback *callback, const struct by_recipe *recipe,
                        struct by_quantize_options *options, struct baryon_error *err)
{
    const struct by_data_settings *data = &settings->running.data;
    struct by_input_options *input = &options->calibrate.input;
    if (settings->measures && refuse_measuring(recipe, err) < 0)
        return -1;
    if (!by_recipe_needs_data(recipe)) {
        leave_samples(config, settings, callback, recipe, options);
        if (!settings->measures)
            return 0;
    }
    if (options->stats && !settings->measures && !by_recipe_has_ranges(recipe) &&
        recipe->rounding == BY_ROUNDING_NEAREST) {
        const bool equalizes = recipe->cle == BY_CLE_AUTO;
        by_fail(err, BARYON_ERR_USAGE, "%s requires samples, statistics (--stats) contain none",
                equalizes ? "--cle auto" : "bias correction");
        return by_err_hint(err, "give samples (--data) instead of --stats, or %s",
                           equalizes ? "--cle off" : "--bias-correction false");
    }
    if (options->stats && callback)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--stats and samples are both given, only one is allowed");
    if (options->stats)
        return check_rounding(config, recipe, options->log, err) < 0
                   ? -1
                   : leave_groups(config, settings->judges ? settings->judge_data : NULL,
                                  options->log, err);
    if (callback)
        return by_data_options_of_caller(config, data, input, err);
    if (!data->data && !data->random && !settings->measures &&
        falls_back_to_random(by_recipe_settings_of(config)))
        return take_random(config, settings, options, err);
    if (!data->data && !data->random)
        return refuse_no_samples(settings, recipe, err);
    return by_data_options(config, data, input, err);
}

int by_quantize_take(struct by_config *config, const struct by_quantize_settings *settings,
                     const struct by_input_callback *callback, const struct by_log *log,
                     struct by_quantize_options *options, struct baryon_error *err)
{
    struct by_recipe *recipe;
    const struct by_running_settings *running = &settings->running;
    if (by_recipe_make(config, &recipe, err) < 0)
        return -1;
    /* `settings` may be a copy of what is bound. */
    const struct by_setting_texts *notices = &by_recipe_settings_of(config)->notices;
    for (size_t i = 0; i < notices->count; i++)
        by_log(log, BY_LOG_NOTICE, "%s", notices->at[i]);
    *options = (struct by_quantize_options){
        .recipe = recipe,
        .data = running->data.data,
        .stats = settings->stats,
        .calibrate = {.max_memory = settings->max_memory, .samples = callback, .log = log},
        .log = log,
    };
    by_engine_options(&running->engine, &running->runtime, &options->calibrate.session);
    options->calibrate.session.log = log;
    options->calibrate.input.log = log;
    by_prep_options(config, &running->prep, &options->calibrate.input.prep);
    return take_samples(config, settings, callback, recipe, options, err);
}

int by_quantize_beside(struct by_quantize_options *options, struct by_arena *arena, const char *out,
                       struct baryon_error *err)
{
    const size_t size = strlen(out) + sizeof ".";
    char *folder = by_arena_alloc(arena, size, 1, err);
    if (!folder)
        return -1;
    if (by_folder_of(out, folder, size))
        options->folder = folder;
    if (options->recipe->rounding == BY_ROUNDING_NEAREST || options->stats)
        return 0;
    options->checkpoint = by_calibrate_checkpoint(arena, out, err);
    return options->checkpoint ? 0 : -1;
}
