/* baryon evaluate: how far quantized results are from the float ones. */
#include "cli/evaluate_view.h"
#include "cli/reporting.h"
#include "cli/running.h"
#include "cli/term.h"
#include "settings/evaluate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

struct folders {
    const char *baseline, *result;
};

struct settings {
    struct by_running_settings running;
    struct by_evaluate_settings evaluate;
    struct folders folders;
    struct by_reporting_settings reporting;
    struct by_class_names_settings names;
};

struct job {
    struct by_cli *cli;
    const struct settings *settings;
    struct by_evaluate_options options;
    struct by_evaluation *evaluation;
    struct by_loaded baseline, result;
    struct by_progress progress;
    bool begun;
    struct by_reporting reporting;
    double seconds;
};

/* --- Folders --- */

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* By options, or by operands that are folders. */
static int find_folders(const struct job *job, struct folders *folders, struct baryon_error *err)
{
    const struct by_cli *cli = job->cli;
    *folders = job->settings->folders;
    if (folders->baseline || folders->result) {
        if (folders->baseline && folders->result && !cli->operand_count)
            return 0;
        return by_fail(err, BARYON_ERR_USAGE,
                       "--baseline-results-folder and --quantized-results-folder require each "
                       "other, and no operands");
    }
    if (cli->operand_count != 2)
        return by_fail(err, BARYON_ERR_USAGE, "give two models, or two folders of results");
    if (is_folder(cli->operands[0]) && is_folder(cli->operands[1]))
        *folders = (struct folders){cli->operands[0], cli->operands[1]};
    else if (is_folder(cli->operands[0]) || is_folder(cli->operands[1]))
        return by_fail(
            err, BARYON_ERR_USAGE,
            "one operand is a folder and one is a file; give two models, or two folders");
    return 0;
}

static int run_folders(struct job *job, const struct folders *folders, struct baryon_error *err)
{
    if (by_evaluate_take_folders(&job->cli->config, &job->settings->evaluate, &job->cli->log,
                                 &job->options, err) < 0)
        return -1;
    return by_evaluate_folders(&job->evaluation, folders->baseline, folders->result, &job->options,
                               err);
}

/* --- Models --- */

static bool progress(void *context, const struct by_calibrate_progress *now)
{
    struct job *job = context;
    if (!job->begun) {
        const struct by_progress_style style = by_running_style(job->cli);
        by_progress_begin(&job->progress, now->stage, "samples", 0, now->total, &style);
        job->begun = true;
    }
    job->progress.total = now->total;
    by_progress_step(&job->progress, now->done);
    return false;
}

static int load_evaluated_model(const struct job *job, struct by_loaded *loaded, const char *path,
                                struct baryon_error *err)
{
    const struct by_running_settings *running = &job->settings->running;
    if (by_loaded_open(loaded, job->cli, &running->model, path, err) < 0)
        return -1;
    return by_model_judge_run(loaded->model, loaded->name, by_running_check(loaded, running, err),
                              err);
}

static int run_models(struct job *job, struct baryon_error *err)
{
    struct by_cli *cli = job->cli;
    if (by_evaluate_take(&cli->config, &job->settings->running, &job->settings->evaluate, NULL,
                         &cli->log, &job->options, err) < 0 ||
        load_evaluated_model(job, &job->baseline, cli->operands[0], err) < 0 ||
        load_evaluated_model(job, &job->result, cli->operands[1], err) < 0)
        return -1;
    job->options.run.progress = progress;
    job->options.run.context = job;
    if (by_reporting_name(&job->reporting, job->baseline.model, &job->settings->names, err) < 0)
        return -1;
    const struct by_input_options *input = &job->options.run.input;
    by_reporting_show(&job->reporting, input->random ? NULL : &input->prep, &job->options.show);
    const double start = by_term_seconds();
    const int status = by_evaluate_models(&job->evaluation, job->baseline.model, job->result.model,
                                          &job->options, err);
    job->seconds = by_term_seconds() - start;
    if (job->begun)
        by_progress_end(&job->progress);
    return status;
}

/* --- Reports --- */

static void write_evaluation_json(const struct job *job, const struct folders *folders)
{
    struct by_json json;
    struct by_out *out = &job->cli->out;
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "baseline", folders->baseline ? folders->baseline : job->baseline.name);
    by_json_text(&json, "quantized", folders->baseline ? folders->result : job->result.name);
    if (!folders->baseline)
        by_json_text(&json, "data", job->evaluation->data);
    by_evaluation_json(job->evaluation, &json);
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}

