/* Rounds blocks with the fastest path of the processor, and the rest in plain C. */
#include "dtype/block_fast.h"

#include "dtype/block_plain.h"
#include "dtype/family.h"

#include <string.h>

#define TOP_EXPONENT 254
#define TILE         8192 /* values of whole rows, about */

static bool is_power(size_t x)
{
    return x && !(x & (x - 1));
}

static size_t size_of(const struct by_dtype *dtype, const struct by_block_cast *cast)
{
    return cast->size ? cast->size : dtype->block.size;
}

static void zero_signs(const struct by_dtype *dtype, enum by_ties ties, struct by_block_grid *grid)
{
    const enum by_zero_sign rule = dtype->block.zero;
    grid->zero_loses = rule == BY_ZERO_LOSES;
    if (ties != BY_TIES_EVEN)
        return;
    if (rule == BY_ZERO_BY_STEP)
        grid->zero_from = 254 + dtype->element.mantissa;
    if (rule == BY_ZERO_BY_SCALE) {
        grid->zero_from = 254;
        grid->most = TOP_EXPONENT - 1; /* 1 / scale has an exponent of its own */
    }
}

bool by_block_fast_grid(const struct by_dtype *dtype, const struct by_block_cast *cast,
                        struct by_block_grid *grid)
{
    const struct by_block_layout *block = &dtype->block;
    const struct by_float_layout *element = &dtype->element;
    const size_t size = size_of(dtype, cast);
    if (cast->ties == BY_TIES_STOCHASTIC || size > BY_FAST_SIZE_MAX ||
        (block->sub && size % block->sub))
        return false;
    *grid = (struct by_block_grid){.most = TOP_EXPONENT,
                                   .raises = block->raises,
                                   .poisons = block->poisons,
                                   .from_bf16 = cast->from_bf16,
                                   .scaled = block->scaled,
                                   .top = block->top,
                                   .twos = block->twos,
                                   .even = cast->ties == BY_TIES_EVEN};
    const int32_t max = (int32_t)by_float_max_code(element), mantissa = element->mantissa;
    grid->levels = (max & ((1 << mantissa) - 1)) | 1 << mantissa;
    grid->more = block->twos ? 1 << (23 - mantissa) : 0; /* one level */
    /* What ties to even are rounded with has an exponent above all; see zero_signs(), too. */
    grid->most_quick = grid->even ? TOP_EXPONENT - 1 - (23 - mantissa) : -1;
    grid->span = (max >> mantissa) - 1;
    grid->below = block->top - (1 - element->bias);
    grid->most_shift = block->sub ? (1 << block->shifts) - 1 : 0;
    /* Steps are normal floats, and float's subnormal numbers less than half of one. */
    grid->least = 2 + mantissa + grid->below + grid->most_shift;
    grid->tensor_scale = cast->tensor_scale > 0 ? cast->tensor_scale : 1;
    grid->greatest = (float)by_dtype_max(dtype);
    by_float_grid(element, cast->ties, true, &grid->element);
    by_float_grid(&by_dtype_fp8_e4m3.element, BY_TIES_EVEN, true, &grid->scale);
    zero_signs(dtype, cast->ties, grid);
    return true;
}

static void plain(const struct by_dtype *dtype, const struct by_block_cast *cast, const float *in,
                  size_t count, size_t stride, float *out)
{
    const struct by_block_place place = {
        .count = count, .stride = stride, .size = size_of(dtype, cast)};
    by_block_plain_round(dtype, cast, &place, in, out);
}

