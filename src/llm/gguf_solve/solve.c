/* Solves rows of blocks in pieces: levels, then scales, then levels again. */
#include "llm/gguf_solve/solve.h"

#include "llm/ggml/codec.h"
#include "llm/gguf_solve/piece.h"
#include "solve/descent.h"

#include <math.h>
#include <string.h>

/* Rows of a piece: enough for a matrix product, few enough for all threads to have some. */
#define PIECE      128
#define PIECE_FEW  32
#define PIECE_MANY 512
#define LANES      16
/* Columns that samples say nothing about count this share of the mean in the start. */
#define LEAST 0x1p-20f

struct run {
    struct by_gguf_solving solving;
    uint8_t *blocks;
    double (*errors)[2];
};

bool by_ggml_solves(const struct by_ggml_type *type)
{
    return by_ggml_form(type) != NULL;
}

/* --- A piece --- */

static int open_rows(struct by_gguf_piece *piece, struct baryon_error *err)
{
    const struct by_gguf_solving *s = piece->solving;
    const size_t places = piece->rows * s->problem->columns, groups = piece->rows * s->groups;
    piece->weights = s->problem->weights + piece->first * s->problem->columns;
    piece->pull = s->problem->pull ? s->problem->pull + piece->first * s->problem->columns : NULL;
    piece->values = by_alloc(3 * places, sizeof *piece->values, err);
    piece->integers = by_alloc(places, sizeof *piece->integers, err);
    piece->scales = by_alloc(2 * groups + 2 * piece->rows * s->blocks, sizeof *piece->scales, err);
    piece->codes = by_alloc(2 * groups, sizeof *piece->codes, err);
    piece->trial = by_alloc(piece->rows, s->row_bytes, err);
    piece->before = by_alloc(piece->rows, sizeof *piece->before, err);
    if (!piece->values || !piece->integers || !piece->scales || !piece->codes || !piece->trial ||
        !piece->before)
        return -1;
    piece->residual = piece->values + places;
    piece->tried = piece->residual + places;
    piece->offsets = piece->scales + groups;
    piece->halves = piece->offsets + groups;
    piece->mins = piece->codes + groups;
    return 0;
}

static void close_rows(struct by_gguf_piece *piece)
{
    by_free(piece->values);
    by_free(piece->integers);
    by_free(piece->scales);
    by_free(piece->codes);
    by_free(piece->trial);
    by_free(piece->before);
}

/* With d = values - weights the form is d' gram d - 2 d' pull more than that of the weights. */
static float pull_of(const struct by_gguf_piece *piece, size_t place)
{
    return piece->pull ? piece->pull[place] : 0;
}

static double row_error(const struct by_gguf_piece *piece, size_t row, const float *residual)
{
    const size_t columns = piece->solving->problem->columns, at = row * columns;
    double lanes[LANES] = {0}, sum = 0;
    for (size_t i = 0; i < columns; i++)
        lanes[i % LANES] += (double)piece->values[at + i] *
                            ((double)residual[at + i] - (double)pull_of(piece, at + i));
    for (size_t i = 0; i < LANES; i++)
        sum += lanes[i];
    return sum;
}

/* What the decoder makes of blocks. */
static int read_values(struct by_gguf_piece *piece, const uint8_t *blocks, struct baryon_error *err)
{
    const struct by_ggml_solve *p = piece->solving->problem;
    const size_t places = piece->rows * p->columns;
    if (by_ggml_decode(p->type, blocks, places, piece->values, err))
        return -1;
    for (size_t i = 0; i < places; i++)
        piece->values[i] -= piece->weights[i];
    return 0;
}

void by_gguf_find_residual(const struct by_gguf_piece *piece, float *residual)
{
    const struct by_ggml_solve *p = piece->solving->problem;
    const int columns = (int)p->columns;
    for (size_t i = 0; i < piece->rows * p->columns; i++)
        residual[i] = -pull_of(piece, i);
    piece->solving->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS,
                                (int)piece->rows, columns, columns, 1, piece->values, columns,
                                p->gram, columns, 1, residual, columns);
}

