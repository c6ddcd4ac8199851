/* Descends without a Gram matrix, on the rows of the samples. */
#include "solve/descent_rows.h"

#include "solve/descent_internal.h"
#include "solve/descent_path.h"

#include <math.h>
#include <string.h>

#define SIDE BY_DESCENT_SIDE
struct solving {
    const struct by_descent *problem;
    const struct by_descent_path *path;
    const float *reach; /* by column: half of what a step costs by itself, for a scale of 1 */
    int32_t *integers;
    double *errors; /* may be NULL */
};

/* Up to SIDE outputs; arrays are [][SIDE], unused outputs all zero. */
struct side {
    size_t first, outs;
    float *lines;     /* [rows]: what the values give */
    float *values;    /* [columns]: of the integers */
    float *cross;     /* [columns] */
    float *down, *up; /* [columns]: levels that are left */
    float *scales;    /* [columns] */
    int32_t *start;   /* [outs][columns] */
};

static const float *column_of(const struct by_descent_rows *rows, size_t column)
{
    return rows->values + column * rows->stride;
}

/* --- What weights give --- */

/* values: [columns][SIDE] */
static void find_given(const struct by_descent_rows *rows, const struct by_descent_path *path,
                       size_t columns, const float *values, float *lines)
{
    memset(lines, 0, rows->count * SIDE * sizeof *lines);
    for (size_t i = 0; i < columns; i++)
        path->push(lines, column_of(rows, i), rows->count, values + i * SIDE);
}

/* gram times the values that gave the lines, at one column. */
static void product_at(const struct by_descent_rows *rows, const struct by_descent_path *path,
                       size_t column, const float *values, const float *lines, float products[SIDE])
{
    path->project(column_of(rows, column), lines, rows->count, products);
    for (size_t k = 0; k < SIDE; k++)
        products[k] = products[k] / (float)rows->count + rows->damping * values[column * SIDE + k];
}

/* error(w) of what the lines were given by. */
static void find_errors(const struct by_descent *p, const struct side *side, double errors[SIDE])
{
    double squares[SIDE] = {0}, damped[SIDE] = {0}, linear[SIDE] = {0};
    for (size_t i = 0; i < p->rows->count * SIDE; i++)
        squares[i % SIDE] += (double)side->lines[i] * (double)side->lines[i];
    for (size_t i = 0; i < p->columns * SIDE; i++) {
        const double value = (double)side->values[i];
        damped[i % SIDE] += value * value;
        linear[i % SIDE] += value * (double)side->cross[i];
    }
    for (size_t k = 0; k < SIDE; k++)
        errors[k] = squares[k] / (double)p->rows->count + (double)p->rows->damping * damped[k] -
                    2 * linear[k];
}

/* --- One side --- */

static int open_side(const struct by_descent *p, struct side *side, struct baryon_error *err)
{
    const size_t places = p->columns * SIDE;
    side->lines = by_alloc(p->rows->count * SIDE, sizeof *side->lines, err);
    side->values = by_alloc_zero(5 * places, sizeof *side->values, err);
    side->start = by_alloc(side->outs * p->columns, sizeof *side->start, err);
    if (!side->lines || !side->values || !side->start)
        return -1;
    side->cross = side->values + places;
    side->down = side->cross + places;
    side->up = side->down + places;
    side->scales = side->up + places;
    return 0;
}

static void close_side(struct side *side)
{
    by_free(side->lines);
    by_free(side->values);
    by_free(side->start);
}

/* Values of integers, and how far these may go. */
static void place_integers(const struct by_descent *p, struct side *side, const int32_t *integers)
{
    for (size_t k = 0; k < side->outs; k++) {
        const size_t out = side->first + k;
        for (size_t i = 0; i < p->columns; i++) {
            const size_t from = out * p->columns + i, to = i * SIDE + k;
            const size_t at = by_descent_scale_index(p, out, i);
            const int32_t integer = integers[k * p->columns + i];
            const float now = (float)(integer - by_descent_zero(p, at));
            side->values[to] = now * p->scales[at];
            side->scales[to] = p->scales[at];
            side->cross[to] = p->cross[from];
            by_descent_room(p, out, i, integer, side->down + to, side->up + to);
        }
    }
}