static void plain_line(const struct by_dtype *dtype, const struct by_block_cast *cast,
                       const float *in, size_t count, float *out)
{
    const size_t size = size_of(dtype, cast);
    for (size_t i = 0; i < count; i += size)
        plain(dtype, cast, in + i, count - i < size ? count - i : size, 1, out + i);
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void lay_lanes(size_t width, size_t sub_width, size_t sub_bits, struct by_block_grid *grid)
{
    grid->width = width;
    grid->sub_width = sub_width;
    grid->sub_bits = sub_bits;
    for (size_t i = 0; i < BY_LANES_MAX; i++) {
        grid->lane_bit[i] = (int32_t)(i % width / sub_width);
        grid->lane_has[i] = i % sub_width ? 0 : -1;
    }
}

bool by_block_lay_line(const struct by_dtype *dtype, const struct by_block_cast *cast,
                       struct by_block_grid *grid)
{
    const size_t lanes = by_dtype_path_chosen()->lanes, sub = dtype->block.sub;
    const size_t size = size_of(dtype, cast), sub_width = sub ? sub : 1;
    if (size % lanes ? !is_power(size) || size > lanes : false)
        return false;
    if (sub && (!is_power(sub) || sub > least_of(size, lanes)))
        return false;
    grid->rows = size < lanes ? 1 : size / lanes;
    grid->stride = lanes;
    grid->advance = grid->rows * lanes;
    grid->sub_rows = 1;
    lay_lanes(least_of(size, lanes), sub_width, lanes / sub_width, grid);
    return true;
}

size_t by_block_lay_columns(const struct by_dtype *dtype, size_t rows, struct by_block_grid *grid)
{
    const size_t lanes = by_dtype_path_chosen()->lanes, wide = (TILE / rows / lanes + 1) * lanes;
    grid->rows = rows;
    grid->stride = wide;
    grid->advance = lanes;
    grid->sub_rows = dtype->block.sub ? dtype->block.sub : rows;
    lay_lanes(1, 1, 1, grid);
    return wide;
}

size_t by_block_fill_tile(const struct by_block_grid *grid, const float *in, size_t stride,
                          size_t columns, float *tile)
{
    const size_t lanes = grid->advance, groups = (columns + lanes - 1) / lanes;
    for (size_t row = 0; row < grid->rows; row++) {
        float *at = tile + row * grid->stride;
        memcpy(at, in + row * stride, columns * sizeof *tile);
        memset(at + columns, 0, (groups * lanes - columns) * sizeof *tile);
    }
    return groups;
}

/* Whole groups; returns how many values they are. */
static size_t whole_groups(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           const struct by_block_grid *grid, const float *in, size_t count,
                           float *out)
{
    const struct by_dtype_path *path = by_dtype_path_chosen();
    const size_t groups = count / grid->advance;
    for (size_t i = 0; i < groups; i++) {
        const size_t at = i * grid->advance;
        i += path->blocks(out + at, in + at, groups - i, grid);
        if (i < groups)
            plain_line(dtype, cast, in + i * grid->advance, grid->advance, out + i * grid->advance);
    }
    return groups * grid->advance;
}

void by_block_fast_line(const struct by_dtype *dtype, const struct by_block_cast *cast,
                        const struct by_block_grid *grid, const float *in, size_t count, float *out)
{
    struct by_block_grid line = *grid;
    if (!by_block_lay_line(dtype, cast, &line)) {
        plain_line(dtype, cast, in, count, out);
        return;
    }
    const size_t done = whole_groups(dtype, cast, &line, in, count, out), left = count - done;
    if (!left)
        return;
    float last[BY_FAST_SIZE_MAX + BY_LANES_MAX] = {0};
    memcpy(last, in + done, left * sizeof *last);
    whole_groups(dtype, cast, &line, last, line.advance, last);
    memcpy(out + done, last, left * sizeof *last);
}

static void plain_columns(const struct by_dtype *dtype, const struct by_block_cast *cast,
                          const float *in, size_t rows, size_t stride, size_t columns, float *out)
{
    for (size_t i = 0; i < columns; i++)
        plain(dtype, cast, in + i, rows, stride, out + i);
}

static void do_tile(const struct by_dtype *dtype, const struct by_block_cast *cast,
                    const struct by_block_grid *grid, float *tile, size_t groups)
{
    const struct by_dtype_path *path = by_dtype_path_chosen();
    for (size_t i = 0; i < groups; i++) {
        float *at = tile + i * grid->advance;
        i += path->blocks(at, at, groups - i, grid);
        at = tile + i * grid->advance;
        if (i < groups)
            plain_columns(dtype, cast, at, grid->rows, grid->stride, grid->advance, at);
    }
}

void by_block_fast_columns(const struct by_dtype *dtype, const struct by_block_cast *cast,
                           const struct by_block_grid *grid, const float *in, size_t rows,
                           size_t stride, size_t columns, float *out)
{
    float tile[BY_TILE];
    struct by_block_grid upright = *grid;
    const size_t wide = by_block_lay_columns(dtype, rows, &upright);
    for (size_t begin = 0; begin < columns; begin += wide) {
        const size_t some = least_of(wide, columns - begin);
        const size_t groups = by_block_fill_tile(&upright, in + begin, stride, some, tile);
        do_tile(dtype, cast, &upright, tile, groups);
        for (size_t row = 0; row < rows; row++)
            memcpy(out + row * stride + begin, tile + row * wide, some * sizeof *tile);
    }
}
