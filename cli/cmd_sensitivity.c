/* baryon sensitivity: where a quantized model loses what. */
#include "cli/quantizing.h"
#include "cli/reporting.h"
#include "cli/sensitivity_view.h"
#include "cli/term.h"

struct settings {
    struct by_quantize_settings quantize;
    struct by_reporting_settings reporting;
    bool decompose;
};

struct job {
    struct by_quantize_settings settings;
    struct by_quantizing quantizing;
    struct by_judge *judge;
    struct by_sensitivity sensitivity;
    struct by_str cause;
    struct by_reporting reporting;
    double seconds; /* that measuring took */
};

static void write_json(const struct job *job, const struct by_sensitivity *printed,
                       struct by_str *text)
{
    struct by_json json;
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    by_quantizing_head_json(&job->quantizing, &json);
    by_json_int(&json, "samples", (int64_t)by_quantization_samples(&job->quantizing.quantization));
    by_sensitivity_json(printed, by_str_text(&job->cause), &json);
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

/* Layers and tensors that only the report asked for are not printed. */
static struct by_sensitivity printed_of(const struct job *job, bool decompose)
{
    struct by_sensitivity printed = job->sensitivity;
    if (!decompose)
        printed.layer_count = printed.tensor_count = 0;
    return printed;
}

static int report_sensitivity(struct job *job, struct by_cli *cli, bool decompose,
                              struct baryon_error *err)
{
    const struct by_sensitivity printed = printed_of(job, decompose);
    if (by_str_error(&job->cause, err) < 0 || (job->reporting.path && write_report(job, err) < 0))
        return -1;
    if (cli->common.json) {
        write_json(job, &printed, &cli->out.text);
        return 0;
    }
    by_quantizing_head(&job->quantizing, &cli->out);
    by_str_puts(&cli->out.text, "\n");
    return by_sensitivity_text(&printed, by_str_text(&job->cause), &cli->out, err);
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
    if (by_quantizing_take(q, cli, &job->settings, err) < 0 ||
        by_reporting_begin(&job->reporting, cli, settings->reporting.report,
                           settings->reporting.force, err) < 0 ||
        by_quantizing_load(q, err) < 0)
        return -1;
    int status = by_sensitivity_begin(&job->judge, q->loaded.model, &q->options, err);
    if (by_model_judge_run(q->loaded.model, q->loaded.name, status, err) < 0 ||
        by_quantizing_plan(q, err) < 0)
        return -1;
    job->reporting.view = &q->view;
    if (by_reporting_take(&job->reporting, &q->quantization, err) < 0)
        return -1;
    const bool decompose = settings->decompose || job->reporting.path;
    status = measure_model_sensitivity(job, decompose, err);
    if (by_model_judge_run(q->loaded.model, q->loaded.name, status, err) < 0)
        return -1;
    return report_sensitivity(job, cli, settings->decompose, err);
}

static int run_sensitivity(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct job job = {.judge = NULL};
    by_str_init(&job.cause);
    const int status = run_sensitivity_job(&job, cli, data, err);
    by_str_release(&job.cause);
    by_sensitivity_close(&job.sensitivity);
    by_judge_close(job.judge);
    by_reporting_end(&job.reporting);
    by_quantizing_close(&job.quantizing);
    return status;
}

static const struct by_option rows[] = {
    {.name = "decompose",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, decompose),
     .help = "Also measure the error of each layer and each tensor, alone and in the whole model"},
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
               BY_QUANTIZING_GROUPS(struct settings)},
    .run = run_sensitivity,
};
