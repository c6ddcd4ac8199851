#include "dtype/fast.h"

#include "dtype/family.h"
#include "dtype/path.h"

#define CHUNK     512
#define ALL_CODES 256

static bool is_fast(const struct by_dtype *dtype, const struct by_cast *cast)
{
    return dtype->does != &by_family_e8m0 && cast->ties != BY_TIES_STOCHASTIC;
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

bool by_fast_round(const struct by_dtype *dtype, const float *in, size_t count,
                   const struct by_cast *cast, float *out)
{
    struct by_float_grid grid;
    if (!is_fast(dtype, cast))
        return false;
    if (dtype->does == &by_family_int) {
        round_ints(dtype, in, count, cast, out);
        return true;
    }
    by_float_grid(&dtype->element, cast->ties, cast->saturate, &grid);
    round_floats(&grid, in, count, cast, out);
    return true;
}

bool by_fast_encode(const struct by_dtype *dtype, const float *in, size_t count,
                    const struct by_cast *cast, void *codes)
{
    const struct by_dtype_path *path = by_dtype_path_chosen();
    struct by_float_grid grid;
    float scaled[CHUNK];
    if (!is_fast(dtype, cast) || dtype->does == &by_family_int)
        return false;
    by_float_grid(&dtype->element, cast->ties, cast->saturate, &grid);
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        const size_t some = count - begin < CHUNK ? count - begin : CHUNK;
        const float *from = in + begin;
        if (!by_cast_is_plain(cast)) {
            scale_down(from, some, cast, scaled);
            from = scaled;
        }
        if (dtype->bits <= 8)
            path->codes8((uint8_t *)codes + begin, from, some, &grid);
        else
            path->codes16((uint16_t *)codes + begin, from, some, &grid);
    }
    return true;
}

bool by_fast_decode(const struct by_dtype *dtype, const void *codes, size_t count,
                    const struct by_cast *cast, float *out)
{
    const uint8_t *at = codes;
    uint8_t all[ALL_CODES];
    float table[ALL_CODES];
    if (dtype->bits > 8 || count < ALL_CODES)
        return false;
    for (unsigned i = 0; i < ALL_CODES; i++)
        all[i] = (uint8_t)i;
    dtype->does->decode(dtype, all, ALL_CODES, cast, table);
    for (size_t i = 0; i < count; i++)
        out[i] = table[at[i]];
    return true;
}
