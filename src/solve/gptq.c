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
#define OUTS  BY_GPTQ_OUTS
#define ROWS  128 /* of a piece, where the factor is divided */
/* Damping beyond the caller's, in shares of the mean diagonal: none, then from the first on. */
#define DAMPING_FIRST 1e-4f
#define DAMPING_LAST  0.11f

struct column {
    float diagonal;
    uint32_t index;
};

struct by_gptq_factor {
    size_t columns;
    struct column *order; /* by diagonal, ascending, or from the last column to the first */
    float *rows;          /* [columns][columns] in that order */
    float *diagonal;      /* of the rows */
    float *turned;        /* [columns][BLOCK]: a column of its block of the factor, as a row */
    bool positive;        /* whether there is one */
    struct by_gptq_way way;
    size_t together; /* 1: each column by itself */
    bool damped;     /* beyond what the caller did */
};

struct gptq {
    const struct by_descent *problem;
    const struct by_gptq_factor *factor;
    const struct by_descent_path *path;
    const struct by_blas *blas;          /* NULL: one block */
    const struct by_gptq_choice *choice; /* NULL: the nearest */
    int32_t *integers;
};

/* --- The factor --- */

static int by_diagonal(const void *left, const void *right)
{
    const struct column *a = left, *b = right;
    if (a->diagonal != b->diagonal)
        return a->diagonal < b->diagonal ? -1 : 1;
    return a->index > b->index ? -1 : a->index < b->index;
}

static float find_order(struct by_gptq_factor *f, const float *gram, bool in_order)
{
    double sum = 0;
    for (size_t i = 0; i < f->columns; i++) {
        const size_t column = in_order ? f->columns - 1 - i : i;
        const float diagonal = fmaxf(gram[column * f->columns + column], 0);
        f->order[i] = (struct column){diagonal, (uint32_t)column};
        sum += (double)diagonal;
    }
    if (!in_order)
        qsort(f->order, f->columns, sizeof *f->order, by_diagonal);
    return (float)(sum / (double)f->columns);
}

/* By the first place that one of them has; they stand in their own order. */
static int gather_together(struct by_gptq_factor *f, const float *gram, struct baryon_error *err)
{
    bool *placed = by_alloc_zero(f->columns / f->together, sizeof *placed, err);
    struct column *gathered = by_alloc(f->columns, sizeof *gathered, err);
    size_t count = f->columns;
    for (size_t i = f->columns; placed && gathered && i-- > 0;) {
        const size_t set = f->order[i].index / f->together;
        for (size_t k = f->together; !placed[set] && k-- > 0;) {
            const size_t column = set * f->together + k;
            const float diagonal = fmaxf(gram[column * f->columns + column], 0);
            gathered[--count] = (struct column){diagonal, (uint32_t)column};
        }
        placed[set] = true;
    }
    if (placed && gathered)
        memcpy(f->order, gathered, f->columns * sizeof *f->order);
    const int status = placed && gathered ? 0 : -1;
    by_free(placed);
    by_free(gathered);
    return status;
}

/* Columns without a diagonal have nothing to do with the others. */
static void fill_rows(const struct by_gptq_factor *f, const float *gram, float mean, float damping)
{
    for (size_t i = 0; i < f->columns; i++) {
        float *row = f->rows + i * f->columns;
        const float *from = gram + f->order[i].index * f->columns;
        for (size_t j = 0; j < i; j++)
            row[j] = f->order[j].diagonal > 0 ? from[f->order[j].index] : 0;
        row[i] = f->order[i].diagonal > 0 ? f->order[i].diagonal + damping * mean : mean;
    }
}

/* Columns of the factor by their diagonal elements: those become 1. */
static int divide_rows(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct by_gptq_factor *f = context;
    (void)worker;
    (void)err;
    for (size_t i = begin; i < end; i++) {
        const size_t block = i / BLOCK * BLOCK;
        float *row = f->rows + i * f->columns;
        for (size_t j = 0; j < i; j++)
            row[j] /= f->diagonal[j];
        for (size_t j = block; j < i; j++)
            f->turned[j * BLOCK + (i - block)] = row[j];
    }
    return 0;
}

static int find_factor(struct by_gptq_factor *f, const float *gram, bool in_order,
                       struct by_pool *pool, struct baryon_error *err)
{
    const size_t columns = f->columns;
    const struct by_blas *blas = NULL;
    if (columns > BLOCK && by_blas_open(&blas, err))
        return -1;
    const float mean = find_order(f, gram, in_order);
    if (f->together > 1 && gather_together(f, gram, err))
        return -1;
    for (float damping = 0; !f->positive && damping < DAMPING_LAST && mean > 0;
         damping = damping > 0 ? damping * 10 : DAMPING_FIRST) {
        f->damped = damping > 0;
        fill_rows(f, gram, mean, damping);
        if (by_cholesky(f->rows, columns, blas, pool, &f->positive, err))
            return -1;
    }
    for (size_t i = 0; i < columns; i++)
        f->diagonal[i] = f->rows[i * columns + i];
    return f->positive ? by_par_for(pool, columns, ROWS, divide_rows, f, err) : 0;
}

