/* Rows of a linear layer as codes of a scheme or as GGUF's blocks. */
#include "llm/solve/target.h"

#include "llm/ggml/codec.h"
#include "llm/gguf_solve/solve.h"

#define ROWS 16 /* of a piece */

static size_t row_bytes(const struct by_llm_target *target)
{
    return target->columns / target->blocks->block * target->blocks->bytes;
}

bool by_llm_target_solves(const struct by_llm_target *target)
{
    return target->blocks ? by_ggml_solves(target->blocks)
                          : by_llm_is_solvable(target->tensor->spec);
}

int by_llm_target_open(const struct by_llm_target *target, size_t rows, struct by_llm_coded *coded,
                       struct baryon_error *err)
{
    if (!target->blocks)
        return by_llm_coded_open(coded, target->tensor, rows, err);
    *coded = (struct by_llm_coded){.scales = by_alloc(rows * row_bytes(target), 1, err)};
    coded->codes = (uint8_t *)coded->scales;
    return coded->scales ? 0 : -1;
}

struct encoding {
    const struct by_llm_target *target;
    const float *weights;
    uint8_t *blocks;
};

static int encode_rows(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct encoding *e = context;
    (void)worker;
    return by_ggml_encode(e->target->blocks, e->weights + begin * e->target->columns, end - begin,
                          e->target->columns, NULL, e->blocks + begin * row_bytes(e->target), err);
}

int by_llm_target_nearest(const struct by_llm_target *target, const float *weights, size_t rows,
                          struct by_pool *pool, struct by_llm_coded *coded,
                          struct baryon_error *err)
{
    struct encoding encoding = {target, weights, coded->codes};
    if (!target->blocks)
        return by_llm_linear_nearest(target->tensor, weights, rows, pool, coded, err);
    return by_par_for(pool, rows, ROWS, encode_rows, &encoding, err);
}

int by_llm_target_solve(const struct by_llm_target *target, const struct by_llm_problem *problem,
                        const struct by_llm_solver *solver, struct by_pool *pool,
                        struct by_llm_coded *coded, struct baryon_error *err)
{
    if (!target->blocks)
        return by_llm_linear_solve(problem, target->tensor, solver, pool, coded, err);
    const struct by_ggml_solve solve = {.type = target->blocks,
                                        .rows = problem->rows,
                                        .columns = problem->columns,
                                        .weights = problem->weights,
                                        .gram = problem->gram,
                                        .pull = problem->pull,
                                        .importance = problem->importance,
                                        .factor = problem->factor,
                                        .sweeps = solver->options.sweeps,
                                        .rounds = solver->options.fits};
    return by_ggml_solve(&solve, pool, coded->codes, NULL, err);
}

int by_llm_target_values(const struct by_llm_target *target, const struct by_llm_coded *coded,
                         size_t rows, float *out, struct baryon_error *err)
{
    return target->blocks
               ? by_ggml_decode(target->blocks, coded->codes, rows * target->columns, out, err)
               : by_llm_dequantize_rows(target->tensor, coded, rows, out, err);
}
