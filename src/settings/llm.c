/* Defines the options of the commands for language models and turns them into their structs. */
#include "settings/llm.h"

#include "llm/float_types.h"
#include "llm/rotate.h"

#include <string.h>

#define WRITING(member)    offsetof(struct by_llm_writing, member)
#define QUANTIZE(member)   offsetof(struct by_llm_quantize_settings, member)
#define CONVERT(member)    offsetof(struct by_llm_convert_settings, member)
#define EXPORT(member)     offsetof(struct by_llm_export_settings, member)
#define DEQUANTIZE(member) offsetof(struct by_llm_dequantize_settings, member)

/* --- What all write --- */

static const struct by_option writing_rows[] = {
    {.name = "out",
     .letter = 'o',
     .type = BY_OPT_TEXT,
     .not_in_files = "it names the output",
     .arg = "FOLDER",
     .offset = WRITING(out),
     .help = "Write the model to FOLDER, which must not exist or be empty (required)"},
    {.name = "shard-size",
     .type = BY_OPT_BYTES,
     .arg = "SIZE",
     .max = 1e15,
     .offset = WRITING(shard_size),
     .help = "Largest number of bytes in a file of weights, 0 for 5 GB, and for one GGUF file; of "
             "several GGUF files OUT is the name without the numbers"},
    {.name = "threads",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .max = BY_THREADS_MAX,
     .offset = WRITING(threads),
     .help = "Number of threads, 0 for all processors that the process may use"},
};

const struct by_option_group by_llm_writing_group = BY_OPTION_GROUP("Output options", writing_rows);

static const struct by_option reading_rows[] = {
    {.name = "threads",
     .letter = 'j',
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .max = BY_THREADS_MAX,
     .fallback = "0",
     .offset = offsetof(struct by_llm_reading, threads),
     .help = "Number of threads, 0 for all processors that the process may use"},
};

const struct by_option_group by_llm_reading_group = BY_OPTION_GROUP("Work", reading_rows);

int by_llm_writing_check(const struct by_llm_writing *writing, struct baryon_error *err)
{
    if (!writing->out || !*writing->out)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--out FOLDER is required: the folder for the new model");
    return 0;
}

/* --- Quantizing --- */

static const struct by_choice searches[] = {
    {"unbiased", BY_LLM_SEARCH_UNBIASED, "as mse, and then so that weights do not become shorter"},
    {"mse", BY_LLM_SEARCH_MSE, "scale and zero point of least squared error"},
    {"minmax", BY_LLM_SEARCH_MINMAX, "the whole range of the values"},
    {NULL, 0, NULL},
};
static const struct by_choice compats[] = {
    {"none", 0, "scales in float32"},
    {"quark-0.13", 1, "Quark's arithmetic, in the type of the model, and whole ranges"},
    {NULL, 0, NULL},
};

static const struct by_choice caches[] = {
    {"none", BY_LLM_KEPT_FLOAT, "keys and values stay floats"},
    {"fp8", BY_LLM_KEPT_FP8, "fp8_e4m3, which vLLM and Quark know"},
    {"int8", BY_LLM_KEPT_INT8, "int8"},
    {NULL, 0, NULL},
};

static const struct by_choice smoothings[] = {
    {"none", -2, "inputs as they are"},
    {"auto", -1, "the share of the least error, for each input"},
    {NULL, 0, NULL},
};

enum { STREAM_MEMORY, STREAM_SPILL };

static const struct by_choice streams[] = {
    {"memory", STREAM_MEMORY, "in memory"},
    {"spill", STREAM_SPILL, "in a file without a name beside the output, for the same bytes"},
    {NULL, 0, NULL},
};

const struct by_choice by_llm_stream_types[] = {
    {"float32", 0, "as they are computed"},
    {"bf16", 1, "rounded to bf16 between layers, half the room"},
    {NULL, 0, NULL},
};

