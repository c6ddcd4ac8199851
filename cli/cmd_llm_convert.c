/* baryon llm convert: folders of safetensors to GGUF files and back. */
#include "base/json.h"
#include "cli/llm_quant.h"

static void tell_converted(struct by_cli *cli, const char *out,
                           const struct by_llm_converted *converted)
{
    struct by_out *to = &cli->out;
    char before[64], after[64];
    if (cli->common.json) {
        struct by_json json;
        by_json_init(&json, &to->text, false);
        by_json_open(&json, NULL, '{');
        by_json_text(&json, "out", out);
        by_json_int(&json, "tensors", (int64_t)converted->tensors);
        by_json_int(&json, "left", (int64_t)converted->left);
        by_json_int(&json, "bytes_before", (int64_t)converted->bytes_in);
        by_json_int(&json, "bytes_after", (int64_t)converted->bytes_out);
        by_json_close(&json, '}');
        by_str_puts(&to->text, "\n");
        return;
    }
    by_str_printf(&to->text, "%s: ", out);
    by_plural(&to->text, converted->tensors, "tensor");
    by_str_printf(&to->text, ", %s before, %s now\n",
                  by_bytes_text(converted->bytes_in, before, sizeof before),
                  by_bytes_text(converted->bytes_out, after, sizeof after));
}

static int run_llm_convert(struct by_cli *cli, const void *given, struct baryon_error *err)
{
    const struct by_llm_convert_settings *settings = given;
    struct by_llm_converted converted;
    struct by_llm_convert convert;
    by_llm_convert_take(settings, cli->operands[0], &convert);
    if (by_llm_writing_check(&settings->writing, err))
        return -1;
    int status = by_llm_convert(&convert, &converted, err);
    if (!status) {
        by_log_lines(&cli->log, BY_LOG_NOTICE, by_str_text(&converted.notices));
        tell_converted(cli, convert.out, &converted);
    }
    by_llm_converted_release(&converted);
    return status;
}

static const struct by_example examples[] = {
    {"baryon llm convert Qwen3-0.6B -o qwen3.gguf --type q4_k_m", "for llama.cpp"},
    {"baryon llm convert model.gguf -o model", "for transformers, as bf16"},
    {NULL, NULL},
};

const struct by_command by_cmd_llm_convert = {
    .name = "llm convert",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Convert between safetensors and GGUF",
    .text = "MODEL is a folder of safetensors and OUT a name that ends with .gguf, or the other "
            "way round. Names of tensors, order of rows, metadata and tokenizer become those of "
            "the other side: llama.cpp loads the file, transformers the folder. Architectures: "
            "llama (Mistral and Mixtral too), qwen2, qwen3, qwen2moe, qwen3moe, phi3, gemma, "
            "gemma2, gemma3.",
    .examples = examples,
    .settings_size = sizeof(struct by_llm_convert_settings),
    .groups = {{&by_llm_convert_group, 0},
               {&by_llm_writing_group, offsetof(struct by_llm_convert_settings, writing)}},
    .run = run_llm_convert,
};
