/*
 * Outputs are worked on in pieces of fixed size, side by side. For each output the residual
 * gram w - cross is kept: half of the gradient, which says for every integer at once which way is
 * down and whether a whole step pays. A step changes the residual of all columns by a row of gram;
 * within a block of columns at once, for the others when the block is done. Then a matrix product
 * does it for the whole piece, or, where few integers stepped, a sum of the rows that did.
 */
#include "solve/descent.h"

#include "base/blas.h"
#include "solve/descent_internal.h"
#include "solve/descent_path.h"
#include "solve/descent_rows.h"

#include <math.h>
#include <string.h>

#define BLOCK BY_DESCENT_BLOCK
/* Outputs of a piece: few enough for the cache and for all threads to have some, enough for a
 * matrix product to be worth it. */
#define PIECE      128
#define PIECE_FEW  32
#define PIECE_MANY 512 /* outputs from which there are enough for large pieces */
/* A row added by itself costs as much as this many within a product. */
#define ROW_COST 2

struct descent {
    const struct by_descent *problem;
    const struct by_descent_path *path;
    const struct by_blas *blas; /* NULL: the columns are one block */
    size_t stride;              /* floats of a line, with room after */
    float *reach;               /* as by_descent_line has it */
    int32_t *integers;
    double *errors;
    const int32_t *of; /* integers whose residuals alone are wanted */
    float *found;
};

struct piece {
    size_t first, outs;
    float *residual, *down, *up; /* [outs][stride] */
    float *begun;                /* [outs][stride]: residuals at the start */
    float *steps;                /* [outs][BLOCK] */
    uint32_t *stepped;           /* [outs][BLOCK] */
    size_t *stepped_count;       /* [outs] */
    bool *busy;                  /* [outs]: stepped in the last sweep */
    int32_t *start;              /* [outs][columns] */
};

/* --- Where it starts --- */

/* Residuals of some outputs; residual and values: [outs][stride]. Without cross values are what
 * they are off the weights. */
static void find_residuals(const struct descent *d, size_t first, size_t outs,
                           const int32_t *integers, size_t stride, float *residuals, float *values)
{
    const struct by_descent *p = d->problem;
    uint32_t all[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        all[i] = i;
    for (size_t k = 0; k < outs; k++) {
        float *residual = residuals + k * stride, *value = values + k * stride;
        for (size_t i = 0; i < p->columns; i++) {
            const size_t at = by_descent_scale_index(p, first + k, i);
            const size_t place = (first + k) * p->columns + i;
            value[i] = by_descent_value(p, at, integers[place]);
            if (!p->cross)
                value[i] -= p->weights[place];
            residual[i] = -by_descent_aim(p, place);
        }
        if (!d->blas)
            d->path->add(residual, p->columns, p->gram, p->columns, all, p->columns, value);
    }
    if (d->blas)
        d->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)outs,
                       (int)p->columns, (int)p->columns, 1, values, (int)stride, p->gram,
                       (int)p->columns, 1, residuals, (int)stride);
}

/* How far each integer may go. */
static void find_room(const struct descent *d, struct piece *piece)
{
    const size_t columns = d->problem->columns;
    for (size_t k = 0; k < piece->outs; k++) {
        const size_t out = piece->first + k;
        float *down = piece->down + k * d->stride, *up = piece->up + k * d->stride;
        for (size_t i = 0; i < columns; i++)
            by_descent_room(d->problem, out, i, d->integers[out * columns + i], down + i, up + i);
    }
}

/* --- Sweeps --- */

/* A block of an output, group after group. */
static size_t sweep_block(const struct descent *d, struct piece *piece, size_t k, size_t begin,
                          size_t end)
{
    const struct by_descent *p = d->problem;
    const size_t out = piece->first + k, at = k * d->stride + begin;
    struct by_descent_line line = {.gram = p->gram + begin * p->columns + begin,
                                   .stride = p->columns,
                                   .count = end - begin,
                                   .reach = d->reach + begin,
                                   .residual = piece->residual + at,
                                   .down = piece->down + at,
                                   .up = piece->up + at,
                                   .integers = d->integers + out * p->columns + begin,
                                   .table = p->grid ? p->grid->table : NULL,
                                   .low = p->low,
                                   .high = p->high,
                                   .steps = piece->steps + k * BLOCK,
                                   .stepped = piece->stepped + k * BLOCK};
    for (size_t from = begin, to; from < end; from = to) {
        to = by_descent_min(end, (from / p->group + 1) * p->group);
        const float scale = p->scales[by_descent_scale_index(p, out, from)];
        line.turn = scale < 0 ? -1 : 1;
        d->path->sweep(&line, from - begin, to - begin, fabsf(scale));
    }
    piece->stepped_count[k] = line.stepped_count;
    return line.stepped_count;
}

