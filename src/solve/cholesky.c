/*
 * A block of columns after the other. All the columns before it are taken off as a product, its
 * own square is factored in double, and the rows below are multiplied with the square's inverse.
 */
#include "solve/cholesky.h"

#include <math.h>
#include <string.h>

#define BLOCK BY_CHOLESKY_BLOCK
/* Rows that a thread works on at a time. */
#define ROWS  256
#define LANES 4 /* of sums in double */
/* Rounding of sums over thousands of floats leaves this share of a pivot in doubt. */
#define DOUBT 1e-6

struct work {
    float *matrix;
    size_t n, begin, size; /* of the block */
    const struct by_blas *blas;
    float *below;     /* [n][BLOCK] */
    double *diagonal; /* as it was */
    double square[BLOCK * BLOCK];
    float inverse[BLOCK * BLOCK];
};

/* --- Rows of a block --- */

static int take_off_earlier(void *context, size_t first, size_t last, unsigned worker,
                            struct baryon_error *err)
{
    const struct work *w = context;
    float *rows = w->matrix + (w->begin + first) * w->n;
    (void)worker;
    (void)err;
    w->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, (int)(last - first),
                   (int)w->size, (int)w->begin, -1, rows, (int)w->n, w->matrix + w->begin * w->n,
                   (int)w->n, 1, rows + w->begin, (int)w->n);
    return 0;
}

static int times_inverse(void *context, size_t first, size_t last, unsigned worker,
                         struct baryon_error *err)
{
    const struct work *w = context;
    const size_t start = w->begin + w->size;
    float *rows = w->matrix + (start + first) * w->n + w->begin, *copy = w->below + first * BLOCK;
    (void)worker;
    (void)err;
    for (size_t i = 0; i < last - first; i++)
        memcpy(copy + i * BLOCK, rows + i * w->n, w->size * sizeof *copy);
    w->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, (int)(last - first),
                   (int)w->size, (int)w->size, 1, copy, BLOCK, w->inverse, BLOCK, 0, rows,
                   (int)w->n);
    return 0;
}

/* --- The square on the diagonal --- */

typedef double lanes __attribute__((vector_size(8 * LANES)));

static double dot(const double *a, const double *b, size_t count)
{
    lanes sums = {0}, x, y;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        sums += x * y;
    }
    double sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    for (; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static bool factor_square(struct work *w)
{
    for (size_t i = 0; i < w->size; i++) {
        double *row = w->square + i * BLOCK;
        const float *from = w->matrix + (w->begin + i) * w->n + w->begin;
        for (size_t j = 0; j < i; j++) {
            const double *other = w->square + j * BLOCK;
            row[j] = ((double)from[j] - dot(row, other, j)) / other[j];
        }
        const double pivot = (double)from[i] - dot(row, row, i);
        if (!(pivot > DOUBT * w->diagonal[w->begin + i]) || !isfinite(pivot))
            return false;
        row[i] = sqrt(pivot);
    }
    return true;
}

/* The square goes back, and its inverse is found column after column. */
static void invert_square(struct work *w)
{
    memset(w->inverse, 0, sizeof w->inverse);
    for (size_t i = 0; i < w->size; i++)
        for (size_t j = 0; j <= i; j++)
            w->matrix[(w->begin + i) * w->n + w->begin + j] = (float)w->square[i * BLOCK + j];
    for (size_t column = 0; column < w->size; column++) {
        double x[BLOCK];
        for (size_t i = column; i < w->size; i++) {
            const double *row = w->square + i * BLOCK;
            const double known = dot(row + column, x + column, i - column);
            x[i] = ((i == column ? 1 : 0) - known) / row[i];
            w->inverse[i * BLOCK + column] = (float)x[i];
        }
    }
}

static int factor(struct work *w, struct by_pool *pool, bool *positive, struct baryon_error *err)
{
    for (size_t i = 0; i < w->n; i++)
        w->diagonal[i] = (double)w->matrix[i * w->n + i];
    *positive = false;
    for (w->begin = 0; w->begin < w->n; w->begin += BLOCK) {
        const size_t left = w->n - w->begin;
        w->size = left < BLOCK ? left : BLOCK;
        if (w->begin && by_par_for(pool, left, ROWS, take_off_earlier, w, err))
            return -1;
        if (!factor_square(w))
            return 0;
        invert_square(w);
        if (left > w->size && by_par_for(pool, left - w->size, ROWS, times_inverse, w, err))
            return -1;
    }
    *positive = true;
    return 0;
}

int by_cholesky(float *matrix, size_t n, const struct by_blas *blas, struct by_pool *pool,
                bool *positive, struct baryon_error *err)
{
    struct work *w = by_alloc(1, sizeof *w, err);
    if (!w)
        return -1;
    w->matrix = matrix;
    w->n = n;
    w->blas = blas;
    w->below = by_alloc(n > BLOCK ? n * BLOCK : 1, sizeof *w->below, err);
    w->diagonal = by_alloc(n, sizeof *w->diagonal, err);
    int status = w->below && w->diagonal ? factor(w, pool, positive, err) : -1;
    by_free(w->below);
    by_free(w->diagonal);
    by_free(w);
    return status;
}
