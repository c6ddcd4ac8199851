/*
 * Linear layers that share an input: their inputs' matrices become one quadratic form, how much it
 * is shrunk and damped is chosen on held-out windows, and each is rounded in it.
 */
#ifndef BY_LLM_SOLVE_GROUP_H
#define BY_LLM_SOLVE_GROUP_H

#include "llm/solve/target.h"

/* Rows of codes that are packed together are not taken apart; nor are pieces of solvers. */
#define BY_LLM_ROWS_AT_ONCE 128

/* Relative squared errors of a linear layer's output, means over some of its rows; on held-out
 * tokens, of rows that were rounded without these, where there are such. */
struct by_llm_linear_errors {
    double nearest, solved;
    bool held_out;
};

struct by_llm_linear {
    const float *weights; /* [rows][columns] */
    size_t rows;
    struct by_llm_target target;
    struct by_llm_linear_errors errors; /* out */
};

struct by_llm_group {
    const struct by_llm_inputs *inputs;
    const struct by_llm_solver *solver;
    struct by_llm_linear *linears;
    size_t count;
    double shrink, damping; /* that are used */
    struct by_llm_regular regular;
};

/* Chooses what has to be chosen and measures errors; the members before `shrink` are given.
 * by_llm_group_close() goes with it in every case. */
int by_llm_group_open(struct by_llm_group *group, struct by_pool *pool, struct baryon_error *err);
/* Makes the form, which by_llm_group_solve() needs. */
int by_llm_group_form(struct by_llm_group *group, struct by_pool *pool, struct baryon_error *err);
/* Rows [first, first + count) of a linear: coded as by_llm_target_solve() has it. */
int by_llm_group_solve(const struct by_llm_group *group, size_t linear, size_t first, size_t count,
                       struct by_pool *pool, struct by_llm_coded *coded, struct baryon_error *err);
/* Rows of a linear that are solved at once: as many as keep memory low. */
size_t by_llm_group_rows(const struct by_llm_group *group, size_t linear);
/* The same where it is not known yet which linears share. */
size_t by_llm_rows_at_once(size_t rows, size_t columns);
/* Bytes that solving a linear takes beside its weights and the inputs' matrices, about. */
uint64_t by_llm_solving_bytes(size_t rows, size_t columns);
void by_llm_group_close(struct by_llm_group *group);

#endif
