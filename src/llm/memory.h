/* What is said of the memory that a command for language models takes, beside a limit. */
#ifndef BY_LLM_MEMORY_H
#define BY_LLM_MEMORY_H

#include "base/err.h"
#include "base/log.h"

#include <stddef.h>
#include <stdint.h>

#define BY_LLM_MEGABYTE ((uint64_t)1000 * 1000)
#define BY_LLM_OVERHEAD (64 * BY_LLM_MEGABYTE) /* the program, its libraries, their buffers */

/* "12.3 MB"; text has room for 32 bytes. */
const char *by_llm_megabytes(uint64_t bytes, char *text);
uint64_t by_llm_most(uint64_t a, uint64_t b);
/* A notice that `what` lies in a file because of the limit; log may be NULL. */
void by_llm_tell_file(struct by_log *log, const char *what, uint64_t bytes);
/* Hints at the least limit that does. */
int by_llm_hint_least(struct baryon_error *err, uint64_t least);

#endif
