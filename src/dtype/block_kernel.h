/*
 * Blocks in the compiler's own vectors, after kernel.h. A group is `rows` vectors. Its blocks are
 * the columns, a lane each (width 1), or sets of neighbouring lanes in all of its rows.
 */
#ifndef BY_DTYPE_BLOCK_KERNEL_H
#define BY_DTYPE_BLOCK_KERNEL_H

#include "dtype/kernel.h"

#if LANES == 4
#define SWAP1(x) __builtin_shufflevector(x, x, 1, 0, 3, 2)
#define SWAP2(x) __builtin_shufflevector(x, x, 2, 3, 0, 1)
#define SWAP4(x) (x)
#define SWAP8(x) (x)
#elif LANES == 8
#define SWAP1(x) __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6)
#define SWAP2(x) __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5)
#define SWAP4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3)
#define SWAP8(x) (x)
#else
#define SWAP1(x) __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
#define SWAP2(x) __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
#define SWAP4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)
#define SWAP8(x) __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
#endif

/* Joins what the `width` neighbours have that a lane belongs to; at most LANES. */
#define ACROSS(name, join)                                                                         \
    INLINE vints name(vints x, size_t width)                                                       \
    {                                                                                              \
        if (width > 1)                                                                             \
            x = join(x, SWAP1(x));                                                                 \
        if (width > 2)                                                                             \
            x = join(x, SWAP2(x));                                                                 \
        if (LANES > 4 && width > 4)                                                                \
            x = join(x, SWAP4(x));                                                                 \
        if (LANES > 8 && width > 8)                                                                \
            x = join(x, SWAP8(x));                                                                 \
        return x;                                                                                  \
    }
#define BITS_OF(a, b) ((a) | (b))

ACROSS(greatest, IMAX)
ACROSS(all_bits, BITS_OF)

INLINE vints load_row(const float *in, size_t row, const struct by_block_grid *grid)
{
    const vints bits = load(in + row * grid->stride);
    if (!grid->from_bf16)
        return bits;
    const vints half = (bits + 0x7fff + (bits >> 16 & 1)) & ~0xffff;
    return choose((bits & SIZE) > INFINITE, bits, half);
}

/* The greatest magnitude in rows [begin, end) of each lane; of finite values alone, or of all. */
INLINE vints peak_of(const float *in, size_t begin, size_t end, const struct by_block_grid *grid,
                     bool all)
{
    vints peak = fill(0);
    for (size_t row = begin; row < end; row++) {
        const vints size = load_row(in, row, grid) & SIZE;
        peak = IMAX(peak, all ? size : size & (size < INFINITE));
    }
    return peak;
}

/* --- Elements --- */

/* Multiples of the element's own step. */
INLINE vints nearest_step(vints bits, vints base, const struct by_block_grid *grid)
{
    vints own;
    const vints level = level_of(bits, base, &grid->element, &own);
    return (vints)(__builtin_convertvector(level, vfloats) * power(own - grid->element.mantissa));
}

/* The same where ties go to even: the processor rounds what is added and taken off again. */
INLINE vints even_step(vints bits, vints base, const struct by_block_grid *grid)
{
    const vints size = bits & SIZE;
    const vfloats anchor = power(IMAX(size >> 23, base) + (23 - grid->element.mantissa));
    return (vints)(((vfloats)size + anchor) - anchor);
}

INLINE vints step_of(vints bits, vints base, const struct by_block_grid *grid, bool quick)
{
    return quick ? even_step(bits, base, grid) : nearest_step(bits, base, grid);
}

/* The greatest level, as bits. */
INLINE vints limit_of(vints base, const struct by_block_grid *grid)
{
    return (vints)(power(base + (grid->span - grid->element.mantissa)) * (float)grid->levels);
}

/* The signs that zeros keep; zero_from - exponent is that of 1 / step or 1 / scale. */
INLINE vints sign_of(vints bits, vints left, vints exponent, const struct by_block_grid *grid)
{
    const vints sign = bits & ~SIZE;
    if (grid->zero_loses)
        return sign & (left != 0);
    if (!grid->zero_from)
        return sign;
    const vfloats quotient = (vfloats)(bits & SIZE) * power(grid->zero_from - exponent);
    return sign & ((left != 0) | (quotient == 0));
}

INLINE vints round_element(vints bits, vints exponent, vints base, vints limit,
                           const struct by_block_grid *grid, bool quick)
{
    const vints left = step_of(bits, base, grid, quick);
    const vints most = limit + (bits >> 31 & grid->more);
    /* Magnitudes compare like their bits. */
    const vints rounded = IMIN(left, most) | sign_of(bits, left, exponent, grid);
    return quick ? rounded : choose((bits & SIZE) >= INFINITE, bits, rounded);
}

/* --- Blocks that share an exponent --- */

