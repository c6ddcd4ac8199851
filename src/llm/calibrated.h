/*
 * Rounds the linear layers of a decoder one layer after the other, on texts. Two streams of hidden
 * states go through the layers: that of the float model, and that of the model whose layers so far
 * are rounded. Linears that share an input are solved together on what both streams have there
 * (solve/group.h), from what comes first in a layer to what comes last.
 *
 * In memory: the weights that share an input in float32 (with a limit, tiles of them), of both
 * streams the hidden states and one input of all tokens, four or five matrices of the widest input,
 * a chunk of rows that is solved.
 *
 * A finished layer is a record of a journal beside the output, so that a run goes on there: its
 * weights are not solved again, both streams run through it.
 */
#ifndef BY_LLM_CALIBRATED_H
#define BY_LLM_CALIBRATED_H

#include "llm/decoder/decoder.h"
#include "llm/opened.h"
#include "llm/quantize.h"
#include "llm/text/tokenize.h"

/* A linear layer of a decoder's layer, in memory. */
struct by_llm_place {
    struct by_llm_item *item;
    struct by_decoder_matrix *matrix;
};

/* Linears with the tokens that they get. */
#define BY_LLM_SHARING 8
struct by_llm_sharing {
    struct by_llm_place places[BY_LLM_SHARING];
    size_t count;
};

struct by_llm_calibrated {
    const struct by_llm_quantize_options *options;
    struct by_llm_opened *opened;
    struct by_llm_plan *plan;
    struct by_pool *pool;
    /* Takes the bytes of an item's fields, whose memory goes over to it, also when it fails. */
    int (*put)(void *context, const struct by_llm_item *item,
               uint8_t *const data[BY_LLM_FIELDS_MAX], struct baryon_error *err);
    void *context;
    /* In place of solving: sees linears that share an input, and the input; weights stay, nothing
     * is put and there is no journal. NULL: linears are solved. */
    int (*look)(void *context, const struct by_llm_sharing *sharing,
                const struct by_llm_inputs *inputs, struct baryon_error *err);
    bool (*known)(void *context, size_t layer); /* a layer that need not be looked at; or NULL */
    int (*looked)(void *context, size_t layer, struct baryon_error *err); /* at all of a layer */
    uint64_t beside;     /* bytes that who looks has in memory meanwhile */
    const char *journal; /* path of the records, beside the output */
    struct by_llm_quantized *result;
    struct by_log *log;
    struct by_decoder decoder;
    struct by_arena arena;   /* of what samples say of columns */
    struct by_token_ids ids; /* of the windows, those that are held out last */
    size_t windows, held;    /* all of them, the first that is held out */
};

/* Reads the texts and opens the decoder, which is what by_llm_ranges_find() needs. */
int by_llm_calibrated_read(struct by_llm_calibrated *job, struct baryon_error *err);
/* The same; also finds which items are going to be solved: these have a method
 * then. Fills ids, which the bytes depend on. */
int by_llm_calibrated_open(struct by_llm_calibrated *job, struct baryon_error *err);
/* The scales that tensors of linears share, from the weights; spill: where these lie, or NULL. */
int by_llm_sharing_scales(const struct by_llm_sharing *sharing, const struct by_spill *spill,
                          struct by_pool *pool, struct baryon_error *err);
/* Of an item of the plan, what its rows become. */
struct by_llm_target by_llm_item_target(const struct by_llm_item *item);
/* Everything that the method's bytes depend on, after a text. */
void by_llm_calibrated_name(const struct by_llm_calibrated *job, struct by_str *text);
/* Solves and puts them. The journal stays, until what was put is sure to be there. */
int by_llm_calibrated_run(struct by_llm_calibrated *job, struct by_hash128 key,
                          struct baryon_error *err);
void by_llm_calibrated_close(struct by_llm_calibrated *job);

/* The same for a GGUF file: the functions of struct by_convert_solve, whose context this is. */
struct by_llm_gguf_job;
struct by_llm_calibrated_gguf {
    const struct by_llm_quantize_options *options;
    struct by_log *log;
    struct by_llm_quantized *result;
    struct by_llm_gguf_job *job; /* NULL before */
};
int by_llm_calibrated_gguf_open(void *context, struct by_convert_run *run, struct by_str *name,
                                struct baryon_error *err);
int by_llm_calibrated_gguf_run(void *context, by_convert_put_fn *put, void *writer,
                               const char *folder, bool *done, struct baryon_error *err);
const struct by_llm_item *by_llm_calibrated_gguf_item(void *context, size_t tensor, size_t part);
void by_llm_calibrated_gguf_close(void *context);

#endif
