/* Candidates for scales of channels, and the output error that each leaves. */
#include "llm/scaling_judge.h"

#include "array/elem.h"
#include "base/blas.h"

#include <math.h>
#include <string.h>

#define STEPS      20  /* of the grid: shares 0, 1/20 ... 1 */
#define ROWS       256 /* of a linear that are judged */
#define LEAST_PEAK 1e-5f
#define LEAST      1e-3f

struct judging {
    const struct by_llm_scaling_problem *problem;
    const struct by_blas *blas;
    float *reach;                        /* [columns]: peaks of the weights */
    float *rows[BY_LLM_SCALING_LINEARS]; /* those that are judged */
    size_t row_counts[BY_LLM_SCALING_LINEARS];
    size_t row_sum;
    float *wanted;       /* [tokens][row_sum] */
    double (*errors)[2]; /* by candidate: of even tokens, of odd ones */
};

/* --- Candidates --- */

static size_t candidate_count(const struct by_llm_scaling_problem *p)
{
    return p->smooth && p->alpha >= 0 ? 2 : STEPS + 1;
}

/* The first changes nothing. */
static double step_share(const struct by_llm_scaling_problem *p, size_t candidate)
{
    if (p->smooth && p->alpha >= 0)
        return candidate ? p->alpha : 0;
    return (double)candidate / STEPS;
}

/* Columns that have the same scale take the greatest. */
static void share_scales(const struct by_llm_scaling_problem *p, float *scales)
{
    for (size_t first = 0; p->repeat > 1 && first < p->columns; first += p->repeat * p->group)
        for (size_t i = 0; i < p->group; i++) {
            float most = 0;
            for (size_t k = 0; k < p->repeat; k++)
                most = fmaxf(most, scales[first + k * p->group + i]);
            for (size_t k = 0; k < p->repeat; k++)
                scales[first + k * p->group + i] = most;
        }
}

static void make_scales(const struct judging *j, size_t candidate, float *scales)
{
    const struct by_llm_scaling_problem *p = j->problem;
    const double share = step_share(p, candidate);
    float least = INFINITY, most = 0;
    for (size_t i = 0; i < p->columns; i++) {
        const double x = (double)(p->smooth ? p->peaks[i] : p->means[i]);
        const double w = (double)fmaxf(j->reach[i], LEAST_PEAK);
        const double scale = p->smooth ? pow(x, share) / pow(w, 1 - share) : pow(x, share);
        scales[i] = candidate ? fmaxf((float)scale, LEAST) : 1;
    }
    share_scales(p, scales);
    for (size_t i = 0; i < p->columns; i++) {
        least = fminf(least, scales[i]);
        most = fmaxf(most, scales[i]);
    }
    /* Norms keep their size. */
    const float middle = sqrtf(least * most);
    for (size_t i = 0; candidate && i < p->columns; i++)
        scales[i] /= middle;
}

/* --- Errors --- */

struct room {
    float *scales, *tokens, *rows, *got;
};

static int open_room(struct room *room, const struct judging *j, struct baryon_error *err)
{
    const struct by_llm_scaling_problem *p = j->problem;
    room->scales = by_alloc(p->columns * (1 + p->token_count + ROWS) + p->token_count * j->row_sum,
                            sizeof *room->scales, err);
    if (!room->scales)
        return -1;
    room->tokens = room->scales + p->columns;
    room->rows = room->tokens + p->token_count * p->columns;
    room->got = room->rows + (size_t)ROWS * p->columns;
    return 0;
}

/* A static scale is that of all tokens. */
static int round_tokens(const struct judging *j, const struct room *room, struct baryon_error *err)
{
    const struct by_llm_scaling_problem *p = j->problem;
    struct by_llm_input input = {0};
    float peak = 0;
    for (size_t t = 0; t < p->token_count; t++)
        for (size_t i = 0; i < p->columns; i++)
            room->tokens[t * p->columns + i] = p->tokens[t * p->columns + i] / room->scales[i];
    if (!p->input->dtype)
        return 0;
    for (size_t i = 0; i < p->columns; i++)
        peak = fmaxf(peak, p->peaks[i] / room->scales[i]);
    input.spec = *p->input;
    if (by_llm_input_is_static(p->input))
        input.scale = by_llm_input_scale(p->input, false, BY_ELEM_FLOAT, peak);
    return by_llm_input_round(&input, room->tokens, p->token_count, p->columns, room->tokens, err);
}

/* Rows of a linear with scaled columns, to nearest and back. */
static int round_rows(const struct judging *j, size_t linear, const struct room *room,
                      struct baryon_error *err)
{
    const size_t columns = j->problem->columns, rows = j->row_counts[linear];
    struct by_llm_tensor tensor = *j->problem->linears[linear].tensor;
    struct by_llm_coded coded = {0};
    float peak = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < columns; i++)
            room->rows[r * columns + i] = j->rows[linear][r * columns + i] * room->scales[i];
    for (size_t i = 0; i < columns; i++)
        peak = fmaxf(peak, j->reach[i] * room->scales[i]);
    const struct by_llm_range range = {-peak, peak, true};
    tensor.importance = NULL;
    by_llm_tensor_scale(&tensor, &range);
    struct by_llm_scratch *scratch = by_llm_scratch_open(&tensor, err);
    int status = scratch ? by_llm_coded_open(&coded, &tensor, rows, err) : -1;
    if (!status)
        status = by_llm_quantize_rows(&tensor, scratch, room->rows, rows, &coded, err) ||
                 by_llm_dequantize_rows(&tensor, &coded, rows, room->rows, err);
    by_llm_coded_close(&coded);
    by_llm_scratch_close(scratch);
    return status ? -1 : 0;
}

