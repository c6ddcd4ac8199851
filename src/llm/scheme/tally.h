/*
 * How often a tensor has each value, where values have 16 bits: ranges and squared errors of many
 * scales come from that, not from the values again.
 */
#ifndef BY_LLM_TALLY_H
#define BY_LLM_TALLY_H

#include "llm/scheme/rows.h"

#define BY_LLM_TALLY_VALUES 65536

/* The number of each of the values, by their bits. */
struct by_llm_tally {
    uint64_t counts[BY_LLM_TALLY_VALUES];
};

/* Adds values of 16 bits, aligned or not. */
void by_llm_tally_add(struct by_llm_tally *tally, const uint8_t *values, size_t count);
void by_llm_tally_join(struct by_llm_tally *into, const struct by_llm_tally *tally);
/* elem: BY_ELEM_FLOAT16 or _BFLOAT16. False where a value is not finite. */
bool by_llm_tally_range(const struct by_llm_tally *tally, int64_t elem, struct by_llm_range *range);
/* The sum of squares. */
double by_llm_tally_energy(const struct by_llm_tally *tally, int64_t elem);
/* Adds what by_llm_try() would of the same values. */
int by_llm_tally_errors(const struct by_llm_tally *tally, int64_t elem,
                        const struct by_llm_tensor *tensor, struct by_llm_tries *tries,
                        struct baryon_error *err);

#endif
