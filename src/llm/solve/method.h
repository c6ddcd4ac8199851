/*
 * Methods that round a linear layer on what its inputs are. A method is a row in methods.c.
 */
#ifndef BY_LLM_SOLVE_METHOD_H
#define BY_LLM_SOLVE_METHOD_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define BY_LLM_CHOSEN (-1.0) /* on held-out windows */

/* Levels that a method begins with. */
enum { BY_LLM_START_NEAREST, BY_LLM_START_GPTQ };

struct by_llm_method_options {
    double shrink;  /* of off-diagonals, or BY_LLM_CHOSEN */
    double damping; /* share of the mean diagonal, or BY_LLM_CHOSEN, with shrink */
    double cross;   /* how much of the float model's input counts in what is aimed at */
    int start;
    unsigned sweeps;  /* of descent, at most; 0: none */
    unsigned fits;    /* of the scales, with sweeps after each */
    bool in_order;    /* error feedback takes columns as they come */
    bool first_alone; /* see struct by_gptq_way */
};

struct by_llm_method {
    const char *name, *help;
    bool solves;         /* needs samples */
    bool only_in_blocks; /* of GGUF */
    struct by_llm_method_options defaults;
};

const struct by_llm_method *by_llm_methods(size_t *count);
/* When it is unknown, err names the nearest. */
const struct by_llm_method *by_llm_method_find(const char *name, struct baryon_error *err);

/* A method with its options as they are used. */
struct by_llm_solver {
    const struct by_llm_method *method;
    struct by_llm_method_options options;
};

#endif