int by_gptq_factor_open(struct by_gptq_factor **factor, const float *gram, size_t columns,
                        struct by_gptq_way way, struct by_pool *pool, struct baryon_error *err)
{
    struct by_gptq_factor *f = *factor = by_alloc_zero(1, sizeof *f, err);
    if (!f)
        return -1;
    f->columns = columns;
    f->way = way;
    f->together = way.together ? way.together : 1;
    f->order = by_alloc(columns, sizeof *f->order, err);
    f->rows = by_alloc(columns * columns, sizeof *f->rows, err);
    f->diagonal = by_alloc(columns, sizeof *f->diagonal, err);
    f->turned = by_alloc(columns * BLOCK, sizeof *f->turned, err);
    return f->order && f->rows && f->diagonal && f->turned
               ? find_factor(f, gram, way.in_order, pool, err)
               : -1;
}

void by_gptq_factor_close(struct by_gptq_factor *factor)
{
    if (!factor)
        return;
    by_free(factor->order);
    by_free(factor->rows);
    by_free(factor->diagonal);
    by_free(factor->turned);
    by_free(factor);
}

struct by_gptq_way by_gptq_factor_way(const struct by_gptq_factor *factor)
{
    return factor->way;
}

bool by_gptq_factor_block(const struct by_gptq_factor *factor, size_t number, size_t *column,
                          float *block)
{
    const size_t count = factor->together, first = number * count;
    if (!factor->positive || first >= factor->columns)
        return false;
    *column = factor->order[first].index;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            const float own = factor->diagonal[first + j];
            const float part = factor->rows[(first + i) * factor->columns + first + j] * own;
            block[i * count + j] = j < i ? part : j == i ? own : 0;
        }
    return true;
}

/* --- What the values should be --- */

struct piece {
    size_t first, outs;
    float *missing; /* [outs][columns], in the order: pull, then taken through l */
    float *wanted;  /* [outs][columns], in the order: what columns still to come should be */
    float *errors;  /* [outs][BLOCK]: weights - values */
};

/* Pull, or cross - gram weights, in the order: zero where the weights themselves are the best.
 * `wanted` is not needed yet. */
static void find_missing(const struct gptq *g, const struct piece *piece)
{
    const struct by_descent *p = g->problem;
    const size_t columns = p->columns;
    const float *weights = p->weights + piece->first * columns;
    uint32_t all[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        all[i] = i;
    for (size_t i = 0; i < piece->outs * columns; i++)
        piece->wanted[i] = -by_descent_aim(p, piece->first * columns + i);
    if (g->blas && p->cross)
        g->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)piece->outs,
                       (int)columns, (int)columns, 1, weights, (int)columns, p->gram, (int)columns,
                       1, piece->wanted, (int)columns);
    for (size_t k = 0; k < piece->outs; k++) {
        float *wanted = piece->wanted + k * columns;
        if (!g->blas && p->cross)
            g->path->add(wanted, columns, p->gram, columns, all, columns, weights + k * columns);
        for (size_t i = 0; i < columns; i++)
            piece->missing[k * columns + i] = -wanted[g->factor->order[i].index];
    }
}

/* Takes a block of an output, off which earlier blocks are, through the factor. */
static void solve_block(const struct gptq *g, size_t begin, size_t end, float *missing)
{
    const uint32_t which = 0;
    for (size_t i = begin; i < end; i++) {
        const float *column = g->factor->turned + i * BLOCK + (i - begin);
        const float factor = -missing[i];
        if (g->factor->order[i].diagonal > 0)
            g->path->add(missing + i + 1, end - i - 1, column + 1, BLOCK, &which, 1, &factor);
        else
            missing[i] = 0;
    }
}

static void want_weights(const struct gptq *g, const struct piece *piece)
{
    const struct by_descent *p = g->problem;
    for (size_t k = 0; k < piece->outs; k++)
        for (size_t i = 0; i < p->columns; i++)
            piece->wanted[k * p->columns + i] =
                p->weights[(piece->first + k) * p->columns + g->factor->order[i].index];
}

/* What is missing of the first column to be rounded where all others are their weights. */
static void keep_missing_alone(const struct gptq *g, const struct piece *piece)
{
    const size_t columns = g->problem->columns;
    const float diagonal = g->factor->order[columns - 1].diagonal;
    for (size_t k = 0; k < piece->outs; k++)
        piece->errors[k] = diagonal > 0 ? piece->missing[(k + 1) * columns - 1] / diagonal : 0;
}

