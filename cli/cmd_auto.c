/* baryon auto: the cheapest model that has the quality asked for. */
#include "base/file.h"
#include "calibrate/begin.h"
#include "cli/auto_report.h"
#include "cli/places.h"
#include "cli/running.h"
#include "cli/term.h"
#include "engine/verify.h"
#include "onnx/external.h"
#include "onnx/save.h"

#include <stdio.h>
#include <string.h>

struct settings {
    struct by_running_settings running;
    struct by_auto_settings search;
    struct by_verify_settings verify;
    struct by_class_names_settings names;
    const char *out, *report, *external;
    bool force;
};

struct job {
    struct by_cli *cli;
    const struct settings *settings;
    struct by_auto_options options;
    struct by_loaded loaded;
    struct by_auto *search;
    const char *config; /* OUT.yaml */
    struct by_saved_size size;
    struct by_auto_reporting reporting;
    struct by_progress progress;
    char stage[64];
};

/* --- Before anything is opened --- */

static int check_place(const char *option, const char *path, bool force, struct baryon_error *err)
{
    if (!force && by_place_check_free(option, path, err) < 0)
        return -1;
    return by_writer_probe(path, 0, err);
}

/* model.onnx: model.yaml; other names get .yaml after them. */
static const char *config_path(struct by_arena *arena, const char *out, struct baryon_error *err)
{
    const size_t length = strlen(out) - (by_has_suffix(out, ".onnx") ? strlen(".onnx") : 0);
    char *path = by_arena_alloc(arena, length + sizeof ".yaml", 1, err);
    if (path)
        snprintf(path, length + sizeof ".yaml", "%.*s.yaml", (int)length, out);
    return path;
}

static int check_auto_places(struct job *job, struct baryon_error *err)
{
    const struct settings *settings = job->settings;
    const char *out = settings->out;
    if (!out)
        return by_fail(err, BARYON_ERR_USAGE, "--out FILE is required: the file for the model");
    if (!strcmp(out, "-"))
        return by_fail(err, BARYON_ERR_USAGE,
                       "--out is '-', a model can only be written to a file");
    if (by_same_file(job->cli->operands[0], out) && !settings->force) {
        by_fail(err, BARYON_ERR_USAGE, "--out is the input model");
        return by_err_hint(err, "--force overwrites it");
    }
    job->config = config_path(&job->cli->config.arena, out, err);
    if (!job->config || check_place("--out", out, settings->force, err) < 0 ||
        check_place("the config", job->config, settings->force, err) < 0)
        return -1;
    if (settings->report &&
        (!strcmp(settings->report, out) || !strcmp(settings->report, job->config)))
        return by_fail(err, BARYON_ERR_USAGE, "--report is the file of the model or of its config");
    return by_auto_reporting_begin(&job->reporting, job->cli, settings->report, settings->force,
                                   err);
}

/* --- Progress --- */

static void end_stage(struct job *job)
{
    if (job->stage[0])
        by_progress_end(&job->progress);
    job->stage[0] = '\0';
}

static bool show_progress(void *context, const struct by_calibrate_progress *now)
{
    struct job *job = context;
    by_term_patient(NULL);
    if (now->total && strcmp(job->stage, now->stage) != 0) {
        const struct by_progress_style style = by_running_style(job->cli);
        end_stage(job);
        snprintf(job->stage, sizeof job->stage, "%s", now->stage);
        by_progress_begin(&job->progress, job->stage, now->unit ? now->unit : "samples",
                          now->before, now->total, &style);
    }
    if (now->total) {
        job->progress.total = now->total;
        job->progress.share = now->share;
        by_progress_step(&job->progress, now->done);
    }
    return by_term_stopping();
}

/* --- The search --- */

