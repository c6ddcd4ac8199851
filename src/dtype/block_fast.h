/* Blocks by the chosen path, and those that it leaves the plain way. */
#ifndef BY_BLOCK_FAST_H
#define BY_BLOCK_FAST_H

#include "dtype/path.h"

#define BY_FAST_SIZE_MAX 256 /* of blocks */

/* False where all has to be done the plain way: ties that depend on chance, odd sub-blocks. */
bool by_block_fast_grid(const struct by_dtype *dtype, const struct by_block_cast *cast,
                        struct by_block_grid *grid);

/* `count` values along the axis, neighbours in memory; a block begins with the first. */
void by_block_fast_line(const struct by_dtype *dtype, const struct by_block_cast *cast,
                        const struct by_block_grid *grid, const float *in, size_t count,
                        float *out);
/* One block of each of `columns` neighbours, its `rows` elements `stride` floats apart. */
void by_block_fast_columns(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           const struct by_block_grid *grid, const float *in, size_t rows,
                           size_t stride, size_t columns, float *out);

#endif
