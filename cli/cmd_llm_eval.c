/* baryon llm eval: how well a language model predicts texts, and how far it is from another. */
#include "base/json.h"
#include "cli/llm_quant.h"
#include "llm/eval.h"
#include "settings/llm.h"

#include <math.h>

struct settings {
    struct by_setting_texts texts;
    const char *against;
    int64_t length, windows;
    int activations, stream_type;
    struct by_llm_reading reading;
};

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

static void write_mean(struct by_json *json, const char *name, const char *error,
                       const struct by_llm_mean *mean)
{
    by_json_double(json, name, mean->mean);
    by_json_double(json, error, mean->error);
}

static void write_evaluation(struct by_str *text, const struct by_llm_evaluation *result)
{
    struct by_json json;
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    by_json_int(&json, "tokens", (int64_t)result->tokens);
    by_json_int(&json, "windows", (int64_t)result->windows);
    by_json_int(&json, "length", (int64_t)result->length);
    by_json_int(&json, "rounded_inputs", (int64_t)result->rounded);
    by_json_double(&json, "perplexity", result->perplexity);
    write_mean(&json, "loss", "loss_error", &result->loss);
    if (result->compared) {
        by_json_double(&json, "reference_perplexity", result->perplexity_against);
        write_mean(&json, "reference_loss", "reference_loss_error", &result->loss_against);
        write_mean(&json, "kl", "kl_error", &result->kl);
        write_mean(&json, "same_top", "same_top_error", &result->agree);
    }
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
}

static int run_llm_eval(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    struct by_llm_evaluation result;
    struct by_llm_show show = {.cli = cli, .what = "evaluate"};
    const struct by_llm_eval_options options = {
        .path = cli->operands[0],
        .against = settings->against,
        .texts = settings->texts,
        .length = (uint64_t)settings->length,
        .windows = (uint64_t)settings->windows,
        .halved = settings->stream_type == 1,
        .float_activations = settings->activations,
        .threads = (unsigned)settings->reading.threads,
        .progress = by_llm_show_layer,
        .context = &show,
    };
    if (!settings->texts.count) {
        by_fail(err, BARYON_ERR_USAGE, "--text is required: files or folders of texts");
        return by_err_hint(err, "take texts that were not used to quantize the model");
    }
    const int status = by_llm_evaluate(&result, &options, err);
    by_llm_show_end(&show);
    if (status)
        return -1;
    if (cli->common.json)
        write_evaluation(&cli->out.text, &result);
    else
        print_evaluation(&cli->out, &result);
    return 0;
}

static const struct by_choice activations[] = {
    {"simulate", 0, "rounded as the checkpoint says, where it says so"},
    {"float", 1, "float32"},
    {NULL, 0, NULL},
};

static const struct by_option rows[] = {
    {.name = "text",
     .letter = 't',
     .type = BY_OPT_TEXTS,
     .arg = "PATH[,PATH...]",
     .offset = offsetof(struct settings, texts),
     .help = "Text files, or folders of them, joined by empty lines, or ids in .npy files; can be "
             "repeated"},
    {.name = "against",
     .type = BY_OPT_TEXT,
     .arg = "MODEL",
     .offset = offsetof(struct settings, against),
     .help = "Reference, most often the float model: show the divergence from it"},
    {.name = "length",
     .type = BY_OPT_INT,
     .arg = "TOKENS",
     .min = 2,
     .max = 131072,
     .fallback = "2048",
     .offset = offsetof(struct settings, length),
     .help = "Tokens of a window"},
    {.name = "windows",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 0,
     .max = 1e9,
     .fallback = "0",
     .offset = offsetof(struct settings, windows),
     .help = "Use at most COUNT windows, 0 for all"},
    {.name = "activations",
     .type = BY_OPT_CHOICE,
     .arg = "HOW",
     .choices = activations,
     .fallback = "simulate",
     .offset = offsetof(struct settings, activations),
     .help = "Inputs of linear layers"},
    {.name = "stream-type",
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = by_llm_stream_types,
     .fallback = "float32",
     .offset = offsetof(struct settings, stream_type),
     .help = BY_LLM_STREAM_TYPE_HELP},
};

static const struct by_option_group group = BY_OPTION_GROUP("Evaluation", rows);

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
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}, {&by_llm_reading_group, offsetof(struct settings, reading)}},
    .run = run_llm_eval,
};
