/* Integers of 2 to 32 bits. */
#include "dtype/family.h"

#include "array/elem.h"

#include <math.h>

#define ROW(type, elem_, bits_, low_, high_, help_)                                                \
    const struct by_dtype by_dtype_##type = {.name = #type,                                        \
                                             .help = help_,                                        \
                                             .bits = bits_,                                        \
                                             .elem = BY_ELEM_##elem_,                              \
                                             .does = &by_family_int,                               \
                                             .low = low_,                                          \
                                             .high = high_}

ROW(int2, INT2, 2, -2, 1, "integers -2 to 1");
ROW(uint2, UINT2, 2, 0, 3, "integers 0 to 3");
ROW(int4, INT4, 4, -8, 7, "integers -8 to 7");
ROW(uint4, UINT4, 4, 0, 15, "integers 0 to 15");
ROW(int8, INT8, 8, INT8_MIN, INT8_MAX, "integers -128 to 127");
ROW(uint8, UINT8, 8, 0, UINT8_MAX, "integers 0 to 255");
ROW(int16, INT16, 16, INT16_MIN, INT16_MAX, "integers -32768 to 32767");
ROW(uint16, UINT16, 16, 0, UINT16_MAX, "integers 0 to 65535");
ROW(int32, INT32, 32, INT32_MIN, INT32_MAX, "integers -2^31 to 2^31 - 1");
ROW(uint32, UINT32, 32, 0, UINT32_MAX, "integers 0 to 2^32 - 1");

static int64_t level_of(const struct by_dtype *dtype, float value, const struct by_cast *cast,
                        const struct by_draw *draw)
{
    const float scaled = value / cast->scale;
    if (isnan(scaled))
        return dtype->low;
    const double level = by_round_level(scaled, draw) + (double)cast->zero;
    return level <= (double)dtype->low    ? dtype->low
           : level >= (double)dtype->high ? dtype->high
                                          : (int64_t)level;
}

static void encode_int(const struct by_dtype *dtype, const float *in, size_t count, size_t first,
                       const struct by_cast *cast, void *codes)
{
    const size_t bytes = by_dtype_code_bytes(dtype);
    struct by_draw draw = {.ties = cast->ties, .seed = cast->seed};
    for (size_t i = 0; i < count; i++) {
        draw.index = first + i;
        by_code_put(codes, i, bytes, (uint32_t)level_of(dtype, in[i], cast, &draw));
    }
}

static void decode_int(const struct by_dtype *dtype, const void *codes, size_t count,
                       const struct by_cast *cast, float *out)
{
    const size_t bytes = by_dtype_code_bytes(dtype);
    const uint64_t sign = dtype->low < 0 ? 1ull << (8 * bytes - 1) : 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t level = (int64_t)(by_code_get(codes, i, bytes) ^ sign) - (int64_t)sign;
        out[i] = (float)(level - cast->zero) * cast->scale;
    }
}

const struct by_dtype_family by_family_int = {encode_int, decode_int};
