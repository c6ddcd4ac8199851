/* baryon sensitivity: where a quantized model loses what. */
#include "base/file.h"
#include "cli/quantizing.h"
#include "cli/reporting.h"
#include "cli/sensitivity_view.h"
#include "cli/term.h"
#include "search/goal_rules.h"

struct settings {
    struct by_quantize_settings quantize;
    struct by_reporting_settings reporting;
    struct by_class_names_settings names;
    bool decompose;
    const char *write_rules, *goal;
};

struct job {
    struct by_quantize_settings settings;
    struct by_quantizing quantizing;
    struct by_judge *judge;
    struct by_sensitivity sensitivity;
    struct by_str cause;
    struct by_reporting reporting;
    struct by_quality quality;  /* of the samples that the report shows */
    double seconds;             /* that measuring took */
    struct by_map names;        /* of the model's tensors, for rules */
    struct by_goal_rules rules; /* where they are asked for */
    double wanted;
};

/* --- Rules --- */

static void rules_json(const struct job *job, const char *path, struct by_json *json)
{
    const struct by_goal_rules *rules = &job->rules;
    by_json_open(json, "rules", '{');
    by_json_text(json, "file", path);
    by_json_double(json, "goal", rules->wanted);
    by_json_bool(json, "met", rules->met);
    by_json_double(json, "sqnr_before", rules->before);
    by_json_double(json, "sqnr", rules->sqnr);
    by_json_int(json, "wider_tensors", (int64_t)rules->tensors);
    by_json_int(json, "wider_weights", (int64_t)rules->weights);
    by_json_int(json, "float_layers", (int64_t)rules->layers);
    by_json_double(json, "wide_macs_share", rules->wide_share);
    by_json_close(json, '}');
}

static void rules_text(const struct job *job, const char *path, struct by_out *out)
{
    const struct by_goal_rules *rules = &job->rules;
    by_str_printf(&out->text,
                  "\n  rules in %s: %zu wider tensors, %zu wider weights, %zu float layers\n"
                  "  SQNR with them %.2f dB, goal %g dB; %.1f %% of multiply-adds in more than 8 "
                  "bits\n",
                  path, rules->tensors, rules->weights, rules->layers, rules->sqnr, rules->wanted,
                  100 * rules->wide_share);
}

static bool show_progress(void *context, const char *what, size_t done, size_t all)
{
    struct by_quantizing *q = context;
    const struct by_calibrate_progress now = {
        .stage = what, .unit = "decisions", .done = done, .total = all};
    return !q->options.calibrate.progress || !q->options.calibrate.progress(q, &now);
}

static int write_rules(struct job *job, const char *path, struct baryon_error *err)
{
    struct by_quantizing *q = &job->quantizing;
    const struct by_decide_options options = {
        .names = &job->names, .progress = show_progress, .context = q};
    int status =
        by_goal_rules_find(&job->rules, &q->quantization, job->judge, job->wanted, &options, err);
    by_quantizing_pause(q);
    if (status < 0)
        return -1;
    struct by_str text;
    by_str_init(&text);
    by_str_printf(&text,
                  "# Rules for SQNR >= %g dB: %.2f dB on held-out samples, %.2f without them.\n"
                  "# Use: baryon quantize MODEL --config THIS_FILE, with the same options.\n%s",
                  job->wanted, job->rules.sqnr, job->rules.before, by_str_text(&job->rules.yaml));
    status = by_str_error(&text, err) < 0 ? -1 : by_write_file(path, text.text, text.size, 0, err);
    by_str_release(&text);
    return status;
}

static int judge_rules(const struct job *job, struct baryon_error *err)
{
    if (job->rules.met)
        return 0;
    by_fail(err, BARYON_ERR_GOAL, "the rules reach an SQNR of %.2f dB, the goal is %g dB",
            job->rules.sqnr, job->wanted);
    return by_err_hint(err, "'baryon auto' tries other methods and types, too");
}

static int take_goal(struct job *job, const struct settings *settings, struct baryon_error *err)
{
    if (settings->goal && !settings->write_rules) {
        by_fail(err, BARYON_ERR_USAGE, "--goal has no effect without --write-rules");
        return by_err_hint(err, "give the file for the rules: --write-rules FILE");
    }
    if (!settings->write_rules)
        return 0;
    return by_goal_rules_read(settings->goal ? settings->goal : "sqnr>=20", &job->wanted, err);
}

/* --- Reports --- */

static void write_json(const struct job *job, const struct by_sensitivity *printed,
                       const char *rules, struct by_str *text)
{
    struct by_json json;
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    by_quantizing_head_json(&job->quantizing, &json);
    by_json_int(&json, "samples", (int64_t)by_quantization_samples(&job->quantizing.quantization));
    by_sensitivity_json(printed, by_str_text(&job->cause), &json);
    if (rules)
        rules_json(job, rules, &json);
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
}

