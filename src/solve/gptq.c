/*
 * With gram = l l' the error of e = best - values is the squared length of l' e, and element i of
 * that depends on e[i] and later ones alone. So columns go from last to first: each takes the
 * integer that brings its element nearest to zero, given those after it. That is what feeding
 * errors back through the inverse of gram does, without the inverse.
 */
#include "solve/gptq.h"

#include "base/blas.h"
#include "solve/cholesky.h"
#include "solve/descent_internal.h"
#include "solve/descent_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK BY_CHOLESKY_BLOCK
#define OUTS  64  /* of a piece */
#define ROWS  128 /* of a piece, where the factor is divided */
/* Damping beyond the caller's, in shares of the mean diagonal: none, then from the first on. */
#define DAMPING_FIRST 1e-4f
#define DAMPING_LAST  0.11f

struct column {
    float diagonal;
    uint32_t index;
};

struct gptq {
    const struct by_descent *problem;
    const struct by_descent_path *path;
    const struct by_blas *blas; /* NULL: one block */
    struct column *order;       /* by diagonal, ascending */
    float *factor;              /* [columns][columns] in that order */
    float *diagonal;            /* of the factor */
    int32_t *integers;
    bool damped; /* beyond what the caller did */
};

/* --- The factor --- */

static int by_diagonal(const void *left, const void *right)
{
    const struct column *a = left, *b = right;
    if (a->diagonal != b->diagonal)
        return a->diagonal < b->diagonal ? -1 : 1;
    return a->index > b->index ? -1 : a->index < b->index;
}

static float find_order(const struct gptq *g)
{
    const size_t columns = g->problem->columns;
    double sum = 0;
    for (size_t i = 0; i < columns; i++) {
        const float diagonal = g->problem->gram[i * columns + i];
        g->order[i] = (struct column){fmaxf(diagonal, 0), (uint32_t)i};
        sum += (double)g->order[i].diagonal;
    }
    if (!g->problem->in_order)
        qsort(g->order, columns, sizeof *g->order, by_diagonal);
    for (size_t i = 0; g->problem->in_order && i < columns / 2; i++) {
        const struct column other = g->order[columns - 1 - i];
        g->order[columns - 1 - i] = g->order[i];
        g->order[i] = other;
    }
    return (float)(sum / (double)columns);
}

/* Columns without a diagonal have nothing to do with the others. */
static void fill_factor(const struct gptq *g, float mean, float damping)
{
    const size_t columns = g->problem->columns;
    for (size_t i = 0; i < columns; i++) {
        float *row = g->factor + i * columns;
        const float *from = g->problem->gram + g->order[i].index * columns;
        for (size_t j = 0; j < i; j++) {
            const bool dead = !(g->order[j].diagonal > 0);
            row[j] = dead ? 0 : from[g->order[j].index];
        }
        row[i] = g->order[i].diagonal > 0 ? g->order[i].diagonal + damping * mean : mean;
    }
}

/* Columns of the factor by their diagonal elements: those become 1. */
static int divide_rows(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct gptq *g = context;
    (void)worker;
    (void)err;
    for (size_t i = begin; i < end; i++)
        for (size_t j = 0; j < i; j++)
            g->factor[i * g->problem->columns + j] /= g->diagonal[j];
    return 0;
}

static int find_factor(struct gptq *g, struct by_pool *pool, bool *positive,
                       struct baryon_error *err)
{
    const size_t columns = g->problem->columns;
    const float mean = find_order(g);
    *positive = false;
    for (float damping = 0; !*positive && damping < DAMPING_LAST && mean > 0;
         damping = damping > 0 ? damping * 10 : DAMPING_FIRST) {
        g->damped = damping > 0;
        fill_factor(g, mean, damping);
        if (by_cholesky(g->factor, columns, g->blas, pool, positive, err))
            return -1;
    }
    for (size_t i = 0; i < columns; i++)
        g->diagonal[i] = g->factor[i * columns + i];
    return *positive ? by_par_for(pool, columns, ROWS, divide_rows, g, err) : 0;
}

/* --- What the values should be --- */

struct piece {
    size_t first, outs;
    float *missing; /* [outs][columns], in the order: cross - gram weights, then taken through l */
    float *wanted;  /* [outs][columns], in the order: what columns still to come should be */
    float *errors;  /* [outs][BLOCK]: weights - values */
};

/* cross - gram weights in the order: zero where the weights themselves are the best. `wanted` is
 * not needed yet. */
static void find_missing(const struct gptq *g, const struct piece *piece)
{
    const struct by_descent *p = g->problem;
    const size_t columns = p->columns;
    const float *weights = p->weights + piece->first * columns;
    uint32_t all[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        all[i] = i;
    for (size_t i = 0; i < piece->outs * columns; i++)
        piece->wanted[i] = -p->cross[piece->first * columns + i];
    if (g->blas)
        g->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)piece->outs,
                       (int)columns, (int)columns, 1, weights, (int)columns, p->gram, (int)columns,
                       1, piece->wanted, (int)columns);
    for (size_t k = 0; k < piece->outs; k++) {
        float *wanted = piece->wanted + k * columns;
        if (!g->blas)
            g->path->add(wanted, columns, p->gram, columns, all, columns, weights + k * columns);
        for (size_t i = 0; i < columns; i++)
            piece->missing[k * columns + i] = -wanted[g->order[i].index];
    }
}

/* Takes a block of an output, off which earlier blocks are, through the factor. */
static void solve_block(const struct gptq *g, size_t begin, size_t end, float *missing)
{
    double solved[BLOCK];
    for (size_t i = begin; i < end; i++) {
        const float *row = g->factor + i * g->problem->columns + begin;
        const double known = g->path->dot(row, solved, i - begin);
        solved[i - begin] = g->order[i].diagonal > 0 ? (double)missing[i] - known : 0;
        missing[i] = (float)solved[i - begin];
    }
}

