/*
 * How well a language model predicts texts, and how far it is from another model of the same
 * vocabulary: perplexity, Kullback-Leibler divergence, agreement of the likeliest token.
 *
 * Texts are joined by empty lines, tokenized at once, and cut into windows without overlap; the
 * rest is left out. A window's loss is the mean over the tokens that it predicts, all but the
 * first. Weights are those of the checkpoint, dequantized. Inputs of linear layers are rounded as
 * the checkpoint says, or float32.
 */
#ifndef BY_LLM_EVAL_H
#define BY_LLM_EVAL_H

#include "base/log.h"
#include "base/option.h"
#include "base/str.h"

#include "llm/eval_token.h"

#include <stdint.h>

struct by_llm_eval_options {
    const char *path, *against;    /* against: the reference; NULL: none */
    struct by_setting_texts texts; /* files, and folders of them */
    const uint32_t *ids;           /* in place of texts, `windows` of them; NULL */
    uint64_t length, windows;      /* windows: at most; 0: all */
    bool halved;                   /* hidden states between layers are bf16, not float32 */
    bool float_activations;        /* inputs are float32, whatever the checkpoint says */
    unsigned threads;
    uint64_t max_memory; /* bytes; 0: no limit */
    const char *report;  /* a file: JSON, or a page; NULL: none */
    struct by_log *log;  /* or NULL */
    /* Before each layer; may be NULL. */
    void (*progress)(void *context, size_t done, size_t all);
    void *context;
};

/* A mean over windows, and its standard error (infinite with one window). */
struct by_llm_mean {
    double mean, error;
};

struct by_llm_evaluation {
    uint64_t tokens, windows, length;
    size_t rounded; /* linear layers whose inputs were rounded */
    double perplexity, perplexity_against;
    struct by_llm_mean loss, loss_against;
    struct by_llm_mean kl;    /* nats a token, of the reference to the model */
    struct by_llm_mean agree; /* share of tokens with the same likeliest token */
    bool compared;
    struct by_llm_token_sums *by_window; /* [windows]: means over its tokens */
};

/* by_llm_evaluation_release() goes with it in every case. */
int by_llm_evaluate(struct by_llm_evaluation *result, const struct by_llm_eval_options *options,
                    struct baryon_error *err);
/* What programs read, and what a page is made from. repeat: the command; NULL: not known. */
void by_llm_evaluation_json(const struct by_llm_evaluation *result,
                            const struct by_llm_eval_options *options, const char *repeat,
                            struct by_str *text);
void by_llm_evaluation_release(struct by_llm_evaluation *result);

#endif
