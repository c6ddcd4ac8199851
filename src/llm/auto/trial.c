/* A choice as rules of llm quantize, carried out and measured. */
#include "llm/auto/auto_internal.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

/* --- Rules --- */

/* The type that most weights have. */
static size_t most_common(const struct by_bits_search *s, const size_t *chosen)
{
    size_t best = 0;
    uint64_t most = 0;
    for (size_t t = 0; t < s->type_count; t++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < s->linear_count; i++)
            sum += chosen[s->linears[i].unit] == t ? s->linears[i].values : 0;
        if (sum > most) {
            most = sum;
            best = t;
        }
    }
    return best;
}

/* Embedding and head have what llama-quantize gives them beside most types. */
#define GGUF_REST "q6_k"

int by_bits_rules(const struct by_bits_search *s, const size_t *chosen,
                  struct by_llm_quantize_options *options, struct by_arena *arena,
                  struct baryon_error *err)
{
    const size_t common = s->in_blocks ? SIZE_MAX : most_common(s, chosen);
    struct by_llm_layer_scheme *layers =
        by_arena_alloc(arena, s->linear_count, sizeof *layers, err);
    size_t count = 0;
    if (!layers)
        return -1;
    for (size_t i = 0; i < s->linear_count; i++) {
        const size_t type = chosen[s->linears[i].unit];
        if (type != common)
            layers[count++] = (struct by_llm_layer_scheme){
                s->opened.source.weights[s->linears[i].weight].layer, s->types[type].name};
    }
    *options = s->quantize;
    options->scheme = s->in_blocks ? GGUF_REST : s->types[common].name;
    options->layers = layers;
    options->layer_count = count;
    return 0;
}

/* --- Places --- */

int by_bits_trial_path(const struct by_bits_search *s, const char *name, char *buf, size_t size,
                       struct baryon_error *err)
{
    const int length = snprintf(buf, size, "%s.%s%s", s->out, name, s->in_blocks ? ".gguf" : "");
    return length < 0 || (size_t)length >= size
               ? by_fail(err, BARYON_ERR_USAGE, "the path is too long")
               : 0;
}

int by_bits_trial_remove(const struct by_bits_search *s, const char *name, struct baryon_error *err)
{
    char path[4096];
    if (by_bits_trial_path(s, name, path, sizeof path, err))
        return -1;
    return s->in_blocks ? by_remove_file(path, err) : by_remove_folder(path, err);
}

/* --- Carried out --- */

static void show(void *context, size_t done, size_t all)
{
    by_bits_tell(context, "quantize", done, all);
}

static void show_measure(void *context, size_t done, size_t all)
{
    by_bits_tell(context, "measure", done, all);
}

int by_bits_quantize(struct by_bits_search *s, const struct by_bits_trial *trial,
                     struct baryon_error *err)
{
    struct by_llm_quantize_options options;
    struct by_arena arena;
    char path[4096];
    by_arena_init(&arena, 0);
    int status = by_bits_trial_remove(s, trial->name, err) ||
                 by_bits_trial_path(s, trial->name, path, sizeof path, err) ||
                 by_bits_rules(s, trial->chosen, &options, &arena, err);
    options.progress = show;
    options.context = s;
    options.report = NULL;
    if (!status)
        status = by_llm_quantize(s->in, path, &options, NULL, &s->result->quantized, err);
    if (!status)
        s->result->trials++;
    by_arena_release(&arena);
    trial->measured->bytes = by_bits_chosen_bytes(s, trial->chosen);
    trial->measured->bits = by_bits_bits(s, trial->measured->bytes);
    trial->measured->predicted = by_bits_chosen_kl(s, trial->chosen);
    return status ? -1 : 0;
}

int by_bits_measure(struct by_bits_search *s, const struct by_bits_trial *trial, bool judges,
                    struct baryon_error *err)
{
    const struct by_bits_windows *w = &s->windows;
    struct by_llm_evaluation found = {0};
    char path[4096];
    if (by_bits_trial_path(s, trial->name, path, sizeof path, err))
        return -1;
    const struct by_llm_eval_options options = {
        .path = path,
        .against = s->in,
        .ids = judges ? w->judge_ids : w->choose_ids,
        .length = w->length,
        .halved = s->quantize.halved,
        .windows = judges ? w->judge : w->choose,
        .threads = s->quantize.threads,
        .max_memory = s->quantize.max_memory,
        .progress = show_measure,
        .context = s,
    };
    const int status = by_llm_evaluate(&found, &options, err);
    for (size_t i = 0; !status && trial->by_window && i < options.windows; i++)
        trial->by_window[i] = found.by_window[i].kl;
    by_llm_evaluation_release(&found);
    if (status)
        return -1;
    trial->measured->kl = found.kl;
    trial->measured->agree = found.agree;
    trial->measured->perplexity = found.perplexity;
    s->result->perplexity = found.perplexity_against;
    by_log(s->log, BY_LOG_INFO,
           "%s: %.4g bits a weight, kl %.4g on windows that %s, predicted %.4g", trial->name,
           trial->measured->bits, found.kl.mean, judges ? "judge" : "choose",
           trial->measured->predicted);
    return 0;
}
