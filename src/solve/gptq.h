/*
 * Rounding with error feedback (GPTQ): one column after the other, and what rounding does wrong
 * in one is made up for by the weights of those that are still to come. Columns with the largest
 * inputs come first. A good start for descent, above all with few bits, where going through steps
 * of one from the nearest integers gets stuck early.
 */
#ifndef BY_GPTQ_H
#define BY_GPTQ_H

#include "solve/descent.h"

/* What rounding takes of a gram: problems that share one, such as pieces of many outputs, share
 * this. Takes memory for another gram. */
struct by_gptq_factor;

/*
 * first_alone: where the best values are not the weights, the first column takes the integer that
 * is best while all others are their weights, as Qronos has it; otherwise, as GPTAQ has it, the one
 * next to what is best while all others are their best. Later columns follow it alike. Of columns
 * that go together it is the last one of the first set.
 */
struct by_gptq_way {
    bool in_order; /* columns as they come */
    bool first_alone;
    size_t together; /* columns that stay neighbours and are rounded at once, 8 at most; 0: one */
};

/* Rounds columns that go together, the first of which is `column`: sets their integers. wanted: of
 * each of them, where it would have to be for the errors of those that were rounded before; between
 * themselves they make up for errors by by_gptq_factor_block(). */
struct by_gptq_choice {
    void (*choose)(void *context, size_t out, size_t column, const float *wanted);
    void *context;
};

/*
 * gram: [columns][columns], both triangles, finite. One that is
 * singular gets more damping, up to a tenth of its mean diagonal, and then the weights are what is
 * aimed at; where that does not help either, integers are the nearest. Same bits for any number of
 * threads; no BLAS for up to BY_CHOLESKY_BLOCK columns. by_gptq_factor_close() goes with it in
 * every case.
 */
int by_gptq_factor_open(struct by_gptq_factor **factor, const float *gram, size_t columns,
                        struct by_gptq_way way, struct by_pool *pool, struct baryon_error *err);
void by_gptq_factor_close(struct by_gptq_factor *factor);
struct by_gptq_way by_gptq_factor_way(const struct by_gptq_factor *factor);
/* l of columns that go together, zeros above its diagonal: [together][together]; and the first of
 * them. False past the last, or without a factor. An error e of column j moves what is wanted of an
 * earlier column i by e * l[j][i] / l[i][i]. */
bool by_gptq_factor_block(const struct by_gptq_factor *factor, size_t number, size_t *column,
                          float *block);

/*
 * integers: [outs][columns], out: one of the two next to the weight, or, where the problem is free,
 * any within the levels; by_descent_run() says what it does with these. Those of a scale of 0 stay,
 * where the problem has a grid. They aim at what has the least error(w), which is the weights where
 * cross = gram weights. Sweeps do not matter. May be worse than the nearest integers: the caller
 * judges, by_descent_error() helps. factor: of the problem's gram. Same integers for any number of
 * threads, and however outputs are cut into pieces of BY_GPTQ_OUTS.
 */
#define BY_GPTQ_OUTS 64
int by_gptq_round(const struct by_descent *problem, const struct by_gptq_factor *factor,
                  struct by_pool *pool, int32_t *integers, struct baryon_error *err);
/* The same with columns that go together. Where the factor is none, nothing is chosen. */
int by_gptq_round_together(const struct by_descent *problem, const struct by_gptq_factor *factor,
                           const struct by_gptq_choice *choice, struct by_pool *pool,
                           int32_t *integers, struct baryon_error *err);
/* The same with a factor of its own, which does not take columns as they come. */
int by_gptq_run(const struct by_descent *problem, struct by_pool *pool, int32_t *integers,
                struct baryon_error *err);

#endif
