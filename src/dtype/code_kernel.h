/*
 * Codes of blocks and back in the compiler's own vectors, after block_kernel.h, whose groups they
 * have.
 */
#ifndef BY_DTYPE_CODE_KERNEL_H
#define BY_DTYPE_CODE_KERNEL_H

#include "dtype/block_kernel.h"

INLINE vints load_ints(const int32_t *at)
{
    vints x;
    memcpy(&x, at, sizeof x);
    return x;
}

INLINE void store_codes(uint8_t *at, vints codes)
{
    const vbytes bytes = BYTES(codes);
    memcpy(at, &bytes, sizeof bytes);
}

/* --- Blocks that share an exponent --- */

/* Levels, and the exponents that they count from. Quick, as even_step(): what is added leaves the
 * level in the last bits. */
INLINE vints counted(vints bits, vints base, const struct by_float_grid *element, vints *own,
                     bool quick)
{
    if (!quick)
        return level_of(bits, base, element, own);
    const vints size = bits & SIZE;
    *own = IMAX(size >> 23, base);
    const vfloats anchor = power(*own + (23 - element->mantissa));
    return (vints)((vfloats)size + anchor) - (vints)anchor;
}

/* Of a finite element; base: that of its sub-block. */
INLINE vints code_element(vints bits, vints exponent, vints base, const struct by_block_grid *grid,
                          bool quick)
{
    const struct by_float_grid *element = &grid->element;
    vints own;
    const vints level = counted(bits, base, element, &own, quick), negative = bits >> 31;
    vints code = level + ((own - base) << element->mantissa);
    code = IMIN(code, element->max_code - (grid->twos ? negative : fill(0)));
    if (grid->twos)
        return (code ^ negative) - negative;
    return code | ((sign_of(bits, code, exponent, grid) >> 31) & element->sign);
}

/* Shifts of the sub-blocks in one sub-row, each at its place. */
INLINE vints place_shifts(vints shift, size_t sub_row, const struct by_block_grid *grid)
{
    const vints own = (shift & load_ints(grid->lane_has)) << load_ints(grid->lane_bit);
    return all_bits(own, grid->width) << (int32_t)(sub_row * grid->sub_bits);
}

/* All in a block of zeros is 0. */
INLINE void code_group(uint8_t *codes, int32_t *shared, const float *in, vints exponent,
                       vints is_zero, const struct by_block_grid *grid, bool quick)
{
    vints shifts = fill(0);
    for (size_t begin = 0; begin < grid->rows; begin += grid->sub_rows) {
        const size_t end = sub_end(begin, grid);
        const vints shift = shift_of(in, begin, end, exponent, grid, true);
        const vints base = exponent - grid->below - shift;
        if (grid->most_shift)
            shifts |= place_shifts(shift, begin / grid->sub_rows, grid);
        for (size_t row = begin; row < end; row++)
            store_codes(codes + row * grid->stride,
                        code_element(load_row(in, row, grid), exponent, base, grid, quick));
    }
    const vints stored = (exponent - grid->top) & ~is_zero, bits = shifts & ~is_zero;
    memcpy(shared, &stored, sizeof stored);
    memcpy(shared + LANES, &bits, sizeof bits);
}

#define STORED_MOST 254

/* False, and nothing written, where a block has to be done the plain way. */
INLINE bool encode_group(uint8_t *codes, int32_t *shared, const float *in,
                         const struct by_block_grid *grid)
{
    const vints peak = greatest(peak_of(in, 0, grid->rows, grid, true), grid->width);
    const bool quick = !is_beyond(peak, grid->most_quick, grid);
    if (!quick && is_beyond(peak, grid->most, grid)) /* infinities and NaN, too */
        return false;
    vints exponent = IMAX(peak >> 23, fill(grid->least));
    if (grid->raises)
        exponent += is_short(in, exponent, grid, false);
    if (quick) {
        code_group(codes, shared, in, exponent, peak == 0, grid, true);
        return true;
    }
    if (ANY(exponent - grid->top > STORED_MOST))
        return false;
    code_group(codes, shared, in, exponent, peak == 0, grid, false);
    return true;
}

/* --- Formats with a scale --- */

