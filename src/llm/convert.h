/*
 * Converts checkpoints between a folder of safetensors, as transformers has them, and
 * a GGUF file, as llama.cpp has them, or a GGUF file into another one: names, order of rows, norms,
 * metadata and tokenizer. One slab of rows is in memory at a time.
 */
#ifndef BY_LLM_CONVERT_H
#define BY_LLM_CONVERT_H

#include "base/str.h"

#include <stdint.h>

/* Another type for tensors of layers whose names match, as by_llm_match() has it. */
struct by_llm_convert_rule {
    const char *pattern;
    const char *type; /* "q6_k"; NULL: that of the source */
};

struct by_convert_solve;
struct by_llm_importance;

struct by_llm_convert {
    const char *in;   /* a folder, a .safetensors or a .gguf file */
    const char *out;  /* of the other kind */
    const char *type; /* "f16", "q8_0", "q4_k_m"; NULL: bf16 */
    const char *arch; /* GGUF's architecture instead of the one of model_type; NULL */
    bool no_tokenizer;
    bool dry_run;                            /* nothing is written; towards GGUF */
    const struct by_llm_convert_rule *rules; /* towards GGUF; the first that matches counts */
    size_t rule_count;
    uint64_t shard_bytes;                 /* of a file; 0: the default of safetensors, one GGUF */
    struct by_llm_importance *importance; /* towards GGUF; NULL: all columns count the same */
    const char *repeat;                   /* the command that a report has; NULL: not known */
    const char *report;                   /* towards GGUF, a file in JSON; NULL: none */
    const struct by_convert_solve *solve; /* towards GGUF, see convert_internal.h; NULL */
    unsigned threads;                     /* 0: all */
};

struct by_llm_converted {
    bool to_gguf;
    size_t tensors;               /* written */
    size_t left;                  /* of the source, not written: towers, buffers */
    uint64_t bytes_in, bytes_out; /* of tensors */
    size_t in_blocks;             /* tensors of block types */
    uint64_t weights, others;     /* values in blocks, and the rest */
    struct by_str notices;        /* sentences, one a line */
};

void by_llm_converted_release(struct by_llm_converted *converted);
int by_llm_convert(const struct by_llm_convert *convert, struct by_llm_converted *converted,
                   struct baryon_error *err);

#endif
