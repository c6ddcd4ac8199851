/* Sums of products of inputs, tile by tile. */
#include "llm/solve/inputs.h"

#include "base/blas.h"
#include "base/half.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TILE   256 /* columns of a tile */
#define SQUARE 32  /* of the lower triangle */
/* A token's square counts at most as so many of the median: in some layers the first token of each
 * window has thousands of times the square of all others together, which nothing later reads, and
 * without a limit all others would count less than the damping. */
#define MOST_OF_MEDIAN 8

struct gathering {
    struct by_llm_inputs *inputs;
    const struct by_llm_input_rows *windows;
    size_t count, held;
    const struct by_blas *blas;
    size_t side;   /* tiles */
    size_t most;   /* tokens of a window that is unpacked; 0: none is */
    float *shares; /* [tokens]: roots of what tokens count; NULL: all the same */
    size_t *first; /* [windows]: the first token of each */
};

struct tile {
    size_t row, column;
    float *room; /* of what is unpacked */
};

/* --- Matrices --- */

static size_t tile_size(const struct gathering *g, size_t tile)
{
    const size_t rest = g->inputs->columns - tile * TILE;
    return rest < TILE ? rest : TILE;
}

/* Some numbers of a token, as floats. */
static void read_numbers(const struct by_llm_input_rows *rows, const void *from, size_t at,
                         size_t count, float *out)
{
    if (rows->halved)
        by_bf16_to_f32(out, (const uint16_t *)from + at, count);
    else
        memcpy(out, (const float *)from + at, count * sizeof *out);
}

static bool is_unpacked(const struct gathering *g, const struct by_llm_input_rows *rows)
{
    return rows->halved || g->shares;
}

/* The columns of a tile, as floats: where they lie, or unpacked into the room. */
static const float *unpack(const struct gathering *g, size_t window, const void *from, size_t tile,
                           float *room)
{
    const struct by_llm_input_rows *rows = &g->windows[window];
    const size_t columns = g->inputs->columns, width = tile_size(g, tile);
    if (!is_unpacked(g, rows))
        return (const float *)from + tile * TILE;
    for (size_t t = 0; t < rows->tokens; t++) {
        float *to = room + t * width;
        const float share = g->shares ? g->shares[g->first[window] + t] : 1;
        read_numbers(rows, from, t * columns + tile * TILE, width, to);
        for (size_t i = 0; share < 1 && i < width; i++)
            to[i] *= share;
    }
    return room;
}

/* Adds rows' columns of windows [first, end), of f or of x by x. */
static void add_tile(const struct gathering *g, struct tile tile, size_t first, size_t end,
                     bool of_f, float *matrix)
{
    const size_t columns = g->inputs->columns;
    const int high = (int)tile_size(g, tile.row), wide = (int)tile_size(g, tile.column);
    float *to = matrix + tile.row * TILE * columns + tile.column * TILE;
    for (size_t w = first; w < end; w++) {
        const struct by_llm_input_rows *rows = &g->windows[w];
        if (!rows->tokens)
            continue;
        const float *left = unpack(g, w, of_f ? rows->f : rows->x, tile.row, tile.room);
        const float *right =
            unpack(g, w, rows->x, tile.column, tile.room + rows->tokens * (size_t)high);
        const bool packed = !is_unpacked(g, rows);
        const int left_line = packed ? (int)columns : high, tokens = (int)rows->tokens;
        if (!of_f && tile.row == tile.column)
            g->blas->ssyrk(BY_BLAS_ROW_MAJOR, BY_BLAS_UPPER, BY_BLAS_TRANS, high, tokens, 1, left,
                           left_line, 1, to, (int)columns);
        else
            g->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_TRANS, BY_BLAS_NO_TRANS, high, wide, tokens,
                           1, left, left_line, right, packed ? (int)columns : wide, 1, to,
                           (int)columns);
    }
}

static void gather_tile(const struct gathering *g, struct tile tile)
{
    struct by_llm_inputs *inputs = g->inputs;
    if (tile.row <= tile.column && inputs->held) {
        add_tile(g, tile, 0, g->held, false, inputs->gram);
        add_tile(g, tile, g->held, g->count, false, inputs->held);
    } else if (tile.row <= tile.column) {
        add_tile(g, tile, 0, g->count, false, inputs->gram);
    }
    if (inputs->drift)
        add_tile(g, tile, 0, g->count, true, inputs->drift);
}

