/*
 * Metadata of GGUF files between its container and src/llm/family.
 */
#ifndef BY_LLM_CONVERT_META_H
#define BY_LLM_CONVERT_META_H

#include "llm/family/meta.h"
#include "llm/store/gguf_write.h"

/* Texts of arrays stay in the mapped file. */
int by_meta_of_gguf(struct by_meta *meta, const struct by_gguf *gguf, struct baryon_error *err);
/* All keys for a writer; texts are copied. */
int by_gguf_of_meta(struct by_gguf_build *build, const struct by_meta *meta,
                    struct baryon_error *err);

#endif
