/*
 * Descent for types whose levels are points of four values. Four columns of a row at once go to the
 * point of the least form that is near to where the form alone would have them, given all others;
 * where signs of eight values depend on each other, two fours together. Rows of a piece go through
 * blocks of columns, as in solve/descent.c.
 */
#include "llm/gguf_solve/point_choice.h"
#include "solve/descent_path.h"

#include <string.h>

#define FOUR  BY_POINT_VALUES
#define BLOCK BY_DESCENT_BLOCK
/* A move has to gain this share of what it costs by itself: less is noise. */
#define MARGIN 0x1p-16f
/* A row added by itself costs as much as this many within a product. */
#define ROW_COST 2

/* --- Rows --- */

struct sweep {
    struct by_gguf_piece *piece;
    const struct by_descent_path *path;
    const struct by_ggml_points *points;
    float *steps;      /* [rows][BLOCK]: how far values went */
    uint32_t *stepped; /* [rows][BLOCK]: columns of the block */
    size_t *counts;    /* [rows] */
    bool *busy;        /* [rows]: moved in the last sweep */
};

/* A row, within the block of columns from `begin` on. */
struct line {
    const struct sweep *sweep;
    size_t row, begin, count;
};

static struct by_point_place place_at(const struct line *line, size_t column)
{
    const struct by_gguf_piece *piece = line->sweep->piece;
    const struct by_gguf_solving *s = piece->solving;
    const size_t at = line->row * s->problem->columns + column;
    struct by_point_place place = {
        .form = &s->fours[column / FOUR],
        .points = line->sweep->points,
        .integers = piece->integers + at,
        .scale = piece->scales[line->row * s->groups + column / s->form->group]};
    for (size_t k = 0; k < FOUR; k++) {
        place.slopes[k] = piece->tried[at + k];
        place.values[k] = place.scale * place.points->levels[place.integers[k]];
    }
    return place;
}

static void move(const struct line *line, size_t column, const struct by_point_place *place,
                 const struct by_point_choice *choice)
{
    const struct sweep *sweep = line->sweep;
    const struct by_ggml_solve *p = sweep->piece->solving->problem;
    const size_t row = line->row * p->columns, at = line->row * BLOCK;
    uint32_t *stepped = sweep->stepped + at + sweep->counts[line->row];
    size_t count = 0;
    for (size_t k = 0; choice->moves && k < FOUR; k++) {
        const float way = by_point_way(place, choice, k);
        const uint32_t own = (uint32_t)(column + k - line->begin);
        if (way == 0)
            continue;
        sweep->piece->integers[row + column + k] =
            by_point_level(by_point_step_at(choice->cell, k), choice->signs >> k & 1);
        sweep->steps[at + own] = way;
        stepped[count++] = own;
    }
    sweep->path->add(sweep->piece->tried + row + line->begin, line->count,
                     p->gram + line->begin * p->columns + line->begin, p->columns, stepped, count,
                     sweep->steps + at);
    sweep->counts[line->row] += count;
}

/* Slopes of four values after four others went. ways: [4], rows of `stride`. */
static void add_slopes(const struct by_point_place *other, const struct by_point_choice *choice,
                       const float *ways, size_t stride, struct by_point_place *place)
{
    for (size_t i = 0; i < FOUR; i++) {
        const float way = by_point_way(other, choice, i);
        for (size_t k = 0; k < FOUR; k++)
            place->slopes[k] += way * ways[i * stride + k];
    }
}

static void step_four(const struct line *line, size_t column)
{
    const struct by_point_place place = place_at(line, column);
    if (place.form->is_dead || !(place.scale > 0))
        return;
    const struct by_point_choice choice = by_point_choose(&place);
    if (choice.change < -MARGIN * by_point_own_cost(&place, &choice))
        move(line, column, &place, &choice);
}

/* Two fours: both keep whether their negative values are odd, or neither does. */
static void choose_eight(const struct by_point_place *places, const float *ways, size_t stride,
                         struct by_point_choice *best)
{
    float least = 0;
    best[0] = best[1] = (struct by_point_choice){0};
    for (unsigned turn = 0; turn < 2; turn++) {
        struct by_point_choice tried[2];
        struct by_point_place second = places[1];
        tried[0] = by_point_choose_signs(&places[0], by_point_is_odd(&places[0]) != turn);
        add_slopes(&places[0], &tried[0], ways, stride, &second);
        tried[1] = by_point_choose_signs(&second, by_point_is_odd(&second) != turn);
        const float change = tried[0].change + tried[1].change;
        const float cost =
            by_point_own_cost(&places[0], &tried[0]) + by_point_own_cost(&second, &tried[1]);
        if (change < least && change < -MARGIN * cost) {
            least = change;
            memcpy(best, tried, sizeof tried);
        }
    }
}

