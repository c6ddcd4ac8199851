/* What the parts that read the tokenizer of a folder share. */
#ifndef BY_LLM_TOKENIZER_IN_H
#define BY_LLM_TOKENIZER_IN_H

#include "llm/family/tokenizer.h"

#include "base/map.h"

struct by_token_reader {
    struct by_arena *arena;
    const struct by_tokenizer_files *files;
    struct by_vocab vocab;
    struct by_map ids; /* bytes of a token -> its id + 1 */
    struct by_meta *meta;
    struct by_str *notices;
};

/* Puts a token at an id; `from` is for messages. */
int by_token_put(struct by_token_reader *reader, int64_t id, const char *text,
                 enum by_token_kind kind, float score, const char *from, struct baryon_error *err);
/* -1: there is none. */
int64_t by_token_find(const struct by_token_reader *reader, const char *text);
/* The model of tokenizer.json into vocabulary and keys. */
int by_token_read_json(struct by_token_reader *reader, struct baryon_error *err);
/* The pieces of a unigram model in tokenizer.json. */
int by_token_read_unigram(struct by_token_reader *reader, struct by_piece_spec *spec,
                          struct baryon_error *err);
/* The keys of a tokenizer of pieces. */
void by_token_put_spec(struct by_token_reader *reader, const struct by_piece_spec *spec);
/* Ids of special tokens, what is put around a text, the chat template. */
int by_token_read_special(struct by_token_reader *reader, struct baryon_error *err);
/* How an added token is kept: control or the user's. */
enum by_token_kind by_token_kind_of(const char *text, bool special);

#endif