static const struct by_choice rotations[] = {
    {"none", 0, "weights as they are"},
    {"r1", BY_LLM_ROTATE_STREAM, "hidden states, once norms are folded"},
    {"r2", BY_LLM_ROTATE_HEADS, "values of each head"},
    {"r1r2", BY_LLM_ROTATE_STREAM | BY_LLM_ROTATE_HEADS, "both"},
    {"r4", BY_LLM_ROTATE_INPUTS, "inputs of down, while the model runs, where the layout says so"},
    {"r1r4", BY_LLM_ROTATE_STREAM | BY_LLM_ROTATE_INPUTS, "r1 and r4"},
    {"r2r4", BY_LLM_ROTATE_HEADS | BY_LLM_ROTATE_INPUTS, "r2 and r4"},
    {"r1r2r4", BY_LLM_ROTATE_STREAM | BY_LLM_ROTATE_HEADS | BY_LLM_ROTATE_INPUTS, "all"},
    {NULL, 0, NULL},
};

static const struct by_choice stacks[] = {
    {"split", BY_LLM_STACKS_SPLIT, "each expert has weights of its own, as most loaders want it"},
    {"keep", BY_LLM_STACKS_KEEP, "stacks stay as they are, not quantized"},
    {NULL, 0, NULL},
};

static const struct by_choice automatic[] = {
    {"auto", -1, "the method's, or chosen on held-out windows"},
    {NULL, 0, NULL},
};

static const struct by_choice starts[] = {
    {"auto", -1, "the method's: those of GPTQ"},
    {"gptq", BY_LLM_START_GPTQ, "those of GPTQ, with the scales that the nearest have"},
    {"nearest", BY_LLM_START_NEAREST, "the nearest"},
    {NULL, 0, NULL},
};

