/* Quantizes and dequantizes runs of values by the formula of ONNX. */
#include "dtype/linear.h"

#include "base/half.h"
#include "dtype/family.h"
#include "dtype/path.h"

#include <math.h>

#define NAN_CODE 0x7fc1

static bool is_linear_bf16(const struct by_linear *linear)
{
    return linear->dtype == &by_dtype_bf16;
}

static uint16_t bf16_code(float value)
{
    return isnan(value) ? NAN_CODE : by_f32_to_bf16_one(value);
}

static uint32_t level_code(const struct by_dtype *dtype, float scaled, double zero)
{
    if (!(scaled > -0x1p63f && scaled < 0x1p63f))
        return (uint32_t)(zero < 0 ? dtype->high : dtype->low);
    const double level = nearbyint(scaled) + zero;
    return (uint32_t)(level <= (double)dtype->low    ? dtype->low
                      : level >= (double)dtype->high ? dtype->high
                                                     : (int64_t)level);
}

void by_linear_plain_quantize(const struct by_linear *linear, const float *in, size_t count,
                              void *codes)
{
    const size_t bytes = by_dtype_code_bytes(linear->dtype);
    for (size_t i = 0; i < count; i++) {
        const size_t at = linear->each ? i : 0;
        const float scaled = in[i] / linear->scales[at];
        const double zero = linear->zeros[at];
        by_code_put(codes, i, bytes,
                    is_linear_bf16(linear) ? bf16_code(scaled + (float)zero)
                                           : level_code(linear->dtype, scaled, zero));
    }
}

static float bf16_value(uint32_t code)
{
    const float value = by_bf16_to_f32_one((uint16_t)code);
    return isnan(value) ? NAN : value;
}

static int64_t level_of(const struct by_dtype *dtype, uint32_t code)
{
    const int64_t sign = dtype->low < 0 ? (int64_t)1 << (dtype->bits - 1) : 0;
    return (int64_t)(code ^ (uint64_t)sign) - sign;
}

void by_linear_plain_dequantize(const struct by_linear *linear, const void *codes, size_t count,
                                float *out)
{
    const size_t bytes = by_dtype_code_bytes(linear->dtype);
    for (size_t i = 0; i < count; i++) {
        const size_t at = linear->each ? i : 0;
        const uint32_t code = by_code_get(codes, i, bytes);
        const double zero = linear->zeros[at];
        const float distance = is_linear_bf16(linear)
                                   ? bf16_value(code) - (float)zero
                                   : (float)((double)level_of(linear->dtype, code) - zero);
        out[i] = distance * linear->scales[at];
    }
}

/* What is left when whole vectors are done. */
static struct by_linear rest_of(const struct by_linear *linear, size_t done)
{
    struct by_linear rest = *linear;
    if (linear->each) {
        rest.scales += done;
        rest.zeros += done;
    }
    return rest;
}

void by_linear_quantize(const struct by_linear *linear, const float *in, size_t count, void *codes)
{
    const size_t done = by_dtype_path_chosen()->quantize(codes, in, count, linear);
    const struct by_linear rest = rest_of(linear, done);
    by_linear_plain_quantize(&rest, in + done, count - done,
                             (char *)codes + done * by_dtype_code_bytes(linear->dtype));
}

void by_linear_dequantize(const struct by_linear *linear, const void *codes, size_t count,
                          float *out)
{
    const size_t done = by_dtype_path_chosen()->dequantize(out, codes, count, linear);
    const struct by_linear rest = rest_of(linear, done);
    by_linear_plain_dequantize(&rest,
                               (const char *)codes + done * by_dtype_code_bytes(linear->dtype),
                               count - done, out + done);
}
