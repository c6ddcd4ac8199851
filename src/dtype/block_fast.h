/* Blocks by the chosen path, and those that it leaves the plain way. */
#ifndef BY_BLOCK_FAST_H
#define BY_BLOCK_FAST_H

#include "dtype/path.h"

#define BY_FAST_SIZE_MAX 256 /* of blocks */

/* False where all has to be done the plain way: ties that depend on chance, odd sub-blocks. */
bool by_block_fast_grid(const struct by_dtype *dtype, const struct by_block_cast *cast,
                        struct by_block_grid *grid);

/* The grid for neighbours in memory; false where no number of lanes makes whole blocks. */
bool by_block_lay_line(const struct by_dtype *dtype, const struct by_block_cast *cast,
                       struct by_block_grid *grid);
/* The grid for columns of `rows` values in a tile; returns how many lie side by side there. */
size_t by_block_lay_columns(const struct by_dtype *dtype, size_t rows, struct by_block_grid *grid);
/* Some of them, from rows that are `stride` floats apart; returns how many groups they are. */
size_t by_block_fill_tile(const struct by_block_grid *grid, const float *in, size_t stride,
                          size_t columns, float *tile);

/* Values in a tile, at most: rows lie closer to each other than in the array, where they may be in
 * the same few lines of a cache. */
#define BY_TILE (8192 + BY_FAST_SIZE_MAX * BY_LANES_MAX)

/* `count` values along the axis, neighbours in memory; a block begins with the first. */
void by_block_fast_line(const struct by_dtype *dtype, const struct by_block_cast *cast,
                        const struct by_block_grid *grid, const float *in, size_t count,
                        float *out);
/* One block of each of `columns` neighbours, its `rows` elements `stride` floats apart. */
void by_block_fast_columns(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           const struct by_block_grid *grid, const float *in, size_t rows,
                           size_t stride, size_t columns, float *out);

#endif
