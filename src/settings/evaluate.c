/* The options of evaluation. */
#include "settings/evaluate.h"

#define MEMBER(name) offsetof(struct by_evaluate_settings, name)

static const struct by_option rows[] = {
    {.name = "min",
     .type = BY_OPT_PAIRS,
     .arg = "METRIC=VALUE",
     .offset = MEMBER(min),
     .help = "The mean has to be at least this, else the exit status is 7; METRIC.worst: of every "
             "sample; can be repeated"},
    {.name = "max",
     .type = BY_OPT_PAIRS,
     .arg = "METRIC=VALUE",
     .offset = MEMBER(max),
     .help = "The same for what must not be greater"},
    {.name = "peak",
     .type = BY_OPT_NUMBER,
     .arg = "VALUE",
     .min = 1e-300,
     .max = 1e300,
     .offset = MEMBER(peak),
     .help = "Greatest possible difference of two values, for PSNR and SSIM; by default what 8 and "
             "16 bits hold, and of other types the baseline's range"},
    {.name = "channels",
     .type = BY_OPT_CHOICE,
     .arg = "WHERE",
     .choices = by_channel_place_names,
     .fallback = "auto",
     .offset = MEMBER(channels),
     .help = "Where the channels of arrays of rank 3 and more are, for SSIM"},
    {.name = "compat",
     .type = BY_OPT_FLAG,
     .offset = MEMBER(compat),
     .help = "Cosine, PSNR and SSIM by the formulas of Quark's tool"},
    {.name = "logits",
     .type = BY_OPT_FLAG,
     .offset = MEMBER(logits),
     .help = "Rows of classes are scores: the divergence is that of their softmax"},
    {.name = "labels",
     .type = BY_OPT_TEXT,
     .arg = "FILE",
     .offset = MEMBER(labels),
     .help = "Classes that are right, one a row of the samples: whole numbers in a text or a .npy"},
    {.name = "output",
     .type = BY_OPT_TEXTS,
     .arg = "NAME[,NAME...]",
     .offset = MEMBER(output),
     .help = "Only these outputs of the models"},
};

const struct by_option_group by_evaluate_group = BY_OPTION_GROUP("Measures", rows);

int by_evaluate_take(struct by_config *config, const struct by_running_settings *running,
                     const struct by_evaluate_settings *settings,
                     const struct by_input_callback *callback, const struct by_log *log,
                     struct by_evaluate_options *options, struct baryon_error *err)
{
    *options = (struct by_evaluate_options){
        .settings = settings,
        .data = callback ? NULL : running->data.data,
        .run = {.samples = callback, .log = log},
    };
    return by_running_take(config, running, callback, log, &options->run.session,
                           &options->run.input, err);
}

static int refuse(const struct by_config *config, const char *name, struct baryon_error *err)
{
    if (!by_config_given(config, name))
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "--%s is not valid for folders of results", name);
}

int by_evaluate_take_folders(struct by_config *config, const struct by_evaluate_settings *settings,
                             const struct by_log *log, struct by_evaluate_options *options,
                             struct baryon_error *err)
{
    static const struct by_option_group *const groups[] = {
        &by_data_group, &by_prep_group, &by_engine_group, &by_model_group, &by_runtime_group};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (size_t k = 0; k < groups[i]->count; k++)
            if (refuse(config, groups[i]->rows[k].name, err) < 0)
                return -1;
    *options = (struct by_evaluate_options){.settings = settings, .run = {.log = log}};
    return refuse(config, "labels", err) < 0 ? -1 : refuse(config, "output", err);
}
