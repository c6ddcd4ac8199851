/*
 * Powers of two, for scales: an exponent and nothing else. There is no zero and no sign: what is
 * negative or zero is NaN; what is below 2^-127 becomes that, and what would round to 2^128 is NaN.
 */
#include "dtype/family.h"

#include "array/elem.h"
#include "base/rng.h"

#include <math.h>

#define NAN_CODE 0xffu
#define MAX_CODE 0xfeu

const struct by_dtype by_dtype_e8m0 = {
    .name = "e8m0",
    .help = "powers of two from 2^-127 to 2^127, for scales",
    .bits = 8,
    .elem = BY_ELEM_FLOAT8E8M0,
    .does = &by_family_e8m0,
    .element = {8, 0, 127, BY_SPECIAL_NAN},
};

/* Of the power below and the one above; half way between them goes up, whatever the ties. */
static uint32_t code_of(float value, const struct by_cast *cast, size_t index)
{
    if (!(value > 0))
        return NAN_CODE;
    if (isinf(value))
        return cast->saturate ? MAX_CODE : NAN_CODE;
    const int below = ilogbf(value);
    const double past = ldexp(value, -below) - 1; /* 0 to 1 */
    const bool up =
        cast->ties == BY_TIES_STOCHASTIC ? by_rng_unit(cast->seed, 0, index) < past : past >= 0.5;
    const int code = below + up + 127;
    if (code > (int)MAX_CODE)
        return cast->saturate ? MAX_CODE : NAN_CODE;
    return code < 0 ? 0 : (uint32_t)code;
}

static void encode_e8m0(const struct by_dtype *dtype, const float *in, size_t count, size_t first,
                        const struct by_cast *cast, void *codes)
{
    (void)dtype;
    for (size_t i = 0; i < count; i++)
        by_code_put(codes, i, 1, code_of(in[i] / cast->scale, cast, first + i));
}

static void decode_e8m0(const struct by_dtype *dtype, const void *codes, size_t count,
                        const struct by_cast *cast, float *out)
{
    (void)dtype;
    for (size_t i = 0; i < count; i++) {
        const uint32_t code = by_code_get(codes, i, 1);
        out[i] = code == NAN_CODE ? NAN : ldexpf(1, (int)code - 127) * cast->scale;
    }
}

const struct by_dtype_family by_family_e8m0 = {encode_e8m0, decode_e8m0};