/* Tells columns [begin, end) what the block that starts at `block` did. */
static void spread(const struct descent *d, struct piece *piece, size_t block, size_t count,
                   bool product, size_t begin, size_t end)
{
    const size_t columns = d->problem->columns;
    const float *rows = d->problem->gram + block * columns + begin;
    if (begin == end)
        return;
    if (product) {
        d->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)piece->outs,
                       (int)(end - begin), (int)count, 1, piece->steps, BLOCK, rows, (int)columns,
                       1, piece->residual + begin, (int)d->stride);
        return;
    }
    for (size_t k = 0; k < piece->outs; k++)
        d->path->add(piece->residual + k * d->stride + begin, end - begin, rows, columns,
                     piece->stepped + k * BLOCK, piece->stepped_count[k], piece->steps + k * BLOCK);
}

static void clear_steps(struct piece *piece)
{
    for (size_t k = 0; k < piece->outs; k++) {
        for (size_t i = 0; i < piece->stepped_count[k]; i++)
            piece->steps[k * BLOCK + piece->stepped[k * BLOCK + i]] = 0;
        piece->stepped_count[k] = 0;
    }
}

/* False when nothing stepped. */
static bool sweep_all(const struct descent *d, struct piece *piece, bool *moved)
{
    const size_t columns = d->problem->columns;
    memset(moved, 0, piece->outs * sizeof *moved);
    bool any = false;
    for (size_t begin = 0; begin < columns; begin += BLOCK) {
        const size_t end = by_descent_min(begin + BLOCK, columns);
        size_t steps = 0;
        for (size_t k = 0; k < piece->outs; k++) {
            const size_t count = piece->busy[k] ? sweep_block(d, piece, k, begin, end) : 0;
            moved[k] = moved[k] || count;
            steps += count;
        }
        const bool product = d->blas && steps * ROW_COST > piece->outs * (end - begin);
        if (steps) {
            spread(d, piece, begin, end - begin, product, 0, begin);
            spread(d, piece, begin, end - begin, product, end, columns);
            clear_steps(piece);
        }
        any = any || steps;
    }
    memcpy(piece->busy, moved, piece->outs * sizeof *moved);
    return any;
}

/* --- What came of it --- */

/* Of the numbers that residuals are differences of: what rounding may have made of them. */
#define DOUBT 0x1p-14

/* With d the difference of the values the change is d' (residual at the start + at the end), which
 * takes far less than the products with gram in double. True where it is sure that none is worse.
 */
static bool is_settled(const struct descent *d, const struct piece *piece, size_t k, double *gain)
{
    const struct by_descent *p = d->problem;
    const size_t out = piece->first + k;
    const int32_t *from = piece->start + k * p->columns, *to = d->integers + out * p->columns;
    const float *begun = piece->begun + k * d->stride, *ended = piece->residual + k * d->stride;
    double change = 0, doubt = 0;
    bool any = false;
    for (size_t i = 0; i < p->columns; i++) {
        if (to[i] == from[i])
            continue;
        const size_t at = by_descent_scale_index(p, out, i);
        const double levels = by_descent_number(p, at, to[i]) - by_descent_number(p, at, from[i]);
        const double way = levels * (double)p->scales[at];
        any = true;
        change += way * ((double)begun[i] + (double)ended[i]);
        doubt += fabs(way) * (double)(fabsf(by_descent_aim(p, out * p->columns + i)) +
                                      fabsf(begun[i]) + fabsf(ended[i]));
    }
    *gain = any ? -change : 0;
    return !any || (change < -DOUBT * doubt && isfinite(change));
}

/* Outputs that did not get better go back to where they started. True where they did. */
static bool settle_doubtful(const struct descent *d, const struct piece *piece, size_t k,
                            double *room)
{
    const size_t columns = d->problem->columns, out = piece->first + k;
    int32_t *integers = d->integers + out * columns;
    const int32_t *start = piece->start + k * columns;
    double change;
    by_descent_changes(d->problem, out, 1, start, integers, room, &change);
    const bool better = change < 0 && isfinite(change);
    if (!better)
        memcpy(integers, start, columns * sizeof *integers);
    if (d->errors)
        d->errors[out] = better ? -change : 0;
    return better;
}

static int settle_piece(const struct descent *d, const struct piece *piece,
                        struct baryon_error *err)
{
    const struct by_descent *p = d->problem;
    double *room = by_alloc(2 * p->columns, sizeof *room, err), gain;
    if (!room)
        return -1;
    for (size_t k = 0; k < piece->outs; k++) {
        const float *residual = piece->residual + k * d->stride;
        if (is_settled(d, piece, k, &gain)) {
            if (d->errors)
                d->errors[piece->first + k] = gain;
        } else if (!settle_doubtful(d, piece, k, room)) {
            residual = piece->begun + k * d->stride;
        }
        if (p->residual)
            memcpy(p->residual + (piece->first + k) * p->columns, residual,
                   p->columns * sizeof *residual);
    }
    by_free(room);
    return 0;
}

/* --- Pieces --- */

