/* baryon convert: float types and other rewrites of float models. */
#include "base/file.h"
#include "base/json.h"
#include "calibrate/begin.h"
#include "cli/models.h"
#include "cli/places.h"
#include "cli/running.h"
#include "config/nodes.h"
#include "convert/params.h"
#include "convert/range.h"
#include "onnx/check.h"
#include "onnx/external.h"
#include "onnx/save.h"

#include <string.h>

struct settings {
    struct by_model_settings model;
    struct by_runtime_settings runtime;
    struct by_verify_settings verify;
    struct by_data_settings data;
    struct by_prep_settings prep;
    const char *out, *external, *stats;
    int to;
    int64_t opset;
    bool keep_io, clamp, force, keep_overflow;
    struct by_setting_texts passes, exclude, exclude_op_type;
    struct by_setting_pairs exclude_between, only_between;
};

struct job {
    struct by_cli *cli;
    const struct settings *settings;
    struct by_convert convert;
    struct by_retype_report report;
    struct by_loaded loaded;
    const char *in, *out;
    uint64_t bytes_before, bytes_after;
    size_t overflowing; /* values, by samples */
};

/* --- What is to be done --- */

static bool is_file_of_passes(const char *path)
{
    static const char *const ends[] = {".yaml", ".yml", ".json", NULL};
    const size_t length = strlen(path);
    for (const char *const *end = ends; *end; end++)
        if (length > strlen(*end) && !strcmp(path + length - strlen(*end), *end))
            return true;
    return false;
}

/* Options that say what a file of passes says. */
static const char *const steps[] = {"to",
                                    "opset",
                                    "pass",
                                    "keep-io",
                                    "clamp",
                                    "exclude",
                                    "exclude-op-type",
                                    "exclude-between",
                                    "only-between",
                                    "stats",
                                    "keep-overflow",
                                    NULL};

/* Options of samples mean nothing where none are run. */
static int refuse_samples(const struct job *job, const char *why, struct baryon_error *err)
{
    const struct by_option_group *const groups[] = {&by_data_group, &by_prep_group};
    for (size_t i = 0; i < 2; i++) {
        const char *given = by_config_given_of(&job->cli->config, groups[i]);
        if (given)
            return by_fail(err, BARYON_ERR_USAGE, "--%s requires %s", given, why);
    }
    return 0;
}

static bool has_samples(const struct settings *settings)
{
    return settings->data.data || settings->data.random;
}

static int check_samples(const struct job *job, struct baryon_error *err)
{
    const struct settings *settings = job->settings;
    const bool samples = has_samples(settings);
    if ((settings->stats || samples) && settings->to != BY_ELEM_FLOAT16)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--%s requires --to fp16: the other types have the range of float32",
                       settings->stats ? "stats" : "data");
    if (settings->stats && samples)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--stats and --data are both given, only one is allowed");
    if (settings->keep_overflow && !settings->stats && !samples)
        return by_fail(err, BARYON_ERR_USAGE, "--keep-overflow requires --data or --stats");
    return samples ? 0 : refuse_samples(job, "--data", err);
}

static int read_file(struct job *job, struct baryon_error *err)
{
    const struct by_cli *cli = job->cli;
    if (refuse_samples(job, "a model as input; a file of passes is given", err) < 0)
        return -1;
    for (const char *const *name = steps; *name; name++)
        if (by_config_given(&cli->config, *name)) {
            by_fail(err, BARYON_ERR_USAGE,
                    "--%s is not valid with a file of passes, which contains this setting itself",
                    *name);
            return -1;
        }
    if (by_convert_read(&job->convert, cli->operands[0], &cli->log, err) < 0)
        return -1;
    if (!(job->in = job->convert.in)) {
        by_fail(err, BARYON_ERR_INPUT, "input_model_path is missing");
        return by_err_file(err, cli->operands[0]);
    }
    if (!job->convert.out)
        return 0;
    if (job->settings->out)
        return by_fail(
            err, BARYON_ERR_USAGE,
            "--out and output_model_path of the file are both given, only one is allowed");
    job->out = job->convert.out;
    return 0;
}

