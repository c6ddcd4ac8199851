/* Defines the options of the search for bits of each layer, and turns them into its struct. */
#include "settings/llm_auto.h"

#include "base/file.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

#define AUTO(member) offsetof(struct by_llm_auto_settings, member)

static const struct by_choice units[] = {
    {"layout", BY_LLM_UNIT_LAYOUT, "as loaders of the layout ask"},
    {"linear", BY_LLM_UNIT_LINEAR, "each linear layer by itself, experts of a layer by kind"},
    {"fused", BY_LLM_UNIT_FUSED,
     "q, k and v have the same type, gate and up too, all experts of a layer too"},
    {NULL, 0, NULL},
};

/* Fewer tokens leave what an error costs noisy, and choices go after that noise. */
#define PROBE_TOKENS  1024
#define PROBE_WINDOWS 2

static const struct by_choice probes[] = {
    {"auto", -1, "as many as have 1,024 tokens, 2 at least"},
    {NULL, 0, NULL},
};

static const struct by_option rows[] = {
    {.name = "bits",
     .letter = 'b',
     .type = BY_OPT_NUMBER,
     .arg = "NUMBER",
     .min = 0,
     .max = 32,
     .offset = AUTO(bits),
     .help = "Budget: bits of a weight of the linear layers, scales included, in the mean"},
    {.name = "max-size",
     .type = BY_OPT_BYTES,
     .arg = "SIZE",
     .max = 1e15,
     .offset = AUTO(max_size),
     .help = "Budget: bytes of all tensors"},
    {.name = "goal",
     .letter = 'g',
     .type = BY_OPT_TEXTS,
     .arg = "kl<=VALUE",
     .offset = AUTO(goals),
     .help = "Find the smallest model whose divergence from the float model, nats a token, is at "
             "most VALUE; with a budget, within it"},
    {.name = "layout",
     .type = BY_OPT_TEXT,
     .arg = "NAME",
     .fallback = "quark",
     .offset = AUTO(layout),
     .help = "Names and packing of the tensors; 'baryon list layouts' names them"},
    {.name = "types",
     .type = BY_OPT_TEXTS,
     .arg = "NAME[,NAME...]",
     .offset = AUTO(types),
     .help = "Schemes, or types of GGUF, to choose from; all of the layout that have weights alone "
             "in levels with scales"},
    {.name = "unit",
     .type = BY_OPT_CHOICE,
     .arg = "WHAT",
     .choices = units,
     .fallback = "layout",
     .offset = AUTO(unit),
     .help = "What has one type"},
    {.name = "exclude",
     .type = BY_OPT_TEXTS,
     .arg = "PATTERN",
     .offset = AUTO(exclude),
     .help = "Leave layers as they are whose names match PATTERN, a shell pattern or re:REGEX"},
    {.name = "text",
     .letter = 't',
     .type = BY_OPT_TEXTS,
     .arg = "PATH[,PATH...]",
     .offset = AUTO(texts),
     .help = "Text files, or folders of them, or ids in .npy files, that layers are rounded and "
             "judged on, in windows of their own; can be repeated (required)"},
    {.name = "method",
     .type = BY_OPT_TEXT,
     .arg = "NAME",
     .fallback = "descent",
     .offset = AUTO(method),
     .help = "How weights are rounded; 'baryon list solvers' names the ways"},
    {.name = "length",
     .type = BY_OPT_INT,
     .arg = "TOKENS",
     .min = 2,
     .max = 131072,
     .fallback = "512",
     .offset = AUTO(length),
     .help = "Tokens of a window of the texts"},
    {.name = "windows",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 0,
     .max = 1e9,
     .fallback = "16",
     .offset = AUTO(windows),
     .help = "Round on at most COUNT windows, spread over the texts, 0 for half of all"},
    {.name = "stream-type",
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = by_llm_stream_types,
     .fallback = "float32",
     .offset = AUTO(stream_type),
     .help = BY_LLM_STREAM_TYPE_HELP},
    {.name = "max-memory",
     .type = BY_OPT_BYTES,
     .arg = "SIZE",
     .max = 9.2e18,
     .offset = AUTO(max_memory),
     .help = "Memory that looking, rounding and measuring may take: states and weights go to files "
             "where that helps, what needs more is refused; 0 for any"},
    {.name = "judge-windows",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 0,
     .max = 1e9,
     .fallback = "8",
     .offset = AUTO(judge_windows),
     .help = "Choose by at most COUNT windows between those, and measure on as many others, 0 for "
             "all"},
    {.name = "probe-windows",
     .type = BY_OPT_NUMBER,
     .arg = "COUNT",
     .min = 0,
     .max = 1e9,
     .choices = probes,
     .fallback = "auto",
     .offset = AUTO(probe_windows),
     .help = "Windows that measure what an error of a layer costs, 0 for all that choose"},
    {.name = "probe-layers",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 0,
     .max = 1e6,
     .fallback = "0",
     .offset = AUTO(probe_layers),
     .help = "Layers for which that is measured, others lie between; 0 for all"},
    {
        .name = "corrections",
        .type = BY_OPT_INT,
        .arg = "COUNT",
        .min = 0,
        .max = 100,
        .fallback = "1",
        .offset = AUTO(corrections),
        .help =
            "Within a size: choose again at most COUNT times, by what kinds of linears of the last "
            "model were found to diverge, as long as models are not worse by more than the error",
    },
    {.name = "no-uniform",
     .type = BY_OPT_FLAG,
     .offset = AUTO(no_uniform),
     .help = "Do not try the best single type of the same size beside"},
    {.name = "report",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = AUTO(report),
     .help =
         "Write the types of all layers, predictions and measurements to FILE: a page to open in "
         "a browser if it ends in .html, else JSON"},
};

