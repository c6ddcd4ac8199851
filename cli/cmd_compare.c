/* baryon compare: what two quantized models have in common, and where they differ. */
#include "base/thread.h"
#include "cli/compare_view.h"
#include "cli/reporting.h"
#include "cli/running.h"
#include "ir/infer.h"
#include "settings/evaluate.h"

struct own {
    const char *reference;
    int64_t top;
};

struct settings {
    struct by_running_settings running;
    struct by_evaluate_settings evaluate;
    struct own own;
    struct by_reporting_settings reporting;
};

struct job {
    struct by_cli *cli;
    const struct settings *settings;
    struct by_evaluate_options options;
    struct by_comparison *comparison;
    struct by_loaded a, b, reference;
    struct by_progress progress;
    struct by_reporting reporting;
    double seconds; /* of running */
    bool begun, runs;
};

/* --- Models --- */

static int load_compared_model(struct job *job, struct by_loaded *loaded, const char *path,
                               struct baryon_error *err)
{
    const struct by_running_settings *running = &job->settings->running;
    if (by_loaded_open(loaded, job->cli, &running->model, path, err) < 0)
        return -1;
    if (job->runs && by_model_judge_run(loaded->model, loaded->name,
                                        by_running_check(loaded, running, err), err) < 0)
        return -1;
    if (by_model_link(loaded->model, err) < 0 || by_model_infer(loaded->model, NULL, err) < 0)
        return by_err_file(err, loaded->name);
    return 0;
}

static struct by_compare_model as_compared(const struct by_loaded *loaded)
{
    uint64_t bytes = by_loaded_size(loaded);
    for (size_t i = 0; i < loaded->model->data_files.count; i++)
        bytes += ((const struct by_data_file *)loaded->model->data_files.at[i])->mapped.size;
    return (struct by_compare_model){loaded->model, loaded->name, bytes};
}

/* --- Samples --- */

static bool show_progress(void *context, const struct by_calibrate_progress *now)
{
    struct job *job = context;
    if (!job->begun) {
        const struct by_progress_style style = by_running_style(job->cli);
        by_progress_begin(&job->progress, "compare", "samples", 0, now->total, &style);
        job->begun = true;
    }
    job->progress.total = now->total;
    by_progress_step(&job->progress, now->done);
    return false;
}

/* Models run when something is said about samples. */
static int take_samples(struct job *job, struct baryon_error *err)
{
    struct by_config *config = &job->cli->config;
    job->runs = by_evaluate_is_given(config) || job->settings->own.reference;
    if (!job->runs)
        return 0;
    if (by_evaluate_take(config, &job->settings->running, &job->settings->evaluate, NULL,
                         &job->cli->log, &job->options, err) < 0)
        return -1;
    job->options.run.progress = show_progress;
    job->options.run.context = job;
    return 0;
}

static int compare_outputs(struct job *job, struct baryon_error *err)
{
    const char *path = job->settings->own.reference;
    struct by_compare_model reference = {0};
    if (path) {
        if (load_compared_model(job, &job->reference, path, err) < 0)
            return -1;
        reference = as_compared(&job->reference);
    }
    const double start = by_seconds();
    const int status =
        by_compare_run(job->comparison, path ? &reference : NULL, &job->options, err);
    job->seconds = by_seconds() - start;
    if (job->begun)
        by_progress_end(&job->progress);
    return status;
}

/* --- The report --- */

static void write_comparison_json(const struct job *job)
{
    struct by_json json;
    struct by_out *out = &job->cli->out;
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_compare_json(job->comparison, &json);
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}

static const char *goal_of(const struct by_comparison *comparison)
{
    const struct by_evaluation *outputs = comparison->outputs;
    if (!outputs || !outputs->goal_count)
        return "none";
    return outputs->missed.count ? "missed" : "met";
}

static int write_comparison_report(struct job *job, struct baryon_error *err)
{
    const struct by_comparison *comparison = job->comparison;
    struct by_json *json = &job->reporting.json;
    struct by_str text;
    by_str_init(&text);
    by_compare_say(comparison, &text);
    const struct by_report_head head = {.model = job->a.name,
                                        .file = job->b.name,
                                        .data = job->settings->running.data.data,
                                        .random = job->runs && job->options.run.input.random};
    const struct by_report_outcome outcome = {.text = by_str_text(&text),
                                              .goal = goal_of(comparison),
                                              .quality = by_compare_worst_sqnr(comparison),
                                              .low_bits = by_compare_low_bits(&comparison->b)};
    by_reporting_open(&job->reporting, head, &outcome);
    if (comparison->outputs)
        by_evaluation_json(comparison->outputs, json);
    const struct by_report_seconds more[] = {{"compare", job->seconds}};
    by_seconds_json(NULL, more, job->runs ? 1 : 0, json);
    int status = by_compare_report_json(comparison, json, err);
    if (status == 0)
        status = by_str_error(&text, err);
    by_str_release(&text);
    return status < 0 ? -1 : by_reporting_save(&job->reporting, err);
}

