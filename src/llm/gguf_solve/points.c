/*
 * Descent for types whose levels are points of four values. Four columns of a row at once go to the
 * point of the least form that is near to where the form alone would have them, given all others;
 * where signs of eight values depend on each other, two fours together. Rows of a piece go through
 * blocks of columns, as in solve/descent.c.
 */
#include "llm/gguf_solve/piece.h"
#include "solve/descent_path.h"

#include <math.h>
#include <string.h>

#define FOUR  BY_POINT_VALUES
#define BLOCK BY_DESCENT_BLOCK
/* A move has to gain this share of what it costs by itself: less is noise. */
#define MARGIN 0x1p-16f
/* Of the mean diagonal, so that slopes along which samples say little lead nowhere far. */
#define RIDGE 1e-3
/* Values up to so many units from zero try both signs. */
#define BOTH_SIGNS 1.0f
#define FLIPS      2
/* A row added by itself costs as much as this many within a product. */
#define ROW_COST 2

/* --- Four columns --- */

/* Gauss-Jordan, of a matrix that is positive definite. */
static void invert(double a[FOUR][FOUR], float inverse[FOUR][FOUR])
{
    double b[FOUR][FOUR] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (size_t k = 0; k < FOUR; k++) {
        const double by = 1 / a[k][k];
        for (size_t j = 0; j < FOUR; j++) {
            a[k][j] *= by;
            b[k][j] *= by;
        }
        for (size_t i = 0; i < FOUR; i++) {
            const double times = i == k ? 0 : a[i][k];
            for (size_t j = 0; j < FOUR; j++) {
                a[i][j] -= times * a[k][j];
                b[i][j] -= times * b[k][j];
            }
        }
    }
    for (size_t i = 0; i < FOUR; i++)
        for (size_t j = 0; j < FOUR; j++)
            inverse[i][j] = (float)b[i][j];
}

static void read_four(const float *gram, size_t columns, size_t at, struct by_gguf_four *four)
{
    double a[FOUR][FOUR], trace = 0;
    for (size_t i = 0; i < FOUR; i++)
        for (size_t j = 0; j < FOUR; j++) {
            four->gram[i][j] = gram[(at + i) * columns + at + j];
            a[i][j] = (double)four->gram[i][j];
            trace += i == j ? a[i][j] : 0;
        }
    four->is_dead = !(trace > 0);
    for (size_t i = 0; i < FOUR; i++)
        a[i][i] += RIDGE * trace / FOUR;
    if (!four->is_dead)
        invert(a, four->inverse);
}

int by_gguf_fours_open(struct by_gguf_solving *solving, struct baryon_error *err)
{
    const size_t columns = solving->problem->columns;
    solving->fours = by_alloc(columns / FOUR, sizeof *solving->fours, err);
    for (size_t i = 0; solving->fours && i < columns / FOUR; i++)
        read_four(solving->problem->gram, columns, i * FOUR, &solving->fours[i]);
    return solving->fours ? 0 : -1;
}

/* --- Where four values may go --- */

struct place {
    const struct by_gguf_four *form;
    const struct by_ggml_points *points;
    const int32_t *integers;
    float scale;        /* above 0 */
    float slopes[FOUR]; /* halves of them */
    float values[FOUR]; /* as they are */
};

struct choice {
    bool moves;
    unsigned cell, signs; /* bits: negative ones */
    float change;         /* of the form */
};

static float chosen_value(const struct place *place, const struct choice *choice, size_t k)
{
    const float size = place->scale * place->points->sizes[by_point_step_at(choice->cell, k)];
    return choice->signs >> k & 1 ? -size : size;
}

static float way_of(const struct place *place, const struct choice *choice, size_t k)
{
    return choice->moves ? chosen_value(place, choice, k) - place->values[k] : 0;
}