static int add_spans(struct job *job, const struct by_setting_pairs *pairs, const char *origin,
                     struct by_span_list *spans, struct baryon_error *err)
{
    struct by_arena *arena = job->convert.arena;
    if (by_list_reserve(arena, spans, pairs->count, sizeof *spans->at, err) < 0)
        return -1;
    for (size_t i = 0; i < pairs->count; i++) {
        struct by_span_rule *span = &spans->at[spans->count++];
        *span = (struct by_span_rule){.origin = origin};
        if (by_names_split(arena, pairs->at[i].name, &span->starts, &span->start_count, err) < 0 ||
            by_names_split(arena, pairs->at[i].value, &span->ends, &span->end_count, err) < 0)
            return by_err_in(err, "%s", origin);
    }
    return 0;
}

static int add_exclusions(struct job *job, struct by_convert_step *step, struct baryon_error *err)
{
    const struct settings *settings = job->settings;
    struct by_span_list only = {0};
    if (by_convert_patterns(&job->convert, &step->exclude, settings->exclude.at,
                            settings->exclude.count, "--exclude", err) < 0 ||
        by_convert_patterns(&job->convert, &step->exclude_op_types, settings->exclude_op_type.at,
                            settings->exclude_op_type.count, "--exclude-op-type", err) < 0 ||
        add_spans(job, &settings->exclude_between, "--exclude-between", &step->exclude_spans, err) <
            0 ||
        add_spans(job, &settings->only_between, "--only-between", &only, err) < 0)
        return -1;
    return by_convert_regions(&job->convert, step, &only, err);
}

static int check_options(const struct job *job, struct baryon_error *err)
{
    const struct settings *settings = job->settings;
    for (const char *const *name = steps + 3; *name && !settings->to; name++)
        if (by_config_given(&job->cli->config, *name))
            return by_fail(err, BARYON_ERR_USAGE, "--%s requires --to", *name);
    if (settings->clamp && settings->to == BY_ELEM_FLOAT)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--clamp requires --to fp16 or bf16: float32 holds all values");
    if (!settings->to && !settings->opset && !settings->passes.count) {
        by_fail(err, BARYON_ERR_USAGE, "no conversion is given");
        return by_err_hint(err,
                           "give --to, --pass or --opset, or a file of passes in place of MODEL");
    }
    return check_samples(job, err);
}

/* Passes are one step, in the order of their list; what is no pass is a step of its own. */
static int add_passes(struct job *job, struct by_convert_step **step, struct baryon_error *err)
{
    const struct by_setting_texts *passes = &job->settings->passes;
    for (size_t i = 0; i < passes->count; i++) {
        const char *name = passes->at[i];
        const int failed = by_pass_find(name)
                               ? by_convert_switch_on(&job->convert.steps.at[0], name, err)
                               : by_convert_add_named(&job->convert, name, err);
        if (failed)
            return -1;
    }
    *step = &job->convert.steps.at[0];
    return 0;
}

static int take_options(struct job *job, struct baryon_error *err)
{
    const struct settings *settings = job->settings;
    if (check_options(job, err) < 0)
        return -1;
    struct by_convert_step *step = by_convert_add(&job->convert, NULL, err);
    if (!step)
        return -1;
    step->with.opset = settings->opset;
    step->retype.keep_io = settings->keep_io;
    step->retype.clamp = settings->clamp;
    if (settings->opset && by_convert_switch_on(step, "convert-opset", err) < 0)
        return -1;
    if (add_passes(job, &step, err) < 0)
        return by_err_in(err, "--pass");
    if (settings->to && by_convert_to(step, settings->to, err) < 0)
        return -1;
    job->in = job->cli->operands[0];
    return add_exclusions(job, step, err);
}

static int check_places(struct job *job, struct baryon_error *err)
{
    const bool force = job->settings->force;
    if (!job->out)
        job->out = job->settings->out;
    if (!job->out)
        return by_fail(err, BARYON_ERR_USAGE, "--out FILE is required: the file for the model");
    if (!strcmp(job->out, "-"))
        return by_fail(err, BARYON_ERR_USAGE,
                       "--out is '-', a model can only be written to a file");
    if (!force && by_same_file(job->in, job->out)) {
        by_fail(err, BARYON_ERR_USAGE, "--out is the input model");
        return by_err_hint(err, "--force overwrites it");
    }
    if (!force && by_place_check_free("--out", job->out, err) < 0)
        return -1;
    return by_writer_probe(job->out, 0, err);
}

/* --- Doing it --- */

