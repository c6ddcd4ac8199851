/*
 * Outputs are worked on in pieces of fixed size, whose products with gram are one matrix product an
 * iteration; each output is a problem of its own.
 */
#include "solve/relaxation.h"

#include "base/blas.h"
#include "solve/descent_internal.h"

#include <math.h>
#include <string.h>

#define PIECE 64 /* outputs */

/* Of the paper. */
#define STRETCH    1.2f /* of the sigmoid, in the middle of which 0 to 1 lies */
#define BEYOND     0.1f
#define CUT        2.4f /* ln 11 and a little more: h of a v beyond it is 0 or 1 */
#define BETA_FIRST 20.0f
#define BETA_LAST  2.0f
#define WARM       5 /* the first one in so many iterations has no lambda */
#define MEAN       0.9f
#define SQUARE     0.999f
#define TINY       1e-8f
/* Of the form with a mean diagonal of 1: of 0.01 to 100 and 0.01 to 0.3 what came out best. */
#define LAMBDA 1.0f
#define RATE   0.1f

struct relaxation {
    const struct by_descent *problem;
    const struct by_blas *blas;
    unsigned iterations;
    int32_t *integers;
};

struct piece {
    size_t first, outs;
    /* [outs][columns] */
    float *below;   /* value of the level below the weight */
    float *room;    /* how far h takes it from there: a scale, or 0 for a weight on a level */
    float *v;       /* what goes downhill */
    float *h;       /* of v */
    float *means;   /* of gradients, as Adam has it */
    float *squares; /* of gradients */
    float *values;  /* of the weights now */
    float *slopes;  /* gram w - cross */
    float *norms;   /* [outs]: 1 / the mean of the diagonal; 0: there is none */
};

/* What an iteration has for all outputs. */
struct turn {
    float lambda, beta;
    float mean, square; /* what those of Adam are to be multiplied with */
};

static float h_of(float v)
{
    if (v <= -CUT || v >= CUT)
        return v < 0 ? 0 : 1;
    return fminf(fmaxf(STRETCH / (1 + expf(-v)) - BEYOND, 0), 1);
}

/* --- Where it starts --- */

static void begin_output(const struct relaxation *r, struct piece *piece, size_t k)
{
    const struct by_descent *p = r->problem;
    const size_t out = piece->first + k;
    double sum = 0;
    for (size_t i = 0; i < p->columns; i++) {
        const size_t at = by_descent_scale_index(p, out, i), place = k * p->columns + i;
        const float level = by_descent_level(p, p->weights[out * p->columns + i], at);
        const float share = (level - floorf(level) + BEYOND) / STRETCH;
        const double scale = (double)p->scales[at];
        piece->below[place] = floorf(level) * p->scales[at];
        piece->room[place] = (ceilf(level) - floorf(level)) * p->scales[at];
        piece->v[place] = logf(share / (1 - share));
        piece->h[place] = h_of(piece->v[place]);
        sum += fmax((double)p->gram[i * p->columns + i], 0) * scale * scale;
    }
    const float norm = (float)((double)p->columns / sum);
    piece->norms[k] = isfinite(norm) ? norm : 0;
}

/* --- Iterations --- */

static struct turn turn_of(const struct relaxation *r, unsigned iteration)
{
    const unsigned warm = r->iterations / WARM;
    const double count = iteration + 1;
    struct turn turn = {.mean = (float)(1 / (1 - pow((double)MEAN, count))),
                        .square = (float)(1 / (1 - pow((double)SQUARE, count)))};
    if (iteration >= warm) {
        const float done = (float)(iteration - warm) / (float)(r->iterations - warm);
        turn.lambda = LAMBDA;
        turn.beta = BETA_FIRST + (BETA_LAST - BETA_FIRST) * done;
    }
    return turn;
}

static void find_slopes(const struct relaxation *r, struct piece *piece)
{
    const struct by_descent *p = r->problem;
    const size_t count = piece->outs * p->columns;
    for (size_t i = 0; i < count; i++)
        piece->values[i] = piece->below[i] + piece->room[i] * piece->h[i];
    memcpy(piece->slopes, p->cross + piece->first * p->columns, count * sizeof *piece->slopes);
    r->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)piece->outs,
                   (int)p->columns, (int)p->columns, 1, piece->values, (int)p->columns, p->gram,
                   (int)p->columns, -1, piece->slopes, (int)p->columns);
}