/* --- Sweeps --- */

/* One column of all outputs: what its steps gain. */
static double step_side(const struct solving *solving, struct side *side, size_t column)
{
    const struct by_descent *p = solving->problem;
    const size_t at = column * SIDE;
    float slopes[SIDE], steps[SIDE] = {0};
    double gain = 0;
    product_at(p->rows, solving->path, column, side->values, side->lines, slopes);
    for (size_t k = 0; k < side->outs; k++) {
        const float slope = slopes[k] - side->cross[at + k], scale = side->scales[at + k];
        const float room = slope > 0 ? side->down[at + k] : side->up[at + k];
        if (!(room > 0 && fabsf(slope) > scale * solving->reach[column]))
            continue;
        const float way = slope > 0 ? -1 : 1;
        solving->integers[(side->first + k) * p->columns + column] += (int32_t)way;
        side->down[at + k] += way;
        side->up[at + k] -= way;
        steps[k] = way * scale;
        side->values[at + k] += steps[k];
        gain += 2 * (double)scale * (double)(fabsf(slope) - scale * solving->reach[column]);
    }
    if (gain > 0)
        solving->path->push(side->lines, column_of(p->rows, column), p->rows->count, steps);
    return gain;
}

static double sweep(const struct solving *solving, struct side *side)
{
    double gain = 0;
    for (size_t i = 0; i < solving->problem->columns; i++)
        if (isfinite(solving->reach[i]))
            gain += step_side(solving, side, i);
    return gain;
}

/* --- What came of it --- */

static void errors_of(const struct solving *solving, struct side *side, const int32_t *integers,
                      double errors[SIDE])
{
    place_integers(solving->problem, side, integers);
    find_given(solving->problem->rows, solving->path, solving->problem->columns, side->values,
               side->lines);
    find_errors(solving->problem, side, errors);
}

/* Outputs that did not get better go back to where they started. */
static void settle_side(const struct solving *solving, struct side *side, const double before[SIDE])
{
    const size_t columns = solving->problem->columns;
    int32_t *integers = solving->integers + side->first * columns;
    double after[SIDE];
    errors_of(solving, side, integers, after);
    for (size_t k = 0; k < side->outs; k++) {
        const bool better = after[k] < before[k] && isfinite(after[k]);
        if (!better)
            memcpy(integers + k * columns, side->start + k * columns, columns * sizeof *integers);
        if (solving->errors)
            solving->errors[side->first + k] = better ? before[k] - after[k] : 0;
    }
}

static void descend(const struct solving *solving, struct side *side)
{
    const struct by_descent *p = solving->problem;
    const unsigned sweeps = p->sweeps ? p->sweeps : BY_DESCENT_SWEEPS;
    double before[SIDE], all = 0;
    memcpy(side->start, solving->integers + side->first * p->columns,
           side->outs * p->columns * sizeof *side->start);
    errors_of(solving, side, side->start, before);
    for (unsigned i = 0; i < sweeps; i++) {
        const double gain = sweep(solving, side);
        all += gain;
        if (!(gain > p->least_gain * all))
            break;
    }
    settle_side(solving, side, before);
}

static int run_side(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    const struct solving *solving = context;
    struct side side = {.first = begin, .outs = end - begin};
    (void)worker;
    const int status = open_side(solving->problem, &side, err);
    if (status == 0)
        descend(solving, &side);
    close_side(&side);
    return status;
}

/* --- The diagonal --- */

/* Without damping. */
static double diagonal_of(const struct by_descent_rows *rows, size_t column)
{
    const float *values = column_of(rows, column);
    double sum = 0;
    for (size_t i = 0; i < rows->count; i++)
        sum += (double)values[i] * (double)values[i];
    return sum / (double)rows->count;
}