/* Errors of the rows as they start. */
static int judge_start(struct by_gguf_piece *piece, const uint8_t *blocks, struct baryon_error *err)
{
    if (read_values(piece, blocks, err))
        return -1;
    by_gguf_find_residual(piece, piece->residual);
    for (size_t k = 0; k < piece->rows; k++)
        piece->before[k] = row_error(piece, k, piece->residual);
    return 0;
}

static int solve_levels(struct by_gguf_piece *piece, const struct by_gptq_factor *factor,
                        struct baryon_error *err)
{
    const struct by_gguf_solving *s = piece->solving;
    const struct by_ggml_solve *p = s->problem;
    const struct by_descent_grid grid = {.offsets = s->form->min_high ? piece->offsets : NULL,
                                         .table = s->form->table};
    const struct by_descent problem = {.columns = p->columns,
                                       .outs = piece->rows,
                                       .gram = p->gram,
                                       .pull = piece->pull,
                                       .weights = piece->weights,
                                       .scales = piece->scales,
                                       .groups = s->groups,
                                       .group = s->form->group,
                                       .low = s->form->least - s->form->zero,
                                       .high = s->form->most - s->form->zero,
                                       .sweeps = p->sweeps,
                                       .free = true,
                                       .grid = &grid,
                                       .gram_is_finite = true,
                                       .residual = piece->tried};
    if (s->form->points)
        return (factor && by_gguf_feed_points(piece, &problem, err)) ||
                       by_gguf_descend_points(piece, err)
                   ? -1
                   : 0;
    if (factor && by_gptq_round(&problem, factor, NULL, piece->integers, err))
        return -1;
    return p->sweeps ? by_descent_run(&problem, NULL, piece->integers, NULL, err)
                     : by_descent_residuals(&problem, NULL, piece->integers, piece->tried, err);
}

/* Rows of the trial that are better become those of blocks; of the others, blocks are the ones to
 * go on with. */
static int settle(struct by_gguf_piece *piece, uint8_t *blocks, double *best,
                  struct baryon_error *err)
{
    const size_t bytes = piece->solving->row_bytes, columns = piece->solving->problem->columns;
    for (size_t k = 0; k < piece->rows; k++)
        by_gguf_pack(piece, piece->trial + k * bytes, k);
    if (read_values(piece, piece->trial, err))
        return -1;
    for (size_t k = 0; k < piece->rows; k++) {
        const double error = row_error(piece, k, piece->tried);
        if (error < best[k]) {
            memcpy(blocks + k * bytes, piece->trial + k * bytes, bytes);
            memcpy(piece->residual + k * columns, piece->tried + k * columns,
                   columns * sizeof *piece->residual);
            best[k] = error;
        } else {
            by_gguf_unpack(piece, blocks + k * bytes, k);
        }
    }
    return 0;
}

static int solve_piece(struct by_gguf_piece *piece, uint8_t *blocks, double *best,
                       struct baryon_error *err)
{
    const struct by_gguf_solving *s = piece->solving;
    const struct by_ggml_solve *p = s->problem;
    const unsigned rounds = s->form->power_of_two ? 0 : p->rounds;
    if (by_ggml_encode(p->type, piece->weights, piece->rows, p->columns, s->importance, blocks,
                       err))
        return by_err_in(err, "rows from %zu on", piece->first);
    if (s->form->power_of_two)
        by_gguf_choose_powers(piece, blocks);
    for (size_t k = 0; k < piece->rows; k++)
        by_gguf_unpack(piece, blocks + k * s->row_bytes, k);
    if (judge_start(piece, blocks, err))
        return -1;
    memcpy(best, piece->before, piece->rows * sizeof *best);
    if ((p->factor || p->sweeps) &&
        (solve_levels(piece, p->factor, err) || settle(piece, blocks, best, err)))
        return -1;
    for (unsigned i = 0; i < rounds; i++)
        if (by_gguf_solve_scales(piece, err) || solve_levels(piece, NULL, err) ||
            settle(piece, blocks, best, err))
            return -1;
    return 0;
}