static float want(const struct gptq *g, const struct piece *piece, size_t k, size_t i, float step)
{
    const struct by_descent *p = g->problem;
    const size_t column = g->factor->order[i].index;
    const float weight = p->weights[(piece->first + k) * p->columns + column];
    return !g->factor->damped && isfinite(weight + step) ? weight + step : weight;
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
    if (!p->cross && !p->pull) {
        want_weights(g, piece);
        return;
    }
    find_missing(g, piece);
    if (g->factor->way.first_alone)
        keep_missing_alone(g, piece);
    for (size_t begin = 0, end; begin < columns; begin = end) {
        end = by_descent_min(begin + BLOCK, columns);
        if (begin)
            g->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, (int)piece->outs,
                           (int)(end - begin), (int)begin, -1, piece->missing, (int)columns,
                           g->factor->rows + begin * columns, (int)columns, 1,
                           piece->missing + begin, (int)columns);
        for (size_t k = 0; k < piece->outs; k++)
            solve_block(g, begin, end, piece->missing + k * columns);
    }
    for (size_t k = 0; k < piece->outs; k++)
        for (size_t i = 0; i < columns; i++) {
            const bool is_alone = g->factor->way.first_alone && i + 1 == columns;
            const float solved = piece->missing[k * columns + i], own = g->factor->diagonal[i];
            piece->wanted[k * columns + i] =
                want(g, piece, k, i, is_alone ? piece->errors[k] : solved / own / own);
        }
}

/* --- Rounding --- */

/* A scale of 0, which grids may have, makes the same value of all integers. */
static int32_t choose_integer(const struct by_descent *p, size_t place, size_t at, float wanted,
                              int32_t now)
{
    if (p->grid && p->scales[at] == 0)
        return now;
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
        const size_t out = piece->first + k, column = g->factor->order[i].index;
        const size_t at = by_descent_scale_index(p, out, column), place = out * p->columns + column;
        g->integers[place] = choose_integer(p, place, at, wanted[i], g->integers[place]);
        errors[i - begin] = p->weights[place] - by_descent_value(p, at, g->integers[place]);
        g->path->add(wanted + begin, i - begin, g->factor->rows + i * p->columns + begin,
                     p->columns, &which, 1, errors + i - begin);
    }
}

static void round_block_together(const struct gptq *g, const struct piece *piece, size_t k,
                                 size_t begin, size_t end)
{
    const struct by_descent *p = g->problem;
    const size_t count = g->factor->together, out = piece->first + k;
    float *wanted = piece->wanted + k * p->columns, *errors = piece->errors + k * BLOCK;
    uint32_t all[BLOCK];
    for (size_t i = end; i > begin; i -= count) {
        const size_t first = i - count, column = g->factor->order[first].index;
        const float *weights = p->weights + out * p->columns + column;
        g->choice->choose(g->choice->context, out, column, wanted + first);
        for (size_t j = 0; j < count; j++) {
            const size_t at = by_descent_scale_index(p, out, column + j);
            all[j] = (uint32_t)j;
            errors[first - begin + j] =
                weights[j] - by_descent_value(p, at, g->integers[out * p->columns + column + j]);
        }
        g->path->add(wanted + begin, first - begin, g->factor->rows + first * p->columns + begin,
                     p->columns, all, count, errors + first - begin);
    }
}

static void round_outs(const struct gptq *g, const struct piece *piece)
{
    const size_t columns = g->problem->columns;
    for (size_t end = columns, begin; end; end = begin) {
        begin = (end - 1) / BLOCK * BLOCK;
        for (size_t k = 0; k < piece->outs; k++)
            if (g->choice)
                round_block_together(g, piece, k, begin, end);
            else
                round_block(g, piece, k, begin, end);
        if (begin)
            g->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)piece->outs,
                           (int)begin, (int)(end - begin), 1, piece->errors, BLOCK,
                           g->factor->rows + begin * columns, (int)columns, 1, piece->wanted,
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

int by_gptq_round(const struct by_descent *problem, const struct by_gptq_factor *factor,
                  struct by_pool *pool, int32_t *integers, struct baryon_error *err)
{
    struct gptq g = {.problem = problem,
                     .factor = factor,
                     .path = by_descent_path_chosen(),
                     .integers = integers};
    if (by_descent_check(problem, err) || (problem->columns > BLOCK && by_blas_open(&g.blas, err)))
        return -1;
    if (factor->positive)
        return by_par_for(pool, problem->outs, OUTS, round_piece, &g, err);
    by_descent_nearest(problem, integers);
    return 0;
}

int by_gptq_round_together(const struct by_descent *problem, const struct by_gptq_factor *factor,
                           const struct by_gptq_choice *choice, struct by_pool *pool,
                           int32_t *integers, struct baryon_error *err)
{
    struct gptq g = {.problem = problem,
                     .factor = factor,
                     .path = by_descent_path_chosen(),
                     .choice = choice,
                     .integers = integers};
    if (by_descent_check(problem, err) || (problem->columns > BLOCK && by_blas_open(&g.blas, err)))
        return -1;
    return factor->positive ? by_par_for(pool, problem->outs, OUTS, round_piece, &g, err) : 0;
}

int by_gptq_run(const struct by_descent *problem, struct by_pool *pool, int32_t *integers,
                struct baryon_error *err)
{
    struct by_gptq_factor *factor = NULL;
    if (by_descent_check(problem, err))
        return -1;
    const int status = by_gptq_factor_open(&factor, problem->gram, problem->columns,
                                           (struct by_gptq_way){0}, pool, err) ||
                       by_gptq_round(problem, factor, pool, integers, err);
    by_gptq_factor_close(factor);
    return status ? -1 : 0;
}
