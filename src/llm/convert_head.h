/*
 * The part of a GGUF file in front of the tensors.
 */
#ifndef BY_LLM_CONVERT_HEAD_H
#define BY_LLM_CONVERT_HEAD_H

#include "base/str.h"
#include "llm/convert_rows.h"
#include "llm/family/meta.h"

/* Metadata and the list of tensors, up to the place of the first one; by_str_error() says whether
 * all of it was put. */
void by_gguf_put_head(struct by_str *out, const struct by_meta *meta,
                      const struct by_made_list *tensors);

#endif
