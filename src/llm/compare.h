/*
 * How far the weights of one checkpoint are from those of another, both as floats, in one pass.
 */
#ifndef BY_LLM_COMPARE_H
#define BY_LLM_COMPARE_H

#include "base/json.h"
#include "llm/opened.h"

struct by_llm_pair {
    const char *name;
    const struct by_llm_weight *a, *b;
    const char *why;       /* not compared: the reason; else NULL */
    double sqnr;           /* dB, of b beside a */
    double greatest;       /* difference of two values */
    double bits_a, bits_b; /* a value, with scales and the like */
    double signal, noise;
};

struct by_llm_comparison {
    struct by_llm_opened a, b;
    struct by_llm_pair *pairs; /* in the order of a */
    size_t count, compared;
    size_t only_a, only_b; /* weights without a counterpart */
    double sqnr;           /* of all values */
    double greatest;
    double bits_a, bits_b;
};

/* threads 0: all. The same numbers for any number of them. Of a GGUF file and a folder, names are
 * those of the folder; stacked experts are compared one by one. To be released also when it fails.
 */
int by_llm_compare(struct by_llm_comparison *comparison, const char *a, const char *b,
                   unsigned threads, struct baryon_error *err);
/* As an object. */
void by_llm_comparison_json(const struct by_llm_comparison *comparison, struct by_json *json);
void by_llm_comparison_release(struct by_llm_comparison *comparison);

#endif
