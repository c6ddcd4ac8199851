/* Ids of tokens from NumPy's .npy files. */
#ifndef BY_LLM_IDS_H
#define BY_LLM_IDS_H

#include "base/option.h"
#include "llm/text/tokenize.h"

/* The paths are .npy files: the first is. */
bool by_llm_ids_given(const struct by_setting_texts *paths);
/*
 * Appends the ids of all files, integers of 16 to 64 bits below `vocab`. Of arrays of two
 * dimensions the first `length` of each row count, of one dimension all.
 */
int by_llm_ids_read(struct by_token_ids *ids, const struct by_setting_texts *paths, size_t length,
                    size_t vocab, struct baryon_error *err);

#endif