static int gather_tiles(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct gathering *g = context;
    struct tile tile = {.room = NULL};
    (void)worker;
    if (g->most && !(tile.room = by_alloc(2 * TILE * g->most, sizeof *tile.room, err)))
        return -1;
    for (size_t i = begin; i < end; i++) {
        tile.row = i / g->side;
        tile.column = i % g->side;
        gather_tile(g, tile);
    }
    by_free(tile.room);
    return 0;
}

/* Sums to means, and the lower triangle. */
static void finish_gram(float *gram, size_t columns, uint64_t tokens)
{
    const float share = tokens ? 1 / (float)tokens : 0;
    for (size_t i = 0; i < columns; i++)
        for (size_t j = i; j < columns; j++)
            gram[i * columns + j] *= share;
    for (size_t below = 0; below < columns; below += SQUARE) /* squares stay in the cache */
        for (size_t right = 0; right <= below; right += SQUARE)
            for (size_t j = below; j < columns && j < below + SQUARE; j++)
                for (size_t i = right; i < j && i < right + SQUARE; i++)
                    gram[j * columns + i] = gram[i * columns + j];
}

float by_llm_held_share(const struct by_llm_inputs *inputs)
{
    return inputs->held ? (float)inputs->held_tokens / (float)inputs->tokens : 0;
}

static void finish_drift(struct by_llm_inputs *inputs)
{
    const size_t count = inputs->columns * inputs->columns;
    const float share = inputs->tokens ? 1 / (float)inputs->tokens : 0;
    const float held = by_llm_held_share(inputs);
    for (size_t i = 0; i < count; i++) {
        inputs->drift[i] = inputs->drift[i] * share - inputs->gram[i] * (1 - held);
        if (inputs->held)
            inputs->drift[i] -= inputs->held[i] * held;
    }
}

/* --- Columns --- */

static void look_at_numbers(const float *numbers, size_t count, float *peaks, float *means)
{
    for (size_t i = 0; i < count; i++) {
        const float size = fabsf(numbers[i]);
        peaks[i] = size > peaks[i] ? size : peaks[i];
        means[i] += size;
    }
}

static int look_at_columns(void *context, size_t begin, size_t end, unsigned worker,
                           struct baryon_error *err)
{
    const struct gathering *g = context;
    struct by_llm_inputs *inputs = g->inputs;
    float room[TILE];
    (void)worker, (void)err;
    for (size_t w = 0; w < g->count; w++)
        for (size_t t = 0; t < g->windows[w].tokens; t++) {
            const size_t at = t * inputs->columns + begin;
            const float *numbers = (const float *)g->windows[w].x + at;
            if (g->windows[w].halved) {
                by_bf16_to_f32(room, (const uint16_t *)g->windows[w].x + at, end - begin);
                numbers = room;
            }
            look_at_numbers(numbers, end - begin, inputs->peaks + begin, inputs->means + begin);
        }
    for (size_t i = begin; i < end; i++)
        inputs->means[i] /= inputs->tokens ? (float)inputs->tokens : 1;
    return 0;
}

/* A value that is not finite makes the sum of its column so. */
static int check_means(const struct by_llm_inputs *inputs, struct baryon_error *err)
{
    for (size_t i = 0; i < inputs->columns; i++)
        if (!isfinite(inputs->means[i]) || !isfinite(inputs->gram[i * inputs->columns + i]) ||
            (inputs->held && !isfinite(inputs->held[i * inputs->columns + i])))
            return by_fail(err, BARYON_ERR_INPUT,
                           "input %zu has values that are NaN, infinite or too large", i);
    return 0;
}

/* --- What tokens count --- */

struct squaring {
    const struct gathering *g;
    double *squares; /* [tokens] */
};

static int square_windows(void *context, size_t begin, size_t end, unsigned worker,
                          struct baryon_error *err)
{
    const struct squaring *s = context;
    const size_t columns = s->g->inputs->columns;
    float *room = by_alloc(columns, sizeof *room, err);
    (void)worker;
    for (size_t w = begin; room && w < end; w++)
        for (size_t t = 0; t < s->g->windows[w].tokens; t++) {
            double *sum = &s->squares[s->g->first[w] + t];
            read_numbers(&s->g->windows[w], s->g->windows[w].x, t * columns, columns, room);
            for (size_t i = 0; i < columns; i++)
                *sum += (double)room[i] * (double)room[i];
        }
    by_free(room);
    return room ? 0 : -1;
}