static unsigned signs_of(const struct place *place)
{
    unsigned signs = 0;
    for (size_t k = 0; k < FOUR; k++)
        signs |= (place->integers[k] < BY_POINT_STEPS ? 1u : 0u) << k;
    return signs;
}

static bool is_odd(unsigned signs)
{
    return (signs ^ signs >> 1 ^ signs >> 2 ^ signs >> 3) & 1;
}

/* Where the form is least, in units of half a step. */
static void find_targets(const struct place *place, float targets[FOUR])
{
    for (size_t k = 0; k < FOUR; k++) {
        float step = 0;
        for (size_t j = 0; j < FOUR; j++)
            step += place->form->inverse[k][j] * place->slopes[j];
        targets[k] = (place->values[k] - step) / place->scale;
    }
}

static unsigned cell_of(const float targets[FOUR], unsigned signs)
{
    unsigned steps[FOUR];
    for (size_t k = 0; k < FOUR; k++) {
        const float step = 0.5f * (signs >> k & 1 ? -targets[k] : targets[k]);
        steps[k] = !(step > 0) ? 0 : step < BY_POINT_STEPS ? (unsigned)step : BY_POINT_STEPS - 1;
    }
    return by_point_cell(steps);
}

/* Of the points with these signs near the targets. */
static void try_signs(const struct place *place, const float targets[FOUR], unsigned signs,
                      struct choice *best)
{
    const float(*gram)[FOUR] = place->form->gram;
    struct by_point_costs costs;
    struct by_point_ways ways = {.pairs = {2 * gram[0][1], 2 * gram[0][2], 2 * gram[0][3],
                                           2 * gram[1][2], 2 * gram[1][3], 2 * gram[2][3]}};
    for (size_t k = 0; k < FOUR; k++) {
        const float scale = signs >> k & 1 ? -place->scale : place->scale;
        for (size_t i = 0; i < BY_POINT_STEPS; i++) {
            const float way = scale * place->points->sizes[i] - place->values[k];
            ways.of[k][i] = way;
            costs.of[k][i] = way * (2 * place->slopes[k] + gram[k][k] * way);
        }
    }
    struct choice tried = {.moves = true, .signs = signs};
    tried.cell = by_point_path()->least_joint(place->points->near[cell_of(targets, signs)],
                                              BY_POINTS_NEAR, &costs, &ways, &tried.change);
    if (tried.change < best->change)
        *best = tried;
}

static unsigned signs_of_targets(const float targets[FOUR])
{
    unsigned signs = 0;
    for (size_t k = 0; k < FOUR; k++)
        signs |= (targets[k] < 0 ? 1u : 0u) << k;
    return signs;
}

/* Any signs: those of the targets, and others of small ones. */
static struct choice choose_freely(const struct place *place)
{
    struct choice best = {0};
    float targets[FOUR];
    find_targets(place, targets);
    const unsigned signs = signs_of_targets(targets);
    try_signs(place, targets, signs, &best);
    for (size_t k = 0; k < FOUR; k++)
        if (fabsf(targets[k]) < BOTH_SIGNS)
            try_signs(place, targets, signs ^ 1u << k, &best);
    return best;
}

/* The value whose other sign costs least, but for one. */
static size_t cheap_sign(const struct place *place, const float targets[FOUR], size_t but)
{
    size_t best = FOUR;
    float least = INFINITY;
    for (size_t k = 0; k < FOUR; k++) {
        const float cost = place->form->gram[k][k] * targets[k] * targets[k];
        if (k != but && cost < least) {
            least = cost;
            best = k;
        }
    }
    return best;
}

/* Signs of which an odd or even number is negative; what does not move is a choice too, where it
 * has such. */
