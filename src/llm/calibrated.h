/*
 * Rounds the linear layers of a decoder one layer after the other, on texts. Two streams of hidden
 * states go through the layers: that of the float model, and that of the model whose layers so far
 * are rounded. Linears that share an input are solved together on what both streams have there
 * (solve/group.h), from what comes first in a layer to what comes last.
 *
 * In memory: the weights of a layer in float32, of both streams the hidden states and one input of
 * all tokens, four or five matrices of the widest input, a chunk of rows that is solved.
 *
 * A finished layer is a record of OUT.part, so that a run goes on there: its weights are not solved
 * again, both streams run through it.
 */
#ifndef BY_LLM_CALIBRATED_H
#define BY_LLM_CALIBRATED_H

#include "llm/opened.h"
#include "llm/output.h"
#include "llm/text/tokenize.h"

/* Takes the blocks of a GGUF file's linears: rows [first, first + count) of a weight. */
struct by_llm_blocks_sink {
    int (*put)(void *context, const struct by_llm_weight *weight, size_t first, size_t count,
               const uint8_t *blocks, struct baryon_error *err);
    void *context;
};

struct by_llm_calibrated {
    const struct by_llm_quantize_options *options;
    struct by_llm_opened *opened;
    struct by_llm_plan *plan;
    struct by_pool *pool;
    struct by_llm_output *output; /* NULL: items with blocks go to the sink, no records */
    const struct by_llm_blocks_sink *blocks; /* NULL: items with schemes go to the output */
    struct by_llm_quantized *result;
    struct by_log *log;
    struct by_decoder decoder;
    struct by_token_ids ids; /* of the windows, those that are held out last */
    size_t windows, held;    /* all of them, the first that is held out */
};

/* Reads the texts, finds the windows, and which items are going to be solved: these have a method
 * then. Fills ids, which the bytes depend on. */
int by_llm_calibrated_open(struct by_llm_calibrated *job, struct baryon_error *err);
/* Solves and writes them. first_of: by item, the place of its first tensor in the output. */
int by_llm_calibrated_run(struct by_llm_calibrated *job, const size_t *first_of,
                          struct by_hash128 key, struct baryon_error *err);
void by_llm_calibrated_close(struct by_llm_calibrated *job);

#endif