static bool tell_finding(void *context, const struct by_finding *finding)
{
    const struct job *job = context;
    char text[1024];
    struct baryon_error error = finding->error;
    if (strcmp(finding->rule, "finite") != 0)
        return true;
    by_err_file(&error, job->in);
    baryon_error_format(&error, text, sizeof text);
    by_log(&job->cli->log, BY_LOG_WARNING, "%s", text);
    return true;
}

/* What samples say of values between layers, before anything changes. */
static int find_overflow(struct job *job, struct by_session_options *session,
                         struct baryon_error *err)
{
    const struct settings *settings = job->settings;
    struct by_calibrate_options options = {.session = *session, .log = &job->cli->log};
    const struct by_convert_range range = {.stats = settings->stats,
                                           .data = settings->data.data,
                                           .calibrate = &options,
                                           .keep = settings->keep_overflow,
                                           .log = &job->cli->log};
    if (!settings->stats && !has_samples(settings))
        return 0;
    options.input.log = &job->cli->log;
    options.model = job->in;
    options.data = settings->data.data ? settings->data.data : "random";
    by_prep_options(&job->cli->config, &settings->prep, &options.input.prep);
    if ((has_samples(settings) &&
         by_data_options(&job->cli->config, &settings->data, &options.input, err) < 0) ||
        by_calibrate_prepare(job->loaded.model, true, &options, err) < 0)
        return -1;
    return by_convert_find_overflow(&job->convert, &job->convert.steps.at[0], job->loaded.model,
                                    &range, &job->overflowing, err);
}

static int convert_loaded_model(struct job *job, struct baryon_error *err)
{
    struct baryon_model *model = job->loaded.model;
    const struct by_check_options any = {.custom_ops = true};
    struct by_session_options session = {
        .ort_path = job->settings->runtime.onnxruntime, .threads = 1, .log = &job->cli->log};
    const struct by_save_options saving =
        by_place_options(job->settings->external, job->settings->force);
    if (by_place_probe(model, job->out, &saving, err) < 0 ||
        by_model_check(model, &any, tell_finding, job, err) < 0 ||
        find_overflow(job, &session, err) < 0)
        return -1;
    if (by_convert_run(&job->convert, model, &session, &job->cli->log, &job->report, err) < 0)
        return -1;
    if (job->report.runs && !job->report.tensors && !job->report.nodes)
        by_log(&job->cli->log, BY_LOG_NOTICE, "%s: no float tensor changes its type", job->in);
    return 0;
}

static int save(struct job *job, struct baryon_error *err)
{
    struct by_saved_size size;
    struct by_save_options options =
        by_place_options(job->settings->external, job->settings->force);
    options.size = &size;
    if (by_model_save(job->loaded.model, job->out, &options, err) < 0)
        return -1;
    job->bytes_after = size.model + size.data;
    return 0;
}

static int verify_written(const struct job *job, struct baryon_error *err)
{
    const struct by_verify verify = {
        .path = job->out,
        .before = job->in,
        .model = job->loaded.model,
        .bytes = job->bytes_after,
        .session = {.ort_path = job->settings->runtime.onnxruntime, .log = &job->cli->log},
    };
    return by_verify_take(&job->settings->verify, &verify, &job->cli->log, err);
}

/* --- Telling --- */

static void show_kept(struct by_str *text, const struct by_kept *kept)
{
    char why[160];
    by_str_puts(text, "  ");
    by_clean(text, kept->op_type);
    by_str_printf(text, " (%zu) unchanged: %s\n", kept->count, by_kept_text(kept, why, sizeof why));
}

static void show_count(struct by_str *text, size_t count, const char *what, const char *rest)
{
    if (!count)
        return;
    by_str_puts(text, "  ");
    by_plural(text, count, what);
    by_str_printf(text, " %s\n", rest);
}

static void print_conversion(const struct job *job)
{
    char before[32], after[32];
    struct by_str *text = &job->cli->out.text;
    const struct by_retype_report *report = &job->report;
    show_count(text, report->nodes, "node", "computed in another type");
    show_count(text, report->tensors, "constant", "stored in another type");
    show_count(text, report->casts, "Cast", "inserted");
    show_count(text, report->cancelled, "Cast", "removed");
    show_count(text, report->clamped, "element", "out of range clamped");
    show_count(text, report->vanished, "element", "too small for the type set to 0");
    for (size_t i = 0; i < report->kept.count; i++)
        show_kept(text, &report->kept.at[i]);
    by_clean(text, job->out);
    by_str_printf(text, ": %s, before %s\n", by_bytes_text(job->bytes_after, after, sizeof after),
                  by_bytes_text(job->bytes_before, before, sizeof before));
}