/* Without a scale a block has zeros alone. */
INLINE vints code_scaled(vints bits, vfloats scale, const struct by_block_grid *grid)
{
    const vints quotient = (vints)((vfloats)bits / scale), sign = bits & ~SIZE;
    const vints size = IMIN(quotient & SIZE, fill(grid->element.limit)) & ((vints)scale > 0);
    return code_float(size | sign, &grid->element);
}

INLINE bool encode_scaled(uint8_t *codes, int32_t *shared, const float *in,
                          const struct by_block_grid *grid)
{
    const vints peak = greatest(peak_of(in, 0, grid->rows, grid, true), grid->width);
    if (ANY(peak >= INFINITE))
        return false;
    const vints wanted = (vints)((vfloats)peak / (grid->greatest * grid->tensor_scale));
    const vints stored = code_float(wanted, &grid->scale), none = fill(0);
    const vfloats scale = (vfloats)round_float(wanted, &grid->scale) * grid->tensor_scale;
    for (size_t row = 0; row < grid->rows; row++)
        store_codes(codes + row * grid->stride, code_scaled(load_row(in, row, grid), scale, grid));
    memcpy(shared, &stored, sizeof stored);
    memcpy(shared + LANES, &none, sizeof none);
    return true;
}

/* --- Groups --- */

INLINE size_t each_encoded(uint8_t *codes, int32_t *shared, const float *in, size_t groups,
                           const struct by_block_grid *grid)
{
    for (size_t i = 0; i < groups; i++) {
        const size_t at = i * grid->advance;
        int32_t *both = shared + i * 2 * LANES;
        if (grid->scaled ? !encode_scaled(codes + at, both, in + at, grid)
                         : !encode_group(codes + at, both, in + at, grid))
            return i;
    }
    return groups;
}

TARGET static size_t encode_block_codes(uint8_t *codes, int32_t *shared, const float *in,
                                        size_t groups, const struct by_block_grid *grid)
{
    struct by_block_grid own = *grid; /* which no store into `codes` can change */
    if (own.from_bf16 || own.twos || own.raises || own.most_shift)
        return each_encoded(codes, shared, in, groups, &own);
    own.from_bf16 = own.twos = own.raises = false; /* for the compiler: constants of the loop */
    own.most_shift = 0;
    return each_encoded(codes, shared, in, groups, &own);
}

/* --- And back --- */

INLINE vints value_of(vints code, const struct by_code_grid *grid)
{
    const struct by_float_grid *element = &grid->element;
    const vints sign = code & element->sign, size = code & (element->sign - 1);
    if (grid->twos)
        return (vints)(__builtin_convertvector(size - sign, vfloats) *
                       power(fill(127 - element->mantissa)));
    const vints own = IMAX(size >> element->mantissa, fill(1));
    const vints one = fill(1 << element->mantissa);
    const vints level = (size & (one - 1)) | ((size >> element->mantissa != 0) & one);
    const vfloats left = __builtin_convertvector(level, vfloats) *
                         power(own + (element->base - 1 - element->mantissa));
    const vints odd = choose(size == element->past_code, fill((int32_t)element->past),
                             fill((int32_t)element->nan));
    return choose(size > element->max_code, odd, (vints)left) | ((sign != 0) & ~SIZE);
}

INLINE void decode_lanes(float *out, vbytes codes, vints steps, const struct by_code_grid *grid)
{
    const vints value = value_of(WIDE_BYTES(codes), grid);
    const vints left = (vints)((vfloats)value * (vfloats)steps);
    store(out, choose((steps & SIZE) > INFINITE, steps, left));
}

TARGET static void decode_block_codes(float *out, const uint8_t *codes, const float *steps,
                                      size_t count, const struct by_code_grid *grid)
{
    const struct by_code_grid own = *grid;
    vbytes some;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        memcpy(&some, codes + i, sizeof some);
        decode_lanes(out + i, some, load(steps + i), &own);
    }
    if (i < count) {
        float last[LANES] = {0};
        memset(&some, 0, sizeof some);
        memcpy(&some, codes + i, count - i);
        memcpy(last, steps + i, (count - i) * sizeof *last);
        decode_lanes(last, some, load(last), &own);
        memcpy(out + i, last, (count - i) * sizeof *last);
    }
}

#endif
