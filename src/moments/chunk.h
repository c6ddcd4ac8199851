/*
 * The rows of one sample's input, a few at a time and column by column: what everything multiplies
 * that adds up products of a layer's inputs, for a statistics file (moments.h) as for a solver
 * (solve/round_moments.h). Rows are the same for both, and so is what is multiplied; where the sums
 * go is theirs. Nothing here depends on the number of threads.
 */
#ifndef BY_CHUNK_H
#define BY_CHUNK_H

#include "base/blas.h"
#include "moments/columns.h"

struct by_chunk {
    const struct by_columns *columns;
    const struct by_moments_rows *rows; /* all that are taken of the sample */
    size_t begin, length;               /* of these, in this chunk */
    const float *x;                     /* [groups * columns][length] */
};

typedef int by_chunk_fn(void *context, const struct by_chunk *chunk, struct baryon_error *err);

/* Room for chunks, of samples and layers one after the other. */
struct by_chunk_room {
    unsigned workers;
    struct by_fill_room *fill; /* by worker */
    float *x;
    size_t *list;
    bool *needed; /* blocks of columns, by_layer_blocks() a group, that are filled */
    size_t x_room, list_room, needed_room;
};

/* Whatever comes out, by_chunk_room_close() goes with it. */
int by_chunk_room_open(struct by_chunk_room *room, unsigned workers, struct baryon_error *err);
void by_chunk_room_close(struct by_chunk_room *room);
/* Room for the blocks of a layer in room->needed, all of them needed. */
int by_chunk_need(struct by_chunk_room *room, const struct by_moments_layer *layer,
                  struct baryon_error *err);

/* Which rows of the sample; in `list` of the room unless they are all. */
int by_chunk_rows(struct by_chunk_room *room, const struct by_columns *columns, uint64_t sample,
                  struct by_moments_rows *rows, const struct by_team *team,
                  struct baryon_error *err);
/* Calls look() with one chunk after the other, cut at places that depend on the layer alone. */
int by_chunk_each(struct by_chunk_room *room, const struct by_columns *columns,
                  const struct by_moments_rows *rows, const struct by_team *team, by_chunk_fn *look,
                  void *context, struct baryon_error *err);

/* Of the sample's rows that in place `index` of the chunk. */
static inline size_t by_chunk_row(const struct by_chunk *chunk, size_t index)
{
    const size_t place = chunk->begin + index;
    return chunk->rows->list ? chunk->rows->list[place] : place;
}
/* Numbers [first, end) of the chunk's rows of a matrix of `width` numbers a row, turned. */
void by_chunk_turn(const struct by_chunk *chunk, const float *matrix, size_t width, size_t first,
                   size_t end, float *out);

/* Products of a tile's columns, into out or added to it; `step` numbers from one row to the next.
 * Of a tile on the diagonal the upper triangle. */
void by_chunk_multiply(const struct by_chunk *chunk, const struct by_blas *blas,
                       const struct by_moments_tile *tile, bool adds, float *out, size_t step);
/* Where a tile's columns are. */
const float *by_chunk_block(const struct by_chunk *chunk, size_t group, size_t block);
/* Few columns, which have one tile: by_few_products() multiplies them. */
static inline bool by_chunk_is_few(const struct by_chunk *chunk)
{
    return chunk->columns->layer->columns <= BY_FEW_COLUMNS;
}

#endif