static void multiply(const struct judging *j, const float *tokens, const float *rows, size_t count,
                     float *out)
{
    const int columns = (int)j->problem->columns;
    j->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, (int)j->problem->token_count,
                   (int)count, columns, 1, tokens, columns, rows, columns, 0, out, (int)j->row_sum);
}

static void sum_errors(const struct judging *j, const float *got, double errors[2])
{
    errors[0] = errors[1] = 0;
    for (size_t t = 0; t < j->problem->token_count; t++)
        for (size_t i = 0; i < j->row_sum; i++) {
            const double gap =
                (double)got[t * j->row_sum + i] - (double)j->wanted[t * j->row_sum + i];
            errors[t % 2] += gap * gap;
        }
}

static int judge(void *context, size_t begin, size_t end, unsigned worker, struct baryon_error *err)
{
    const struct judging *j = context;
    struct room room;
    (void)worker;
    if (open_room(&room, j, err))
        return -1;
    int status = 0;
    for (size_t c = begin; c < end && !status; c++) {
        size_t at = 0;
        make_scales(j, c, room.scales);
        status = round_tokens(j, &room, err);
        for (size_t i = 0; i < j->problem->count && !status; i++) {
            status = round_rows(j, i, &room, err);
            if (!status)
                multiply(j, room.tokens, room.rows, j->row_counts[i], room.got + at);
            at += j->row_counts[i];
        }
        if (!status)
            sum_errors(j, room.got, j->errors[c]);
    }
    by_free(room.scales);
    return status;
}

/* --- All --- */

/* Evenly spread; peaks of columns are those of all rows. */
static int take_rows(struct judging *j, size_t linear, struct baryon_error *err)
{
    const struct by_llm_scaling_linear *from = &j->problem->linears[linear];
    const size_t columns = j->problem->columns;
    const size_t count = from->rows < ROWS ? from->rows : ROWS;
    float *rows = by_alloc(count * columns, sizeof *rows, err);
    if (!rows)
        return -1;
    for (size_t i = 0; i < count; i++)
        memcpy(rows + i * columns, from->weight + i * from->rows / count * columns,
               columns * sizeof *rows);
    for (size_t r = 0; r < from->rows; r++)
        for (size_t i = 0; i < columns; i++)
            j->reach[i] = fmaxf(j->reach[i], fabsf(from->weight[r * columns + i]));
    j->rows[linear] = rows;
    j->row_counts[linear] = count;
    j->row_sum += count;
    return 0;
}

static int prepare(struct judging *j, struct baryon_error *err)
{
    const struct by_llm_scaling_problem *p = j->problem;
    size_t at = 0;
    if (by_blas_open(&j->blas, err) ||
        !(j->reach = by_alloc_zero(p->columns, sizeof *j->reach, err)))
        return -1;
    for (size_t i = 0; i < p->count; i++)
        if (take_rows(j, i, err))
            return -1;
    j->wanted = by_alloc(p->token_count * j->row_sum, sizeof *j->wanted, err);
    j->errors = by_alloc_zero(STEPS + 1, sizeof *j->errors, err);
    for (size_t i = 0; j->wanted && i < p->count; i++) {
        multiply(j, p->tokens, j->rows[i], j->row_counts[i], j->wanted + at);
        at += j->row_counts[i];
    }
    return j->wanted && j->errors ? 0 : -1;
}

/* The best on even tokens, where odd ones confirm it; a given share without asking. */
static void decide(const struct judging *j, float *scales, struct by_llm_scaling_choice *choice)
{
    const struct by_llm_scaling_problem *p = j->problem;
    const bool given = p->smooth && p->alpha >= 0;
    size_t best = given ? 1 : 0;
    for (size_t i = 1; !given && i < candidate_count(p); i++)
        if (j->errors[i][0] < j->errors[best][0])
            best = i;
    if (!given && j->errors[best][1] >= j->errors[0][1])
        best = 0;
    make_scales(j, best, scales);
    *choice = (struct by_llm_scaling_choice){step_share(p, best), j->errors[0][1],
                                             j->errors[best][1], best != 0};
}

int by_llm_scaling_choose(const struct by_llm_scaling_problem *problem, struct by_pool *pool,
                          float *scales, struct by_llm_scaling_choice *choice,
                          struct baryon_error *err)
{
    struct judging j = {.problem = problem};
    int status = prepare(&j, err);
    if (!status)
        status = by_par_for(pool, candidate_count(problem), 1, judge, &j, err);
    if (!status)
        decide(&j, scales, choice);
    for (size_t i = 0; i < problem->count; i++)
        by_free(j.rows[i]);
    by_free(j.reach);
    by_free(j.wanted);
    by_free(j.errors);
    return status;
}
