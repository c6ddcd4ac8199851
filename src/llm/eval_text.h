/* Texts for a language model, as ids. */
#ifndef BY_LLM_EVAL_TEXT_H
#define BY_LLM_EVAL_TEXT_H

#include "base/option.h"
#include "llm/opened.h"
#include "llm/text/tokenize.h"

/* The tokenizer of a checkpoint: tokenizer.json or tokenizer.model of the folder, or what is made
 * of GGUF's keys. vocab: rows of the embedding. */
int by_llm_tokenizer_open(struct by_tokenize **tokenize, struct by_llm_opened *opened, size_t vocab,
                          struct baryon_error *err);
/* Files, and the regular files of folders by name, joined by empty lines. */
int by_llm_read_texts(struct by_str *text, const struct by_setting_texts *paths,
                      struct baryon_error *err);
/* The ids of these texts, for a model of so many tokens; or those of .npy files, of rows of two
 * dimensions the first `length`. */
int by_llm_text_ids(struct by_token_ids *ids, struct by_llm_opened *opened,
                    const struct by_setting_texts *paths, size_t length, size_t vocab,
                    struct baryon_error *err);

#endif
