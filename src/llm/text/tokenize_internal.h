/*
 * What the stages of tokenizing share.
 *
 *   added.c     special and added tokens cut the text
 *   normalize.c what is between them is normalized
 *   split.c     and cut into words
 *   bpe.c       each of which becomes ids
 */
#ifndef BY_LLM_TEXT_TOKENIZE_INTERNAL_H
#define BY_LLM_TEXT_TOKENIZE_INTERNAL_H

#include "base/map.h"
#include "base/str.h"
#include "llm/text/regex.h"
#include "llm/text/tokenize.h"

/* What one call needs, and one thread at a time. */
struct by_tokenize_work {
    struct by_regex_stack stack;
    struct by_token_ids *ids;
    struct by_bpe_symbol *symbols;
    struct by_bpe_pair *heap;
    size_t symbol_cap, heap_count, heap_cap;
    struct baryon_error *err;
};

/* --- Normalizers --- */

enum by_normal_kind {
    BY_NORMAL_NFC,
    BY_NORMAL_NFD,
    BY_NORMAL_REPLACE,
    BY_NORMAL_PREPEND,
    BY_NORMAL_STRIP
};

struct by_normal_step {
    enum by_normal_kind kind;
    const char *from; /* REPLACE: a text; NULL: the regex */
    struct by_regex regex;
    const char *to;   /* REPLACE, PREPEND */
    bool left, right; /* STRIP */
    struct by_normal_step *next;
};

/* node: of "normalizer"; NULL and null: *steps is NULL. */
int by_normal_read(struct by_normal_step **steps, struct by_arena *arena,
                   const struct by_doc_node *node, struct baryon_error *err);
int by_normalize(const struct by_normal_step *steps, struct by_tokenize_work *work,
                 const char *text, size_t size, struct by_str *out);

/* --- Pre-tokenizers --- */

enum by_split_kind { BY_SPLIT_REGEX, BY_SPLIT_TEXT, BY_SPLIT_BYTES, BY_SPLIT_METASPACE };
/* What becomes of a match: a piece of its own, nothing, part of what stands before or after it,
 * one piece with matches beside it. */
enum by_split_way {
    BY_SPLIT_ISOLATED,
    BY_SPLIT_REMOVED,
    BY_SPLIT_WITH_PREVIOUS,
    BY_SPLIT_WITH_NEXT,
    BY_SPLIT_CONTIGUOUS,
};
enum by_prepend { BY_PREPEND_NEVER, BY_PREPEND_FIRST, BY_PREPEND_ALWAYS };

struct by_split_step {
    enum by_split_kind kind;
    enum by_split_way way;
    bool invert;      /* what does not match counts as the match */
    const char *text; /* TEXT: what is looked for; METASPACE: the sign for a blank */
    struct by_regex regex;
    enum by_prepend prepend; /* METASPACE: the sign, BYTES: a blank */
    bool splits;             /* METASPACE, BYTES */
    struct by_split_step *next;
};

typedef int by_word_fn(void *context, const char *word, size_t size);

int by_split_read(struct by_split_step **steps, struct by_arena *arena,
                  const struct by_doc_node *node, struct baryon_error *err);
/* first: the piece begins the text. */
int by_split(const struct by_split_step *step, struct by_tokenize_work *work, const char *text,
             size_t size, bool first, by_word_fn *word, void *context);

/* --- BPE --- */

struct by_bpe_merge {
    uint64_t pair; /* left << 32 | right */
    uint32_t rank, id;
    bool used;
};

struct by_bpe {
    struct by_map ids; /* bytes of a token -> its id + 1 */
    struct by_bpe_merge *merges;
    size_t slots;       /* a power of two */
    int64_t unknown;    /* -1: none */
    int64_t bytes[256]; /* <0x00> to <0xFF>; -1: there is none */
    bool byte_fallback, fuses_unknown, ignores_merges;
    uint32_t count; /* greater than every id */
};

int by_bpe_read(struct by_bpe *bpe, struct by_arena *arena, const struct by_doc_node *model,
                struct baryon_error *err);
void by_bpe_release(struct by_bpe *bpe);
int by_bpe_word(const struct by_bpe *bpe, struct by_tokenize_work *work, const char *word,
                size_t size);
int by_token_ids_add(struct by_token_ids *ids, uint32_t id, struct baryon_error *err);
void by_tokenize_work_release(struct by_tokenize_work *work);

/* --- Added tokens --- */

struct by_added_token {
    const char *text;
    size_t size;
    uint32_t id;
    bool whole_word, strips_left, strips_right, normalized;
};

/* Those that are looked for in the text as it is, and in the normalized one. */
struct by_added_set {
    struct by_added_token *tokens; /* by first byte, the longest first */
    size_t count;
    size_t first[257]; /* by first byte */
};

struct by_added {
    struct by_added_set raw, normalized;
};

int by_added_read(struct by_added *added, struct by_arena *arena, const struct by_doc_node *list,
                  const struct by_normal_step *normalizer, struct by_tokenize_work *work,
                  uint32_t *count, struct baryon_error *err);
/* The first one at or after `at`; NULL: none. What it takes: from *first to *end. */
const struct by_added_token *by_added_find(const struct by_added_set *set, const char *text,
                                           size_t size, size_t at, size_t *first, size_t *end);

#endif
