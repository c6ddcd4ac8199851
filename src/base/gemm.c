/* Multiplies float32 matrices in portable loops, for systems without a BLAS. */
#include "base/gemm.h"

#include "base/blas.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ROWS  4   /* of a tile */
#define WIDTH 16  /* its columns */
#define DEPTH 256 /* products that are added up in single precision at a time */

struct matrix {
    const float *at;
    size_t down, along; /* steps to the next row, the next column */
};

struct product {
    struct matrix a, b;
    size_t m, n, k;
    float alpha, beta, *c;
    size_t ldc;
    bool upper; /* what is below the diagonal stays */
};

static struct matrix matrix(const float *at, int step, bool transposed)
{
    return transposed ? (struct matrix){at, 1, (size_t)step} : (struct matrix){at, (size_t)step, 1};
}

static size_t least_size(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* `wide` neighbours of each of `depth` steps, zeros after the last: out[depth][size]. */
static void pack(const struct matrix *from, size_t first, size_t wide, size_t size, size_t begin,
                 size_t depth, bool rows, float *out)
{
    const size_t next = rows ? from->down : from->along, step = rows ? from->along : from->down;
    for (size_t k = 0; k < depth; k++, out += size) {
        const float *in = from->at + first * next + (begin + k) * step;
        memset(out, 0, size * sizeof *out);
        for (size_t i = 0; i < wide; i++)
            out[i] = in[i * next];
    }
}

typedef float lanes __attribute__((vector_size(16)));
#define LANES 4

static void multiply_block(const float *a, const float *b, size_t depth, float out[ROWS][WIDTH])
{
    lanes sums[ROWS][WIDTH / LANES] = {{{0}}}, columns[WIDTH / LANES];
    for (size_t k = 0; k < depth; k++, a += ROWS, b += WIDTH) {
        memcpy(columns, b, sizeof columns);
        for (size_t row = 0; row < ROWS; row++)
            for (size_t i = 0; i < WIDTH / LANES; i++)
                sums[row][i] += a[row] * columns[i];
    }
    memcpy(out, sums, sizeof sums);
}

static void add_tile(const struct product *p, size_t row, size_t column, bool first,
                     const float sums[ROWS][WIDTH])
{
    const size_t rows = least_size(ROWS, p->m - row), columns = least_size(WIDTH, p->n - column);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            float *to = &p->c[(row + i) * p->ldc + column + j];
            if (p->upper && column + j < row + i)
                continue;
            if (first) /* what was there may be anything where beta is 0 */
                *to = p->beta != 0 ? p->beta * *to : 0;
            *to += p->alpha * sums[i][j];
        }
}

static void multiply_strip(const struct product *p, size_t column, size_t begin, size_t depth)
{
    float a[DEPTH * ROWS], b[DEPTH * WIDTH], sums[ROWS][WIDTH];
    pack(&p->b, column, least_size(WIDTH, p->n - column), WIDTH, begin, depth, false, b);
    for (size_t row = 0; row < p->m; row += ROWS) {
        if (p->upper && row >= column + WIDTH)
            break;
        pack(&p->a, row, least_size(ROWS, p->m - row), ROWS, begin, depth, true, a);
        multiply_block(a, b, depth, sums);
        add_tile(p, row, column, begin == 0, (const float(*)[WIDTH])sums);
    }
}

static void multiply_all(const struct product *p)
{
    for (size_t column = 0; column < p->n; column += WIDTH)
        for (size_t begin = 0; begin == 0 || begin < p->k; begin += DEPTH)
            multiply_strip(p, column, begin, least_size(DEPTH, p->k - begin));
}

void by_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
              int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    (void)order;
    multiply_all(&(struct product){.a = matrix(a, lda, trans_a == BY_BLAS_TRANS),
                                   .b = matrix(b, ldb, trans_b == BY_BLAS_TRANS),
                                   .m = (size_t)m,
                                   .n = (size_t)n,
                                   .k = (size_t)k,
                                   .alpha = alpha,
                                   .beta = beta,
                                   .c = c,
                                   .ldc = (size_t)ldc});
}

void by_ssyrk(int order, int uplo, int trans, int n, int k, float alpha, const float *a, int lda,
              float beta, float *c, int ldc)
{
    (void)order, (void)uplo;
    const bool transposed = trans == BY_BLAS_TRANS;
    multiply_all(&(struct product){.a = matrix(a, lda, transposed),
                                   .b = matrix(a, lda, !transposed),
                                   .m = (size_t)n,
                                   .n = (size_t)n,
                                   .k = (size_t)k,
                                   .alpha = alpha,
                                   .beta = beta,
                                   .c = c,
                                   .ldc = (size_t)ldc,
                                   .upper = true});
}