/* By v. slope: of the form by h, which has none where it is cut. */
static float gradient(const struct turn *turn, float h, float slope)
{
    if (h <= 0 || h >= 1)
        return 0;
    const float away = 2 * h - 1, sigmoid = (h + BEYOND) / STRETCH;
    if (turn->lambda > 0)
        slope -= 2 * turn->lambda * turn->beta * copysignf(powf(fabsf(away), turn->beta - 1), away);
    return slope * STRETCH * sigmoid * (1 - sigmoid);
}

static void step_output(struct piece *piece, size_t columns, size_t k, const struct turn *turn)
{
    for (size_t i = k * columns; i < (k + 1) * columns; i++) {
        const float slope = 2 * piece->room[i] * piece->norms[k] * piece->slopes[i];
        const float g = gradient(turn, piece->h[i], slope);
        piece->means[i] = MEAN * piece->means[i] + (1 - MEAN) * g;
        piece->squares[i] = SQUARE * piece->squares[i] + (1 - SQUARE) * g * g;
        piece->v[i] -=
            RATE * piece->means[i] * turn->mean / (sqrtf(piece->squares[i] * turn->square) + TINY);
        piece->h[i] = h_of(piece->v[i]);
    }
}

/* --- Where it ends --- */

/* The nearest integers are there already, for columns that say nothing and sizes beyond floats. */
static void end_output(const struct relaxation *r, const struct piece *piece, size_t k)
{
    const struct by_descent *p = r->problem;
    for (size_t i = 0; i < p->columns; i++) {
        const size_t out = piece->first + k, from = k * p->columns + i;
        const size_t at = by_descent_scale_index(p, out, i), place = out * p->columns + i;
        const float level = by_descent_level(p, p->weights[place], at);
        const float rounded = piece->h[from] < 0.5f ? floorf(level) : ceilf(level);
        if (p->gram[i * p->columns + i] > 0 && piece->norms[k] > 0 && isfinite(piece->v[from]))
            r->integers[place] = (int32_t)rounded + by_descent_zero(p, at);
    }
}

/* --- Pieces --- */

static int open_piece(struct piece *piece, size_t columns, struct baryon_error *err)
{
    float **const parts[] = {&piece->below, &piece->room,    &piece->v,      &piece->h,
                             &piece->means, &piece->squares, &piece->values, &piece->slopes};
    const size_t count = sizeof parts / sizeof *parts, room = piece->outs * columns;
    float *all = by_alloc_zero(count * room + piece->outs, sizeof *all, err);
    if (!all)
        return -1;
    for (size_t i = 0; i < count; i++)
        *parts[i] = all + i * room;
    piece->norms = all + count * room;
    return 0;
}

static int run_piece(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct relaxation *r = context;
    const size_t columns = r->problem->columns;
    struct piece piece = {.first = begin, .outs = end - begin};
    (void)worker;
    if (open_piece(&piece, columns, err) < 0)
        return -1;
    for (size_t k = 0; k < piece.outs; k++)
        begin_output(r, &piece, k);
    for (unsigned i = 0; i < r->iterations; i++) {
        const struct turn turn = turn_of(r, i);
        find_slopes(r, &piece);
        for (size_t k = 0; k < piece.outs; k++)
            step_output(&piece, columns, k, &turn);
    }
    for (size_t k = 0; k < piece.outs; k++)
        end_output(r, &piece, k);
    by_free(piece.below);
    return 0;
}

int by_relaxation_run(const struct by_descent *problem, unsigned iterations, struct by_pool *pool,
                      int32_t *integers, struct baryon_error *err)
{
    struct relaxation r = {.problem = problem, .iterations = iterations, .integers = integers};
    if (by_descent_check(problem, err) < 0 || by_blas_open(&r.blas, err) < 0)
        return -1;
    by_descent_nearest(problem, integers);
    return by_par_for(pool, problem->outs, PIECE, run_piece, &r, err);
}