/* 1 where a positive element would need the power of two above all levels. */
INLINE vints is_short(const float *in, vints exponent, const struct by_block_grid *grid, bool quick)
{
    const vints limit = limit_of(exponent, grid);
    vints found = fill(0);
    for (size_t row = 0; row < grid->rows; row++) {
        const vints bits = load_row(in, row, grid);
        found |= (step_of(bits, exponent, grid, quick) > limit) & (bits > 0) & (bits < INFINITE);
    }
    return greatest(found & 1, grid->width);
}

INLINE size_t sub_end(size_t begin, const struct by_block_grid *grid)
{
    return begin + grid->sub_rows < grid->rows ? begin + grid->sub_rows : grid->rows;
}

/* How far the exponent of a lane's sub-block is below its block's. */
INLINE vints shift_of(const float *in, size_t begin, size_t end, vints exponent,
                      const struct by_block_grid *grid, bool all)
{
    if (!grid->most_shift)
        return fill(0);
    const vints top = greatest(peak_of(in, begin, end, grid, all), grid->sub_width) >> 23;
    return IMIN(exponent - IMIN(top, exponent), fill(grid->most_shift));
}

INLINE void round_group(float *out, const float *in, vints exponent,
                        const struct by_block_grid *grid, bool quick)
{
    if (grid->raises)
        exponent += is_short(in, exponent, grid, quick);
    for (size_t begin = 0; begin < grid->rows; begin += grid->sub_rows) {
        const size_t end = sub_end(begin, grid);
        const vints base = exponent - grid->below - shift_of(in, begin, end, exponent, grid, quick);
        const vints limit = limit_of(base, grid);
        for (size_t row = begin; row < end; row++)
            store(out + row * grid->stride,
                  round_element(load_row(in, row, grid), exponent, base, limit, grid, quick));
    }
}

/* Whether a block has an exponent that is not done here; a block of zeros has any. */
INLINE bool is_beyond(vints peak, int32_t most, const struct by_block_grid *grid)
{
    const vints exponent = peak >> 23;
    return ANY(((exponent < grid->least) & (peak != 0)) | (exponent > most));
}

/* False, and nothing written, where a block has to be done the plain way. Quick: ties go to even,
 * all is finite, and there is room above the exponent. */
INLINE bool do_group(float *out, const float *in, const struct by_block_grid *grid)
{
    const vints least = fill(grid->least);
    vints peak = greatest(peak_of(in, 0, grid->rows, grid, true), grid->width);
    if (!is_beyond(peak, grid->most_quick, grid)) {
        round_group(out, in, IMAX(peak >> 23, least), grid, true);
        return true;
    }
    if (grid->poisons && ANY(peak >= INFINITE))
        return false;
    peak = greatest(peak_of(in, 0, grid->rows, grid, false), grid->width);
    if (is_beyond(peak, grid->most, grid))
        return false;
    round_group(out, in, IMAX(peak >> 23, least), grid, false);
    return true;
}

/* --- Formats with a scale --- */

/* Beyond the limit all are the limit: so there is room above the exponent. */
INLINE vints round_scaled(vints bits, vfloats scale, const struct by_block_grid *grid)
{
    const vints quotient = (vints)((vfloats)bits / scale), base = fill(grid->element.base);
    const vints sign = bits & ~SIZE, size = IMIN(quotient & SIZE, fill(grid->element.limit));
    const vfloats left = (vfloats)step_of(size | sign, base, grid, grid->even) * scale;
    return choose((bits & SIZE) >= INFINITE, bits, (vints)left | sign);
}

INLINE void scaled_group(float *out, const float *in, const struct by_block_grid *grid)
{
    const vints finite = peak_of(in, 0, grid->rows, grid, false);
    const vfloats peak = (vfloats)greatest(finite, grid->width);
    const vints wanted = (vints)(peak / (grid->greatest * grid->tensor_scale));
    const vfloats scale = (vfloats)round_float(wanted, &grid->scale) * grid->tensor_scale;
    for (size_t row = 0; row < grid->rows; row++)
        store(out + row * grid->stride, round_scaled(load_row(in, row, grid), scale, grid));
}

/* --- Groups --- */

/* Groups that are done, up to the first one that has to be done the plain way. */
INLINE size_t each_group(float *out, const float *in, size_t groups,
                         const struct by_block_grid *grid)
{
    for (size_t i = 0; i < groups; i++)
        if (!do_group(out + i * grid->advance, in + i * grid->advance, grid))
            return i;
    return groups;
}

TARGET static size_t blocks(float *out, const float *in, size_t groups,
                            const struct by_block_grid *grid)
{
    struct by_block_grid own = *grid; /* which no store into `out` can change */
    if (own.scaled) {
        for (size_t i = 0; i < groups; i++)
            scaled_group(out + i * own.advance, in + i * own.advance, &own);
        return groups;
    }
    if (own.from_bf16 || own.rows > 1)
        return each_group(out, in, groups, &own);
    own.from_bf16 = false; /* for the compiler: constants of the loop */
    own.rows = 1;
    return each_group(out, in, groups, &own);
}

#endif
