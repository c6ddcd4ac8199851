/* The options of evaluation. */
#include "settings/evaluate.h"

#define MEMBER(name) offsetof(struct by_evaluate_settings, name)

static const struct by_option rows[] = {
    {.name = "min",
     .type = BY_OPT_PAIRS,
     .arg = "METRIC=VALUE",
     .offset = MEMBER(min),
     .help = "Exit with status 7 if the mean is less than VALUE, or with METRIC.worst=VALUE if any "
             "sample is; can be repeated"},
    {.name = "max",
     .type = BY_OPT_PAIRS,
     .arg = "METRIC=VALUE",
     .offset = MEMBER(max),
     .help = "Exit with status 7 if the mean is greater than VALUE, or with METRIC.worst=VALUE if "
             "any sample is; can be repeated"},
    {.name = "peak",
     .type = BY_OPT_NUMBER,
     .arg = "VALUE",
     .min = 1e-300,
     .max = 1e300,
     .offset = MEMBER(peak),
     .help = "Peak value for PSNR and SSIM; by default 255 for 8 bits, 65535 for 16 bits, and the "
             "range of the baseline for other types"},
    {.name = "channels",
     .type = BY_OPT_CHOICE,
     .arg = "AXIS",
     .choices = by_channel_place_names,
     .fallback = "auto",
     .offset = MEMBER(channels),
     .help = "Channel axis of arrays of rank 3 and more, for SSIM"},
    {.name = "compat",
     .type = BY_OPT_FLAG,
     .offset = MEMBER(compat),
     .help = "Compute cosine, PSNR and SSIM by the formulas of Quark's tool"},
    {.name = "logits",
     .type = BY_OPT_FLAG,
     .offset = MEMBER(logits),
     .help = "Treat rows of classes as logits: compute the divergence of their softmax"},
    {.name = "labels",
     .type = BY_OPT_TEXT,
     .arg = "FILE",
     .offset = MEMBER(labels),
     .help = "Read the correct classes from FILE, a text or .npy with one integer per row of the "
             "samples"},
    {.name = "output",
     .type = BY_OPT_TEXTS,
     .arg = "NAME[,NAME...]",
     .offset = MEMBER(output),
     .help = "Compare only these outputs of the models"},
};

const struct by_option_group by_evaluate_group = BY_OPTION_GROUP("Metrics", rows);

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

bool by_evaluate_is_given(struct by_config *config)
{
    static const struct by_option_group *const groups[] = {&by_data_group, &by_prep_group,
                                                           &by_evaluate_group, &by_engine_group};
    bool given = false;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        given |= by_config_given_of(config, groups[i]) != NULL;
    return given;
}

static int refuse_for_folders(const struct by_config *config, const char *name,
                              struct baryon_error *err)
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
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        const char *given = by_config_given_of(config, groups[i]);
        if (given)
            return refuse_for_folders(config, given, err);
    }
    *options = (struct by_evaluate_options){.settings = settings, .run = {.log = log}};
    return refuse_for_folders(config, "labels", err) < 0
               ? -1
               : refuse_for_folders(config, "output", err);
}
