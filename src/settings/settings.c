/* Defines the option groups that several commands share. */
#include "settings/settings.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

#define DATA(member) offsetof(struct by_data_settings, member)
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ENDLESS      9.2e18

static const struct by_option data_rows[] = {
    {.name = "data",
     .letter = 'd',
     .type = BY_OPT_TEXT,
     .arg = "PATH",
     .offset = DATA(data),
     .help =
         "Read samples from a .npy, .npz or image file, a folder of them, or a .txt list of files"},
    {.name = "random",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 1,
     .max = ENDLESS,
     .offset = DATA(random),
     .help = "Generate COUNT random samples instead of reading files"},
    {.name = "seed",
     .type = BY_OPT_INT,
     .arg = "NUMBER",
     .min = 0,
     .max = ENDLESS,
     .fallback = "0",
     .offset = DATA(seed),
     .help = "Seed for random samples; equal seeds give equal samples"},
    {.name = "int-range",
     .type = BY_OPT_RANGE,
     .arg = "LOW:HIGH",
     .offset = DATA(int_range),
     .help = "Range of random integers, both ends included"},
    {.name = "value-range",
     .type = BY_OPT_PAIRS,
     .arg = "INPUT=LOW:HIGH",
     .offset = DATA(value_range),
     .help = "Range of the random values of an input, spread evenly; can be repeated"},
    {.name = "shape",
     .type = BY_OPT_SIZES,
     .arg = "NAME=SIZE",
     .min = 1,
     .max = ENDLESS,
     .offset = DATA(shape),
     .help =
         "Set the size of a symbolic dimension, by its symbol or as INPUT:AXIS; can be repeated"},
    {.name = "limit",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 1,
     .max = ENDLESS,
     .offset = DATA(limit),
     .help = "Use at most COUNT samples"},
    {.name = "skip-bad",
     .type = BY_OPT_PERCENT,
     .arg = "PERCENT",
     .min = 0,
     .max = 100,
     .fallback = "0",
     .offset = DATA(skip_bad),
     .help = "Skip unreadable samples; fail if more than this percentage is unreadable"},
    {.name = "allow-nonfinite",
     .type = BY_OPT_FLAG,
     .offset = DATA(allow_nonfinite),
     .help = "Accept samples with NaN or infinite values"},
};

const struct by_option_group by_data_group = BY_OPTION_GROUP("Samples", data_rows);

#define PREP(member) offsetof(struct by_prep_settings, member)

static const struct by_option prep_rows[] = {
    {.name = "prep",
     .type = BY_OPT_CHOICE,
     .arg = "NAME",
     .choices = by_prep_preset_names,
     .fallback = "plain",
     .offset = PREP(prep),
     .help = "Named preparation; the options below override parts of it"},
    {.name = "resize",
     .type = BY_OPT_CHOICE,
     .arg = "MODE",
     .choices = by_resize_names,
     .offset = PREP(resize),
     .help = "How to resize a picture to the input size"},
    {.name = "filter",
     .type = BY_OPT_CHOICE,
     .arg = "NAME",
     .choices = by_filter_names,
     .offset = PREP(filter),
     .help = "Resampling filter, as in Pillow (pil-) or OpenCV (cv-)"},
    {.name = "size",
     .type = BY_OPT_EXTENT,
     .arg = "WxH",
     .min = 1,
     .max = BY_IMAGE_SIDE_MAX,
     .offset = PREP(size),
     .help = "Width and height of the input if they are symbolic in the model"},
    {.name = "short-side",
     .type = BY_OPT_INT,
     .arg = "PIXELS",
     .min = 1,
     .max = BY_IMAGE_SIDE_MAX,
     .offset = PREP(short_side),
     .help =
         "Length of the short side for --resize short-side; 256/224 of the input size by default"},
    {.name = "stride",
     .type = BY_OPT_INT,
     .arg = "PIXELS",
     .min = 1,
     .max = BY_IMAGE_SIDE_MAX,
     .offset = PREP(stride),
     .help = "Pad the sides only to a multiple of PIXELS; requires --resize letterbox or fit"},
    {.name = "pad",
     .type = BY_OPT_INT,
     .arg = "VALUE",
     .min = 0,
     .max = 255,
     .offset = PREP(pad),
     .help = "Gray value of the padding"},
    {.name = "no-upscale",
     .type = BY_OPT_FLAG,
     .offset = PREP(no_upscale),
     .help = "Pad a small picture instead of enlarging it"},
    {.name = "pixels",
     .type = BY_OPT_CHOICE,
     .arg = "ORDER",
     .choices = by_colour_names,
     .offset = PREP(pixels),
     .help = "Channels of a pixel and their order"},
    {.name = "scale",
     .type = BY_OPT_NUMBER,
     .arg = "FACTOR",
     .offset = PREP(scale),
     .help = "Factor for pixel values from 0 to 255; 1/255 by default"},
    {.name = "mean",
     .type = BY_OPT_NUMBERS,
     .arg = "M[,M...]",
     .most = 4,
     .offset = PREP(mean),
     .help = "Mean to subtract after scaling, one value or one per channel"},
    {.name = "std",
     .type = BY_OPT_NUMBERS,
     .arg = "S[,S...]",
     .most = 4,
     .offset = PREP(std),
     .help = "Standard deviation to divide by after subtracting the mean, one value or one per "
             "channel"},
    {.name = "layout",
     .type = BY_OPT_CHOICE,
     .arg = "LAYOUT",
     .choices = by_layout_names,
     .offset = PREP(layout),
     .help = "Order of the input dimensions"},
};