static int show_models(const struct job *job, struct baryon_error *err)
{
    struct by_out *out = &job->cli->out;
    const char *path = job->settings->running.data.data;
    by_running_line(out, "baseline", job->baseline.name, NULL);
    by_running_line(out, "quantized", job->result.name, NULL);
    by_running_line(out, "samples", path ? path : job->evaluation->data,
                    path ? job->evaluation->data : NULL);
    by_str_puts(&out->text, "\n");
    if (by_evaluation_text(job->evaluation, out, err) < 0)
        return -1;
    by_str_puts(&out->text, "\n  ");
    by_plural(&out->text, job->evaluation->samples, "sample");
    if (job->evaluation->skipped)
        by_str_printf(&out->text, ", %" PRIu64 " skipped", job->evaluation->skipped);
    by_str_puts(&out->text, "\n");
    return 0;
}

/* The worst score of SQNR; NaN: nobody measured it. */
static double worst_sqnr(const struct by_evaluation *evaluation)
{
    const struct by_score *score;
    double worst = (double)NAN;
    for (size_t i = 0; (score = by_evaluation_score(evaluation, i)); i++)
        if (!strcmp(score->metric->name, "sqnr") && !(worst <= score->mean))
            worst = score->mean;
    return worst;
}

static void say_outcome(const struct by_evaluation *evaluation, double sqnr, struct by_str *text)
{
    if (evaluation->goal_count && evaluation->missed.count)
        by_str_puts(text, "Not all goals are met");
    else if (evaluation->goal_count)
        by_str_puts(text, "All goals are met");
    else
        by_str_puts(text, "The models were compared");
    by_str_puts(text, " on ");
    by_plural(text, evaluation->samples, "sample");
    if (isfinite(sqnr))
        by_str_printf(text, "; the %s a SQNR of %.1f dB",
                      evaluation->output_count > 1 ? "worst output has" : "output has", sqnr);
    by_str_puts(text, ".");
}

