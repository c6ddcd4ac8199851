/* baryon llm auto: bits for each layer of a language model, under a budget. */
#include "base/file.h"
#include "cli/llm_quant.h"
#include "report/html/html.h"
#include "settings/llm_auto.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct job {
    struct by_cli *cli;
    const struct by_llm_auto_settings *settings;
    struct by_llm_auto_result result;
    struct by_progress progress;
    char stage[32];
};

/* --- Progress --- */

static void end_stage(struct job *job)
{
    if (job->stage[0])
        by_progress_end(&job->progress);
    job->stage[0] = '\0';
}

static void show_stage(void *context, const char *stage, size_t done, size_t all)
{
    struct job *job = context;
    if (strcmp(job->stage, stage) != 0 || !done) {
        const struct by_progress_style style = by_running_style(job->cli);
        end_stage(job);
        snprintf(job->stage, sizeof job->stage, "%s", stage);
        by_progress_begin(&job->progress, job->stage, "layers", 0, all, &style);
    }
    by_progress_step(&job->progress, done);
}

/* --- Report --- */

static void write_result(struct by_str *text, const struct job *job)
{
    struct by_str repeat;
    by_str_init(&repeat);
    by_llm_say_repeat(job->cli, &repeat);
    by_llm_auto_json(&job->result, job->cli->operands[0], job->settings->writing.out,
                     by_str_text(&repeat), text);
    by_str_release(&repeat);
}

static int save_report(const struct job *job, struct baryon_error *err)
{
    struct by_str text;
    if (!job->settings->report)
        return 0;
    by_str_init(&text);
    write_result(&text, job);
    const int status = by_report_write(job->settings->report, &text, 0, err);
    by_str_release(&text);
    return status;
}

/* --- Text --- */

/* What the linears of a layer of the decoder have, a line each. */
static void print_layers(struct by_out *out, const struct by_llm_auto_result *result)
{
    double sum = 0, layers = 0;
    for (size_t i = 0; i < result->count; i++)
        sum += result->linears[i].predicted;
    for (size_t i = 0; i < result->layers; i++)
        layers += result->layer_kl[i];
    by_out_printf(out, BY_DIM, "  %-44s %-20s %5s  %s\n", "layer", "type", "bits",
                  "share of the divergence, predicted");
    for (size_t i = 0; i < result->count; i++) {
        const struct by_llm_auto_linear *linear = &result->linears[i];
        const bool is_last =
            i + 1 == result->count || result->linears[i + 1].decoder != linear->decoder;
        by_str_printf(&out->text, "  %-44s %-20s %5.2f  %5.2f %%\n", linear->layer, linear->type,
                      linear->bits, sum > 0 ? 100 * linear->predicted / sum : 0);
        if (is_last)
            by_out_printf(out, BY_DIM, "  layer %zu alone, measured: %.2f %%\n", linear->decoder,
                          layers > 0 ? 100 * result->layer_kl[linear->decoder] / layers : 0);
    }
}

static void print_measured(struct by_out *out, const char *name,
                           const struct by_llm_auto_measured *measured)
{
    by_str_printf(&out->text, "  %-22s %.3f bits a weight, KL divergence %.4f", name,
                  measured->bits, measured->kl.mean);
    if (isfinite(measured->kl.error))
        by_str_printf(&out->text, " (standard error %.4f)", measured->kl.error);
    by_str_printf(&out->text, ", perplexity %.3f, same token %.2f %%\n", measured->perplexity,
                  100 * measured->agree.mean);
}

static void print_result(const struct job *job)
{
    struct by_out *out = &job->cli->out;
    const struct by_llm_auto_result *result = &job->result;
    print_layers(out, result);
    by_out_printf(out, BY_BOLD, "%s", job->settings->writing.out);
    by_str_printf(&out->text, ", config %s\n", result->recipe);
    print_measured(out, "chosen", &result->chosen);
    if (result->uniform)
        print_measured(out, result->uniform, &result->single);
    by_str_puts(&out->text, "  on ");
    by_plural(&out->text, result->judge_windows, "window");
    by_str_puts(&out->text, " that neither rounded nor chose\n");
}

static int show(const struct job *job, struct baryon_error *err)
{
    struct by_cli *cli = job->cli;
    const struct by_llm_auto_result *result = &job->result;
    if (cli->common.json)
        write_result(&cli->out.text, job);
    else if (!cli->common.quiet)
        print_result(job);
    if (by_out_flush(&cli->out, err) < 0)
        return -1;
    return by_llm_auto_judge(result, err);
}

/* --- The command --- */

static int run_llm_auto(struct by_cli *cli, const void *given, struct baryon_error *err)
{
    struct job job = {.cli = cli, .settings = given};
    struct by_llm_auto_options options;
    if (by_llm_auto_take(job.settings, &options, err) ||
        (job.settings->report && by_writer_probe(job.settings->report, 0, err)))
        return -1;
    options.progress = show_stage;
    options.context = &job;
    int status = by_llm_auto(cli->operands[0], job.settings->writing.out, &options, &cli->log,
                             &job.result, err);
    end_stage(&job);
    if (!status)
        status = save_report(&job, err) || show(&job, err) ? -1 : 0;
    by_llm_auto_release(&job.result);
    return status;
}

static const struct by_example examples[] = {
    {"baryon llm auto Qwen3-0.6B -o out --bits 4.5 --text docs",
     "Layers that matter have more bits, 4.5 in the mean"},
    {"baryon llm auto model -o model.gguf --layout gguf --max-size 400MB --text docs",
     "Types of GGUF for llama.cpp, within a size"},
    {"baryon llm auto model -o out --goal 'kl<=0.02' --text docs",
     "The smallest model that is so near to the float one"},
    {NULL, NULL},
};

const struct by_command by_cmd_llm_auto = {
    .name = "llm auto",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Choose the bits of each layer of a language model under a budget",
    .text =
        "Find a type for each linear layer, so that the model diverges least from the float model "
        "within the budget, or is the smallest that meets a goal. What each type loses in each "
        "layer comes from the moments of its inputs, what that counts from the divergence with "
        "single layers rounded. The model is quantized as 'baryon llm quantize --text' does it and "
        "measured on windows of the texts that neither rounded nor chose, beside the best single "
        "type of its size.\n\n"
        "OUT.yaml is a config that 'baryon llm quantize --config' turns into the same bytes "
        "without a search. If a goal is missed, the best model is written and the exit status is "
        "7.",
    .examples = examples,
    .settings_size = sizeof(struct by_llm_auto_settings),
    .groups = {{&by_llm_auto_group, 0},
               {&by_llm_writing_group, offsetof(struct by_llm_auto_settings, writing)}},
    .run = run_llm_auto,
};
