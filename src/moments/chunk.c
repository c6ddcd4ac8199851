/* Takes columns out of a sample's input, a few rows at a time, and multiplies them. */
#include "moments/chunk.h"

#include <string.h>

/* --- Room --- */

int by_chunk_room_open(struct by_chunk_room *room, unsigned workers, struct baryon_error *err)
{
    *room = (struct by_chunk_room){.workers = workers ? workers : 1};
    room->fill = by_alloc_zero(room->workers, sizeof *room->fill, err);
    for (unsigned i = 0; room->fill && i < room->workers; i++)
        if (by_fill_room_open(&room->fill[i], err) < 0)
            return -1;
    return room->fill ? 0 : -1;
}

void by_chunk_room_close(struct by_chunk_room *room)
{
    for (unsigned i = 0; room->fill && i < room->workers; i++)
        by_fill_room_close(&room->fill[i]);
    by_free(room->fill);
    by_free(room->x);
    by_free(room->list);
    by_free(room->needed);
    *room = (struct by_chunk_room){0};
}

int by_chunk_need(struct by_chunk_room *room, const struct by_moments_layer *layer,
                  struct baryon_error *err)
{
    const size_t blocks = (size_t)layer->groups * by_layer_blocks(layer);
    if (by_scratch_room(&room->needed, &room->needed_room, blocks, sizeof *room->needed, err) < 0)
        return -1;
    memset(room->needed, true, blocks);
    return 0;
}

/* Depends on the layer alone, so that products are cut at the same places for everybody. */
static size_t rows_a_chunk(const struct by_moments_layer *layer)
{
    const size_t fitting = BY_COLUMNS_ROOM / (size_t)(layer->groups * layer->columns) / 16 * 16;
    if (fitting > BY_CHUNK_ROWS)
        return BY_CHUNK_ROWS;
    return fitting < BY_CHUNK_ROWS_MIN ? BY_CHUNK_ROWS_MIN : fitting;
}

int by_chunk_rows(struct by_chunk_room *room, const struct by_columns *columns, uint64_t sample,
                  struct by_moments_rows *rows, const struct by_team *team,
                  struct baryon_error *err)
{
    const size_t most = by_rows_most(columns);
    if (by_scratch_room(&room->list, &room->list_room, columns->rows < most ? columns->rows : most,
                        sizeof *room->list, err) < 0)
        return -1;
    return by_rows_choose(columns, sample, room->list, rows, team, err);
}

/* --- Filling --- */

struct filling {
    struct by_chunk_room *room;
    const struct by_chunk *chunk;
    size_t some; /* channels of a piece */
};

#define TURNED 16 /* columns that are written side by side: each in another line of the cache */

void by_chunk_turn(const struct by_chunk *chunk, const float *matrix, size_t width, size_t first,
                   size_t end, float *out)
{
    for (size_t begin = first; begin < end; begin += TURNED) {
        const size_t until = end - begin < TURNED ? end : begin + TURNED;
        for (size_t row = 0; row < chunk->length; row++) {
            const float *values = matrix + by_chunk_row(chunk, row) * width;
            for (size_t i = begin; i < until; i++)
                out[i * chunk->length + row] = values[i];
        }
    }
}

static void fill_windows(const struct filling *filling, size_t first, size_t end, unsigned worker)
{
    const struct by_chunk *chunk = filling->chunk;
    const struct by_fill fill = {.begin = chunk->begin,
                                 .length = chunk->length,
                                 .channel = first,
                                 .channels = end - first,
                                 .out = filling->room->x,
                                 .needed = filling->room->needed};
    by_columns_fill(chunk->columns, chunk->rows, &fill, &filling->room->fill[worker]);
}

/* A matrix is cut at blocks of columns, windows at about as many. */
static size_t fill_channels_of(const struct by_columns *columns)
{
    return columns->in_rows ? (size_t)columns->layer->columns : columns->channels;
}

static int fill_pieces(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct filling *filling = context;
    const struct by_columns *columns = filling->chunk->columns;
    (void)err;
    for (size_t i = begin; i < end; i++) {
        const size_t first = i * filling->some, left = fill_channels_of(columns) - first;
        const size_t behind = first + (left < filling->some ? left : filling->some);
        if (!columns->in_rows)
            fill_windows(filling, first, behind, worker);
        else if (filling->room->needed[first / BY_MOMENTS_TILE])
            by_chunk_turn(filling->chunk, columns->values, (size_t)columns->layer->columns, first,
                          behind, filling->room->x);
    }
    return 0;
}

static int fill_chunk(struct by_chunk_room *room, const struct by_chunk *chunk,
                      const struct by_team *team, struct baryon_error *err)
{
    const struct by_columns *columns = chunk->columns;
    struct filling filling = {room, chunk, BY_MOMENTS_TILE};
    if (!columns->in_rows)
        filling.some = BY_MOMENTS_TILE / (columns->kernel_size + 1) + 1;
    return by_team_for(team, (fill_channels_of(columns) + filling.some - 1) / filling.some, 1,
                       fill_pieces, &filling, err);
}

int by_chunk_each(struct by_chunk_room *room, const struct by_columns *columns,
                  const struct by_moments_rows *rows, const struct by_team *team, by_chunk_fn *look,
                  void *context, struct baryon_error *err)
{
    const struct by_moments_layer *layer = columns->layer;
    const size_t most = rows_a_chunk(layer);
    const size_t longest = rows->count < most ? rows->count : most;
    struct by_chunk chunk = {.columns = columns, .rows = rows};
    if (by_scratch_room(&room->x, &room->x_room, (size_t)(layer->groups * layer->columns) * longest,
                        sizeof *room->x, err) < 0)
        return -1;
    chunk.x = room->x;
    for (; chunk.begin < rows->count; chunk.begin += chunk.length) {
        const size_t left = rows->count - chunk.begin;
        chunk.length = left < most ? left : most;
        if (fill_chunk(room, &chunk, team, err) < 0 || look(context, &chunk, err) < 0)
            return -1;
    }
    return 0;
}

/* --- Products --- */

const float *by_chunk_block(const struct by_chunk *chunk, size_t group, size_t block)
{
    const size_t first = group * (size_t)chunk->columns->layer->columns + block * BY_MOMENTS_TILE;
    return chunk->x + first * chunk->length;
}

void by_chunk_multiply(const struct by_chunk *chunk, const struct by_blas *blas,
                       const struct by_moments_tile *tile, bool adds, float *out, size_t step)
{
    const int length = (int)chunk->length, rows = (int)tile->rows, columns = (int)tile->columns;
    const float *a = by_chunk_block(chunk, tile->group, tile->row);
    const float *b = by_chunk_block(chunk, tile->group, tile->column);
    if (tile->row == tile->column)
        blas->ssyrk(BY_BLAS_ROW_MAJOR, BY_BLAS_UPPER, BY_BLAS_NO_TRANS, rows, length, 1, a, length,
                    adds, out, (int)step);
    else
        blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, rows, columns, length, 1, a,
                    length, b, length, adds, out, (int)step);
}