static void say_outcome(const struct job *job, struct by_str *text)
{
    const struct by_sensitivity *sensitivity = &job->sensitivity;
    const double *sqnr = sensitivity->sqnr;
    if (sqnr[BY_STATE_BOTH] >= BY_SQNR_MAX)
        by_str_puts(text, "The quantized model gives the same outputs");
    else
        by_str_printf(text,
                      "The outputs have a SQNR of %.1f dB, with quantized weights alone %.1f dB, "
                      "with quantized activations alone %.1f dB",
                      sqnr[BY_STATE_BOTH], sqnr[BY_STATE_WEIGHTS], sqnr[BY_STATE_ACTIVATIONS]);
    by_str_puts(text, " on ");
    by_plural(text, sensitivity->samples, sensitivity->seen ? "sample" : "held-out sample");
    by_str_puts(text, ".");
}

static void put_seconds(const struct job *job, struct by_json *json)
{
    const struct by_report_seconds more[] = {{"measure", job->seconds},
                                             {"report", job->reporting.seconds}};
    by_seconds_json(&job->quantizing.quantization.report, more, sizeof more / sizeof *more, json);
}

static int write_report(struct job *job, struct baryon_error *err)
{
    struct by_reporting *reporting = &job->reporting;
    const struct by_quantizing *q = &job->quantizing;
    struct by_str text;
    by_str_init(&text);
    say_outcome(job, &text);
    const struct by_report_outcome outcome = {
        .text = by_str_text(&text),
        .goal = "none",
        .quality = job->sensitivity.sqnr[BY_STATE_BOTH],
        .low_bits = by_report_narrow_share(&reporting->figures.layers, &q->view, 8),
    };
    by_reporting_open(reporting, by_quantizing_report_head(q), &outcome);
    by_json_int(&reporting->json, "bytes_before", (int64_t)q->view.bytes_before);
    by_json_int(&reporting->json, "samples", (int64_t)by_quantization_samples(&q->quantization));
    put_seconds(job, &reporting->json);
    by_choices_json(&q->quantization.report, &reporting->json);
    by_solved_json(&q->quantization.report.solved, &reporting->json);
    by_plan_coverage_json(&q->view, &reporting->json);
    int status = by_str_error(&text, err);
    by_str_release(&text);
    if (status == 0)
        status = by_report_figures_measured(&reporting->figures, &q->view, &job->sensitivity,
                                            by_str_text(&job->cause), err);
    return status < 0 ? -1 : by_reporting_save(reporting, err);
}

/* The model is quantized in memory, and both run on held-out samples. */
static int show_samples(struct job *job, struct baryon_error *err)
{
    struct by_quantizing *q = &job->quantizing;
    const struct by_quality_written written = {.model = q->loaded.model};
    if (!q->quality_run.reference.count)
        return 0;
    int status = by_quantization_lower(&q->quantization, err);
    if (status == 0)
        status =
            by_quality_measure(&job->quality, &q->quality_run, &q->quantization, &written, err);
    by_quantizing_pause(q);
    return by_model_judge_run(q->loaded.model, q->loaded.name, status, err);
}

/* Layers and tensors that only the report asked for are not printed. */
static struct by_sensitivity printed_of(const struct job *job, bool decompose)
{
    struct by_sensitivity printed = job->sensitivity;
    if (!decompose)
        printed.layer_count = printed.tensor_count = 0;
    return printed;
}

static int report_sensitivity(struct job *job, struct by_cli *cli, bool decompose,
                              const char *rules, struct baryon_error *err)
{
    const struct by_sensitivity printed = printed_of(job, decompose);
    if (by_str_error(&job->cause, err) < 0)
        return -1;
    if (job->reporting.path && (show_samples(job, err) < 0 || write_report(job, err) < 0))
        return -1;
    if (cli->common.json) {
        write_json(job, &printed, rules, &cli->out.text);
        return 0;
    }
    by_quantizing_head(&job->quantizing, &cli->out);
    by_str_puts(&cli->out.text, "\n");
    if (by_sensitivity_text(&printed, by_str_text(&job->cause), &cli->out, err) < 0)
        return -1;
    if (rules)
        rules_text(job, rules, &cli->out);
    return 0;
}

static int measure_model_sensitivity(struct job *job, bool decompose, struct baryon_error *err)
{
    struct by_quantization *quantization = &job->quantizing.quantization;
    const double begun = by_term_seconds();
    if (by_sensitivity_measure(&job->sensitivity, quantization, job->judge, BY_STATES_ALL,
                               decompose, err) < 0)
        return -1;
    job->seconds = by_term_seconds() - begun;
    return by_sensitivity_cause(&job->sensitivity, quantization, &job->cause, err);
}