const struct by_option_group by_llm_auto_group = BY_OPTION_GROUP("Search options", rows);

/* --- Budgets --- */

static int bad_goal(const char *text, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "--goal: %s is no goal", by_quote(quoted, text));
    return by_err_hint(err, "write kl<=NUMBER in quotes, such as 'kl<=0.02'");
}

static int read_goal(const char *text, double *kl, struct baryon_error *err)
{
    if (!strncmp(text, "kl>=", 4))
        return by_fail(err, BARYON_ERR_USAGE,
                       "--goal %s: a better model has a lower kl, so the goal is an upper bound "
                       "(kl<=)",
                       text);
    if (strncmp(text, "kl<=", 4) != 0 || !by_parse_double(text + 4, kl) || !isfinite(*kl))
        return bad_goal(text, err);
    return *kl > 0 ? 0
                   : by_fail(err, BARYON_ERR_USAGE,
                             "--goal %s cannot be met: kl is 0 for the float model alone", text);
}

static int read_budget(const struct by_llm_auto_settings *settings,
                       struct by_llm_auto_options *options, struct baryon_error *err)
{
    options->kl = -1;
    if (settings->goals.count > 1)
        return by_fail(err, BARYON_ERR_USAGE, "%zu goals are given, at most 1 is possible",
                       settings->goals.count);
    if (settings->bits > 0 && settings->max_size)
        return by_fail(err, BARYON_ERR_USAGE, "--max-size is not valid with --bits");
    if (settings->goals.count && read_goal(settings->goals.at[0], &options->kl, err))
        return -1;
    if (!(settings->bits > 0) && !settings->max_size && !settings->goals.count) {
        by_fail(err, BARYON_ERR_USAGE, "a budget is required: --bits, --max-size or --goal");
        return by_err_hint(err, "--bits 4.5, or --goal 'kl<=0.02'");
    }
    options->bits = settings->bits;
    options->max_size = settings->max_size;
    return 0;
}

/* --- All --- */

static int take_method(const struct by_llm_auto_settings *settings, struct by_llm_solver *solver,
                       struct baryon_error *err)
{
    const bool in_blocks = !strcmp(settings->layout, "gguf");
    solver->method = by_llm_method_find(settings->method, err);
    if (!solver->method)
        return -1;
    solver->options = solver->method->defaults;
    if (!solver->method->solves)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--method %s is not valid here: it asks nothing of "
                       "texts",
                       settings->method);
    if (!in_blocks && solver->method->only_in_blocks)
        return by_fail(err, BARYON_ERR_USAGE, "--method %s is not valid with --layout %s",
                       settings->method, settings->layout);
    return 0;
}

static int check_out(const struct by_llm_auto_settings *settings, struct baryon_error *err)
{
    const char *out = settings->writing.out;
    const bool in_blocks = !strcmp(settings->layout, "gguf");
    char quoted[BY_QUOTE_MAX];
    if (by_llm_writing_check(&settings->writing, err))
        return -1;
    if (in_blocks && settings->writing.shard_size)
        return by_fail(err, BARYON_ERR_USAGE, "--shard-size is not valid with --layout gguf");
    if (in_blocks && !by_has_suffix(out, ".gguf"))
        return by_fail(err, BARYON_ERR_USAGE, "output %s, must end with .gguf with --layout gguf",
                       out);
    if (!in_blocks && by_file_exists(out) && !by_folder_is_empty(out))
        return by_fail(err, BARYON_ERR_USAGE, "--out %s exists and is not an empty folder",
                       by_quote(quoted, out));
    return 0;
}

static uint64_t probe_windows(const struct by_llm_auto_settings *settings)
{
    const int64_t length = settings->length;
    if (settings->probe_windows >= 0)
        return (uint64_t)settings->probe_windows;
    return length * PROBE_WINDOWS < PROBE_TOKENS ? (uint64_t)((PROBE_TOKENS + length - 1) / length)
                                                 : PROBE_WINDOWS;
}

int by_llm_auto_take(const struct by_llm_auto_settings *settings,
                     struct by_llm_auto_options *options, struct baryon_error *err)
{
    *options = (struct by_llm_auto_options){
        .quantize = {.layout = settings->layout,
                     .stacks = BY_LLM_STACKS_SPLIT,
                     .exclude = settings->exclude.at,
                     .exclude_count = settings->exclude.count,
                     .texts = settings->texts,
                     .length = (uint64_t)settings->length,
                     .windows = (uint64_t)settings->windows,
                     .halved = settings->stream_type == 1,
                     .max_memory = settings->max_memory,
                     .shard_size = settings->writing.shard_size,
                     .threads = (unsigned)settings->writing.threads},
        .types = settings->types,
        .unit = (enum by_llm_auto_unit)settings->unit,
        .judge_windows = (uint64_t)settings->judge_windows,
        .probe_windows = probe_windows(settings),
        .probe_layers = (uint64_t)settings->probe_layers,
        .corrections = (uint64_t)settings->corrections,
        .no_uniform = settings->no_uniform,
    };
    if (check_out(settings, err) || read_budget(settings, options, err) ||
        take_method(settings, &options->quantize.solver, err))
        return -1;
    if (!settings->texts.count) {
        by_fail(err, BARYON_ERR_USAGE, "--text is required: files or folders of texts");
        return by_err_hint(err, "take texts as the model is going to see");
    }
    return 0;
}