static const struct by_option quantize_rows[] = {
    {.name = "scheme",
     .type = BY_OPT_TEXT,
     .arg = "NAME",
     .offset = QUANTIZE(scheme),
     .help =
         "Quantization scheme of the linear layers (required); 'baryon list schemes' names them"},
    {.name = "layout",
     .type = BY_OPT_TEXT,
     .arg = "NAME",
     .fallback = "quark",
     .offset = QUANTIZE(layout),
     .help = "Names and packing of the tensors; 'baryon list layouts' names them"},
    {.name = "exclude",
     .type = BY_OPT_TEXTS,
     .arg = "PATTERN",
     .offset = QUANTIZE(exclude),
     .help = "Leave layers as they are whose names match PATTERN, a shell pattern or re:REGEX"},
    {.name = "layer",
     .type = BY_OPT_PAIRS,
     .arg = "PATTERN=SCHEME",
     .offset = QUANTIZE(layers),
     .help = "Another scheme for layers whose names match PATTERN; the first that matches counts"},
    {.name = "group-size",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .max = 65536,
     .offset = QUANTIZE(group_size),
     .help = "Weights that share a scale, for schemes with groups; 0 for the scheme's"},
    {.name = "search",
     .type = BY_OPT_CHOICE,
     .arg = "NAME",
     .choices = searches,
     .fallback = "unbiased",
     .offset = QUANTIZE(search),
     .help = "How scales are chosen"},
    {.name = "compat",
     .type = BY_OPT_CHOICE,
     .arg = "NAME",
     .choices = compats,
     .fallback = "none",
     .offset = QUANTIZE(compat),
     .help = "Whose arithmetic scales and codes follow"},
    {.name = "linears",
     .type = BY_OPT_TEXT,
     .arg = "PATTERN",
     .offset = QUANTIZE(linears),
     .help =
         "Quantize the matrices of layers whose names match PATTERN, whatever the architecture"},
    {.name = "stacks",
     .type = BY_OPT_CHOICE,
     .arg = "WHAT",
     .choices = stacks,
     .fallback = "split",
     .offset = QUANTIZE(stacks),
     .help = "What becomes of experts that are stacked in one tensor"},
    {.name = "report",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = QUANTIZE(report),
     .help =
         "Write scheme, bits, error, gain of the search and time of each weight to FILE: a page "
         "to open in a browser if it ends in .html, else JSON"},
    {.name = "importance",
     .type = BY_OPT_TEXT,
     .arg = "FILE",
     .offset = QUANTIZE(importance),
     .help = "Weigh errors of columns by FILE, an importance matrix of llama-imatrix, as "
             "llama-quantize does; for --layout gguf"},
    {.name = "allow-nonfinite",
     .type = BY_OPT_FLAG,
     .offset = QUANTIZE(allow_nonfinite),
     .help = "Quantize NaN as 0 and infinities as the row's greatest magnitude"},
    {.name = "dry-run",
     .letter = 'n',
     .type = BY_OPT_FLAG,
     .offset = QUANTIZE(dry_run),
     .help = "Check and count, write nothing"},
    {.name = "method",
     .type = BY_OPT_TEXT,
     .arg = "NAME",
     .offset = QUANTIZE(method),
     .help = "How weights are rounded, 'baryon list solvers' names the ways; descent with --text, "
             "else rtn"},
    {.name = "text",
     .letter = 't',
     .type = BY_OPT_TEXTS,
     .arg = "PATH[,PATH...]",
     .offset = QUANTIZE(texts),
     .help =
         "Text files, or folders of them, or ids in .npy files, that layers are rounded on; can be "
         "repeated"},
    {.name = "smooth",
     .type = BY_OPT_NUMBER,
     .arg = "ALPHA",
     .min = 0,
     .max = 1,
     .choices = smoothings,
     .fallback = "none",
     .offset = QUANTIZE(smooth),
     .help = "SmoothQuant: move this share of the inputs' peaks into weights"},
    {.name = "awq",
     .type = BY_OPT_FLAG,
     .offset = QUANTIZE(awq),
     .help = "AWQ: give weights of large inputs a finer grid"},
    {.name = "rotate",
     .type = BY_OPT_CHOICE,
     .arg = "WHICH",
     .choices = rotations,
     .fallback = "none",
     .offset = QUANTIZE(rotate),
     .help = "Rotate weights before they are rounded, so that peaks of channels spread"},
    {.name = "rotate-size",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 0,
     .max = 1 << 20,
     .offset = QUANTIZE(rotate_size),
     .help = "With r4: rotate blocks of COUNT inputs, 0 for all inputs of a layer together"},
    {.name = "kv-cache",
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = caches,
     .fallback = "none",
     .offset = QUANTIZE(cache),
     .help = "Write scales of the keys and values that are kept, as the texts give them"},
    {.name = "stream",
     .type = BY_OPT_CHOICE,
     .arg = "WHERE",
     .choices = streams,
     .fallback = "memory",
     .offset = QUANTIZE(stream),
     .help = "Where hidden states of all windows lie while layers are rounded"},
    {.name = "stream-type",
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = by_llm_stream_types,
     .fallback = "float32",
     .offset = QUANTIZE(stream_type),
     .help = BY_LLM_STREAM_TYPE_HELP},
    {.name = "max-memory",
     .type = BY_OPT_BYTES,
     .arg = "SIZE",
     .max = 9.2e18,
     .offset = QUANTIZE(max_memory),
     .help = "Memory that rounding on texts may take: states go to a file where that helps, what "
             "needs more is refused; 0 for any"},
    {.name = "length",
     .type = BY_OPT_INT,
     .arg = "TOKENS",
     .min = 2,
     .max = 131072,
     .fallback = "512",
     .offset = QUANTIZE(length),
     .help = "Tokens of a window of the texts"},
    {.name = "windows",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 0,
     .max = 1e9,
     .fallback = "16",
     .offset = QUANTIZE(windows),
     .help = "Use at most COUNT windows, spread over the texts, 0 for all"},
    {.name = "shrink",
     .type = BY_OPT_NUMBER,
     .arg = "SHARE",
     .min = 0,
     .max = 1,
     .choices = automatic,
     .fallback = "auto",
     .offset = QUANTIZE(shrink),
     .help = "Share that is taken off what inputs have in common, since few texts leave it noisy"},
    {.name = "damping",
     .type = BY_OPT_NUMBER,
     .arg = "SHARE",
     .min = 0,
     .max = 100,
     .choices = automatic,
     .fallback = "auto",
     .offset = QUANTIZE(damping),
     .help = "Share of the inputs' mean energy that is added to each input's own"},
    {.name = "cross",
     .type = BY_OPT_NUMBER,
     .arg = "SHARE",
     .min = 0,
     .max = 2,
     .choices = automatic,
     .fallback = "auto",
     .offset = QUANTIZE(cross),
     .help = "How much layers make up for the errors of layers before them"},
    {.name = "sweeps",
     .type = BY_OPT_NUMBER,
     .arg = "COUNT",
     .min = 0,
     .max = 1000,
     .choices = automatic,
     .fallback = "auto",
     .offset = QUANTIZE(sweeps),
     .help = "Sweeps of descent through all columns, at most"},
    {.name = "scale-fits",
     .type = BY_OPT_NUMBER,
     .arg = "COUNT",
     .min = 0,
     .max = 100,
     .choices = automatic,
     .fallback = "auto",
     .offset = QUANTIZE(fits),
     .help = "Fits of the scales to the integers, with sweeps after each"},
    {.name = "start",
     .type = BY_OPT_CHOICE,
     .arg = "LEVELS",
     .choices = starts,
     .fallback = "auto",
     .offset = QUANTIZE(start),
     .help = "Levels that descent goes on from: those of GPTQ, or the nearest"},
    {.name = "in-order",
     .type = BY_OPT_FLAG,
     .offset = QUANTIZE(in_order),
     .help = "GPTQ takes columns as they come, not those with the largest inputs first"},
};

