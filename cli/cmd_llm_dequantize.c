/* baryon llm dequantize: a quantized language model as floats. */
#include "cli/llm_quant.h"

static int run_llm_dequantize(struct by_cli *cli, const void *given, struct baryon_error *err)
{
    const struct by_llm_dequantize_settings *settings = given;
    struct by_llm_quantized result;
    struct by_llm_quantize_options options;
    by_llm_dequantize_take(settings, &options);
    if (by_llm_writing_check(&settings->writing, err) ||
        by_llm_dequantize(cli->operands[0], settings->writing.out, settings->to, &options,
                          &cli->log, &result, err))
        return -1;
    by_llm_quant_tell(cli, "dequantized", settings->writing.out, false, &result);
    return 0;
}

static const struct by_example examples[] = {
    {"baryon llm dequantize model-awq -o model-bf16", "for programs that read no AWQ files"},
    {NULL, NULL},
};

const struct by_command by_cmd_llm_dequantize = {
    .name = "llm dequantize",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Write a quantized language model as floats",
    .text =
        "Reads Quark's files, compressed-tensors, AWQ, GPTQ, fp8 with a scale for each tensor, "
        "row or block, MXFP4 as gpt-oss has it, GGUF files, and what 'baryon llm quantize' writes. "
        "Each weight becomes what its codes "
        "mean, rounded once to the type that is asked for.",
    .examples = examples,
    .settings_size = sizeof(struct by_llm_dequantize_settings),
    .groups = {{&by_llm_dequantize_group, 0},
               {&by_llm_writing_group, offsetof(struct by_llm_dequantize_settings, writing)}},
    .run = run_llm_dequantize,
};
