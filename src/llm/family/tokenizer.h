/*
 * Tokenizers: the files of a folder (tokenizer.json or tokenizer.model, beside
 * tokenizer_config.json) to GGUF's tokenizer keys and back, so that both give the
 * same ids. Known are byte-level BPE, SentencePiece's BPE with byte fallback and, towards GGUF, its
 * unigram models.
 */
#ifndef BY_LLM_TOKENIZER_H
#define BY_LLM_TOKENIZER_H

#include "llm/family/family.h"
#include "llm/family/meta.h"

#include "base/str.h"

/* Numbers are GGUF's, and SentencePiece's. */
enum by_token_kind {
    BY_TOKEN_NORMAL = 1,
    BY_TOKEN_UNKNOWN = 2,
    BY_TOKEN_CONTROL = 3,
    BY_TOKEN_USER = 4,
    BY_TOKEN_UNUSED = 5,
    BY_TOKEN_BYTE = 6,
};

/* Ids are places in these lists. */
struct by_vocab {
    struct by_meta_text *tokens;
    float *scores;
    int32_t *kinds;
    size_t count;
};

/* Fills it with "[PADn]", unused, which is what ids without a token are called. */
int by_vocab_make(struct by_vocab *vocab, struct by_arena *arena, uint64_t count,
                  struct baryon_error *err);

/* What a tokenizer of pieces does to a text, and how it chooses among pieces. */
struct by_piece_spec {
    bool unigram;            /* the segmentation of the best sum of scores; else BPE */
    bool prefix;             /* a blank is put before a text */
    bool squeeze;            /* blanks in a row become one */
    bool byte_fallback;      /* what has no piece becomes bytes */
    const uint8_t *charsmap; /* SentencePiece's normalization; of the file's bytes */
    size_t charsmap_size;
};

/*
 * The pieces of a tokenizer.model (SentencePiece's protobuf) into a vocabulary of at least as many
 * ids. Hostile bytes are refused with the offset.
 */
int by_sentencepiece_read(struct by_vocab *vocab, const uint8_t *bytes, size_t size,
                          struct by_piece_spec *spec, struct baryon_error *err);
/* The number of its pieces. */
int by_sentencepiece_count(const uint8_t *bytes, size_t size, uint64_t *count,
                           struct baryon_error *err);

/* What a folder has; NULL: there is no such file. */
struct by_tokenizer_files {
    const struct by_doc_node *tokenizer; /* tokenizer.json */
    const struct by_doc_node *settings;  /* tokenizer_config.json */
    const struct by_doc_node *added;     /* added_tokens.json */
    const struct by_doc_node *config;    /* the decoder's part of config.json */
    const uint8_t *model;                /* tokenizer.model */
    size_t model_size;
    const char *chat_template; /* chat_template.jinja */
};

/* vocab: rows of the embedding, the ids that there are. Notices are sentences, one a line. */
int by_meta_of_tokenizer(struct by_meta *meta, const struct by_tokenizer_files *files,
                         uint64_t vocab, struct by_str *notices, struct baryon_error *err);

/*
 * The two files from GGUF's keys. *known false: a tokenizer of another kind, of which nothing can
 * be written; the notice says so.
 */
int by_tokenizer_of_meta(struct by_str *tokenizer, struct by_str *settings,
                         const struct by_meta *meta, bool *known, struct by_str *notices,
                         struct baryon_error *err);

/*
 * Pre-tokenizers by their names in GGUF. by_pre_regex() is NULL for those without a regex of their
 * own; *digits: digits are cut one by one first. False: the name is not known.
 */
bool by_pre_named(const char *name, const char **regex, bool *digits);
/* The name for a pre_tokenizer of tokenizer.json; NULL: none of them. */
const char *by_pre_of(const struct by_doc_node *pre_tokenizer);

#endif
