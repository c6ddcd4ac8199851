/*
 * GGUF blocks solved from moments: what they hold lowers the error of a linear's output on the
 * samples, where the encoders of llm/ggml lower an error of the weights.
 *
 * For each row w of the weights the error is the quadratic form of solve/descent.h,
 *
 *     (q - w)' gram (q - w) - 2 pull' q   (+ what does not depend on q)
 *
 * of what the row's blocks decode to. They start as by_ggml_encode() makes them, with the diagonal
 * of gram as importance (MXFP4 with other powers of two where these are better). With these scales
 * and minima GPTQ chooses levels anew. Then levels, the codes of scales
 * and minima, and the float16 scales of the blocks are solved one after the other, each over all
 * blocks of the row at once, as they are stored: rounding to the stored form is part of the problem
 * and not done afterwards.
 */
#ifndef BY_LLM_GGUF_SOLVE_H
#define BY_LLM_GGUF_SOLVE_H

#include "base/par.h"
#include "llm/ggml/types.h"
#include "solve/gptq.h"

/* The caller damps gram, and shrinks it where samples are few. Any gram of finite numbers is fine,
 * singular ones and those with columns of zeros too. */
struct by_ggml_solve {
    const struct by_ggml_type *type; /* one that by_ggml_solves() */
    size_t rows, columns;            /* columns: whole blocks */
    const float *weights;            /* [rows][columns] */
    const float *gram;               /* [columns][columns], both triangles */
    const float *pull;               /* [rows][columns]; NULL: 0, the weights are the best */
    const float *importance;         /* [columns], of the start; NULL: the diagonal of gram */
    const struct by_gptq_factor
        *factor;     /* of gram: levels are those of GPTQ first; NULL: nearest */
    unsigned sweeps; /* of descent over the levels, at most */
    unsigned rounds; /* of solving scales, each with sweeps after it */
};

/* Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K, IQ3_XXS, IQ3_S, IQ4_NL, IQ4_XS and MXFP4. */
bool by_ggml_solves(const struct by_ggml_type *type);

/*
 * blocks: by_ggml_bytes() of rows * columns. errors: [rows] of two, those of the start and those
 * that come out: the form of what the decoder makes of the blocks, less the form of the weights
 * (without pull, the error of the output itself). May be NULL. No row ends
 * worse than it started. Same bytes for any number of threads; pool NULL: the caller alone. What
 * by_ggml_encode() refuses is refused, and a pull that is not finite.
 */
int by_ggml_solve(const struct by_ggml_solve *problem, struct by_pool *pool, uint8_t *blocks,
                  double (*errors)[2], struct baryon_error *err);

#endif