struct diagonal {
    const struct by_descent_rows *rows;
    float *reach;
};

static int reach_of(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    const struct diagonal *diagonal = context;
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i++) {
        const double own = diagonal_of(diagonal->rows, i) + (double)diagonal->rows->damping;
        diagonal->reach[i] =
            own > 0 ? (float)(own / 2 * (1 + (double)BY_DESCENT_MARGIN)) : INFINITY;
    }
    return 0;
}

double by_descent_rows_size(const struct by_descent_rows *rows, size_t columns)
{
    double sum = 0;
    for (size_t i = 0; i < columns; i++)
        sum += diagonal_of(rows, i);
    return sum / (double)columns + (double)rows->damping;
}

/* --- The whole --- */

int by_descent_rows_run(const struct by_descent *problem, struct by_pool *pool, int32_t *integers,
                        double *errors, struct baryon_error *err)
{
    struct diagonal diagonal = {problem->rows,
                                by_alloc(problem->columns, sizeof *diagonal.reach, err)};
    struct solving solving = {.problem = problem,
                              .path = by_descent_path_chosen(),
                              .reach = diagonal.reach,
                              .integers = integers,
                              .errors = errors};
    int status = diagonal.reach ? 0 : -1;
    if (status == 0)
        status = by_par_for(pool, problem->columns, 64, reach_of, &diagonal, err);
    if (status == 0)
        status = by_par_for(pool, problem->outs, SIDE, run_side, &solving, err);
    by_free(diagonal.reach);
    return status;
}

int by_descent_rows_error(const struct by_descent *problem, const int32_t *integers, double *errors,
                          struct baryon_error *err)
{
    const struct solving solving = {.problem = problem, .path = by_descent_path_chosen()};
    for (size_t first = 0; first < problem->outs; first += SIDE) {
        struct side side = {.first = first, .outs = by_descent_min(SIDE, problem->outs - first)};
        double found[SIDE];
        const int status = open_side(problem, &side, err);
        if (status == 0) {
            errors_of(&solving, &side, integers + first * problem->columns, found);
            memcpy(errors + first, found, side.outs * sizeof *errors);
        }
        close_side(&side);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* --- Products --- */

struct multiplying {
    const struct by_descent_rows *rows;
    const struct by_descent_path *path;
    size_t columns;
    const float *weights;
    float *products;
};

static void multiply_rows(const struct multiplying *m, size_t first, size_t outs, float *values,
                          float *lines)
{
    float products[SIDE];
    for (size_t k = 0; k < outs; k++)
        for (size_t i = 0; i < m->columns; i++)
            values[i * SIDE + k] = m->weights[(first + k) * m->columns + i];
    find_given(m->rows, m->path, m->columns, values, lines);
    for (size_t i = 0; i < m->columns; i++) {
        product_at(m->rows, m->path, i, values, lines, products);
        for (size_t k = 0; k < outs; k++)
            m->products[(first + k) * m->columns + i] = products[k];
    }
}

static int multiply_side(void *context, size_t begin, size_t end, unsigned worker,
                         struct baryon_error *err)
{
    const struct multiplying *m = context;
    float *values = by_alloc_zero((m->columns + m->rows->count) * SIDE, sizeof *values, err);
    (void)worker;
    if (!values)
        return -1;
    multiply_rows(m, begin, end - begin, values, values + m->columns * SIDE);
    by_free(values);
    return 0;
}

int by_descent_rows_product(const struct by_descent_rows *rows, size_t columns, size_t outs,
                            const float *weights, struct by_pool *pool, float *products,
                            struct baryon_error *err)
{
    struct multiplying m = {rows, by_descent_path_chosen(), columns, weights, products};
    return by_par_for(pool, outs, SIDE, multiply_side, &m, err);
}
