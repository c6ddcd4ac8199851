/* Names of layers by patterns: a glob, or "re:" and an extended regular expression. */
#ifndef BY_LLM_MATCH_H
#define BY_LLM_MATCH_H

#include "base/err.h"

/* 1: matches, 0: does not, -1: no expression. A glob takes the whole name, an expression begins at
 * its start. */
int by_llm_match(const char *pattern, const char *name, struct baryon_error *err);

#endif