static int load_float_model(struct job *job, struct baryon_error *err)
{
    const struct by_running_settings *running = &job->settings->running;
    const struct by_save_options saving =
        by_place_options(job->settings->external, job->settings->force);
    if (by_loaded_open(&job->loaded, job->cli, &running->model, job->cli->operands[0], err) < 0)
        return -1;
    job->options.bytes_before =
        by_loaded_size(&job->loaded) + by_model_data_size(job->loaded.model);
    job->reporting.bytes_before = job->options.bytes_before;
    if (by_place_probe(job->loaded.model, job->settings->out, &saving, err) < 0)
        return -1;
    struct by_calibrate_options quiet = {0};
    by_engine_options(&running->engine, &running->runtime, &quiet.session);
    const int status =
        by_calibrate_prepare(job->loaded.model, running->engine.ops_library.count, &quiet, err);
    return by_model_judge_run(job->loaded.model, job->loaded.name, status, err);
}

static int run_search(struct job *job, struct baryon_error *err)
{
    const int status = by_auto_run(&job->search, job->loaded.model, &job->options, err);
    end_stage(job);
    by_term_impatient();
    return by_model_judge_run(job->loaded.model, job->loaded.name, status, err);
}

/* --- Writing --- */

static int write_text(const struct job *job, const char *path, struct by_str *text,
                      struct baryon_error *err)
{
    int status = by_str_error(text, err);
    if (status == 0)
        status = by_write_file(path, by_str_text(text), text->size,
                               job->settings->force ? 0 : BY_WRITER_EXCLUSIVE, err);
    by_str_release(text);
    return status;
}

static int write_config(const struct job *job, struct baryon_error *err)
{
    struct by_str text;
    by_str_init(&text);
    by_auto_write_config(job->search, job->loaded.name, &text);
    return write_text(job, job->config, &text, err);
}

static void write_auto_json(const struct job *job, struct by_str *text)
{
    struct by_json json;
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    by_json_int(&json, "report", 1);
    by_json_text(&json, "command", "auto");
    by_json_text(&json, "version", baryon_version());
    by_json_text(&json, "model", job->loaded.name);
    by_json_text(&json, "file", job->settings->out);
    by_json_text(&json, "config", job->config);
    if (job->settings->running.data.data)
        by_json_text(&json, "data", job->settings->running.data.data);
    by_json_bool(&json, "random", !job->settings->running.data.data);
    by_json_int(&json, "bytes_before", (int64_t)job->options.bytes_before);
    by_json_int(&json, "bytes", (int64_t)(job->size.model + job->size.data));
    by_json_int(&json, "samples", (int64_t)job->search->parts.of[BY_PART_CALIBRATE].count);
    by_auto_json(job->search, &json);
    by_json_double(&json, "search_seconds", job->search->seconds);
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
}

static int verify_best(const struct job *job, struct baryon_error *err)
{
    const struct by_verify verify = {
        .path = job->settings->out,
        .model = job->search->model,
        .bytes = job->size.model + job->size.data,
        .session = {.ort_path = job->settings->running.runtime.onnxruntime,
                    .op_libraries = job->settings->running.engine.ops_library.at,
                    .op_library_count = job->settings->running.engine.ops_library.count},
    };
    return by_verify_take(&job->settings->verify, &verify, &job->cli->log, err);
}

static struct by_auto_written written_of(const struct job *job)
{
    return (struct by_auto_written){
        .model = job->loaded.name,
        .data = job->settings->running.data.data,
        .out = job->settings->out,
        .config = job->config,
        .bytes = job->size.model + job->size.data,
        .bytes_before = job->options.bytes_before,
    };
}

/* Both or neither: the same command goes on where none of them is in the way. */
static int write_pair(struct job *job, struct baryon_error *err)
{
    const struct settings *settings = job->settings;
    struct by_save_options options = by_place_options(settings->external, settings->force);
    options.size = &job->size;
    if (write_config(job, err) < 0)
        return -1;
    const int status = by_model_judge(
        job->search->model, by_model_save(job->search->model, settings->out, &options, err), err);
    if (status < 0 && !settings->force)
        (void)by_remove_file(job->config, NULL);
    return status;
}

static int write_results(struct job *job, struct baryon_error *err)
{
    if (write_pair(job, err) < 0 || verify_best(job, err) < 0)
        return -1;
    by_auto_clean(&job->options);
    const struct by_auto_written written = written_of(job);
    return by_auto_reporting_write(&job->reporting, job->search, &written, err);
}