static int open_piece(const struct descent *d, struct piece *piece, struct baryon_error *err)
{
    const size_t n = piece->outs, lines = n * d->stride;
    piece->residual = by_alloc_zero(4 * lines + n * BLOCK, sizeof *piece->residual, err);
    piece->stepped = by_alloc(n * BLOCK, sizeof *piece->stepped, err);
    piece->stepped_count = by_alloc_zero(n, sizeof *piece->stepped_count, err);
    piece->busy = by_alloc(2 * n, sizeof *piece->busy, err);
    piece->start = by_alloc(n * d->problem->columns, sizeof *piece->start, err);
    if (!piece->residual || !piece->stepped || !piece->stepped_count || !piece->busy ||
        !piece->start)
        return -1;
    piece->down = piece->residual + lines;
    piece->up = piece->down + lines;
    piece->begun = piece->up + lines;
    piece->steps = piece->begun + lines;
    memset(piece->busy, 1, n * sizeof *piece->busy);
    return 0;
}

static void close_piece(struct piece *piece)
{
    by_free(piece->residual);
    by_free(piece->stepped);
    by_free(piece->stepped_count);
    by_free(piece->busy);
    by_free(piece->start);
}

static int descend(const struct descent *d, struct piece *piece, struct baryon_error *err)
{
    const struct by_descent *p = d->problem;
    const unsigned sweeps = p->sweeps ? p->sweeps : BY_DESCENT_SWEEPS;
    memcpy(piece->start, d->integers + piece->first * p->columns,
           piece->outs * p->columns * sizeof *piece->start);
    /* `up` is not needed yet. */
    find_residuals(d, piece->first, piece->outs, d->integers, d->stride, piece->residual,
                   piece->up);
    memcpy(piece->begun, piece->residual, piece->outs * d->stride * sizeof *piece->begun);
    find_room(d, piece);
    for (unsigned i = 0; i < sweeps; i++)
        if (!sweep_all(d, piece, piece->busy + piece->outs))
            break;
    return settle_piece(d, piece, err);
}

static int run_piece(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    struct piece piece = {.first = begin, .outs = end - begin};
    (void)worker;
    int status = open_piece(context, &piece, err);
    if (!status)
        status = descend(context, &piece, err);
    close_piece(&piece);
    return status;
}

static int run_residuals(void *context, size_t begin, size_t end, unsigned worker,
                         struct baryon_error *err)
{
    const struct descent *d = context;
    const size_t columns = d->problem->columns;
    float *values = by_alloc((end - begin) * columns, sizeof *values, err);
    (void)worker;
    if (!values)
        return -1;
    find_residuals(d, begin, end - begin, d->of, columns, d->found + begin * columns, values);
    by_free(values);
    return 0;
}

static int check_start(const struct by_descent *p, const int32_t *integers,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < p->outs * p->columns; i++)
        if (integers[i] < p->low || integers[i] > p->high)
            return by_fail(err, BARYON_ERR_USAGE, "start %d, must be a level from %d to %d",
                           integers[i], p->low, p->high);
    return 0;
}

/* Half of what a step costs by itself, for a scale of 1. Columns without a diagonal never step. */
static int find_reach(struct descent *d, struct baryon_error *err)
{
    const struct by_descent *p = d->problem;
    d->stride = (p->columns / BY_DESCENT_LANES + 2) * BY_DESCENT_LANES;
    d->reach = by_alloc(d->stride, sizeof *d->reach, err);
    if (!d->reach)
        return -1;
    for (size_t i = 0; i < d->stride; i++) {
        const float diagonal = i < p->columns ? p->gram[i * p->columns + i] : 0;
        d->reach[i] = diagonal > 0 ? diagonal / 2 * (1 + BY_DESCENT_MARGIN) : INFINITY;
    }
    return 0;
}

int by_descent_run(const struct by_descent *problem, struct by_pool *pool, int32_t *integers,
                   double *errors, struct baryon_error *err)
{
    struct descent d = {.problem = problem,
                        .path = by_descent_path_chosen(),
                        .integers = integers,
                        .errors = errors};
    if (by_descent_check(problem, err) || check_start(problem, integers, err))
        return -1;
    if (!problem->gram)
        return by_descent_rows_run(problem, pool, integers, errors, err);
    if (problem->columns > BLOCK && by_blas_open(&d.blas, err))
        return -1;
    if (find_reach(&d, err))
        return -1;
    const size_t grain = problem->outs < PIECE_MANY ? PIECE_FEW : PIECE;
    int status = by_par_for(pool, problem->outs, grain, run_piece, &d, err);
    by_free(d.reach);
    return status;
}

int by_descent_residuals(const struct by_descent *problem, struct by_pool *pool,
                         const int32_t *integers, float *residuals, struct baryon_error *err)
{
    struct descent d = {
        .problem = problem, .path = by_descent_path_chosen(), .of = integers, .found = residuals};
    if (by_descent_check(problem, err) || (problem->columns > BLOCK && by_blas_open(&d.blas, err)))
        return -1;
    return by_par_for(pool, problem->outs, PIECE, run_residuals, &d, err);
}
