/* Rounds, encodes and decodes runs of values with the fastest path of the processor. */
#include "dtype/fast.h"

#include "dtype/family.h"
#include "dtype/path.h"

#define CHUNK     512
#define ALL_CODES 256

static bool is_power(const struct by_dtype *dtype)
{
    return dtype->does == &by_family_e8m0;
}

/* What all codes of 8 bits mean. */
static void fill_table(const struct by_dtype *dtype, const struct by_cast *cast,
                       float table[ALL_CODES])
{
    uint8_t all[ALL_CODES];
    for (unsigned i = 0; i < ALL_CODES; i++)
        all[i] = (uint8_t)i;
    dtype->does->decode(dtype, all, ALL_CODES, cast, table);
}

static void round_ints(const struct by_dtype *dtype, const float *in, size_t count,
                       const struct by_cast *cast, float *out)
{
    const struct by_int_grid grid = {.scale = cast->scale,
                                     .low = (double)(dtype->low - cast->zero),
                                     .high = (double)(dtype->high - cast->zero),
                                     .ties = cast->ties};
    by_dtype_path_chosen()->ints(out, in, count, &grid);
}

/* Values as the format is to see them. */
static void scale_down(const float *in, size_t count, const struct by_cast *cast, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = in[i] / cast->scale + (float)cast->zero;
}

static void round_floats(const struct by_float_grid *grid, const float *in, size_t count,
                         const struct by_cast *cast, float *out)
{
    const struct by_dtype_path *path = by_dtype_path_chosen();
    if (by_cast_is_plain(cast)) {
        path->floats(out, in, count, grid);
        return;
    }
    float scaled[CHUNK];
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        const size_t some = count - begin < CHUNK ? count - begin : CHUNK;
        scale_down(in + begin, some, cast, scaled);
        path->floats(out + begin, scaled, some, grid);
        for (size_t i = begin; i < begin + some; i++)
            out[i] = (out[i] - (float)cast->zero) * cast->scale;
    }
}

static void round_powers(const struct by_dtype *dtype, const float *in, size_t count,
                         const struct by_cast *cast, float *out)
{
    uint8_t codes[CHUNK];
    float table[ALL_CODES];
    fill_table(dtype, cast, table);
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        const size_t some = count - begin < CHUNK ? count - begin : CHUNK;
        by_fast_encode(dtype, in + begin, some, cast, codes);
        for (size_t i = 0; i < some; i++)
            out[begin + i] = table[codes[i]];
    }
}

bool by_fast_round(const struct by_dtype *dtype, const float *in, size_t count,
                   const struct by_cast *cast, float *out)
{
    struct by_float_grid grid;
    if (cast->ties == BY_TIES_STOCHASTIC)
        return false;
    if (dtype->does == &by_family_int) {
        round_ints(dtype, in, count, cast, out);
        return true;
    }
    if (is_power(dtype)) {
        round_powers(dtype, in, count, cast, out);
        return true;
    }
    by_float_grid(&dtype->element, cast->ties, cast->saturate, &grid);
    round_floats(&grid, in, count, cast, out);
    return true;
}

static void encode_some(const struct by_dtype *dtype, const struct by_float_grid *grid,
                        const float *in, size_t count, const struct by_cast *cast, void *codes,
                        size_t at)
{
    const struct by_dtype_path *path = by_dtype_path_chosen();
    if (is_power(dtype))
        path->powers((uint8_t *)codes + at, in, count, cast->saturate);
    else if (dtype->bits <= 8)
        path->codes8((uint8_t *)codes + at, in, count, grid);
    else
        path->codes16((uint16_t *)codes + at, in, count, grid);
}

bool by_fast_encode(const struct by_dtype *dtype, const float *in, size_t count,
                    const struct by_cast *cast, void *codes)
{
    struct by_float_grid grid;
    float scaled[CHUNK];
    if (cast->ties == BY_TIES_STOCHASTIC || dtype->does == &by_family_int)
        return false;
    by_float_grid(&dtype->element, cast->ties, cast->saturate, &grid);
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        const size_t some = count - begin < CHUNK ? count - begin : CHUNK;
        const float *from = in + begin;
        if (!by_cast_is_plain(cast)) {
            scale_down(from, some, cast, scaled);
            from = scaled;
        }
        encode_some(dtype, &grid, from, some, cast, codes, begin);
    }
    return true;
}

bool by_fast_decode(const struct by_dtype *dtype, const void *codes, size_t count,
                    const struct by_cast *cast, float *out)
{
    const uint8_t *at = codes;
    float table[ALL_CODES];
    if (dtype->bits > 8 || count < ALL_CODES)
        return false;
    fill_table(dtype, cast, table);
    for (size_t i = 0; i < count; i++)
        out[i] = table[at[i]];
    return true;
}