const struct by_option_group by_prep_group = BY_OPTION_GROUP("Preparation of pictures", prep_rows);

static void override_numbers(const struct by_config *config, const char *name,
                             const struct by_setting_numbers *list, double out[4], size_t *count)
{
    if (!by_config_given(config, name))
        return;
    *count = list->count;
    for (size_t i = 0; i < list->count; i++)
        out[i] = list->at[i];
}

void by_prep_options(const struct by_config *config, const struct by_prep_settings *settings,
                     struct by_prep *prep)
{
    *prep = *by_prep_preset(settings->prep);
    if (by_config_given(config, "resize"))
        prep->resize = (enum by_resize)settings->resize;
    if (by_config_given(config, "filter"))
        prep->filter = (enum by_filter)settings->filter;
    if (by_config_given(config, "pixels"))
        prep->colour = (enum by_colour)settings->pixels;
    if (by_config_given(config, "layout"))
        prep->layout = (enum by_layout)settings->layout;
    if (by_config_given(config, "pad"))
        prep->pad = (unsigned)settings->pad;
    if (by_config_given(config, "scale"))
        prep->scale = settings->scale;
    override_numbers(config, "mean", &settings->mean, prep->mean, &prep->mean_count);
    override_numbers(config, "std", &settings->std, prep->std, &prep->std_count);
    prep->width = (size_t)settings->size.width;
    prep->height = (size_t)settings->size.height;
    prep->short_side = (size_t)settings->short_side;
    prep->stride = (size_t)settings->stride;
    prep->no_upscale = settings->no_upscale;
}

static const struct by_option model_rows[] = {
    {.name = "allow-links",
     .type = BY_OPT_FLAG,
     .not_in_files = BY_LIFTS_RULES,
     .offset = offsetof(struct by_model_settings, allow_links),
     .help = "Accept symbolic links as data files of the model, as in package caches"},
};

const struct by_option_group by_model_group = BY_OPTION_GROUP("Model files", model_rows);

static const struct by_option runtime_rows[] = {
    {.name = "onnxruntime",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_LIBRARY,
     .arg = "PATH",
     .offset = offsetof(struct by_runtime_settings, onnxruntime),
     .help = "Path of the ONNX Runtime library or of its folder"},
};

const struct by_option_group by_runtime_group = BY_OPTION_GROUP("ONNX Runtime", runtime_rows);

static const struct by_option verify_rows[] = {
    {.name = "no-verify",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct by_verify_settings, no_verify),
     .help = "Do not load the written model in ONNX Runtime"},
};

const struct by_option_group by_verify_group = BY_OPTION_GROUP("Verification", verify_rows);

int by_verify_take(const struct by_verify_settings *settings, const struct by_verify *verify,
                   const struct by_log *log, struct baryon_error *err)
{
    return settings->no_verify ? 0 : by_verify_written(verify, log, err);
}

