/*
 * Rounds the weight of one linear layer in its quadratic form: codes, scales and zero points of a
 * scheme. Scales are always as they are stored, and codes are made for those.
 */
#ifndef BY_LLM_SOLVE_LINEAR_H
#define BY_LLM_SOLVE_LINEAR_H

#include "llm/scheme/rows.h"
#include "llm/solve/method.h"
#include "llm/solve/problem.h"

/* Whether levels of the scheme are multiples of a scale, which is what solvers take. */
bool by_llm_is_solvable(const struct by_llm_spec *spec);
/* coded: rows as by_llm_quantize_rows() gives them. tensor: its own scale was found. Same bytes for
 * any number of threads. */
int by_llm_linear_solve(const struct by_llm_problem *problem, const struct by_llm_tensor *tensor,
                        const struct by_llm_solver *solver, struct by_pool *pool,
                        struct by_llm_coded *coded, struct baryon_error *err);
/* The nearest codes, with the search for scales that the tensor asks for. */
int by_llm_linear_nearest(const struct by_llm_tensor *tensor, const float *weights, size_t rows,
                          struct by_pool *pool, struct by_llm_coded *coded,
                          struct baryon_error *err);

#endif