static int show_comparison(const struct job *job, struct baryon_error *err)
{
    struct by_out *out = &job->cli->out;
    by_running_line(out, "A", job->a.name, NULL);
    by_running_line(out, "B", job->b.name, NULL);
    if (job->settings->own.reference)
        by_running_line(out, "float", job->reference.name, NULL);
    if (job->runs) {
        const char *path = job->settings->running.data.data;
        const char *data = job->comparison->outputs->data;
        by_running_line(out, "samples", path ? path : data, path ? data : NULL);
    }
    return by_compare_text(job->comparison, (size_t)job->settings->own.top, out, err);
}

/* Goals that were missed are in the JSON of 'baryon evaluate'; here the message says them. */
static int report_comparison(struct job *job, struct baryon_error *err)
{
    if (job->reporting.path && write_comparison_report(job, err) < 0)
        return -1;
    if (job->cli->common.json)
        write_comparison_json(job);
    else if (show_comparison(job, err) < 0)
        return -1;
    if (by_out_flush(&job->cli->out, err) < 0)
        return -1;
    return job->runs ? by_evaluation_judge(job->comparison->outputs, err) : 0;
}

static int compare_models(struct job *job, struct baryon_error *err)
{
    const char *const *operands = job->cli->operands;
    if (take_samples(job, err) < 0 || load_compared_model(job, &job->a, operands[0], err) < 0 ||
        load_compared_model(job, &job->b, operands[1], err) < 0)
        return -1;
    const struct by_compare_model a = as_compared(&job->a), b = as_compared(&job->b);
    if (by_compare_open(&job->comparison, &a, &b, err) < 0 ||
        (job->runs && compare_outputs(job, err) < 0))
        return -1;
    return report_comparison(job, err);
}

static int run_compare(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct job job = {.cli = cli, .settings = data};
    int status = by_reporting_begin(&job.reporting, cli, job.settings->reporting.report,
                                    job.settings->reporting.force, err);
    if (status == 0)
        status = compare_models(&job, err);
    by_reporting_end(&job.reporting);
    by_compare_close(job.comparison);
    by_loaded_close(&job.reference);
    by_loaded_close(&job.b);
    by_loaded_close(&job.a);
    return status;
}

static const struct by_option rows[] = {
    {.name = "float",
     .type = BY_OPT_TEXT,
     .arg = "MODEL",
     .offset = offsetof(struct own, reference),
     .help = "Compare the outputs of both models with those of this float model, too"},
    {.name = "top",
     .type = BY_OPT_INT,
     .arg = "N",
     .min = 1,
     .max = 9.2e18,
     .fallback = "20",
     .offset = offsetof(struct own, top),
     .help = "Show the N most important differences of nodes and of tensors; --json has all"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Comparison", rows);

static const struct by_example examples[] = {
    {"baryon compare quark.onnx baryon.onnx", "Compare types, scales and operators"},
    {"baryon compare a.onnx b.onnx --data photos --prep imagenet --float model.onnx",
     "Compare also their outputs, and those of both with the float model's"},
    {"baryon compare model.onnx model_int8.onnx --json", "List all that quantization changed"},
    {"baryon compare quark.onnx baryon.onnx --report differences.html",
     "Write a page of all layers and tensors of B, and what A has instead"},
    {0},
};

const struct by_command by_cmd_compare = {
    .name = "compare",
    .operands = "A B",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "Compare two quantized models: types, scales, coverage, outputs",
    .text =
        "Compare two models of which at least one is quantized: by Q/DQ pairs, operators on "
        "integers such as QLinearConv, operators of AMD Quark, MatMulNBits, or casts. Print the "
        "share of multiply-adds by the types of data and weights, the operators that differ in "
        "number, nodes that compute in other types, and tensors that differ, the most important "
        "first: another type, another scale (B's over A's), quantized in one model only, another "
        "zero point, other integers. The last column is the SQNR in dB of a weight of B against "
        "that of A.\n\n"
        "Tensors are matched by the name of the float tensor: that before the Q/DQ pair, without "
        "endings such as _quantized and _DequantizeLinear_Output. Weights and biases that have "
        "other names are matched by the layer that reads them.\n\n"
        "With --data or --random, both models run on the same samples, and outputs of B are "
        "compared with those of A; see 'baryon list metrics'. --float compares both with a float "
        "model, too.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, offsetof(struct settings, own)},
               {&by_reporting_group, offsetof(struct settings, reporting)},
               {&by_data_group, offsetof(struct settings, running.data)},
               {&by_prep_group, offsetof(struct settings, running.prep)},
               {&by_evaluate_group, offsetof(struct settings, evaluate)},
               {&by_engine_group, offsetof(struct settings, running.engine)},
               {&by_model_group, offsetof(struct settings, running.model)},
               {&by_runtime_group, offsetof(struct settings, running.runtime)}},
    .run = run_compare,
};
