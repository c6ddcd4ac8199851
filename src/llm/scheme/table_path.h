/*
 * The ways to look codes up, for the chooser and for the test that compares them.
 *
 * Codes of floats of 8 bits rise with the values alike in every power of two: the code of a bf16
 * value is that of its exponent and a step that its seven bits of mantissa say. Both are small
 * enough for a processor's own tables. What is not so (subnormals, the greatest values, 0) is
 * marked and looked up one by one.
 */
#ifndef BY_LLM_TABLE_PATH_H
#define BY_LLM_TABLE_PATH_H

#include "llm/scheme/table.h"

struct by_llm_table_path {
    const char *name;
    bool (*supported)(void);
    bool needs_steps; /* table->is_stepped */
    void (*codes)(const struct by_llm_table *table, const uint16_t *values, size_t count,
                  uint8_t *codes);
};

/* Best first; the last one is the reference, for every processor and every table. */
const struct by_llm_table_path *const *by_llm_table_paths(size_t *count);

extern const struct by_llm_table_path by_llm_table_avx512, by_llm_table_plain;

#endif
