/* baryon llm quantize: the linear layers of a language model in few bits, without samples. */
#include "base/str.h"
#include "cli/llm_quant.h"

#include <string.h>

struct settings {
    struct by_llm_writing writing;
    const char *scheme, *layout, *linears;
    struct by_setting_texts exclude;
    struct by_setting_pairs layers;
    int64_t group_size;
    int search, compat;
    bool allow_nonfinite, dry_run;
};

#define SETTING(member) offsetof(struct settings, member)

static const struct by_choice searches[] = {
    {"mse", BY_LLM_SEARCH_MSE, "scale and zero point of least squared error"},
    {"minmax", BY_LLM_SEARCH_MINMAX, "the whole range of the values"},
    {NULL, 0, NULL},
};
static const struct by_choice compats[] = {
    {"none", 0, "scales in float32"},
    {"quark-0.13", 1, "Quark's arithmetic, in the type of the model, and whole ranges"},
    {NULL, 0, NULL},
};

static const struct by_option rows[] = {
    {.name = "scheme",
     .type = BY_OPT_TEXT,
     .arg = "NAME",
     .offset = SETTING(scheme),
     .help =
         "Quantization scheme of the linear layers (required); 'baryon list schemes' names them"},
    {.name = "layout",
     .type = BY_OPT_TEXT,
     .arg = "NAME",
     .fallback = "quark",
     .offset = SETTING(layout),
     .help = "Names and packing of the tensors; 'baryon list layouts' names them"},
    {.name = "exclude",
     .type = BY_OPT_TEXTS,
     .arg = "PATTERN",
     .offset = SETTING(exclude),
     .help = "Leave layers as they are whose names match PATTERN, a shell pattern or re:REGEX"},
    {.name = "layer",
     .type = BY_OPT_PAIRS,
     .arg = "PATTERN=SCHEME",
     .offset = SETTING(layers),
     .help = "Another scheme for layers whose names match PATTERN; the first that matches counts"},
    {.name = "group-size",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .max = 65536,
     .offset = SETTING(group_size),
     .help = "Weights that share a scale, for schemes with groups; 0 for the scheme's"},
    {.name = "search",
     .type = BY_OPT_CHOICE,
     .arg = "NAME",
     .choices = searches,
     .fallback = "mse",
     .offset = SETTING(search),
     .help = "How scales are chosen"},
    {.name = "compat",
     .type = BY_OPT_CHOICE,
     .arg = "NAME",
     .choices = compats,
     .fallback = "none",
     .offset = SETTING(compat),
     .help = "Whose arithmetic scales and codes follow"},
    {.name = "linears",
     .type = BY_OPT_TEXT,
     .arg = "PATTERN",
     .offset = SETTING(linears),
     .help =
         "Quantize the matrices of layers whose names match PATTERN, whatever the architecture"},
    {.name = "allow-nonfinite",
     .type = BY_OPT_FLAG,
     .offset = SETTING(allow_nonfinite),
     .help = "Quantize NaN as 0 and infinities as the row's greatest magnitude"},
    {.name = "dry-run",
     .letter = 'n',
     .type = BY_OPT_FLAG,
     .offset = SETTING(dry_run),
     .help = "Check and count, write nothing"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Quantization options", rows);

static int list_layers(struct by_cli *cli, const struct settings *settings,
                       struct by_llm_quantize_options *options, struct baryon_error *err)
{
    const struct by_setting_pairs *pairs = &settings->layers;
    struct by_llm_layer_scheme *layers =
        by_arena_alloc(&cli->config.arena, pairs->count, sizeof *layers, err);
    if (!layers)
        return -1;
    for (size_t i = 0; i < pairs->count; i++)
        layers[i] = (struct by_llm_layer_scheme){pairs->at[i].name, pairs->at[i].value};
    options->layers = layers;
    options->layer_count = pairs->count;
    return 0;
}

static int check_settings(const struct settings *settings, struct baryon_error *err)
{
    if (!settings->scheme || !*settings->scheme)
        return by_fail(err, BARYON_ERR_USAGE, "--scheme NAME is required");
    return settings->dry_run ? 0 : by_llm_writing_check(&settings->writing, err);
}

static int run_llm_quantize(struct by_cli *cli, const void *given, struct baryon_error *err)
{
    const struct settings *settings = given;
    struct by_llm_quantized result;
    struct by_llm_quantize_options options = {
        .scheme = settings->scheme,
        .layout = settings->layout,
        .exclude = settings->exclude.at,
        .exclude_count = settings->exclude.count,
        .linears = settings->linears,
        .group_size = settings->group_size,
        .search = (enum by_llm_search)settings->search,
        .quark = settings->compat,
        .allow_nonfinite = settings->allow_nonfinite,
        .dry_run = settings->dry_run,
        .shard_size = settings->writing.shard_size,
        .threads = (unsigned)settings->writing.threads,
    };
    if (check_settings(settings, err) || list_layers(cli, settings, &options, err) ||
        by_llm_quantize(cli->operands[0], settings->writing.out, &options, &cli->log, &result, err))
        return -1;
    const bool searched = !options.quark && options.search == BY_LLM_SEARCH_MSE;
    if (settings->dry_run)
        by_llm_quant_tell(cli, "quantizable", cli->operands[0], false, &result);
    else
        by_llm_quant_tell(cli, "quantized", settings->writing.out, searched, &result);
    return 0;
}

static const struct by_example examples[] = {
    {"baryon llm quantize Qwen3-0.6B -o Qwen3-0.6B-int4 --scheme int4_wo_128",
     "4-bit weights for vLLM, scales for each 128"},
    {"baryon llm quantize model -o out --scheme uint4_wo_128 --layout awq",
     "as AutoAWQ would store them"},
    {"baryon llm quantize model -o out --scheme mxfp4 --layer '*.v_proj=mxfp6_e2m3'",
     "more bits for some layers"},
    {NULL, NULL},
};

const struct by_command by_cmd_llm_quantize = {
    .name = "llm quantize",
    .operands = "FOLDER",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Quantize the linear layers of a language model",
    .text = "Reads a folder with config.json and safetensors files and writes another one. No "
            "samples and no memory for the model are needed: a tensor is read, rounded and written "
            "in slabs. Embeddings, norms, the head, routers of experts, vision towers and blocks "
            "that predict more than one token stay as they are. Models that are quantized already "
            "are dequantized on the way.\n\n"
            "The folder appears when it is whole. A run that was interrupted continues with the "
            "files that it had finished, if the model and the options are the same.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}, {&by_llm_writing_group, SETTING(writing)}},
    .run = run_llm_quantize,
};
