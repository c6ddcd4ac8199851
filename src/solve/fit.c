/* Least squares for the scales of an output. */
#include "solve/fit.h"

#include "base/blas.h"
#include "solve/descent_internal.h"

#include <math.h>
#include <string.h>

#define OUTS  16   /* of a piece */
#define RIDGE 1e-5 /* share of each diagonal element that is added to it */
#define FLOOR 1e-8 /* and of the greatest one */
#define MOST  3.0f /* times a scale may grow or shrink */

struct fitting {
    const struct by_descent *problem;
    const struct by_fit *fit;
    const struct by_blas *blas;
    const int32_t *integers;
    const float *residuals;
    float *scales;
};

struct piece {
    size_t first, outs;
    float *levels, *products; /* [outs][columns] */
    double *normal;           /* [outs][groups][groups]: the upper triangle of A */
    double *right;            /* [outs][groups]: less what the scales have now in A */
    double *factor;           /* [groups][groups] */
    double *solved;           /* [groups] */
    float *scales;            /* [groups] */
};

/* --- The equations --- */

static void find_levels(const struct fitting *f, struct piece *piece)
{
    const struct by_descent *p = f->problem;
    for (size_t k = 0; k < piece->outs; k++)
        for (size_t i = 0; i < p->columns; i++) {
            const size_t out = piece->first + k, at = by_descent_scale_index(p, out, i);
            const int32_t integer = f->integers[out * p->columns + i];
            piece->levels[k * p->columns + i] = (float)by_descent_number(p, at, integer);
        }
}

static double sum_of_products(const float *a, const float *b, size_t count)
{
    double sums[4] = {0};
    for (size_t i = 0; i < count; i++)
        sums[i % 4] += (double)a[i] * (double)b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static size_t group_end(const struct by_descent *p, size_t group)
{
    return by_descent_min((group + 1) * p->group, p->columns);
}

/* A row of A for all outputs: what the group's values give in all later columns. */
static void find_row(const struct fitting *f, struct piece *piece, size_t group)
{
    const struct by_descent *p = f->problem;
    const size_t begin = group * p->group, end = group_end(p, group), rest = p->columns - begin;
    f->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)piece->outs,
                   (int)rest, (int)(end - begin), 1, piece->levels + begin, (int)p->columns,
                   p->gram + begin * p->columns + begin, (int)p->columns, 0, piece->products,
                   (int)rest);
    for (size_t k = 0; k < piece->outs; k++) {
        const float *levels = piece->levels + k * p->columns;
        const float *products = piece->products + k * rest - begin;
        double *row = piece->normal + (k * p->groups + group) * p->groups;
        for (size_t h = group; h < p->groups; h++) {
            const size_t from = h * p->group;
            row[h] = sum_of_products(products + from, levels + from, group_end(p, h) - from);
        }
        piece->right[k * p->groups + group] = -sum_of_products(
            f->residuals + (piece->first + k) * p->columns + begin, levels + begin, end - begin);
    }
}

/* With residual = gram values - cross, v' cross = A s - v' residual for the scales s as they are.
 */
static void add_scales(const double *normal, const float *scales, double *right, size_t n)
{
    for (size_t g = 0; g < n; g++) {
        right[g] += normal[g * n + g] * (double)scales[g];
        for (size_t h = g + 1; h < n; h++) {
            right[g] += normal[g * n + h] * (double)scales[h];
            right[h] += normal[g * n + h] * (double)scales[g];
        }
    }
}

/* --- Their solution --- */

/* factor = l, lower triangle, l l' = A with a ridge. */
static bool factorize(const struct piece *piece, const double *normal, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, normal[i * n + i]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *left = piece->factor + i * n, *right = piece->factor + j * n;
            double sum = normal[j * n + i];
            if (i == j)
                sum += sum * RIDGE + most * FLOOR;
            for (size_t k = 0; k < j; k++)
                sum -= left[k] * right[k];
            if (i == j && !(sum > 0))
                return false;
            piece->factor[i * n + j] = i == j ? sqrt(sum) : sum / right[j];
        }
    return true;
}

