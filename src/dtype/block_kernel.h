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
#elif LANES == 8
#define SWAP1(x) __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6)
#define SWAP2(x) __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5)
#define SWAP4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3)
#else
#define SWAP1(x) __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
#define SWAP2(x) __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
#define SWAP4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)
#define SWAP8(x) __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
#endif

/* In each lane the greatest of the `width` neighbours that it belongs to. */
INLINE vints greatest(vints x, size_t width)
{
    if (width > 1)
        x = IMAX(x, SWAP1(x));
    if (width > 2)
        x = IMAX(x, SWAP2(x));
#if LANES > 4
    if (width > 4)
        x = IMAX(x, SWAP4(x));
#endif
#if LANES > 8
    if (width > 8)
        x = IMAX(x, SWAP8(x));
#endif
    return x;
}

INLINE vints load_row(const float *in, size_t row, const struct by_block_grid *grid)
{
    const vints bits = load(in + row * grid->stride);
    if (!grid->from_bf16)
        return bits;
    const vints half = (bits + 0x7fff + (bits >> 16 & 1)) & ~0xffff;
    return choose((bits & SIZE) > INFINITE, bits, half);
}

/* The greatest finite magnitude in rows [begin, end) of each lane. */
INLINE vints peak_of(const float *in, size_t begin, size_t end, const struct by_block_grid *grid)
{
    vints peak = fill(0);
    for (size_t row = begin; row < end; row++) {
        const vints size = load_row(in, row, grid) & SIZE;
        peak = IMAX(peak, size & (size < INFINITE));
    }
    return peak;
}

INLINE vints strange(const float *in, const struct by_block_grid *grid)
{
    vints found = fill(0);
    for (size_t row = 0; row < grid->rows; row++)
        found |= (load_row(in, row, grid) & SIZE) >= INFINITE;
    return found;
}

/* 1 where a positive element would need the power of two above all levels. */
INLINE vints is_short(const float *in, vints exponent, const struct by_block_grid *grid)
{
    vints found = fill(0);
    for (size_t row = 0; row < grid->rows; row++) {
        const vints bits = load_row(in, row, grid);
        vints unused, level = level_of(bits, exponent, &grid->element, &unused);
        found |= (level > grid->levels) & (bits > 0) & (bits < INFINITE);
    }
    return greatest(found & 1, grid->width);
}

/* The signs that zeros keep; zero_from - exponent is that of 1 / step or 1 / scale. */
INLINE vints sign_of(vints bits, vints level, vints exponent, const struct by_block_grid *grid)
{
    const vints sign = bits & ~SIZE;
    if (grid->zero_loses)
        return sign & (level != 0);
    if (!grid->zero_from)
        return sign;
    const vfloats quotient = (vfloats)(bits & SIZE) * power(grid->zero_from - exponent);
    return sign & ((level != 0) | (quotient == 0));
}

INLINE vints round_element(vints bits, vints exponent, vints base, const struct by_block_grid *grid)
{
    vints own, level = level_of(bits, base, &grid->element, &own);
    const int32_t mantissa = grid->element.mantissa;
    const vints levels = grid->levels - (bits >> 31 & grid->extra);
    const vints limit =
        (vints)(__builtin_convertvector(levels, vfloats) * power(base + (grid->span - mantissa)));
    const vints left = (vints)(__builtin_convertvector(level, vfloats) * power(own - mantissa));
    /* Magnitudes compare like their bits. */
    const vints rounded = IMIN(left, limit) | sign_of(bits, level, exponent, grid);
    return choose((bits & SIZE) >= INFINITE, bits, rounded);
}

INLINE void round_group(float *out, const float *in, vints exponent,
                        const struct by_block_grid *grid)
{
    for (size_t begin = 0; begin < grid->rows; begin += grid->sub_rows) {
        const size_t end =
            begin + grid->sub_rows < grid->rows ? begin + grid->sub_rows : grid->rows;
        vints base = exponent - grid->below;
        if (grid->most_shift) {
            const vints top = greatest(peak_of(in, begin, end, grid), grid->sub_width) >> 23;
            base = exponent - IMIN(exponent - IMIN(top, exponent), fill(grid->most_shift));
        }
        for (size_t row = begin; row < end; row++)
            store(out + row * grid->stride,
                  round_element(load_row(in, row, grid), exponent, base, grid));
    }
}

/* --- Formats with a scale --- */

INLINE vints round_scaled(vints bits, vfloats scale, const struct by_block_grid *grid)
{
    const vints quotient = (vints)((vfloats)bits / scale);
    vints own, level = level_of(quotient, fill(grid->element.base), &grid->element, &own);
    const vints size =
        (vints)(__builtin_convertvector(level, vfloats) * power(own - grid->element.mantissa));
    const vfloats left = (vfloats)IMIN(size, fill(grid->element.limit)) * scale;
    return choose((bits & SIZE) >= INFINITE, bits, (vints)left | (bits & ~SIZE));
}

INLINE void scaled_group(float *out, const float *in, const struct by_block_grid *grid)
{
    const vfloats peak = (vfloats)greatest(peak_of(in, 0, grid->rows, grid), grid->width);
    const vints wanted = (vints)(peak / (grid->greatest * grid->tensor_scale));
    const vfloats scale = (vfloats)round_float(wanted, &grid->scale) * grid->tensor_scale;
    for (size_t row = 0; row < grid->rows; row++)
        store(out + row * grid->stride, round_scaled(load_row(in, row, grid), scale, grid));
}

/* --- Groups --- */

/* False, and nothing written, where a block has to be done the plain way. */
INLINE bool do_group(float *out, const float *in, const struct by_block_grid *grid)
{
    if (grid->scaled) {
        scaled_group(out, in, grid);
        return true;
    }
    const vints peak = greatest(peak_of(in, 0, grid->rows, grid), grid->width);
    vints exponent = peak >> 23;
    if (ANY(((exponent < grid->least) & (peak != 0)) | (exponent > grid->most)) ||
        (grid->poisons && ANY(strange(in, grid))))
        return false;
    exponent = IMAX(exponent, fill(grid->least)); /* a block of zeros has any */
    if (grid->raises)
        exponent += is_short(in, exponent, grid);
    round_group(out, in, exponent, grid);
    return true;
}

TARGET static size_t blocks(float *out, const float *in, size_t groups,
                            const struct by_block_grid *grid)
{
    const struct by_block_grid own = *grid; /* which no store into `out` can change */
    for (size_t i = 0; i < groups; i++)
        if (!do_group(out + i * own.advance, in + i * own.advance, &own))
            return i;
    return groups;
}

#endif
