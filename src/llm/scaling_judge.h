/* Chooses the scales of one input's channels: floats of linears, tokens and a scheme in, scales
 * out. */
#ifndef BY_LLM_SCALING_JUDGE_H
#define BY_LLM_SCALING_JUDGE_H

#include "base/par.h"
#include "llm/scheme/input.h"

#define BY_LLM_SCALING_LINEARS 4

/* Some rows of a linear, and what it is quantized to. */
struct by_llm_scaling_linear {
    const float *weight; /* [rows][columns] */
    size_t rows;
    const struct by_llm_tensor *tensor; /* with its spec and search */
};

struct by_llm_scaling_problem {
    size_t columns;
    size_t repeat,
        group; /* columns come in groups, of which `repeat` in a row have the same scales */
    struct by_llm_scaling_linear linears[BY_LLM_SCALING_LINEARS];
    size_t count;
    const struct by_llm_spec *input; /* dtype NULL: floats */
    const float *peaks, *means;      /* [columns]: of |x| over all tokens */
    const float *tokens;             /* [token_count][columns]; those of odd number confirm */
    size_t token_count;
    bool smooth;  /* peaks of inputs against those of weights; else AWQ's means of inputs */
    double alpha; /* of smooth, the only candidate; below 0: a grid */
};

struct by_llm_scaling_choice {
    double share;         /* alpha, or AWQ's ratio */
    double before, after; /* squared errors of outputs, of tokens that confirm */
    bool taken;
};

/* scales: [columns]; 1 where nothing is gained. */
int by_llm_scaling_choose(const struct by_llm_scaling_problem *problem, struct by_pool *pool,
                          float *scales, struct by_llm_scaling_choice *choice,
                          struct baryon_error *err);

#endif
