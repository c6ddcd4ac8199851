/*
 * Codes of all values of 16 bits, where a tensor has one scale: then quantizing is looking up.
 */
#ifndef BY_LLM_TABLE_H
#define BY_LLM_TABLE_H

#include "llm/scheme/rows.h"

#define BY_LLM_TABLE_VALUES 65536

/* Codes by the bits of the values; where they rise in steps, see table_path.h: those of exponents,
 * BY_LLM_TABLE_ODD where that is not so, and the steps of mantissas. */
struct by_llm_table {
    uint8_t codes[BY_LLM_TABLE_VALUES];
    bool is_stepped;
    uint8_t bases[256], steps[128];
};

#define BY_LLM_TABLE_ODD 0x80

/* Whether what rows of the tensor become follows from each value alone, in codes of a byte. */
bool by_llm_table_fits(const struct by_llm_tensor *tensor);
/* elem: BY_ELEM_FLOAT16 or _BFLOAT16; the tensor's scale was found. What is not finite has the code
 * of zero. */
int by_llm_table_fill(struct by_llm_table *table, int64_t elem, const struct by_llm_tensor *tensor,
                      struct baryon_error *err);
void by_llm_table_codes(const struct by_llm_table *table, const uint16_t *values, size_t count,
                        uint8_t *codes);

#endif