const struct by_option_group by_llm_quantize_group =
    BY_OPTION_GROUP("Quantization options", quantize_rows);

static int list_layers(struct by_config *config, const struct by_llm_quantize_settings *settings,
                       struct by_llm_quantize_options *options, struct baryon_error *err)
{
    const struct by_setting_pairs *pairs = &settings->layers;
    struct by_llm_layer_scheme *layers =
        by_arena_alloc(&config->arena, pairs->count, sizeof *layers, err);
    if (!layers)
        return -1;
    for (size_t i = 0; i < pairs->count; i++)
        layers[i] = (struct by_llm_layer_scheme){pairs->at[i].name, pairs->at[i].value};
    options->layers = layers;
    options->layer_count = pairs->count;
    return 0;
}

static void take_number(double given, double *value)
{
    if (given >= 0)
        *value = given;
}

static void take_count(double given, unsigned *value)
{
    if (given >= 0)
        *value = (unsigned)given;
}

/* Options of methods that solve mean nothing to one that does not. */
static int check_solver(const struct by_llm_quantize_settings *settings,
                        const struct by_llm_method *method, struct baryon_error *err)
{
    const struct {
        const char *name;
        bool given;
    } rows[] = {{"--shrink", settings->shrink >= 0},   {"--damping", settings->damping >= 0},
                {"--cross", settings->cross >= 0},     {"--sweeps", settings->sweeps >= 0},
                {"--scale-fits", settings->fits >= 0}, {"--start", settings->start >= 0},
                {"--in-order", settings->in_order}};
    if (method->solves && !settings->texts.count)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--method %s requires --text: files or folders of "
                       "texts",
                       method->name);
    if (method->solves && settings->compat)
        return by_fail(err, BARYON_ERR_USAGE, "--compat is not valid with --method %s",
                       method->name);
    if (method->solves && settings->stacks == BY_LLM_STACKS_KEEP)
        return by_fail(err, BARYON_ERR_USAGE, "--stacks keep is not valid with --method %s",
                       method->name);
    for (size_t i = 0; !method->solves && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given)
            return by_fail(err, BARYON_ERR_USAGE, "%s is not valid with --method %s", rows[i].name,
                           method->name);
    if (method->only_in_blocks && strcmp(settings->layout, "gguf") != 0)
        return by_fail(err, BARYON_ERR_USAGE, "--method %s requires --layout gguf", method->name);
    if (settings->start >= 0 && !method->defaults.sweeps)
        return by_fail(err, BARYON_ERR_USAGE, "--start is not valid with --method %s",
                       method->name);
    if (settings->in_order && settings->start == BY_LLM_START_NEAREST)
        return by_fail(err, BARYON_ERR_USAGE, "--in-order is not valid with --start nearest");
    if (settings->in_order && method->defaults.start == BY_LLM_START_NEAREST)
        return by_fail(err, BARYON_ERR_USAGE, "--in-order is not valid with --method %s",
                       method->name);
    return 0;
}

