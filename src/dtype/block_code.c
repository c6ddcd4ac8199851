/* Blocks to codes, group by group. */
#include "dtype/block_code.h"

#include "dtype/block_fast.h"

#include <string.h>

#define BATCH       16 /* groups whose shared bytes are put where they belong at once */
#define SHARED_MOST 5  /* bytes: an exponent, and what lanes have room for */
#define COLUMNS     512

bool by_block_code_grid(const struct by_dtype *dtype, const struct by_block_cast *cast,
                        struct by_block_grid *grid)
{
    const size_t size = cast->size ? cast->size : dtype->block.size;
    if (dtype->block.sub && (dtype->block.shifts != 1 || size / dtype->block.sub > 32))
        return false;
    return by_block_fast_grid(dtype, cast, grid);
}

/* Groups in a row, and how the blocks of one lie in memory. */
struct groups {
    const struct by_block_work *work;
    const struct by_block_grid *grid;
    struct by_block_place place; /* of a block */
    size_t next;                 /* from its first element to that of the next one */
    size_t blocks, lanes;        /* of a group */
};

static struct groups line_groups(const struct by_block_work *work, const struct by_block_grid *grid)
{
    const size_t size = work->extent.size, lanes = by_dtype_path_chosen()->lanes;
    return (struct groups){
        work, grid, {.count = size, .stride = 1, .size = size}, size, grid->advance / size, lanes};
}

static struct groups upright_groups(const struct by_block_work *work,
                                    const struct by_block_grid *grid)
{
    const struct by_block_place place = {
        .count = grid->rows, .stride = grid->stride, .size = work->extent.size};
    const size_t lanes = grid->advance;
    return (struct groups){work, grid, place, 1, lanes, lanes};
}

static void plain_group(const struct groups *all, const float *in, uint8_t *codes, uint8_t *scales)
{
    const struct by_block_work *work = all->work;
    const size_t bytes = work->extent.block_bytes;
    memset(scales, 0, all->blocks * bytes);
    for (size_t i = 0; i < all->blocks; i++)
        by_block_plain_encode(work->dtype, work->cast, &all->place, in + i * all->next,
                              codes + i * all->next, scales + i * bytes);
}

static void put_shared(const struct groups *all, const int32_t *shared, uint8_t *scales)
{
    const size_t bytes = all->work->extent.block_bytes;
    for (size_t i = 0; i < all->blocks; i++) {
        const int32_t *at = shared + i * all->grid->width;
        scales[i * bytes] = (uint8_t)at[0];
        for (size_t k = 1; k < bytes; k++)
            scales[i * bytes + k] = (uint8_t)((uint32_t)at[all->lanes] >> 8 * (k - 1));
    }
}

static void encode_groups(const struct groups *all, size_t count, const float *in, uint8_t *codes,
                          uint8_t *scales)
{
    const struct by_dtype_path *path = by_dtype_path_chosen();
    const size_t advance = all->grid->advance;
    const size_t bytes = all->blocks * all->work->extent.block_bytes;
    int32_t shared[BATCH * 2 * BY_LANES_MAX];
    for (size_t i = 0; i < count;) {
        const size_t some = count - i < BATCH ? count - i : BATCH;
        const size_t done =
            path->encode(codes + i * advance, shared, in + i * advance, some, all->grid);
        for (size_t k = 0; k < done; k++)
            put_shared(all, shared + k * 2 * all->lanes, scales + (i + k) * bytes);
        i += done;
        if (done < some) {
            plain_group(all, in + i * advance, codes + i * advance, scales + i * bytes);
            i++;
        }
    }
}

/* --- Neighbours in memory --- */

/* The last block has no sub-blocks after its last element. */
static void drop_shifts(const struct by_block_work *work, size_t count, uint8_t *scale)
{
    const size_t sub = work->dtype->block.sub;
    for (size_t bit = sub ? (count + sub - 1) / sub : 0; bit < (work->extent.block_bytes - 1) * 8;
         bit++)
        scale[1 + bit / 8] &= (uint8_t) ~(1u << bit % 8);
}

/* Less than a group. */
static void encode_last(const struct groups *all, size_t count, const float *in, uint8_t *codes,
                        uint8_t *scales)
{
    const size_t size = all->place.size, bytes = all->work->extent.block_bytes;
    const size_t blocks = (count + size - 1) / size;
    float values[BY_FAST_SIZE_MAX + BY_LANES_MAX] = {0};
    uint8_t own[BY_FAST_SIZE_MAX + BY_LANES_MAX], shared[BY_LANES_MAX * SHARED_MOST];
    memcpy(values, in, count * sizeof *values);
    encode_groups(all, 1, values, own, shared);
    memcpy(codes, own, count);
    memcpy(scales, shared, blocks * bytes);
    if (count % size)
        drop_shifts(all->work, count % size, scales + (blocks - 1) * bytes);
}

static void plain_line(const struct by_block_work *work, const float *in, size_t count,
                       uint8_t *codes, uint8_t *scales)
{
    const size_t size = work->extent.size, bytes = work->extent.block_bytes;
    for (size_t i = 0; i < count; i += size, scales += bytes) {
        const struct by_block_place place = {
            .count = count - i < size ? count - i : size, .stride = 1, .size = size};
        memset(scales, 0, bytes);
        by_block_plain_encode(work->dtype, work->cast, &place, in + i, codes + i, scales);
    }
}

void by_block_code_line(const struct by_block_work *work, size_t value, size_t count, size_t block)
{
    struct by_block_grid grid = work->grid;
    const float *in = work->in + value;
    const size_t bytes = work->extent.block_bytes;
    uint8_t *codes = work->codes + value, *scales = work->scales + block * bytes;
    if (!by_block_lay_line(work->dtype, work->cast, &grid)) {
        plain_line(work, in, count, codes, scales);
        return;
    }
    const struct groups all = line_groups(work, &grid);
    const size_t groups = count / grid.advance, done = groups * grid.advance;
    encode_groups(&all, groups, in, codes, scales);
    if (done < count)
        encode_last(&all, count - done, in + done, codes + done,
                    scales + groups * all.blocks * bytes);
}

/* --- Columns --- */

void by_block_code_columns(const struct by_block_work *work, size_t value, size_t rows,
                           size_t columns, size_t block)
{
    float tile[BY_TILE];
    uint8_t codes[BY_TILE], shared[(COLUMNS + BY_LANES_MAX) * SHARED_MOST];
    struct by_block_grid grid = work->grid;
    const size_t stride = work->extent.inner, bytes = work->extent.block_bytes;
    const size_t room = by_block_lay_columns(work->dtype, rows, &grid);
    const size_t wide = room < COLUMNS ? room : COLUMNS;
    const struct groups all = upright_groups(work, &grid);
    for (size_t begin = 0; begin < columns; begin += wide) {
        const size_t some = columns - begin < wide ? columns - begin : wide;
        const size_t groups =
            by_block_fill_tile(&grid, work->in + value + begin, stride, some, tile);
        encode_groups(&all, groups, tile, codes, shared);
        memcpy(work->scales + (block + begin) * bytes, shared, some * bytes);
        for (size_t row = 0; row < rows; row++)
            memcpy(work->codes + value + row * stride + begin, codes + row * grid.stride, some);
    }
}