static void substitute(const struct piece *piece, const double *right, size_t n)
{
    double *x = piece->solved;
    for (size_t i = 0; i < n; i++) {
        double sum = right[i];
        for (size_t k = 0; k < i; k++)
            sum -= piece->factor[i * n + k] * x[k];
        x[i] = sum / piece->factor[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        double sum = x[i];
        for (size_t k = i + 1; k < n; k++)
            sum -= piece->factor[k * n + i] * x[k];
        x[i] = sum / piece->factor[i * n + i];
    }
}

static double error_of_scales(const double *normal, const double *right, const float *scales,
                              size_t n)
{
    double error = 0;
    for (size_t i = 0; i < n; i++) {
        double across = 0;
        for (size_t j = i + 1; j < n; j++)
            across += normal[i * n + j] * (double)scales[j];
        error +=
            (double)scales[i] * (normal[i * n + i] * (double)scales[i] + 2 * across - 2 * right[i]);
    }
    return error;
}

static void fit_output(const struct fitting *f, const struct piece *piece, size_t k)
{
    const size_t n = f->problem->groups, out = piece->first + k;
    const double *normal = piece->normal + k * n * n;
    double *right = piece->right + k * n;
    float *scales = f->scales + out * n;
    add_scales(normal, scales, right, n);
    if (!factorize(piece, normal, n))
        return;
    substitute(piece, right, n);
    for (size_t g = 0; g < n; g++) {
        const float scale = (float)piece->solved[g];
        const bool near = scale * MOST > scales[g] && scale < MOST * scales[g] && isnormal(scale);
        piece->scales[g] = near ? scale : scales[g];
    }
    f->fit->store(f->fit->context, out, piece->scales);
    if (error_of_scales(normal, right, piece->scales, n) <
        error_of_scales(normal, right, scales, n))
        memcpy(scales, piece->scales, n * sizeof *scales);
}

/* --- All --- */

static int open_equations(struct piece *piece, const struct by_descent *p, struct baryon_error *err)
{
    const size_t n = p->groups;
    piece->levels = by_alloc(2 * piece->outs * p->columns + n, sizeof(float), err);
    piece->normal = by_alloc(piece->outs * n * (n + 1) + n * (n + 1), sizeof *piece->normal, err);
    if (!piece->levels || !piece->normal)
        return -1;
    piece->products = piece->levels + piece->outs * p->columns;
    piece->scales = piece->products + piece->outs * p->columns;
    piece->right = piece->normal + piece->outs * n * n;
    piece->factor = piece->right + piece->outs * n;
    piece->solved = piece->factor + n * n;
    return 0;
}

static int fit_piece(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct fitting *f = context;
    struct piece piece = {.first = begin, .outs = end - begin};
    const int status = open_equations(&piece, f->problem, err);
    (void)worker;
    if (!status) {
        find_levels(f, &piece);
        for (size_t g = 0; g < f->problem->groups; g++)
            find_row(f, &piece, g);
        for (size_t k = 0; k < piece.outs; k++)
            fit_output(f, &piece, k);
    }
    by_free(piece.levels);
    by_free(piece.normal);
    return status;
}

int by_fit_run(const struct by_descent *problem, const int32_t *integers, const float *residuals,
               const struct by_fit *fit, struct by_pool *pool, float *scales,
               struct baryon_error *err)
{
    struct fitting f = {.problem = problem,
                        .fit = fit,
                        .integers = integers,
                        .residuals = residuals,
                        .scales = scales};
    if (by_descent_check(problem, err) || by_blas_open(&f.blas, err))
        return -1;
    return by_par_for(pool, problem->outs, OUTS, fit_piece, &f, err);
}