static int show(struct job *job, struct baryon_error *err)
{
    struct by_cli *cli = job->cli;
    const struct by_auto_written written = written_of(job);
    if (cli->common.json)
        write_auto_json(job, &cli->out.text);
    else if (!cli->common.quiet && by_auto_text(job->search, &written, &cli->out, err) < 0)
        return -1;
    if (by_out_flush(&cli->out, err) < 0)
        return -1;
    const int status = by_auto_judge(job->search, err);
    if (status < 0 && cli->common.json)
        err->message[0] = '\0';
    return status;
}

static int run_auto_job(struct job *job, struct baryon_error *err)
{
    const struct settings *settings = job->settings;
    job->options = (struct by_auto_options){
        .settings = &settings->search,
        .given = &job->cli->config,
        .running = &settings->running,
        .out = settings->out,
        .progress = show_progress,
        .context = job,
        .log = &job->cli->log,
        .listener = settings->report ? &job->reporting.listener : NULL,
    };
    if (by_auto_check(&settings->search, false, err) < 0 || check_auto_places(job, err) < 0 ||
        load_float_model(job, err) < 0 ||
        by_reporting_name(&job->reporting.reporting, job->loaded.model, &settings->names, err) <
            0 ||
        run_search(job, err) < 0 || write_results(job, err) < 0)
        return -1;
    return show(job, err);
}

static int run_auto(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct job job = {.cli = cli, .settings = data};
    const int status = run_auto_job(&job, err);
    by_auto_reporting_end(&job.reporting);
    by_auto_close(job.search);
    if (job.loaded.model)
        by_loaded_close(&job.loaded);
    return status;
}

static const struct by_option rows[] = {
    {.name = "out",
     .letter = 'o',
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct settings, out),
     .help = "Write the quantized model to FILE, and its config beside it with the suffix .yaml "
             "(required)"},
    {.name = "report",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct settings, report),
     .help = "Write a report to FILE: a page to open in a browser if it ends in .html, else JSON"},
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

static const struct by_option_group group = BY_OPTION_GROUP("Output", rows);

static const struct by_example examples[] = {
    {"baryon auto model.onnx -o int8.onnx --data photos",
     "Find the cheapest model with at least 20 dB"},
    {"baryon auto model.onnx -o int8.onnx -d photos -t cpu --goal 'top1>=0.98'",
     "For processors, with the same top class in 98 % of the samples"},
    {"baryon auto m.onnx -o q.onnx -d x -g 'value>=9' --goal-command './map {model}'",
     "By a measure of your own, which a command prints"},
    {0},
};

const struct by_command by_cmd_auto = {
    .name = "auto",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Find the cheapest quantization that has the quality asked for",
    .text =
        "Try what a target has, from the cheapest on, until the goals are met: first types, "
        "methods and granularities of the whole model, then wider types for the tensors and layers "
        "that lose most, then rounding reconstruction where weights are the cause, then wider "
        "types "
        "for all. Write the model, and a config that 'baryon quantize --config' turns into the "
        "same "
        "bytes without a search.\n\n"
        "Samples are split in three: the first half calibrates, a quarter chooses among "
        "candidates, "
        "and the last quarter is measured for the report alone. Give them in random order.\n\n"
        "If no candidate meets the goals, the best one is written, and the exit status is 7. An "
        "interrupted search keeps its finished steps in OUT.part; the same command continues it.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&by_auto_group, offsetof(struct settings, search)},
               {&group, 0},
               {&by_class_names_group, offsetof(struct settings, names)},
               {&by_data_group, offsetof(struct settings, running.data)},
               {&by_prep_group, offsetof(struct settings, running.prep)},
               {&by_engine_group, offsetof(struct settings, running.engine)},
               {&by_verify_group, offsetof(struct settings, verify)},
               {&by_model_group, offsetof(struct settings, running.model)},
               {&by_runtime_group, offsetof(struct settings, running.runtime)}},
    .run = run_auto,
};
