/*
 * What the rows of a linear layer become: codes of a scheme, or GGUF's blocks. Both are rounded to
 * nearest, solved, and taken back to floats by the same calls.
 */
#ifndef BY_LLM_SOLVE_TARGET_H
#define BY_LLM_SOLVE_TARGET_H

#include "llm/ggml/types.h"
#include "llm/solve/linear.h"

struct by_llm_target {
    const struct by_llm_tensor *tensor; /* of a scheme; else NULL */
    const struct by_ggml_type *blocks;  /* whose bytes are `codes`; else NULL */
    size_t columns;
};

bool by_llm_target_solves(const struct by_llm_target *target);
/* Memory for rows; by_llm_coded_close() gives it back. */
int by_llm_target_open(const struct by_llm_target *target, size_t rows, struct by_llm_coded *coded,
                       struct baryon_error *err);
int by_llm_target_nearest(const struct by_llm_target *target, const float *weights, size_t rows,
                          struct by_pool *pool, struct by_llm_coded *coded,
                          struct baryon_error *err);
int by_llm_target_solve(const struct by_llm_target *target, const struct by_llm_problem *problem,
                        const struct by_llm_solver *solver, struct by_pool *pool,
                        struct by_llm_coded *coded, struct baryon_error *err);
int by_llm_target_values(const struct by_llm_target *target, const struct by_llm_coded *coded,
                         size_t rows, float *out, struct baryon_error *err);

#endif
