/* Says what memory is taken. */
#include "llm/memory.h"

#include <stdio.h>

const char *by_llm_megabytes(uint64_t bytes, char *text)
{
    snprintf(text, 32, "%.1f MB", (double)bytes / (double)BY_LLM_MEGABYTE);
    return text;
}

uint64_t by_llm_most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void by_llm_tell_file(struct by_log *log, const char *what, uint64_t bytes)
{
    char text[32];
    by_log(log, BY_LOG_NOTICE, "%s, %s, lie in a file: --max-memory", what,
           by_llm_megabytes(bytes, text));
}

int by_llm_hint_least(struct baryon_error *err, uint64_t least)
{
    return by_err_hint(err, "the least that does is --max-memory %lluMB",
                       (unsigned long long)((least + BY_LLM_MEGABYTE - 1) / BY_LLM_MEGABYTE));
}