static void write_conversion_json(const struct job *job)
{
    char why[160];
    struct by_json json;
    const struct by_retype_report *report = &job->report;
    by_json_init(&json, &job->cli->out.text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "file", job->out);
    by_json_int(&json, "bytes_before", (int64_t)job->bytes_before);
    by_json_int(&json, "bytes", (int64_t)job->bytes_after);
    by_json_int(&json, "nodes", (int64_t)report->nodes);
    by_json_int(&json, "constants", (int64_t)report->tensors);
    by_json_int(&json, "casts", (int64_t)report->casts);
    by_json_int(&json, "casts_left_out", (int64_t)report->cancelled);
    by_json_int(&json, "clamped", (int64_t)report->clamped);
    by_json_int(&json, "beyond", (int64_t)job->overflowing);
    by_json_int(&json, "became_zero", (int64_t)report->vanished);
    by_json_open(&json, "kept", '[');
    for (size_t i = 0; i < report->kept.count; i++) {
        const struct by_kept *kept = &report->kept.at[i];
        by_json_open(&json, NULL, '{');
        by_json_text(&json, "operator", kept->op_type);
        by_json_int(&json, "nodes", (int64_t)kept->count);
        by_json_text(&json, "why", by_kept_text(kept, why, sizeof why));
        by_json_close(&json, '}');
    }
    by_json_close(&json, ']');
    by_json_close(&json, '}');
    by_str_puts(&job->cli->out.text, "\n");
}

/* --- The command --- */

/* What cannot be meant is an error of the file that says it, else of the options. */
static void name_culprit(const struct job *job, struct baryon_error *err)
{
    if (err->code != BARYON_ERR_USAGE) {
        by_err_file(err, job->loaded.name);
    } else if (job->convert.path) {
        err->code = BARYON_ERR_INPUT;
        by_err_file(err, job->convert.path);
    }
}

static int run_convert_job(struct job *job, struct baryon_error *err)
{
    struct by_cli *cli = job->cli;
    const int taken =
        is_file_of_passes(cli->operands[0]) ? read_file(job, err) : take_options(job, err);
    if (taken < 0 || check_places(job, err) < 0 ||
        by_loaded_open(&job->loaded, cli, &job->settings->model, job->in, err) < 0)
        return -1;
    job->bytes_before = by_loaded_size(&job->loaded) + by_model_data_size(job->loaded.model);
    int status = convert_loaded_model(job, err);
    if (status < 0)
        name_culprit(job, err);
    if (status == 0)
        status = save(job, err);
    if (status < 0)
        return by_model_judge(job->loaded.model, status, err);
    if (verify_written(job, err) < 0)
        return -1;
    if (cli->common.json)
        write_conversion_json(job);
    else if (!cli->common.quiet)
        print_conversion(job);
    return 0;
}

static int run_convert(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct by_arena *arena = &cli->config.arena;
    struct job job = {
        .cli = cli, .settings = data, .convert = {.arena = arena}, .report = {.arena = arena}};
    const int status = run_convert_job(&job, err);
    if (job.loaded.model)
        by_loaded_close(&job.loaded);
    return status;
}

static const struct by_choice types[] = {
    {"fp32", BY_ELEM_FLOAT, "float32, from float16 and bfloat16"},
    {"fp16", BY_ELEM_FLOAT16, "float16, from float32 and bfloat16"},
    {"bf16", BY_ELEM_BFLOAT16, "bfloat16, from float32 and float16"},
    {0},
};

