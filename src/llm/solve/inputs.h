/*
 * What samples say of the input that some linear layers share: means over tokens, gathered once for
 * all of them. x is what the quantized model reads there (weights before it are rounded already), f
 * what the float model reads for the same token. Tokens with squares far beyond the median count
 * less: means are those of tokens scaled down to a limit.
 *
 * The same bytes for any number of threads: a tile of a matrix is summed by one thread, in the
 * order of tokens.
 */
#ifndef BY_LLM_SOLVE_INPUTS_H
#define BY_LLM_SOLVE_INPUTS_H

#include "base/par.h"

struct by_llm_inputs {
    size_t columns;
    uint64_t tokens, held_tokens; /* all; of these, held-out ones */
    float *gram;  /* [columns][columns], both triangles: mean of x x', without held-out tokens */
    float *held;  /* the same of these; NULL: none are held out */
    float *drift; /* [columns][columns]: mean of (f - x) x', a row for each element of f - x; NULL:
                     not gathered */
    float *peaks, *means; /* [columns]: the greatest |x|, the mean of |x| */
};

/* Tokens of a window, [tokens][columns]; f NULL: no drift. */
struct by_llm_input_rows {
    const void *x, *f; /* floats, or bf16 where the window is halved */
    size_t tokens;
    bool halved;
};

/* The windows from `held` on are held out; held = count: none. Refuses values that are not finite.
 * by_llm_inputs_release() goes with it in every case. */
int by_llm_inputs_gather(struct by_llm_inputs *inputs, size_t columns,
                         const struct by_llm_input_rows *windows, size_t count, size_t held,
                         struct by_pool *pool, struct baryon_error *err);
/* Of all tokens, those that are held out. */
float by_llm_held_share(const struct by_llm_inputs *inputs);
void by_llm_inputs_release(struct by_llm_inputs *inputs);

#endif