#define ENGINE(member) offsetof(struct by_engine_settings, member)

static const struct by_choice levels[] = {
    {"none", 0, "no optimization"},
    {"basic", 1, "constant folding and removal of redundant nodes"},
    {"extended", 2, "basic, and operator fusion"},
    {"all", 99, "extended, and layout optimization"},
    {0},
};

static const struct by_option engine_rows[] = {
    {.name = "threads",
     .letter = 'j',
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 0,
     .max = 1024,
     .fallback = "0",
     .offset = ENGINE(threads),
     .help = "Number of threads, 0 for all processors that the process may use"},
    {.name = "provider",
     .type = BY_OPT_TEXTS,
     .arg = "NAME[,NAME...]",
     .offset = ENGINE(provider),
     .help = "Execution providers of ONNX Runtime in order of preference; cpu by default"},
    {.name = "opt-level",
     .type = BY_OPT_CHOICE,
     .arg = "LEVEL",
     .choices = levels,
     .fallback = "all",
     .offset = ENGINE(opt_level),
     .help = "Graph optimization level of ONNX Runtime"},
    {.name = "ops-library",
     .type = BY_OPT_TEXTS,
     .not_in_files = BY_NAMES_LIBRARY,
     .arg = "FILE[,FILE...]",
     .offset = ENGINE(ops_library),
     .help = "Shared libraries with custom operators; by default Baryon's library of Quark "
             "operators, for models that import them"},
    {.name = "deterministic",
     .type = BY_OPT_FLAG,
     .offset = ENGINE(deterministic),
     .help = "Use only kernels that give the same bits in every run"},
};

const struct by_option_group by_engine_group = BY_OPTION_GROUP("Execution", engine_rows);

void by_engine_options(const struct by_engine_settings *settings,
                       const struct by_runtime_settings *runtime,
                       struct by_session_options *options)
{
    *options = (struct by_session_options){
        .ort_path = runtime->onnxruntime,
        .threads = (unsigned)settings->threads,
        .optimization = settings->opt_level,
        .providers = settings->provider.at,
        .provider_count = settings->provider.count,
        .op_libraries = settings->ops_library.at,
        .op_library_count = settings->ops_library.count,
        .deterministic = settings->deterministic,
    };
}

/* --shape NAME=SIZE as the two lists that the input module takes. */
static int split_shapes(struct by_config *config, const struct by_setting_pairs *pairs,
                        struct by_input_options *options, struct baryon_error *err)
{
    const char **symbols = by_arena_alloc(&config->arena, pairs->count, sizeof *symbols, err);
    int64_t *sizes =
        symbols ? by_arena_alloc(&config->arena, pairs->count, sizeof *sizes, err) : NULL;
    if (!sizes)
        return -1;
    for (size_t i = 0; i < pairs->count; i++) {
        symbols[i] = pairs->at[i].name;
        sizes[i] = pairs->at[i].size;
    }
    options->shape_symbols = symbols;
    options->shape_sizes = sizes;
    options->shape_count = pairs->count;
    return 0;
}

/* --value-range INPUT=LOW:HIGH */
static int split_range(struct by_config *config, const struct by_setting_pair *pair,
                       struct by_value_range *range, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *mark = strchr(pair->value, ':');
    char *low =
        mark ? by_arena_text(&config->arena, pair->value, (size_t)(mark - pair->value), err) : NULL;
    if (mark && !low)
        return -1;
    range->input = pair->name;
    if (low && by_parse_double(low, &range->low) && by_parse_double(mark + 1, &range->high) &&
        isfinite(range->low) && isfinite(range->high))
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "--value-range: %s is no range, one is LOW:HIGH",
                   by_quote(quoted, pair->value));
}

static int split_ranges(struct by_config *config, const struct by_setting_pairs *pairs,
                        struct by_input_options *options, struct baryon_error *err)
{
    struct by_value_range *ranges =
        by_arena_alloc(&config->arena, pairs->count, sizeof *ranges, err);
    if (!ranges)
        return -1;
    for (size_t i = 0; i < pairs->count; i++)
        if (split_range(config, &pairs->at[i], &ranges[i], err) < 0)
            return -1;
    options->ranges = ranges;
    options->range_count = pairs->count;
    return 0;
}

