/* The problem over scales and minima of rows whose integers are given, from the Gram matrix. */
#include "llm/gguf_solve/piece.h"

#include <string.h>

#define LANES 16
/* Floats that rows at once may take. */
#define ROOM ((size_t)8 << 20)
#define FEW  8

struct normals {
    struct by_gguf_piece *piece;
    size_t first, rows;
    float *numbers;  /* [rows][columns] */
    float *products; /* [rows][columns]: of numbers of a group and gram */
    float *ss, *sm;  /* [rows][groups][groups] */
    double *slopes;  /* [2][groups] */
};

static float lane_dot(const float *a, const float *b, size_t count)
{
    float lanes[LANES] = {0};
    for (size_t i = 0; i < count; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] += a[i + k] * b[i + k];
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t k = 0; k < half; k++)
            lanes[k] += lanes[k + half];
    return lanes[0];
}

static void find_numbers(struct normals *n)
{
    const struct by_gguf_piece *piece = n->piece;
    const struct by_ggml_form *form = piece->solving->form;
    const size_t columns = piece->solving->problem->columns;
    const int32_t *integers = piece->integers + n->first * columns;
    for (size_t i = 0; i < n->rows * columns; i++)
        n->numbers[i] = form->table ? form->table[integers[i]] : (float)integers[i];
}

/* Of group g with itself and those after it, both triangles. */
static void find_squares(struct normals *n, size_t g)
{
    const struct by_gguf_solving *s = n->piece->solving;
    const size_t columns = s->problem->columns, width = s->form->group, from = g * width;
    s->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)n->rows,
                   (int)(columns - from), (int)width, 1, n->numbers + from, (int)columns,
                   s->problem->gram + from * columns + from, (int)columns, 0, n->products + from,
                   (int)columns);
    for (size_t k = 0; k < n->rows; k++) {
        float *ss = n->ss + k * s->groups * s->groups;
        for (size_t h = g; h < s->groups; h++) {
            const size_t at = k * columns + h * width;
            ss[g * s->groups + h] = ss[h * s->groups + g] =
                lane_dot(n->products + at, n->numbers + at, width);
        }
    }
}

static void find_mixed(struct normals *n, size_t k)
{
    const struct by_gguf_solving *s = n->piece->solving;
    const size_t columns = s->problem->columns;
    float *sm = n->sm + k * s->groups * s->groups;
    memset(sm, 0, s->groups * s->groups * sizeof *sm);
    for (size_t i = 0; i < columns; i++) {
        const float number = n->numbers[k * columns + i], *sums = s->sums + i * s->groups;
        float *to = sm + i / s->form->group * s->groups;
        for (size_t h = 0; h < s->groups; h++)
            to[h] += number * sums[h];
    }
}

static void find_slopes(struct normals *n, size_t k)
{
    const struct by_gguf_solving *s = n->piece->solving;
    const size_t columns = s->problem->columns;
    const float *residual = n->piece->residual + (n->first + k) * columns;
    memset(n->slopes, 0, 2 * s->groups * sizeof *n->slopes);
    for (size_t i = 0; i < columns; i++) {
        const size_t g = i / s->form->group;
        n->slopes[g] += (double)n->numbers[k * columns + i] * (double)residual[i];
        n->slopes[s->groups + g] -= (double)residual[i];
    }
}

static void solve_row(struct normals *n, size_t k)
{
    const struct by_gguf_solving *s = n->piece->solving;
    const size_t row = n->first + k, square = s->groups * s->groups;
    const bool mins = s->form->min_high;
    struct by_gguf_normal normal = {.form = s->form,
                                    .groups = s->groups,
                                    .block_groups = s->block_groups,
                                    .ss = n->ss + k * square,
                                    .sm = mins ? n->sm + k * square : NULL,
                                    .mm = s->corners,
                                    .slopes_s = n->slopes,
                                    .slopes_m = n->slopes + s->groups,
                                    .codes = n->piece->codes + row * s->groups,
                                    .mins = n->piece->mins + row * s->groups,
                                    .halves = n->piece->halves + 2 * row * s->blocks};
    if (mins)
        find_mixed(n, k);
    find_slopes(n, k);
    by_gguf_descend_scales(&normal);
    by_gguf_multiply(n->piece, row);
}

static void solve_some(struct normals *n)
{
    find_numbers(n);
    for (size_t g = 0; g < n->piece->solving->groups; g++)
        find_squares(n, g);
    for (size_t k = 0; k < n->rows; k++)
        solve_row(n, k);
}

static size_t rows_at_once(const struct by_gguf_piece *piece)
{
    const size_t groups = piece->solving->groups, rows = ROOM / (2 * groups * groups);
    const size_t most = rows < FEW ? FEW : rows;
    return most < piece->rows ? most : piece->rows;
}

int by_gguf_solve_scales(struct by_gguf_piece *piece, struct baryon_error *err)
{
    const struct by_gguf_solving *s = piece->solving;
    const size_t rows = rows_at_once(piece), columns = s->problem->columns;
    const size_t square = s->groups * s->groups;
    struct normals n = {.piece = piece};
    n.numbers = by_alloc(2 * rows * (columns + square), sizeof *n.numbers, err);
    n.slopes = by_alloc(2 * s->groups, sizeof *n.slopes, err);
    const int status = n.numbers && n.slopes ? 0 : -1;
    if (status == 0) {
        n.products = n.numbers + rows * columns;
        n.ss = n.products + rows * columns;
        n.sm = n.ss + rows * square;
        for (; n.first < piece->rows; n.first += n.rows) {
            n.rows = piece->rows - n.first < rows ? piece->rows - n.first : rows;
            solve_some(&n);
        }
    }
    by_free(n.numbers);
    by_free(n.slopes);
    return status;
}
