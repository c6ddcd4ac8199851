/* Quantizing into a GGUF file: what is asked of layers, as types of tensors. */
#include "llm/calibrated.h"
#include "llm/importance.h"

#include <string.h>

#define ARENA_LIMIT ((size_t)1 << 24)

/* What has no meaning where blocks of a type are all there is. */
static int refuse_options(const struct by_llm_quantize_options *options, struct baryon_error *err)
{
    const struct {
        const char *name;
        bool given;
    } rows[] = {{"--group-size", options->group_size != 0},
                {"--linears", options->linears != NULL},
                {"--search minmax", options->search == BY_LLM_SEARCH_MINMAX},
                {"--compat", options->quark},
                {"--allow-nonfinite", options->allow_nonfinite},
                {"--stacks keep", options->stacks == BY_LLM_STACKS_KEEP},
                {"--smooth", options->scaling == BY_LLM_SCALING_SMOOTH},
                {"--awq", options->scaling == BY_LLM_SCALING_AWQ},
                {"--rotate", options->rotate != 0},
                {"--kv-cache", options->cache != BY_LLM_KEPT_FLOAT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given)
            return by_fail(err, BARYON_ERR_USAGE, "%s is not valid with --layout gguf",
                           rows[i].name);
    const struct by_llm_method *method = options->solver.method;
    return options->importance && method && method->solves
               ? by_fail(err, BARYON_ERR_USAGE,
                         "--importance is not valid with --text: moments of the texts say what "
                         "counts, in more detail than a matrix can; --method rtn takes the matrix")
               : 0;
}

static int make_rules(const struct by_llm_quantize_options *options, struct by_llm_convert *convert,
                      struct by_arena *arena, struct baryon_error *err)
{
    const size_t count = options->exclude_count + options->layer_count;
    struct by_llm_convert_rule *rules = by_arena_alloc(arena, count, sizeof *rules, err);
    if (!rules)
        return -1;
    for (size_t i = 0; i < options->exclude_count; i++)
        rules[i] = (struct by_llm_convert_rule){options->exclude[i], NULL};
    for (size_t i = 0; i < options->layer_count; i++)
        rules[options->exclude_count + i] =
            (struct by_llm_convert_rule){options->layers[i].pattern, options->layers[i].scheme};
    convert->rules = rules;
    convert->rule_count = count;
    return 0;
}

static int convert_all(const struct by_llm_convert *convert, struct by_log *log,
                       struct by_llm_quantized *result, struct baryon_error *err)
{
    struct by_llm_converted done;
    const int status = by_llm_convert(convert, &done, err);
    if (!status) {
        by_log_lines(log, BY_LOG_NOTICE, by_str_text(&done.notices));
        result->weights = done.weights;
        result->kept = done.others;
        result->layers = done.in_blocks;
        result->bytes_in = done.bytes_in;
        result->bytes_out = done.bytes_out;
    }
    by_llm_converted_release(&done);
    return status;
}

int by_llm_quantize_gguf(const char *in, const char *out,
                         const struct by_llm_quantize_options *options, struct by_log *log,
                         struct by_llm_quantized *result, struct baryon_error *err)
{
    struct by_llm_convert convert = {.in = in,
                                     .out = options->dry_run ? ".gguf" : out,
                                     .type = options->scheme,
                                     .shard_bytes = options->shard_size,
                                     .threads = options->threads,
                                     .dry_run = options->dry_run,
                                     .repeat = options->repeat,
                                     .report = options->report};
    struct by_llm_calibrated_gguf calibrated = {options, log, result, NULL};
    const struct by_convert_solve solve = {by_llm_calibrated_gguf_open, by_llm_calibrated_gguf_run,
                                           by_llm_calibrated_gguf_item,
                                           by_llm_calibrated_gguf_close, &calibrated};
    struct by_arena arena;
    if (refuse_options(options, err))
        return -1;
    if (!by_has_suffix(convert.out, ".gguf"))
        return by_fail(err, BARYON_ERR_USAGE, "output %s, must end with .gguf with --layout gguf",
                       out);
    if (options->solver.method && options->solver.method->solves)
        convert.solve = &solve;
    if (options->importance &&
        by_llm_importance_open(&convert.importance, options->importance, err))
        return -1;
    by_arena_init(&arena, ARENA_LIMIT);
    const int failed =
        make_rules(options, &convert, &arena, err) || convert_all(&convert, log, result, err);
    by_llm_importance_close(convert.importance);
    by_arena_release(&arena);
    return failed ? -1 : 0;
}