static void step_eight(const struct line *line, size_t column)
{
    const struct by_ggml_solve *p = line->sweep->piece->solving->problem;
    const struct by_point_place places[2] = {place_at(line, column), place_at(line, column + FOUR)};
    struct by_point_choice best[2];
    if (!(places[0].scale > 0))
        return;
    choose_eight(places, p->gram + column * p->columns + column + FOUR, p->columns, best);
    for (size_t i = 0; i < 2; i++)
        move(line, column + i * FOUR, &places[i], &best[i]);
}

static void sweep_line(const struct line *line)
{
    const size_t width = line->sweep->points->even ? 2 * FOUR : FOUR;
    for (size_t at = 0; at < line->count; at += width)
        if (width == FOUR)
            step_four(line, line->begin + at);
        else
            step_eight(line, line->begin + at);
}

/* --- Pieces --- */

/* Tells columns [begin, end) what the block did. */
static void spread(const struct sweep *sweep, size_t block, size_t count, bool product,
                   size_t begin, size_t end)
{
    const struct by_gguf_piece *piece = sweep->piece;
    const size_t columns = piece->solving->problem->columns;
    const float *rows = piece->solving->problem->gram + block * columns + begin;
    if (begin == end)
        return;
    if (product) {
        piece->solving->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS,
                                    (int)piece->rows, (int)(end - begin), (int)count, 1,
                                    sweep->steps, BLOCK, rows, (int)columns, 1,
                                    piece->tried + begin, (int)columns);
        return;
    }
    for (size_t k = 0; k < piece->rows; k++)
        sweep->path->add(piece->tried + k * columns + begin, end - begin, rows, columns,
                         sweep->stepped + k * BLOCK, sweep->counts[k], sweep->steps + k * BLOCK);
}

static size_t sweep_block(const struct sweep *sweep, size_t begin, size_t count, bool *moved)
{
    const size_t rows = sweep->piece->rows;
    size_t steps = 0;
    memset(sweep->steps, 0, rows * BLOCK * sizeof *sweep->steps);
    memset(sweep->counts, 0, rows * sizeof *sweep->counts);
    for (size_t k = 0; k < rows; k++) {
        const struct line line = {sweep, k, begin, count};
        if (sweep->busy[k])
            sweep_line(&line);
        moved[k] |= sweep->counts[k] > 0;
        steps += sweep->counts[k];
    }
    return steps;
}

/* False when nothing moved. */
static bool sweep_all(struct sweep *sweep, bool *moved)
{
    const size_t columns = sweep->piece->solving->problem->columns, rows = sweep->piece->rows;
    bool any = false;
    memset(moved, 0, rows * sizeof *moved);
    for (size_t begin = 0; begin < columns; begin += BLOCK) {
        const size_t count = columns - begin < BLOCK ? columns - begin : BLOCK;
        const size_t steps = sweep_block(sweep, begin, count, moved);
        const bool product = steps * ROW_COST > rows * count;
        if (steps) {
            spread(sweep, begin, count, product, 0, begin);
            spread(sweep, begin, count, product, begin + count, columns);
        }
        any = any || steps;
    }
    memcpy(sweep->busy, moved, rows * sizeof *moved);
    return any;
}

static void find_values(struct by_gguf_piece *piece, const struct by_ggml_points *points)
{
    const struct by_gguf_solving *s = piece->solving;
    const size_t columns = s->problem->columns;
    for (size_t i = 0; i < piece->rows * columns; i++) {
        const size_t group = i / columns * s->groups + i % columns / s->form->group;
        piece->values[i] =
            piece->scales[group] * points->levels[piece->integers[i]] - piece->weights[i];
    }
}

int by_gguf_descend_points(struct by_gguf_piece *piece, struct baryon_error *err)
{
    const size_t rows = piece->rows;
    struct sweep sweep = {
        .piece = piece, .path = by_descent_path_chosen(), .points = piece->solving->form->points()};
    sweep.steps = by_alloc(rows * BLOCK, sizeof *sweep.steps, err);
    sweep.stepped = by_alloc(rows * BLOCK, sizeof *sweep.stepped, err);
    sweep.counts = by_alloc(rows, sizeof *sweep.counts, err);
    sweep.busy = by_alloc(2 * rows, sizeof *sweep.busy, err);
    const int status = sweep.steps && sweep.stepped && sweep.counts && sweep.busy ? 0 : -1;
    if (status == 0) {
        memset(sweep.busy, true, rows * sizeof *sweep.busy);
        find_values(piece, sweep.points);
        by_gguf_find_residual(piece, piece->tried);
        for (unsigned i = 0; i < piece->solving->problem->sweeps; i++)
            if (!sweep_all(&sweep, sweep.busy + rows))
                break;
    }
    by_free(sweep.steps);
    by_free(sweep.stepped);
    by_free(sweep.counts);
    by_free(sweep.busy);
    return status;
}
