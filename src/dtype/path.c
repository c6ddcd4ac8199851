/* Chooses the vector path for number formats and computes the constants of a format. */
#include "dtype/path.h"

#include "dtype/family.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

static const struct by_dtype_path *_Atomic choice;

const struct by_dtype_path *const *by_dtype_paths(size_t *count)
{
    static const struct by_dtype_path *const paths[] = {
#if defined(__x86_64__)
        &by_dtype_avx512,
        &by_dtype_avx2,
#endif
        &by_dtype_vector,
    };
    *count = sizeof paths / sizeof *paths;
    return paths;
}

const struct by_dtype_path *by_dtype_path_chosen(void)
{
    const struct by_dtype_path *path = atomic_load_explicit(&choice, memory_order_relaxed);
    if (path)
        return path;
    size_t count;
    const struct by_dtype_path *const *paths = by_dtype_paths(&count);
    while (!(*paths)->supported())
        paths++;
    by_dtype_path_choose(*paths);
    return *paths;
}

void by_dtype_path_choose(const struct by_dtype_path *path)
{
    atomic_store_explicit(&choice, path, memory_order_relaxed);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* What the plain way makes of it: the code, and the bits of its value without the sign. */
static uint32_t special(const struct by_float_layout *layout, float value, bool saturate,
                        uint32_t *bits)
{
    const struct by_draw draw = {.ties = BY_TIES_EVEN};
    const uint32_t code = by_float_code(layout, value, &draw, saturate);
    *bits = bits_of((float)by_float_value(layout, code));
    return code;
}

void by_float_grid(const struct by_float_layout *layout, enum by_ties ties, bool saturate,
                   struct by_float_grid *grid)
{
    uint32_t past, nan;
    grid->mantissa = layout->mantissa;
    grid->base = 128 - layout->bias;
    grid->tie = ties == BY_TIES_EVEN ? -1 : 0;
    grid->tie_even = ties == BY_TIES_EVEN;
    grid->tie_up = ties == BY_TIES_UP ? -1 : 0;
    grid->sign = 1 << (layout->exponent + layout->mantissa);
    grid->max_code = (int32_t)by_float_max_code(layout);
    grid->limit = (int32_t)bits_of((float)by_float_value(layout, (uint32_t)grid->max_code));
    grid->past_code = (int32_t)special(layout, INFINITY, saturate, &past);
    grid->nan_code = (int32_t)special(layout, NAN, saturate, &nan);
    const bool one_nan = layout->specials == BY_SPECIAL_NAN_ZERO;
    grid->past = past;
    grid->past_sign = one_nan && !saturate ? 0 : UINT32_MAX;
    grid->nan = nan;
    grid->nan_sign = one_nan ? 0 : UINT32_MAX;
    grid->zero_sign = one_nan ? 0 : UINT32_MAX;
}