static int run_piece(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct run *run = context;
    struct by_gguf_piece piece = {.solving = &run->solving, .first = begin, .rows = end - begin};
    double *best = by_alloc(piece.rows, sizeof *best, err);
    (void)worker;
    int status = !best || open_rows(&piece, err) ? -1 : 0;
    if (status == 0)
        status = solve_piece(&piece, run->blocks + begin * run->solving.row_bytes, best, err);
    for (size_t k = 0; status == 0 && run->errors && k < piece.rows; k++) {
        run->errors[begin + k][0] = piece.before[k];
        run->errors[begin + k][1] = best[k];
    }
    close_rows(&piece);
    by_free(best);
    return status;
}

/* --- What pieces share --- */

static void find_importance(struct by_gguf_solving *s)
{
    const struct by_ggml_solve *p = s->problem;
    double sum = 0;
    for (size_t i = 0; i < p->columns; i++) {
        s->importance[i] = p->importance ? p->importance[i] : p->gram[i * p->columns + i];
        sum += (double)s->importance[i];
    }
    const float mean = (float)(sum / (double)p->columns);
    for (size_t i = 0; i < p->columns; i++)
        s->importance[i] = mean > 0 ? fmaxf(s->importance[i], LEAST * mean) : 1;
}

static int sum_rows(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    const struct by_gguf_solving *s = context;
    const struct by_ggml_solve *p = s->problem;
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i++)
        for (size_t g = 0; g < s->groups; g++) {
            const float *row = p->gram + i * p->columns + g * s->form->group;
            float sum = 0;
            for (size_t k = 0; k < s->form->group; k++)
                sum += row[k];
            s->sums[i * s->groups + g] = sum;
        }
    return 0;
}

static void sum_corners(struct by_gguf_solving *s)
{
    memset(s->corners, 0, s->groups * s->groups * sizeof *s->corners);
    for (size_t i = 0; i < s->problem->columns; i++)
        for (size_t h = 0; h < s->groups; h++)
            s->corners[i / s->form->group * s->groups + h] += s->sums[i * s->groups + h];
}

static int open_solving(struct by_gguf_solving *s, struct by_pool *pool, struct baryon_error *err)
{
    const struct by_ggml_solve *p = s->problem;
    s->block_groups = p->type->block / s->form->group;
    s->blocks = p->columns / p->type->block;
    s->groups = s->blocks * s->block_groups;
    s->importance =
        by_alloc(p->columns + (p->columns + s->groups) * s->groups, sizeof *s->importance, err);
    if (!s->importance || by_blas_open(&s->blas, err))
        return -1;
    s->sums = s->importance + p->columns;
    s->corners = s->sums + p->columns * s->groups;
    find_importance(s);
    if (s->form->points && by_gguf_fours_open(s, pool, err))
        return -1;
    if (s->form->min_high && by_par_for(pool, p->columns, 64, sum_rows, s, err))
        return -1;
    if (s->form->min_high)
        sum_corners(s);
    return 0;
}

static int check(const struct by_ggml_solve *p, struct baryon_error *err)
{
    if (!by_ggml_form(p->type) || !p->type->encode)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "type %s cannot be solved", p->type->name);
    if (!p->rows || !p->columns || p->columns % p->type->block || p->columns > INT32_MAX)
        return by_fail(err, BARYON_ERR_USAGE,
                       "%zu rows of %zu columns of type %s, which has blocks of %u", p->rows,
                       p->columns, p->type->name, p->type->block);
    return 0;
}

int by_ggml_solve(const struct by_ggml_solve *problem, struct by_pool *pool, uint8_t *blocks,
                  double (*errors)[2], struct baryon_error *err)
{
    struct run run = {.solving = {.problem = problem, .form = by_ggml_form(problem->type)},
                      .blocks = blocks,
                      .errors = errors};
    if (check(problem, err) ||
        by_ggml_bytes(problem->type, problem->columns, &run.solving.row_bytes, err))
        return -1;
    int status = open_solving(&run.solving, pool, err);
    if (status == 0)
        status = by_par_for(pool, problem->rows, problem->rows < PIECE_MANY ? PIECE_FEW : PIECE,
                            run_piece, &run, err);
    by_free(run.solving.importance);
    by_gguf_fours_close(&run.solving);
    return status;
}