static void want_weights(const struct gptq *g, const struct piece *piece)
{
    const struct by_descent *p = g->problem;
    for (size_t k = 0; k < piece->outs; k++)
        for (size_t i = 0; i < p->columns; i++)
            piece->wanted[k * p->columns + i] =
                p->weights[(piece->first + k) * p->columns + g->order[i].index];
}

/*
 * The best values are the weights + x with l l' x = missing. Rounding is what goes back through
 * l'; so a column is wanted to be its weight and what l alone gives of x. A singular gram says
 * nothing about x where it was damped, and x could be anything there: then it is left out.
 */
static void find_wanted(const struct gptq *g, const struct piece *piece)
{
    const struct by_descent *p = g->problem;
    const size_t columns = p->columns;
    if (!p->cross) {
        want_weights(g, piece);
        return;
    }
    find_missing(g, piece);
    for (size_t begin = 0, end; begin < columns; begin = end) {
        end = by_descent_min(begin + BLOCK, columns);
        if (begin)
            g->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, (int)piece->outs,
                           (int)(end - begin), (int)begin, -1, piece->missing, (int)columns,
                           g->factor + begin * columns, (int)columns, 1, piece->missing + begin,
                           (int)columns);
        for (size_t k = 0; k < piece->outs; k++)
            solve_block(g, begin, end, piece->missing + k * columns);
    }
    for (size_t k = 0; k < piece->outs; k++)
        for (size_t i = 0; i < columns; i++) {
            const float weight = p->weights[(piece->first + k) * columns + g->order[i].index];
            const float solved = piece->missing[k * columns + i];
            const float moved = weight + solved / g->diagonal[i] / g->diagonal[i];
            piece->wanted[k * columns + i] = !g->damped && isfinite(moved) ? moved : weight;
        }
}

/* --- Rounding --- */

static int32_t choose_integer(const struct by_descent *p, size_t place, size_t at, float wanted)
{
    if (p->free)
        return by_descent_pick(p, at, wanted);
    const float level = nearbyintf(by_descent_level(p, wanted, at));
    return (int32_t)by_descent_near(by_descent_level(p, p->weights[place], at), level) +
           by_descent_zero(p, at);
}

static void round_block(const struct gptq *g, const struct piece *piece, size_t k, size_t begin,
                        size_t end)
{
    const struct by_descent *p = g->problem;
    const uint32_t which = 0;
    float *wanted = piece->wanted + k * p->columns, *errors = piece->errors + k * BLOCK;
    for (size_t i = end; i-- > begin;) {
        const size_t out = piece->first + k, column = g->order[i].index;
        const size_t at = by_descent_scale_index(p, out, column), place = out * p->columns + column;
        g->integers[place] = choose_integer(p, place, at, wanted[i]);
        errors[i - begin] = p->weights[place] - by_descent_value(p, at, g->integers[place]);
        g->path->add(wanted + begin, i - begin, g->factor + i * p->columns + begin, p->columns,
                     &which, 1, errors + i - begin);
    }
}

static void round_outs(const struct gptq *g, const struct piece *piece)
{
    const size_t columns = g->problem->columns;
    for (size_t end = columns, begin; end; end = begin) {
        begin = (end - 1) / BLOCK * BLOCK;
        for (size_t k = 0; k < piece->outs; k++)
            round_block(g, piece, k, begin, end);
        if (begin)
            g->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)piece->outs,
                           (int)begin, (int)(end - begin), 1, piece->errors, BLOCK,
                           g->factor + begin * columns, (int)columns, 1, piece->wanted,
                           (int)columns);
    }
}

static int round_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct gptq *g = context;
    struct piece piece = {.first = begin, .outs = end - begin};
    const size_t room = piece.outs * g->problem->columns;
    (void)worker;
    piece.missing = by_alloc(2 * room + piece.outs * BLOCK, sizeof *piece.missing, err);
    if (!piece.missing)
        return -1;
    piece.wanted = piece.missing + room;
    piece.errors = piece.wanted + room;
    find_wanted(g, &piece);
    round_outs(g, &piece);
    by_free(piece.missing);
    return 0;
}

static int round_all(struct gptq *g, struct by_pool *pool, struct baryon_error *err)
{
    const size_t columns = g->problem->columns;
    bool positive;
    g->order = by_alloc(columns, sizeof *g->order, err);
    g->factor = by_alloc(columns * columns, sizeof *g->factor, err);
    g->diagonal = by_alloc(columns, sizeof *g->diagonal, err);
    if (!g->order || !g->factor || !g->diagonal || find_factor(g, pool, &positive, err))
        return -1;
    if (positive)
        return by_par_for(pool, g->problem->outs, OUTS, round_piece, g, err);
    by_descent_nearest(g->problem, g->integers);
    return 0;
}

int by_gptq_run(const struct by_descent *problem, struct by_pool *pool, int32_t *integers,
                struct baryon_error *err)
{
    struct gptq g = {.problem = problem, .path = by_descent_path_chosen(), .integers = integers};
    if (problem->grid && problem->grid->offsets)
        return by_fail(err, BARYON_ERR_USAGE, "GPTQ takes no offsets");
    if (by_descent_check(problem, err) || (problem->columns > BLOCK && by_blas_open(&g.blas, err)))
        return -1;
    int status = round_all(&g, pool, err);
    by_free(g.order);
    by_free(g.factor);
    by_free(g.diagonal);
    return status;
}