static struct choice choose_signs(const struct place *place, bool odd)
{
    struct choice best = {.change = is_odd(signs_of(place)) == odd ? 0 : INFINITY};
    float targets[FOUR];
    if (place->form->is_dead)
        return best;
    find_targets(place, targets);
    const unsigned signs = signs_of_targets(targets);
    if (is_odd(signs) == odd)
        try_signs(place, targets, signs, &best);
    for (size_t i = 0, k = FOUR; is_odd(signs) != odd && i < FLIPS; i++) {
        k = cheap_sign(place, targets, k);
        if (k < FOUR)
            try_signs(place, targets, signs ^ 1u << k, &best);
    }
    return best;
}

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

static struct place place_at(const struct line *line, size_t column)
{
    const struct by_gguf_piece *piece = line->sweep->piece;
    const struct by_gguf_solving *s = piece->solving;
    const size_t at = line->row * s->problem->columns + column;
    struct place place = {.form = &s->fours[column / FOUR],
                          .points = line->sweep->points,
                          .integers = piece->integers + at,
                          .scale = piece->scales[line->row * s->groups + column / s->form->group]};
    for (size_t k = 0; k < FOUR; k++) {
        place.slopes[k] = piece->tried[at + k];
        place.values[k] = place.scale * place.points->levels[place.integers[k]];
    }
    return place;
}

/* What a choice costs by itself. */
static float own_cost(const struct place *place, const struct choice *choice)
{
    float cost = 0;
    for (size_t k = 0; k < FOUR; k++) {
        const float way = way_of(place, choice, k);
        cost += place->form->gram[k][k] * way * way;
    }
    return cost;
}

static void move(const struct line *line, size_t column, const struct place *place,
                 const struct choice *choice)
{
    const struct sweep *sweep = line->sweep;
    const struct by_ggml_solve *p = sweep->piece->solving->problem;
    const size_t row = line->row * p->columns, at = line->row * BLOCK;
    uint32_t *stepped = sweep->stepped + at + sweep->counts[line->row];
    size_t count = 0;
    for (size_t k = 0; choice->moves && k < FOUR; k++) {
        const float way = way_of(place, choice, k);
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

/* Slopes of four values after four others, from `from` on, went. */
static void add_slopes(const struct line *line, const struct place *other,
                       const struct choice *choice, size_t from, size_t column, struct place *place)
{
    const struct by_ggml_solve *p = line->sweep->piece->solving->problem;
    for (size_t i = 0; i < FOUR; i++) {
        const float way = way_of(other, choice, i);
        const float *row = p->gram + (from + i) * p->columns + column;
        for (size_t k = 0; k < FOUR; k++)
            place->slopes[k] += way * row[k];
    }
}

static void step_four(const struct line *line, size_t column)
{
    const struct place place = place_at(line, column);
    if (place.form->is_dead || !(place.scale > 0))
        return;
    const struct choice choice = choose_freely(&place);
    if (choice.change < -MARGIN * own_cost(&place, &choice))
        move(line, column, &place, &choice);
}

/* Two fours: both keep whether their negative values are odd, or neither does. */
static void step_eight(const struct line *line, size_t column)
{
    const size_t columns[2] = {column, column + FOUR};
    struct place places[2] = {place_at(line, columns[0]), place_at(line, columns[1])};
    const struct place before = places[1];
    struct choice best[2] = {{0}, {0}};
    float least = 0;
    if (!(places[0].scale > 0))
        return;
    for (unsigned turn = 0; turn < 2; turn++) {
        struct choice tried[2];
        places[1] = before;
        tried[0] = choose_signs(&places[0], is_odd(signs_of(&places[0])) != turn);
        add_slopes(line, &places[0], &tried[0], columns[0], columns[1], &places[1]);
        tried[1] = choose_signs(&places[1], is_odd(signs_of(&places[1])) != turn);
        const float change = tried[0].change + tried[1].change;
        const float cost = own_cost(&places[0], &tried[0]) + own_cost(&places[1], &tried[1]);
        if (change < least && change < -MARGIN * cost) {
            least = change;
            memcpy(best, tried, sizeof best);
        }
    }
    for (size_t i = 0; i < 2; i++)
        move(line, columns[i], &places[i], &best[i]);
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
