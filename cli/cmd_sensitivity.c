/* baryon sensitivity: where a quantized model loses what. */
#include "cli/quantizing.h"
#include "cli/sensitivity_view.h"

struct settings {
    struct by_quantize_settings quantize;
    bool decompose;
};

struct job {
    struct by_quantize_settings settings;
    struct by_quantizing quantizing;
    struct by_judge *judge;
    struct by_sensitivity sensitivity;
    struct by_str cause;
};

static void write_json(const struct job *job, struct by_str *text)
{
    struct by_json json;
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    by_quantizing_head_json(&job->quantizing, &json);
    by_json_int(&json, "samples", (int64_t)by_quantization_samples(&job->quantizing.quantization));
    by_sensitivity_json(&job->sensitivity, by_str_text(&job->cause), &json);
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
}

static int report_sensitivity(struct job *job, struct by_cli *cli, struct baryon_error *err)
{
    if (by_str_error(&job->cause, err) < 0)
        return -1;
    if (cli->common.json) {
        write_json(job, &cli->out.text);
        return 0;
    }
    by_quantizing_head(&job->quantizing, &cli->out);
    by_str_puts(&cli->out.text, "\n");
    return by_sensitivity_text(&job->sensitivity, by_str_text(&job->cause), &cli->out, err);
}

static int measure_model_sensitivity(struct job *job, bool decompose, struct baryon_error *err)
{
    struct by_quantization *quantization = &job->quantizing.quantization;
    if (by_sensitivity_measure(&job->sensitivity, quantization, job->judge, decompose, err) < 0)
        return -1;
    return by_sensitivity_cause(&job->sensitivity, quantization, &job->cause, err);
}

static int run_sensitivity_job(struct job *job, struct by_cli *cli, const struct settings *settings,
                               struct baryon_error *err)
{
    struct by_quantizing *q = &job->quantizing;
    job->settings = settings->quantize;
    job->settings.measures = true;
    if (by_quantizing_take(q, cli, &job->settings, err) < 0 || by_quantizing_load(q, err) < 0)
        return -1;
    int status = by_sensitivity_begin(&job->judge, q->loaded.model, &q->options, err);
    if (by_model_judge_run(q->loaded.model, q->loaded.name, status, err) < 0 ||
        by_quantizing_plan(q, err) < 0)
        return -1;
    status = measure_model_sensitivity(job, settings->decompose, err);
    if (by_model_judge_run(q->loaded.model, q->loaded.name, status, err) < 0)
        return -1;
    return report_sensitivity(job, cli, err);
}

static int run_sensitivity(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct job job = {.judge = NULL};
    by_str_init(&job.cause);
    const int status = run_sensitivity_job(&job, cli, data, err);
    by_str_release(&job.cause);
    by_sensitivity_close(&job.sensitivity);
    by_judge_close(job.judge);
    by_quantizing_close(&job.quantizing);
    return status;
}

static const struct by_option rows[] = {
    {.name = "decompose",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, decompose),
     .help = "Also look at each layer and each tensor: what it loses by itself, and in the whole"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Measuring", rows);

static const struct by_example examples[] = {
    {"baryon sensitivity model.onnx --preset XINT8 --data photos",
     "What weights cost, what activations cost, and both."},
    {"baryon sensitivity model.onnx -p A8W8 -d photos --decompose --json",
     "The same with layers and tensors, for a program."},
    {0},
};

const struct by_command by_cmd_sensitivity = {
    .name = "sensitivity",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Show where a quantized model loses what",
    .text =
        "Quantizes as 'baryon quantize' with the same options, but writes nothing. Prints how far "
        "the outputs are from those of the model, as SQNR in dB (energy of the output over energy "
        "of the error), with what the passes changed, with weights alone quantized, activations "
        "alone, and both: on the last quarter of the samples, 24 at most, which calibration does "
        "not see. With --decompose it runs the float model and the quantized one side by side, and "
        "tells of each layer what its weights alone cost, what quantizing its input alone costs, "
        "and what is left of its output in the whole model; and the same of each tensor. Where the "
        "model stays under 20 dB a sentence names the cause.\n\n"
        "The recipe has to be static, or of weights alone: presets like A8W8, XINT8, BF16 and MX6 "
        "are. Formats that need no samples to quantize (BF16, MX6) need them here, to be measured. "
        "Solved rounding (presets like A8W8_ADAROUND) is measured as it was solved.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}, BY_QUANTIZING_GROUPS(struct settings)},
    .run = run_sensitivity,
};
