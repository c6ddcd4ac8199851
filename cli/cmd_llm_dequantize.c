/* baryon llm dequantize: a quantized language model as floats. */
#include "cli/llm_quant.h"

struct settings {
    struct by_llm_writing writing;
    int to;
};

#define SETTING(member) offsetof(struct settings, member)

static const struct by_choice types[] = {
    {"auto", BY_ELEM_UNDEFINED, "fp16 where scales are fp16, else bf16"},
    {"bf16", BY_ELEM_BFLOAT16, "bfloat16"},
    {"fp16", BY_ELEM_FLOAT16, "float16"},
    {"fp32", BY_ELEM_FLOAT, "float32, exact"},
    {NULL, 0, NULL},
};

static const struct by_option rows[] = {
    {.name = "to",
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = types,
     .fallback = "auto",
     .offset = SETTING(to),
     .help = "Type of the weights; vectors keep theirs"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Options", rows);

static int run_llm_dequantize(struct by_cli *cli, const void *given, struct baryon_error *err)
{
    const struct settings *settings = given;
    struct by_llm_quantized result;
    const struct by_llm_quantize_options options = {
        .shard_size = settings->writing.shard_size,
        .threads = (unsigned)settings->writing.threads,
    };
    if (by_llm_writing_check(&settings->writing, err) ||
        by_llm_dequantize(cli->operands[0], settings->writing.out, settings->to, &options, &result,
                          err))
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
    .operands = "FOLDER",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Write a quantized language model as floats",
    .text =
        "Reads Quark's files, compressed-tensors, AWQ, GPTQ, fp8 with a scale for each tensor, "
        "row or block, and what 'baryon llm quantize' writes. Each weight becomes what its codes "
        "mean, rounded once to the type that is asked for.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}, {&by_llm_writing_group, SETTING(writing)}},
    .run = run_llm_dequantize,
};