static int run_sensitivity_job(struct job *job, struct by_cli *cli, const struct settings *settings,
                               struct baryon_error *err)
{
    struct by_quantizing *q = &job->quantizing;
    job->settings = settings->quantize;
    job->settings.measures = true;
    job->settings.judges = settings->reporting.report;
    if (take_goal(job, settings, err) < 0 || by_quantizing_take(q, cli, &job->settings, err) < 0 ||
        by_reporting_begin(&job->reporting, cli, settings->reporting.report,
                           settings->reporting.force, err) < 0 ||
        by_quantizing_load(q, err) < 0 ||
        by_reporting_name(&job->reporting, q->loaded.model, &settings->names, err) < 0 ||
        by_goal_rules_names(&job->names, q->loaded.model, err) < 0)
        return -1;
    by_reporting_show(&job->reporting, by_quantizing_prep(q), &q->quality.show);
    int status = by_sensitivity_begin(&job->judge, q->loaded.model, &q->options, err);
    if (by_model_judge_run(q->loaded.model, q->loaded.name, status, err) < 0)
        return -1;
    q->quality.input.count = q->options.calibrate.input.count; /* without those held out */
    if (by_quantizing_plan(q, err) < 0)
        return -1;
    job->reporting.view = &q->view;
    if (by_reporting_take(&job->reporting, &q->quantization, err) < 0)
        return -1;
    const bool decompose = settings->decompose || job->reporting.path;
    status = measure_model_sensitivity(job, decompose, err);
    if (by_model_judge_run(q->loaded.model, q->loaded.name, status, err) < 0)
        return -1;
    if (settings->write_rules && write_rules(job, settings->write_rules, err) < 0)
        return -1;
    if (report_sensitivity(job, cli, settings->decompose, settings->write_rules, err) < 0)
        return -1;
    if (!settings->write_rules)
        return 0;
    return by_out_flush(&cli->out, err) < 0 ? -1 : judge_rules(job, err);
}

static int run_sensitivity(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct job job = {.judge = NULL};
    by_str_init(&job.cause);
    by_map_init(&job.names);
    const int status = run_sensitivity_job(&job, cli, data, err);
    by_str_release(&job.cause);
    by_goal_rules_release(&job.rules);
    by_map_release(&job.names);
    by_sensitivity_close(&job.sensitivity);
    by_judge_close(job.judge);
    by_quality_release(&job.quality);
    by_reporting_end(&job.reporting);
    by_quantizing_close(&job.quantizing);
    return status;
}

static const struct by_option rows[] = {
    {.name = "decompose",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, decompose),
     .help = "Also measure the error of each layer and each tensor, alone and in the whole model"},
    {.name = "write-rules",
     .type = BY_OPT_TEXT,
     .arg = "FILE",
     .offset = offsetof(struct settings, write_rules),
     .help = "Write rules that reach the goal as a config file: wider tensors and weights, float "
             "layers"},
    {.name = "goal",
     .type = BY_OPT_TEXT,
     .arg = "GOAL",
     .offset = offsetof(struct settings, goal),
     .help = "What the rules have to reach on the held-out samples: sqnr>=DB; default: sqnr>=20"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Measurement", rows);

static const struct by_example examples[] = {
    {"baryon sensitivity model.onnx --preset XINT8 --data photos",
     "Compare the error of weights, of activations, and of both"},
    {"baryon sensitivity model.onnx -p A8W8 -d photos --decompose --json",
     "Print the errors of layers and tensors as JSON, too"},
    {0},
};

const struct by_command by_cmd_sensitivity = {
    .name = "sensitivity",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Show where a quantized model loses accuracy",
    .text =
        "Quantize a model as 'baryon quantize' does with the same options, but write nothing. "
        "Print the SQNR of the outputs in dB: the energy of the float output over the energy of "
        "the error. It is measured for the model after passes, with only weights quantized, with "
        "only activations quantized, and with both. The samples are held out from calibration: the "
        "last quarter, at most 24. With --decompose, run the float model and the quantized model "
        "side by side. Print for each layer the error of its quantized weights alone, the error of "
        "its quantized input alone, and the SQNR of its output in the whole model. Print the same "
        "for each tensor. If the SQNR of the model is below 20 dB, a sentence names the cause.\n\n"
        "The config must be static or quantize only weights, as A8W8, XINT8, BF16 and MX6 do. "
        "Formats that need no samples for quantization (BF16, MX6) need samples here for the "
        "measurement. Models with rounding reconstruction (presets such as A8W8_ADAROUND) are "
        "measured with the reconstructed weights.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0},
               {&by_reporting_group, offsetof(struct settings, reporting)},
               {&by_class_names_group, offsetof(struct settings, names)},
               BY_QUANTIZING_GROUPS(struct settings)},
    .run = run_sensitivity,
};
