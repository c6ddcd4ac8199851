/* Defines the options of measuring what was written, and finds the samples for it. */
#include "settings/recipe/take.h"

#include "base/file.h"

#define AT(member) .offset = offsetof(struct by_quantize_settings, member)

static const struct by_option rows[] = {
    {.name = "no-judge",
     .type = BY_OPT_FLAG,
     AT(no_judge),
     .help = "Do not measure the quality of the written model on samples"},
    {.name = "judge-data",
     .type = BY_OPT_TEXT,
     .arg = "PATH",
     AT(judge_data),
     .help = "Measure the quality on these samples; options of --data, except --limit, apply to "
             "them"},
};

const struct by_option_group by_quantize_quality_group = BY_OPTION_GROUP("Quality", rows);

/* Read as those of calibration, which said what there is to say of the options. */
static int take_named(struct by_config *config, const struct by_quantize_settings *settings,
                      struct by_quality_options *quality, struct baryon_error *err)
{
    struct by_data_settings data = settings->running.data;
    char quoted[BY_QUOTE_MAX];
    if (!by_file_exists(settings->judge_data)) /* before an hour of work */
        return by_fail(err, BARYON_ERR_IO, "--judge-data %s does not exist",
                       by_quote(quoted, settings->judge_data));
    const struct by_log *log = quality->input.log;
    data.data = quality->data = settings->judge_data;
    data.random = data.limit = 0;
    quality->others = quality->named = true;
    quality->input.log = NULL;
    const int status = by_data_options(config, &data, &quality->input, err);
    quality->input.log = log;
    return status;
}

/* Samples that quantization does not take. */
static int take_unneeded(struct by_config *config, const struct by_quantize_settings *settings,
                         const struct by_input_callback *callback,
                         struct by_quality_options *quality, struct baryon_error *err)
{
    const struct by_data_settings *data = &settings->running.data;
    quality->off = !callback && !data->data && !data->random;
    if (quality->off)
        return 0;
    quality->others = true;
    quality->data = data->data;
    quality->samples = callback;
    return callback ? by_data_options_of_caller(config, data, &quality->input, err)
                    : by_data_options(config, data, &quality->input, err);
}

int by_quantize_take_quality(struct by_config *config, const struct by_quantize_settings *settings,
                             const struct by_input_callback *callback,
                             const struct by_quantize_options *options,
                             struct by_quality_options *quality, struct baryon_error *err)
{
    *quality = (struct by_quality_options){.off = !settings->judges || settings->no_judge,
                                           .input = {.log = options->log}};
    if (settings->no_judge && settings->judge_data)
        return by_fail(err, BARYON_ERR_USAGE, "--judge-data is not valid with --no-judge");
    if (quality->off)
        return 0;
    by_prep_options(config, &settings->running.prep, &quality->input.prep);
    if (settings->judge_data)
        return take_named(config, settings, quality, err);
    if (!by_recipe_needs_data(options->recipe))
        return take_unneeded(config, settings, callback, quality, err);
    if (options->stats)
        return 0;
    quality->data = options->data;
    quality->samples = callback;
    quality->input = options->calibrate.input;
    quality->input.log = NULL; /* calibration says the same of the same samples */
    return 0;
}
