/*
 * From text to ids, as a tokenizer.json says: BPE on bytes (GPT-2, Llama 3, Qwen) or on characters
 * with bytes as a fallback (SentencePiece: Llama 2, Mistral, Gemma). The ids are those of the
 * package tokenizers. Other models, normalizers and pre-tokenizers are refused by name.
 */
#ifndef BY_LLM_TEXT_TOKENIZE_H
#define BY_LLM_TEXT_TOKENIZE_H

#include "base/doc.h"

struct by_tokenize;

struct by_token_ids {
    uint32_t *ids;
    size_t count, cap;
};
void by_token_ids_release(struct by_token_ids *ids);

/* json: of a tokenizer.json, which may be gone afterwards. Nothing changes it once it is open, so
 * that threads may share it. */
int by_tokenize_open(struct by_tokenize **tokenize, const struct by_doc_node *json,
                     struct baryon_error *err);
void by_tokenize_close(struct by_tokenize *tokenize);
/* Appends the ids of a text. Bytes that are no UTF-8 become U+FFFD. around: also the tokens that
 * the tokenizer puts around a text, such as <s>. */
int by_tokenize_text(const struct by_tokenize *tokenize, const char *text, size_t size, bool around,
                     struct by_token_ids *ids, struct baryon_error *err);
/* Greater than every id. */
uint32_t by_tokenize_ids(const struct by_tokenize *tokenize);

#endif
