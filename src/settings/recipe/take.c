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
     .help = "Use statistics written by 'baryon calibrate' instead of samples"},
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

static int refuse_groups(const struct by_config *config, const char *reason,
                         struct baryon_error *err)
{
    const struct by_option_group *const groups[] = {&by_data_group, &by_prep_group};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (size_t i = 0; i < groups[g]->count; i++)
            if (by_config_given(config, groups[g]->rows[i].name))
                return by_fail(err, BARYON_ERR_USAGE, "--%s has no meaning with %s",
                               groups[g]->rows[i].name, reason);
    return 0;
}

/* Nothing is calibrated, and where nothing is measured either, nothing runs the model. */
static int refuse_samples(const struct by_config *config,
                          const struct by_quantize_settings *settings,
                          const struct by_input_callback *callback, const struct by_recipe *recipe,
                          struct baryon_error *err)
{
    char reason[64], type[32];
    if (recipe->approach == BY_APPROACH_STATIC)
        by_format(reason, sizeof reason, "--activation %s, which needs no samples",
                  by_spec_type(&recipe->activation, type, sizeof type));
    else
        by_format(reason, sizeof reason, "--approach %s, which needs no samples",
                  approaches[recipe->approach]);
    if (settings->stats || by_config_given(config, "max-memory"))
        return by_fail(err, BARYON_ERR_USAGE, "--%s has no meaning with %s",
                       settings->stats ? "stats" : "max-memory", reason);
    if (settings->measures)
        return 0;
    const int status =
        callback ? by_fail(err, BARYON_ERR_USAGE, "samples have no meaning with %s", reason)
                 : refuse_groups(config, reason, err);
    if (status < 0 && recipe->approach == BY_APPROACH_STATIC)
        by_err_hint(err, "leave it out, or use samples by --bias-correction auto, --cle auto or "
                         "--rounding descent");
    return status;
}

static int refuse_measuring(const struct by_recipe *recipe, struct baryon_error *err)
{
    if (recipe->approach == BY_APPROACH_STATIC || recipe->approach == BY_APPROACH_WEIGHTS)
        return 0;
    by_fail(err, BARYON_ERR_USAGE,
            "sensitivity takes weights and activations apart, which operators of --approach %s do "
            "not let it",
            approaches[recipe->approach]);
    return by_err_hint(err, "presets like A8W8, XINT8, BF16 and MX6 have pairs around layers, "
                            "--approach weights has them behind weights");
}

static int refuse_no_samples(const struct by_quantize_settings *settings,
                             const struct by_recipe *recipe, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_USAGE, "no samples: --data PATH has to be given");
    if (settings->measures)
        return by_err_hint(err, "the model is measured on them; --random COUNT is for trying out");
    if (recipe->rounding != BY_ROUNDING_NEAREST)
        return by_err_hint(err, "rounding is solved on them, which --rounding nearest is not; "
                                "--random COUNT is for trying out");
    if (!by_recipe_has_ranges(recipe) && recipe->cle != BY_CLE_AUTO)
        return by_err_hint(err, "biases are corrected with their means, but with "
                                "--bias-correction false; --random COUNT is for trying out");
    if (!by_recipe_has_ranges(recipe))
        return by_err_hint(err, "equalization is judged on them, which --cle off and exact are "
                                "not; --random COUNT is for trying out");
    return by_err_hint(err, "--stats FILE takes those of 'baryon calibrate', --random COUNT "
                            "is for trying out");
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
    if (!settings->recipe.quark_random)
        by_log(options->log, BY_LOG_NOTICE,
               "no samples are given: %s uses a random one, which is for trying out",
               settings->recipe.preset);
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
        if (refuse_samples(config, settings, callback, recipe, err) < 0)
            return -1;
        if (!settings->measures)
            return 0;
    }
    if (settings->stats && !settings->measures && !by_recipe_has_ranges(recipe) &&
        recipe->rounding == BY_ROUNDING_NEAREST) {
        const bool equalizes = recipe->cle == BY_CLE_AUTO;
        by_fail(err, BARYON_ERR_USAGE, "%s samples, which --stats does not have",
                equalizes ? "equalization is judged on" : "biases are corrected with means of");
        return by_err_hint(err, "give samples (--data) instead of --stats, or %s",
                           equalizes ? "--cle off" : "--bias-correction false");
    }
    if (settings->stats && callback)
        return by_fail(err, BARYON_ERR_USAGE, "--stats has no meaning beside samples");
    if (settings->stats && recipe->rounding != BY_ROUNDING_NEAREST) {
        by_fail(err, BARYON_ERR_USAGE,
                "rounding is solved on samples, which --stats does not have");
        return by_err_hint(err, "give samples (--data) instead of --stats, or --rounding nearest");
    }
    if (settings->stats)
        return refuse_groups(config, "--stats", err);
    if (callback)
        return by_data_options_of_caller(config, data, input, err);
    if (!data->data && !data->random && !settings->measures &&
        falls_back_to_random(&settings->recipe))
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
    for (size_t i = 0; i < settings->recipe.notices.count; i++)
        by_log(log, BY_LOG_NOTICE, "%s", settings->recipe.notices.at[i]);
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
    if (options->recipe->rounding == BY_ROUNDING_NEAREST)
        return 0;
    options->checkpoint = by_calibrate_checkpoint(arena, out, err);
    return options->checkpoint ? 0 : -1;
}