static const struct by_option type_rows[] = {
    {.name = "to",
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = types,
     .offset = offsetof(struct settings, to),
     .help = "Target type of floats"},
    {.name = "keep-io",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, keep_io),
     .help = "Keep the types of model inputs and outputs"},
    {.name = "only-between",
     .type = BY_OPT_SPANS,
     .arg = "STARTS ENDS",
     .offset = offsetof(struct settings, only_between),
     .help = "Convert only the nodes on the paths from STARTS to ENDS, both included; separate "
             "names by commas; can be repeated"},
    {.name = "exclude",
     .letter = 'x',
     .type = BY_OPT_TEXTS,
     .arg = "NODE",
     .offset = offsetof(struct settings, exclude),
     .help = "Do not convert these nodes, names or patterns; can be repeated"},
    {.name = "exclude-op-type",
     .type = BY_OPT_TEXTS,
     .arg = "OPERATOR",
     .offset = offsetof(struct settings, exclude_op_type),
     .help = "Do not convert these operators; can be repeated"},
    {.name = "exclude-between",
     .type = BY_OPT_SPANS,
     .arg = "STARTS ENDS",
     .offset = offsetof(struct settings, exclude_between),
     .help = "Do not convert the nodes on the paths from STARTS to ENDS, both included; can be "
             "repeated"},
    {.name = "clamp",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, clamp),
     .help = "Clamp constants outside the range of the type instead of failing"},
    {.name = "stats",
     .type = BY_OPT_TEXT,
     .arg = "FILE",
     .offset = offsetof(struct settings, stats),
     .help = "Report activations outside the range of float16, from statistics of 'baryon "
             "calibrate --tensors all'"},
    {.name = "keep-overflow",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, keep_overflow),
     .help =
         "Keep producers and consumers of such activations in float32; requires --data or --stats"},
};

static const struct by_option pass_rows[] = {
    {.name = "opset",
     .type = BY_OPT_INT,
     .arg = "N",
     .min = 1,
     .max = 100,
     .offset = offsetof(struct settings, opset),
     .help = "Convert the model to this ONNX opset first"},
    {.name = "pass",
     .type = BY_OPT_TEXTS,
     .arg = "PASS",
     .offset = offsetof(struct settings, passes),
     .help = "Run this pass; see 'baryon list passes'; passes run in the order of that list, "
             "those of convert alone after them and as given; can be repeated"},
};

static const struct by_option write_rows[] = {
    {.name = "out",
     .letter = 'o',
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct settings, out),
     .help = "Write the model to FILE; a file of passes can give the path instead"},
    {.name = "external",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct settings, external),
     .help = "Move weights to a data file; its path is relative to the folder of --out"},
    {.name = "force",
     .letter = 'f',
     .type = BY_OPT_FLAG,
     .not_in_files = BY_NAMES_OUTPUT,
     .offset = offsetof(struct settings, force),
     .help = "Replace existing files"},
};

static const struct by_option_group type_group = BY_OPTION_GROUP("Types", type_rows),
                                    pass_group = BY_OPTION_GROUP("Passes", pass_rows),
                                    write_group = BY_OPTION_GROUP("Writing", write_rows);

static const struct by_example examples[] = {
    {"baryon convert model.onnx -o half.onnx --to fp16 --keep-io",
     "Convert to float16 and keep the types of inputs and outputs"},
    {"baryon convert half.onnx -o mix.onnx --to fp32 --only-between /a/Conv /b/Add",
     "Convert a part of a float16 model to float32, to quantize it"},
    {"baryon convert model.onnx -o half.onnx --to fp16 --data photos --keep-overflow",
     "Keep float32 where activations of these samples exceed float16"},
    {"baryon convert passes.yaml", "Run the passes of a file for Quark's Shapeshifter"},
    {0},
};

const struct by_command by_cmd_convert = {
    .name = "convert",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Convert the float types of a model, or run passes",
    .text = "FILE is a model or a file of passes. The options select the conversion of a model. A "
            "file of passes has the format of Quark's Shapeshifter (.yaml, .yml or .json: "
            "input_model_path, passes, output_model_path); its passes run in the given order.\n\n"
            "A tensor with consumers of both types gets one Cast. Names of tensors stay valid for "
            "the rest of the model. Redundant pairs of Casts are removed. Subgraphs of If, Loop "
            "and Scan are converted, too. In a conversion to float16 or bfloat16, operators stay "
            "float32 if ONNX does not define them for the type in the opset of the model, and if "
            "they quantize or compute with integers; these operators are reported with the reason. "
            "A constant outside the range of the type is an error. With samples (--data) or "
            "statistics (--stats), activations outside the range of float16 are reported.\n\n"
            "The output file appears complete or not at all. docs/fp16.md describes the conversion "
            "of a float16 model to int8 and float16.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&type_group, 0},
               {&by_data_group, offsetof(struct settings, data)},
               {&by_prep_group, offsetof(struct settings, prep)},
               {&pass_group, 0},
               {&write_group, 0},
               {&by_verify_group, offsetof(struct settings, verify)},
               {&by_runtime_group, offsetof(struct settings, runtime)},
               {&by_model_group, offsetof(struct settings, model)}},
    .run = run_convert,
};
