/* baryon llm export: a language model as ONNX, for ONNX Runtime and onnxruntime-genai. */
#include "base/json.h"
#include "cli/cmd.h"
#include "settings/llm.h"

static void write_exported(struct by_str *text, const char *out,
                           const struct by_llm_exported *result)
{
    struct by_json json;
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "out", out);
    by_json_int(&json, "packed", (int64_t)result->packed);
    by_json_int(&json, "floats", (int64_t)result->floats);
    by_json_int(&json, "context", (int64_t)result->context);
    by_json_int(&json, "bytes", (int64_t)result->bytes);
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
}

static void print_exported(struct by_str *text, const char *out,
                           const struct by_llm_exported *result)
{
    char bytes[64], context[32];
    by_str_printf(text, "%s: ", out);
    by_plural(text, result->packed, "layer");
    by_str_printf(text, " by MatMulNBits, ");
    by_plural(text, result->floats, "layer");
    by_str_printf(text, " of floats, %s, at most %s tokens\n",
                  by_bytes_text(result->bytes, bytes, sizeof bytes),
                  by_count_text(result->context, context, sizeof context));
}

static int run_llm_export(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct by_llm_export_settings *settings = data;
    struct by_llm_exported result;
    struct by_llm_export_options options;
    if (by_llm_export_take(settings, &options, err) ||
        by_llm_export(cli->operands[0], &options, &cli->log, &result, err))
        return -1;
    if (cli->common.json)
        write_exported(&cli->out.text, settings->out, &result);
    else
        print_exported(&cli->out.text, settings->out, &result);
    return 0;
}

static const struct by_example examples[] = {
    {"baryon llm export SmolLM2-uint4 -o SmolLM2-onnx",
     "For onnxruntime-genai, after llm quantize"},
    {"baryon llm export SmolLM2-uint4 -o fast --accuracy-level 4", "Inputs of layers as int8"},
    {0},
};

const struct by_command by_cmd_llm_export = {
    .name = "llm export",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Export a language model to ONNX",
    .text = "Write FOLDER/model.onnx with its data beside it, genai_config.json and the "
            "tokenizer, for onnxruntime-genai or any program with ONNX Runtime. Weights that are "
            "integers of 2, 3, 4 or 8 bits with a scale for each row or group become MatMulNBits "
            "with the same values; all others stay floats, dequantized. Attention is "
            "GroupQueryAttention with a cache of keys and values. Exported are the decoders that "
            "llm eval knows, except those with experts.",
    .examples = examples,
    .settings_size = sizeof(struct by_llm_export_settings),
    .groups = {{&by_llm_export_group, 0},
               {&by_llm_reading_group, offsetof(struct by_llm_export_settings, reading)}},
    .run = run_llm_export,
};
