/* Codes of blocks and back by the chosen path; acts of block_work.h. */
#ifndef BY_BLOCK_CODE_H
#define BY_BLOCK_CODE_H

#include "dtype/block_work.h"

/* What codes and what is stored for a block mean. */
struct by_block_meaning {
    struct by_code_grid grid;
    float steps[2][256]; /* of a code of 1, by the sub-block's shift and by what is stored */
};

/* False where all has to be done the plain way. */
bool by_block_code_grid(const struct by_dtype *dtype, const struct by_block_cast *cast,
                        struct by_block_grid *grid);
bool by_block_meaning(const struct by_dtype *dtype, const struct by_block_cast *cast,
                      struct by_block_meaning *meaning);

void by_block_code_line(const struct by_block_work *work, size_t value, size_t count, size_t block);
void by_block_code_columns(const struct by_block_work *work, size_t value, size_t rows,
                           size_t columns, size_t block);
void by_block_decode_line(const struct by_block_work *work, size_t value, size_t count,
                          size_t block);
void by_block_decode_columns(const struct by_block_work *work, size_t value, size_t rows,
                             size_t columns, size_t block);

#endif
