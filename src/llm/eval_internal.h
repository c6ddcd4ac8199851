/*
 * What the files eval*.c share.
 *
 *   eval.c          windows through both models, logits, means
 *   eval_memory.c   what that takes, and a limit
 *   eval_report.c   what was found, as JSON
 */
#ifndef BY_LLM_EVAL_INTERNAL_H
#define BY_LLM_EVAL_INTERNAL_H

#include "llm/decoder/decoder.h"
#include "llm/eval.h"
#include "llm/opened.h"
#include "llm/text/tokenize.h"

#define BY_EVAL_TOKENS 32 /* whose logits are in memory, for each thread */

/* A model on its way. */
struct by_eval_model {
    struct by_llm_opened opened;
    struct by_decoder decoder;
    struct by_decoder_run run;
    size_t rounded; /* layers whose inputs are */
};

struct by_evaluating {
    const struct by_llm_eval_options *options;
    struct by_pool *pool;
    struct by_eval_model model, other; /* other: the reference */
    struct by_token_ids ids;
    size_t windows, length;
    struct by_llm_token_sums *sums; /* over the tokens that a window predicts */
};

/* What has to lie in files for options->max_memory, in both decoders; refuses what does not fit all
 * the same. */
int by_eval_fit(struct by_evaluating *e, struct baryon_error *err);

#endif
