/* Defines the options of the evaluation of a language model, and turns them into its struct. */
#include "settings/llm_eval.h"

#define EVAL(member) offsetof(struct by_llm_eval_settings, member)

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
     .offset = EVAL(texts),
     .help = "Text files, or folders of them, joined by empty lines, or ids in .npy files; can be "
             "repeated"},
    {.name = "against",
     .type = BY_OPT_TEXT,
     .arg = "MODEL",
     .offset = EVAL(against),
     .help = "Reference, most often the float model: show the divergence from it"},
    {.name = "length",
     .type = BY_OPT_INT,
     .arg = "TOKENS",
     .min = 2,
     .max = 131072,
     .fallback = "2048",
     .offset = EVAL(length),
     .help = "Tokens of a window"},
    {.name = "windows",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 0,
     .max = 1e9,
     .fallback = "0",
     .offset = EVAL(windows),
     .help = "Use at most COUNT windows, 0 for all"},
    {.name = "activations",
     .type = BY_OPT_CHOICE,
     .arg = "HOW",
     .choices = activations,
     .fallback = "simulate",
     .offset = EVAL(activations),
     .help = "Inputs of linear layers"},
    {.name = "stream-type",
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = by_llm_stream_types,
     .fallback = "float32",
     .offset = EVAL(stream_type),
     .help = BY_LLM_STREAM_TYPE_HELP},
    {.name = "max-memory",
     .type = BY_OPT_BYTES,
     .arg = "SIZE",
     .max = 9.2e18,
     .offset = EVAL(max_memory),
     .help = "Memory that evaluation may take: states and weights go to files in the folder for "
             "temporary files where that helps, what needs more is refused; 0 for any"},
    {.name = "report",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = EVAL(report),
     .help = "Write figures of all windows to FILE: a page to open in a browser if it ends in "
             ".html, else JSON"},
};

const struct by_option_group by_llm_eval_group = BY_OPTION_GROUP("Evaluation", rows);

int by_llm_eval_take(const struct by_llm_eval_settings *settings, const char *path,
                     struct by_llm_eval_options *options, struct baryon_error *err)
{
    *options = (struct by_llm_eval_options){
        .path = path,
        .against = settings->against,
        .texts = settings->texts,
        .length = (uint64_t)settings->length,
        .windows = (uint64_t)settings->windows,
        .halved = settings->stream_type == 1,
        .float_activations = settings->activations,
        .max_memory = settings->max_memory,
        .report = settings->report,
        .threads = (unsigned)settings->reading.threads,
    };
    if (settings->texts.count)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "--text is required: files or folders of texts");
    return by_err_hint(err, "take texts that were not used to quantize the model");
}