static int by_size(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Shares of tokens whose squares are beyond the limit; none: they stay NULL. */
static int limit_tokens(struct gathering *g, double *squares, struct baryon_error *err)
{
    const size_t tokens = (size_t)g->inputs->tokens;
    double *sorted = by_alloc(tokens, sizeof *sorted, err);
    if (!sorted)
        return -1;
    memcpy(sorted, squares, tokens * sizeof *sorted);
    qsort(sorted, tokens, sizeof *sorted, by_size);
    const double limit = MOST_OF_MEDIAN * sorted[tokens / 2];
    const bool limited = limit > 0 && sorted[tokens - 1] > limit;
    by_free(sorted);
    if (limited && !(g->shares = by_alloc(tokens, sizeof *g->shares, err)))
        return -1;
    for (size_t i = 0; limited && i < tokens; i++)
        g->shares[i] = squares[i] > limit ? (float)sqrt(limit / squares[i]) : 1;
    return 0;
}

static int weigh_tokens(struct gathering *g, struct by_pool *pool, struct baryon_error *err)
{
    const size_t tokens = (size_t)g->inputs->tokens;
    struct squaring squaring = {g, NULL};
    g->first = by_alloc(g->count, sizeof *g->first, err);
    if (!g->first || !tokens)
        return g->first ? 0 : -1;
    for (size_t w = 0, at = 0; w < g->count; at += g->windows[w++].tokens)
        g->first[w] = at;
    squaring.squares = by_alloc_zero(tokens, sizeof *squaring.squares, err);
    const int status = !squaring.squares ||
                       by_par_for(pool, g->count, 1, square_windows, &squaring, err) ||
                       limit_tokens(g, squaring.squares, err);
    by_free(squaring.squares);
    for (size_t w = 0; g->shares && w < g->count; w++)
        g->most = g->windows[w].tokens > g->most ? g->windows[w].tokens : g->most;
    return status ? -1 : 0;
}

/* --- All --- */

static int open_inputs(struct by_llm_inputs *inputs, bool held, bool drift,
                       struct baryon_error *err)
{
    size_t count;
    if (by_mul_overflow(inputs->columns, inputs->columns, &count))
        return by_err_nomem(err, SIZE_MAX);
    inputs->gram = by_alloc_zero(count, sizeof(float), err);
    inputs->held = held ? by_alloc_zero(count, sizeof(float), err) : NULL;
    inputs->drift = drift ? by_alloc_zero(count, sizeof(float), err) : NULL;
    inputs->peaks = by_alloc_zero(inputs->columns, sizeof(float), err);
    inputs->means = by_alloc_zero(inputs->columns, sizeof(float), err);
    return inputs->gram && inputs->peaks && inputs->means && (!held || inputs->held) &&
                   (!drift || inputs->drift)
               ? 0
               : -1;
}

int by_llm_inputs_gather(struct by_llm_inputs *inputs, size_t columns,
                         const struct by_llm_input_rows *windows, size_t count, size_t held,
                         struct by_pool *pool, struct baryon_error *err)
{
    struct gathering g = {.inputs = inputs,
                          .windows = windows,
                          .count = count,
                          .held = held,
                          .side = (columns + TILE - 1) / TILE};
    *inputs = (struct by_llm_inputs){.columns = columns};
    for (size_t w = 0; w < count; w++) {
        inputs->tokens += windows[w].tokens;
        inputs->held_tokens += w >= held ? windows[w].tokens : 0;
        if (windows[w].halved && windows[w].tokens > g.most)
            g.most = windows[w].tokens;
    }
    const bool split = inputs->held_tokens > 0 && inputs->held_tokens < inputs->tokens;
    const int status = by_blas_open(&g.blas, err) ||
                       open_inputs(inputs, split, count > 0 && windows[0].f != NULL, err) ||
                       weigh_tokens(&g, pool, err) ||
                       by_par_for(pool, g.side * g.side, 1, gather_tiles, &g, err) ||
                       by_par_for(pool, columns, TILE, look_at_columns, &g, err);
    by_free(g.shares);
    by_free(g.first);
    if (status)
        return -1;
    finish_gram(inputs->gram, columns, inputs->tokens - (split ? inputs->held_tokens : 0));
    if (split)
        finish_gram(inputs->held, columns, inputs->held_tokens);
    if (inputs->drift)
        finish_drift(inputs);
    return check_means(inputs, err);
}

void by_llm_inputs_release(struct by_llm_inputs *inputs)
{
    by_free(inputs->gram);
    by_free(inputs->held);
    by_free(inputs->drift);
    by_free(inputs->peaks);
    by_free(inputs->means);
    *inputs = (struct by_llm_inputs){0};
}