static void put_goals(const struct by_evaluation *evaluation, struct by_json *json)
{
    if (!evaluation->goal_count)
        return;
    by_json_open(json, "goals", '[');
    for (size_t i = 0; i < evaluation->goal_count; i++) {
        const struct by_goal *goal = &evaluation->goals[i];
        bool met = true;
        for (size_t k = 0; k < evaluation->missed.count; k++)
            met &= evaluation->missed.at[k].goal != goal;
        by_json_open(json, NULL, '{');
        by_json_text(json, "metric", goal->metric->name);
        by_json_text(json, "of", goal->worst ? "worst" : "mean");
        by_json_double(json, goal->most ? "most" : "least", goal->bound);
        by_json_bool(json, "met", met);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static int write_report(struct job *job, const struct folders *folders, struct baryon_error *err)
{
    const struct by_evaluation *evaluation = job->evaluation;
    struct by_json *json = &job->reporting.json;
    const double sqnr = worst_sqnr(evaluation);
    const struct by_report_head head = {
        .model = folders->baseline ? folders->baseline : job->baseline.name,
        .file = folders->baseline ? folders->result : job->result.name,
        .data = job->settings->running.data.data,
        .random = !folders->baseline && job->options.run.input.random,
    };
    struct by_str text;
    by_str_init(&text);
    say_outcome(evaluation, sqnr, &text);
    const struct by_report_outcome outcome = {
        .text = by_str_text(&text),
        .goal = !evaluation->goal_count        ? "none"
                : evaluation->missed.count > 0 ? "missed"
                                               : "met",
        .quality = sqnr,
        .low_bits = (double)NAN,
    };
    by_reporting_open(&job->reporting, head, &outcome);
    put_goals(evaluation, json);
    by_evaluation_json(evaluation, json);
    const struct by_report_seconds more[] = {{"evaluate", job->seconds}};
    by_seconds_json(NULL, more, 1, json);
    int status = by_str_error(&text, err);
    by_str_release(&text);
    return status < 0 ? -1 : by_reporting_save(&job->reporting, err);
}

/* Goals that were missed are in the JSON. */
static int judge_goals(const struct job *job, struct baryon_error *err)
{
    const int status = by_evaluation_judge(job->evaluation, err);
    if (status < 0 && job->cli->common.json)
        err->message[0] = '\0';
    return status;
}

static int report(struct job *job, const struct folders *folders, struct baryon_error *err)
{
    if (job->reporting.path && write_report(job, folders, err) < 0)
        return -1;
    if (job->cli->common.json)
        write_evaluation_json(job, folders);
    else if (folders->baseline)
        by_evaluation_lines(job->evaluation, &job->cli->out);
    else if (show_models(job, err) < 0)
        return -1;
    return by_out_flush(&job->cli->out, err) < 0 ? -1 : judge_goals(job, err);
}

static int run_evaluate(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct job job = {.cli = cli, .settings = data};
    struct folders folders;
    int status = find_folders(&job, &folders, err);
    if (status == 0)
        status = by_reporting_begin(&job.reporting, cli, job.settings->reporting.report,
                                    job.settings->reporting.force, err);
    if (status == 0)
        status = folders.baseline ? run_folders(&job, &folders, err) : run_models(&job, err);
    if (status == 0)
        status = report(&job, &folders, err);
    by_reporting_end(&job.reporting);
    by_evaluation_close(job.evaluation);
    by_loaded_close(&job.result);
    by_loaded_close(&job.baseline);
    return status;
}

static const struct by_option folder_rows[] = {
    {.name = "baseline-results-folder",
     .type = BY_OPT_TEXT,
     .arg = "FOLDER",
     .offset = offsetof(struct folders, baseline),
     .help = "Folder with the results of the float model: .npy, .png, .jpg and .jpeg files"},
    {.name = "quantized-results-folder",
     .type = BY_OPT_TEXT,
     .arg = "FOLDER",
     .offset = offsetof(struct folders, result),
     .help = "Folder with the results of the quantized model, with the same file names"},
};

static const struct by_option_group folder_group = BY_OPTION_GROUP("Folders", folder_rows);

static const struct by_example examples[] = {
    {"baryon evaluate --baseline_results_folder fp32 --quantized_results_folder int8",
     "Compare saved results, as with Quark's tool"},
    {"baryon evaluate model.onnx model_int8.onnx --data photos --prep imagenet",
     "Compare both models on the same pictures, all outputs"},
    {"baryon evaluate model.onnx model_int8.onnx --data photos --min cosine=0.98",
     "Exit with status 7 if the mean cosine of an output is less than 0.98"},
    {0},
};

const struct by_command by_cmd_evaluate = {
    .name = "evaluate",
    .operands = "BASELINE QUANTIZED",
    .min_operands = 0,
    .max_operands = 2,
    .summary = "Compare the results of a quantized model with the float model",
    .text =
        "Compare two folders of results file by file, or run two models on the same samples and "
        "compare their outputs. Print the mean and the worst sample of each metric; see 'baryon "
        "list metrics'. For folders, print the same eight lines as Quark's tool; --json prints all "
        "metrics.\n\n"
        "PSNR is 20 log10(peak) - 10 log10(mean squared error), infinite for equal arrays. SSIM is "
        "that of Wang and others: Gaussian windows of 11 by 11 with sigma 1.5 inside the picture, "
        "variances around the means of windows, each channel separately, then the mean. If a side "
        "is shorter than 11, the window has the largest odd size that fits. The peak is 255 for "
        "pictures and 8-bit values, and 65535 for 16-bit values. For other types it is the maximum "
        "minus the minimum of the baseline's array, or the magnitude of its values if all are "
        "equal. The cosine of two arrays of zeros is 1, that of zeros and anything else is 0. For "
        "float64, values below 1e-75 count as zero, and values above 1e75 are errors.\n\n"
        "--compat uses the formulas of Quark's tool: the peak of PSNR is the maximum of the "
        "baseline, an error of zero counts as 1e-10, SSIM does not subtract the means of windows "
        "and mirrors pictures at their borders, and NaN and infinities are accepted. Without "
        "--compat, NaN and infinities are errors. Values are converted to float32, as in Quark's "
        "tool, but sums are not. The results therefore agree with Quark's in five digits; Quark's "
        "are NaN where float32 overflows.\n\n"
        "Where a Concat joins results of different kinds into an output, as boxes and scores, each "
        "part is measured as well, and has to reach --min and --max; not with --compat.\n\n"
        "SQNR and all metrics of rows are computed over all samples together. Rows are those of "
        "outputs with two axes; the last axis is that of the classes. Their divergence is printed "
        "if they are distributions, or with --logits.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&folder_group, offsetof(struct settings, folders)},
               {&by_data_group, offsetof(struct settings, running.data)},
               {&by_prep_group, offsetof(struct settings, running.prep)},
               {&by_evaluate_group, offsetof(struct settings, evaluate)},
               {&by_reporting_group, offsetof(struct settings, reporting)},
               {&by_class_names_group, offsetof(struct settings, names)},
               {&by_engine_group, offsetof(struct settings, running.engine)},
               {&by_model_group, offsetof(struct settings, running.model)},
               {&by_runtime_group, offsetof(struct settings, running.runtime)}},
    .run = run_evaluate,
};