static int take_solver(const struct by_llm_quantize_settings *settings,
                       struct by_llm_solver *solver, struct baryon_error *err)
{
    const char *name = settings->method && *settings->method ? settings->method
                       : settings->texts.count               ? "descent"
                                                             : "rtn";
    solver->method = by_llm_method_find(name, err);
    if (!solver->method || check_solver(settings, solver->method, err))
        return -1;
    solver->options = solver->method->defaults;
    take_number(settings->shrink, &solver->options.shrink);
    take_number(settings->damping, &solver->options.damping);
    take_number(settings->cross, &solver->options.cross);
    take_count(settings->sweeps, &solver->options.sweeps);
    take_count(settings->fits, &solver->options.fits);
    if (settings->start >= 0)
        solver->options.start = settings->start;
    solver->options.in_order = settings->in_order;
    return 0;
}

static int check_scaling(const struct by_llm_quantize_settings *settings,
                         const struct by_llm_method *method, struct baryon_error *err)
{
    const bool smooths = settings->smooth >= -1;
    if (smooths && settings->awq)
        return by_fail(err, BARYON_ERR_USAGE, "--awq is not valid with --smooth");
    if ((smooths || settings->awq) && !settings->texts.count)
        return by_fail(err, BARYON_ERR_USAGE, "%s requires --text: files or folders of texts",
                       smooths ? "--smooth" : "--awq");
    if (settings->stream != STREAM_MEMORY && !settings->texts.count)
        return by_fail(err, BARYON_ERR_USAGE, "--stream spill requires --text");
    if (settings->stream_type && !settings->texts.count)
        return by_fail(err, BARYON_ERR_USAGE, "--stream-type requires --text");
    if (settings->rotate_size && !(settings->rotate & BY_LLM_ROTATE_INPUTS))
        return by_fail(err, BARYON_ERR_USAGE, "--rotate-size requires --rotate r4");
    if (settings->max_memory && !method->solves)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--max-memory requires --text and a method that "
                       "solves");
    if (settings->stream != STREAM_MEMORY && !method->solves)
        return by_fail(err, BARYON_ERR_USAGE, "--stream spill is not valid with --method %s",
                       method->name);
    return 0;
}

int by_llm_quantize_take(struct by_config *config, const struct by_llm_quantize_settings *settings,
                         struct by_llm_quantize_options *options, struct baryon_error *err)
{
    if (!settings->scheme || !*settings->scheme)
        return by_fail(err, BARYON_ERR_USAGE, "--scheme NAME is required");
    *options = (struct by_llm_quantize_options){
        .scheme = settings->scheme,
        .layout = settings->layout,
        .exclude = settings->exclude.at,
        .exclude_count = settings->exclude.count,
        .linears = settings->linears,
        .group_size = settings->group_size,
        .stacks = (enum by_llm_stacks)settings->stacks,
        .report = settings->report,
        .importance = settings->importance,
        .search = (enum by_llm_search)settings->search,
        .quark = settings->compat,
        .allow_nonfinite = settings->allow_nonfinite,
        .dry_run = settings->dry_run,
        .shard_size = settings->writing.shard_size,
        .threads = (unsigned)settings->writing.threads,
        .texts = settings->texts,
        .length = (uint64_t)settings->length,
        .windows = (uint64_t)settings->windows,
        .scaling = settings->smooth >= -1 ? BY_LLM_SCALING_SMOOTH
                   : settings->awq        ? BY_LLM_SCALING_AWQ
                                          : BY_LLM_SCALING_NONE,
        .alpha = settings->smooth,
        .rotate = (unsigned)settings->rotate,
        .rotate_size = (size_t)settings->rotate_size,
        .spills = settings->stream == STREAM_SPILL,
        .halved = settings->stream_type == 1,
        .max_memory = settings->max_memory,
        .cache = (enum by_llm_kept)settings->cache,
    };
    if (take_solver(settings, &options->solver, err) ||
        check_scaling(settings, options->solver.method, err))
        return -1;
    return list_layers(config, settings, options, err);
}

