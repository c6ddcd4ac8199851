/* What the parts that write tokenizer.json share. */
#ifndef BY_LLM_TOKENIZER_OUT_H
#define BY_LLM_TOKENIZER_OUT_H

#include "llm/family/tokenizer.h"

#include "base/json.h"
#include "base/map.h"

struct by_merge {
    float score;
    uint32_t id, left, right; /* ids of the result and its parts */
    uint32_t left_size, right_size;
};

struct by_tokens_out {
    const struct by_meta *meta;
    const struct by_meta_text *tokens;
    const int32_t *kinds;
    const float *scores; /* NULL for byte-level BPE */
    size_t count;
    bool pieces;       /* SentencePiece's, not byte-level */
    const char *regex; /* of the pre-tokenizer; NULL: the built-in one */
    bool digits, whole_words;
    bool prefix; /* a blank is put before a text */
    bool first, last;
    int64_t bos, eos, unknown; /* -1: none */
    struct by_map ids;         /* bytes -> id + 1 */
    struct by_arena arena;
    struct by_merge *merges;
    size_t merge_count, merge_cap;
};

int by_merges_of_scores(struct by_tokens_out *out, struct baryon_error *err);
/* The parts of tokenizer.json around the model. */
void by_tokens_put_stages(struct by_tokens_out *out, struct by_json *json);
/* A token as a text that ends, in the arena of `out`. */
const char *by_token_text(struct by_tokens_out *out, int64_t id);

#endif
