/* baryon llm eval: how well a language model predicts texts, and how far it is from another. */
#include "base/file.h"
#include "cli/llm_quant.h"
#include "report/html/html.h"
#include "settings/llm_eval.h"

#include <math.h>

static void print_mean(struct by_out *out, const char *name, const struct by_llm_mean *mean,
                       double factor, const char *unit)
{
    by_out_printf(out, BY_DIM, "  %-22s", name);
    by_str_printf(&out->text, "%.4f%s", factor * mean->mean, unit);
    if (isfinite(mean->error))
        by_str_printf(&out->text, " (standard error %.4f)", factor * mean->error);
    by_str_puts(&out->text, "\n");
}

static void print_perplexity(struct by_out *out, const char *name, double perplexity,
                             const struct by_llm_mean *loss)
{
    /* The error of exp(loss), where the loss is a mean over windows. */
    const struct by_llm_mean mean = {perplexity, perplexity * loss->error};
    print_mean(out, name, &mean, 1, "");
}

static void print_evaluation(struct by_out *out, const struct by_llm_evaluation *result)
{
    char tokens[32];
    if (result->compared)
        print_perplexity(out, "reference perplexity", result->perplexity_against,
                         &result->loss_against);
    print_perplexity(out, "perplexity", result->perplexity, &result->loss);
    if (result->compared) {
        print_mean(out, "KL divergence", &result->kl, 1, " nats a token");
        print_mean(out, "same likeliest token", &result->agree, 100, " %");
    }
    by_str_puts(&out->text, "  on ");
    by_plural(&out->text, result->windows, "window");
    by_str_printf(&out->text, " of %s tokens",
                  by_count_text(result->length, tokens, sizeof tokens));
    if (result->rounded) {
        by_str_puts(&out->text, ", inputs of ");
        by_plural(&out->text, result->rounded, "linear layer");
        by_str_puts(&out->text, " rounded");
    }
    by_str_puts(&out->text, "\n");
}

static int save_report(struct by_cli *cli, const struct by_llm_evaluation *result,
                       const struct by_llm_eval_options *options, struct baryon_error *err)
{
    struct by_str text, repeat;
    if (!options->report)
        return 0;
    by_str_init(&text);
    by_str_init(&repeat);
    by_llm_say_repeat(cli, &repeat);
    by_llm_evaluation_json(result, options, by_str_text(&repeat), &text);
    const int status = by_report_write(options->report, &text, 0, err);
    by_str_release(&repeat);
    by_str_release(&text);
    return status;
}

static int evaluate_texts(struct by_cli *cli, struct by_llm_eval_options *options,
                          struct by_llm_evaluation *result, struct baryon_error *err)
{
    struct by_llm_show show = {.cli = cli, .what = "evaluate"};
    options->log = &cli->log;
    options->progress = by_llm_show_layer;
    options->context = &show;
    const int status = by_llm_evaluate(result, options, err);
    by_llm_show_end(&show);
    return status ? -1 : save_report(cli, result, options, err);
}

static int run_llm_eval(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    struct by_llm_evaluation result = {0};
    struct by_llm_eval_options options;
    if (by_llm_eval_take(data, cli->operands[0], &options, err) ||
        (options.report && by_writer_probe(options.report, 0, err)))
        return -1;
    const int status = evaluate_texts(cli, &options, &result, err);
    if (!status && cli->common.json)
        by_llm_evaluation_json(&result, &options, NULL, &cli->out.text);
    else if (!status && !cli->common.quiet)
        print_evaluation(&cli->out, &result);
    by_llm_evaluation_release(&result);
    return status;
}

static const struct by_example examples[] = {
    {"baryon llm eval SmolLM2-135M --text wikitext.txt", "Perplexity of a float model"},
    {"baryon llm eval q4.gguf --against SmolLM2-135M --text docs --length 512",
     "What quantization changed"},
    {0},
};

const struct by_command by_cmd_llm_eval = {
    .name = "llm eval",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Measure perplexity and divergence of a language model on texts",
    .text = "Run a folder or GGUF file of any layout on texts, with dequantized weights, layer by "
            "layer: one layer's weights are in memory at a time. Inputs of linear layers are "
            "rounded where the checkpoint says so. "
            "Texts are tokenized at once and cut into windows without overlap; the rest is left "
            "out. Perplexity is the exponential of the mean loss over the tokens that windows "
            "predict. The divergence is that of the distributions of the next token, reference to "
            "model. Known are decoders made as Llama, Mistral, Mixtral, Qwen 2 and 3, Phi 3 and "
            "Gemma 1 to 3; others are refused.",
    .examples = examples,
    .settings_size = sizeof(struct by_llm_eval_settings),
    .groups = {{&by_llm_eval_group, 0},
               {&by_llm_reading_group, offsetof(struct by_llm_eval_settings, reading)}},
    .run = run_llm_eval,
};