/* --- Going back --- */

static const struct by_option dequantize_rows[] = {
    {.name = "to",
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = by_llm_float_choices,
     .fallback = "auto",
     .offset = DEQUANTIZE(to),
     .help = "Type of the weights; vectors keep theirs"},
};

const struct by_option_group by_llm_dequantize_group = BY_OPTION_GROUP("Options", dequantize_rows);

void by_llm_dequantize_take(const struct by_llm_dequantize_settings *settings,
                            struct by_llm_quantize_options *options)
{
    *options = (struct by_llm_quantize_options){
        .shard_size = settings->writing.shard_size,
        .threads = (unsigned)settings->writing.threads,
    };
}

/* --- Converting --- */

static const struct by_option convert_rows[] = {
    {.name = "type",
     .type = BY_OPT_TEXT,
     .arg = "TYPE",
     .offset = CONVERT(type),
     .help = "Type of the matrices: bf16 (the default), f16 or f32; for a GGUF file also the "
             "mixtures of llama-quantize: q8_0, q4_k_m"},
    {.name = "force-arch",
     .type = BY_OPT_TEXT,
     .arg = "ARCH",
     .offset = CONVERT(arch),
     .help = "GGUF architecture whose rules are taken for a model_type that is not known"},
    {.name = "no-tokenizer",
     .type = BY_OPT_FLAG,
     .offset = CONVERT(no_tokenizer),
     .help = "Convert weights and metadata alone"},
};

const struct by_option_group by_llm_convert_group = BY_OPTION_GROUP("Options", convert_rows);

void by_llm_convert_take(const struct by_llm_convert_settings *settings, const char *in,
                         struct by_llm_convert *convert)
{
    *convert = (struct by_llm_convert){
        .in = in,
        .out = settings->writing.out,
        .type = settings->type,
        .arch = settings->arch,
        .no_tokenizer = settings->no_tokenizer,
        .shard_bytes = settings->writing.shard_size,
        .threads = (unsigned)settings->writing.threads,
    };
}

/* --- Exporting --- */

static const struct by_option export_rows[] = {
    {.name = "out",
     .letter = 'o',
     .type = BY_OPT_TEXT,
     .not_in_files = "it names the output",
     .arg = "FOLDER",
     .offset = EXPORT(out),
     .help = "Write the model to FOLDER, which must not exist or be empty (required)"},
    {.name = "accuracy-level",
     .type = BY_OPT_INT,
     .arg = "LEVEL",
     .max = 4,
     .fallback = "0",
     .offset = EXPORT(accuracy_level),
     .help = "How MatMulNBits may round what it reads: 0 not at all, 1 float32, 2 float16, 3 "
             "bfloat16, 4 int8, which is fastest"},
    {.name = "context",
     .type = BY_OPT_INT,
     .arg = "TOKENS",
     .max = 1 << 20,
     .fallback = "0",
     .offset = EXPORT(context),
     .help = "Longest text that the model can take, 0 for what config.json says, at most 131072"},
};

const struct by_option_group by_llm_export_group = BY_OPTION_GROUP("Export", export_rows);

int by_llm_export_take(const struct by_llm_export_settings *settings,
                       struct by_llm_export_options *options, struct baryon_error *err)
{
    if (!settings->out || !*settings->out)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--out FOLDER is required: the folder for the new model");
    *options = (struct by_llm_export_options){
        .out = settings->out,
        .accuracy_level = settings->accuracy_level,
        .context = (uint64_t)settings->context,
        .threads = (unsigned)settings->reading.threads,
    };
    return 0;
}