/* Options that only speak about random samples, or only about those that are read. */
int by_running_bind(struct by_config *config, struct by_running_settings *running,
                    const struct by_option_group *own, void *settings, bool file,
                    struct baryon_error *err)
{
    if (by_config_bind(config, &by_data_group, &running->data, err) < 0 ||
        by_config_bind(config, &by_prep_group, &running->prep, err) < 0 ||
        by_config_bind(config, own, settings, err) < 0 ||
        by_config_bind(config, &by_engine_group, &running->engine, err) < 0 ||
        by_config_bind(config, &by_runtime_group, &running->runtime, err) < 0)
        return -1;
    return file ? by_config_bind(config, &by_model_group, &running->model, err) : 0;
}

/* Options that change nothing beside another one. */
static void note_options(const struct by_config *config, const char *const *names, size_t count,
                         const struct by_log *log, const char *beside)
{
    for (size_t i = 0; i < count; i++)
        if (by_config_given(config, names[i]))
            by_log(log, BY_LOG_NOTICE, "--%s has no effect %s", names[i], beside);
}

static int take_data(struct by_config *config, const struct by_data_settings *data, int64_t count,
                     struct by_input_options *options, struct baryon_error *err)
{
    options->seed = (uint64_t)data->seed;
    options->int_low = data->int_range.low;
    options->int_high = data->int_range.high;
    options->int_range_set = data->int_range.set;
    options->count = (size_t)count;
    options->skip_bad = data->skip_bad;
    options->allow_nonfinite = data->allow_nonfinite;
    return split_shapes(config, &data->shape, options, err) < 0
               ? -1
               : split_ranges(config, &data->value_range, options, err);
}

int by_data_options(struct by_config *config, const struct by_data_settings *data,
                    struct by_input_options *options, struct baryon_error *err)
{
    static const char *const of_random[] = {"seed", "int-range", "value-range"};
    static const char *const of_files[] = {"limit", "skip-bad", "allow-nonfinite"};
    if (!data->data == !data->random)
        return by_fail(err, BARYON_ERR_USAGE,
                       data->data ? "--data and --random are both given, only one is allowed"
                                  : "no samples: give --data PATH or --random COUNT");
    if (data->data)
        note_options(config, of_random, COUNT(of_random), options->log, "with --data");
    else
        note_options(config, of_files, COUNT(of_files), options->log, "with --random");
    options->random = !data->data;
    return take_data(config, data, data->data ? data->limit : data->random, options, err);
}

static int refuse_for_caller(const struct by_config *config, const char *name,
                             struct baryon_error *err)
{
    if (!by_config_given(config, name))
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "--%s is not valid when the caller provides the samples",
                   name);
}

int by_data_options_of_caller(struct by_config *config, const struct by_data_settings *data,
                              struct by_input_options *options, struct baryon_error *err)
{
    static const char *const of_others[] = {"data", "random"};
    static const char *const of_random[] = {"seed", "int-range", "value-range"};
    const char *prepares[COUNT(prep_rows)];
    for (size_t i = 0; i < COUNT(of_others); i++)
        if (refuse_for_caller(config, of_others[i], err) < 0)
            return -1;
    for (size_t i = 0; i < COUNT(prep_rows); i++)
        prepares[i] = prep_rows[i].name;
    note_options(config, of_random, COUNT(of_random), options->log, "on samples of the caller");
    note_options(config, prepares, COUNT(prepares), options->log, "on samples of the caller");
    return take_data(config, data, data->limit, options, err);
}

int by_running_take(struct by_config *config, const struct by_running_settings *running,
                    const struct by_input_callback *callback, const struct by_log *log,
                    struct by_session_options *session, struct by_input_options *input,
                    struct baryon_error *err)
{
    by_engine_options(&running->engine, &running->runtime, session);
    session->log = log;
    input->log = log;
    by_prep_options(config, &running->prep, &input->prep);
    return callback ? by_data_options_of_caller(config, &running->data, input, err)
                    : by_data_options(config, &running->data, input, err);
}
