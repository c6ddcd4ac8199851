/* baryon llm quantize: the linear layers of a language model in few bits. */
#include "cli/llm_quant.h"

static int run_llm_quantize(struct by_cli *cli, const void *given, struct baryon_error *err)
{
    const struct by_llm_quantize_settings *settings = given;
    struct by_llm_quantized result;
    struct by_llm_quantize_options options;
    struct by_llm_show show = {.cli = cli, .what = "quantize"};
    if (by_llm_quantize_take(&cli->config, settings, &options, err) ||
        (!options.dry_run && by_llm_writing_check(&settings->writing, err)))
        return -1;
    struct by_str repeat;
    by_str_init(&repeat);
    by_llm_say_repeat(cli, &repeat);
    options.repeat = by_str_text(&repeat);
    options.progress = by_llm_show_layer;
    options.context = &show;
    const int status =
        by_llm_quantize(cli->operands[0], settings->writing.out, &options, &cli->log, &result, err);
    by_llm_show_end(&show);
    by_str_release(&repeat);
    if (status)
        return -1;
    const bool searched = !options.quark && options.search != BY_LLM_SEARCH_MINMAX;
    if (settings->dry_run)
        by_llm_quant_tell(cli, "quantizable", cli->operands[0], false, &result);
    else
        by_llm_quant_tell(cli, "quantized", settings->writing.out, searched, &result);
    return 0;
}

static const struct by_example examples[] = {
    {"baryon llm quantize Qwen3-0.6B -o Qwen3-0.6B-int4 --scheme int4_wo_128",
     "4-bit weights for vLLM, scales for each 128"},
    {"baryon llm quantize model -o out --scheme uint4_wo_64 --text docs --windows 32",
     "rounded on texts, layer after layer"},
    {"baryon llm quantize model -o out --scheme uint4_wo_128 --layout awq",
     "as AutoAWQ would store them"},
    {"baryon llm quantize model -o model.gguf --scheme q4_k_m --layout gguf", "for llama.cpp"},
    {"baryon llm quantize model -o out --scheme mxfp4 --layer '*.v_proj=mxfp6_e2m3'",
     "more bits for some layers"},
    {NULL, NULL},
};

const struct by_command by_cmd_llm_quantize = {
    .name = "llm quantize",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Quantize the linear layers of a language model",
    .text = "Reads a folder with config.json and safetensors files, or a GGUF file, and writes "
            "another folder, or with --layout gguf a GGUF file. Without --text no memory for the "
            "model is needed: a tensor is read, rounded and written in slabs. Embeddings, norms, "
            "the head, routers of experts, vision towers and blocks "
            "that predict more than one token stay as they are. Models that are quantized already "
            "are dequantized on the way.\n\n"
            "With --text layers are rounded one after the other, so that their outputs on the "
            "texts stay near those of the float model; those weights of a layer that share an "
            "input are in memory as floats, and the hidden states of all windows. That is several "
            "times as accurate as "
            "nearest levels.\n\n"
            "The folder appears when it is whole. A run that was interrupted continues with the "
            "files that it had finished, if the model and the options are the same.",
    .examples = examples,
    .settings_size = sizeof(struct by_llm_quantize_settings),
    .groups = {{&by_llm_quantize_group, 0},
               {&by_llm_writing_group, offsetof(struct by_llm_quantize_settings, writing)}},
    .run = run_llm_quantize,
};
