/*
 * The quadratic form of one linear layer's output error, ready for a solver:
 *
 *     error(q) = (q - w)' gram (q - w) - 2 pull' q   (+ what does not depend on q)   for each row w
 *
 * gram is shrunk (off-diagonals times 1 - shrink, since few tokens leave them noisy), damped and
 * divided by its mean diagonal. pull = drift' w: with it the best row makes the float layer's
 * output from the quantized model's input.
 *
 * Solvers take this and nothing else: those of schemes (linear.h), and those of GGUF's blocks
 * (by_ggml_solve(), of arrays alone).
 */
#ifndef BY_LLM_SOLVE_PROBLEM_H
#define BY_LLM_SOLVE_PROBLEM_H

#include "llm/solve/inputs.h"
#include "llm/solve/method.h"
#include "solve/gptq.h"

struct by_llm_problem {
    size_t rows, columns;
    const float *weights;    /* [rows][columns], finite */
    const float *gram;       /* [columns][columns], both triangles; mean diagonal about 1 */
    const float *pull;       /* [rows][columns]; NULL: 0 */
    const float *importance; /* [columns]: the diagonal of gram; all > 0 */
    const struct by_gptq_factor *factor; /* of gram; NULL: solvers begin with the nearest levels */
};

/* What linears that share an input have in common of their problems. */
struct by_llm_regular {
    size_t columns;
    float *gram, *importance; /* as above */
    struct by_gptq_factor *factor;
    float unit; /* from means to gram: 1 / mean diagonal */
};

/* Of all tokens, or of those that are not held out. options: shrink, 0 to 1, damping, neither
 * to be chosen, and whether a factor is needed. Columns that were always 0 have the damping alone.
 * by_llm_regular_release() goes with it in every case. */
int by_llm_regularize(struct by_llm_regular *regular, const struct by_llm_inputs *inputs,
                      bool without_held, const struct by_llm_method_options *options,
                      struct by_pool *pool, struct baryon_error *err);
void by_llm_regular_release(struct by_llm_regular *regular);
/* pull of rows; share: how much of the drift counts. */
int by_llm_pull(const struct by_llm_regular *regular, const float *drift, double share,
                const float *weights, size_t rows, struct by_pool *pool, float *pull,
                struct baryon_error *err);

#endif
