/* Converts 16-bit floats in plain C and chooses the fastest path of the processor. */
#include "base/half_path.h"

#include <stdatomic.h>
#include <string.h>

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float by_f16_to_f32_one(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
    if (exponent == 0x1f)
        return from_bits(sign | 0x7f800000 | (fraction ? 0x400000 : 0) | fraction << 13);
    if (exponent)
        return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    /* Subnormal or zero: fraction * 2^-24, exact. */
    return from_bits(sign | to_bits((float)fraction * 0x1p-24f));
}

/* `value` shifted right by `shift` (1..31), half to even. */
static uint32_t round_shift(uint32_t value, unsigned shift)
{
    uint32_t half = 1u << (shift - 1), even = value >> shift & 1;
    return (value + half - 1 + even) >> shift;
}

uint16_t by_f32_to_f16_one(float value)
{
    uint32_t bits = to_bits(value), size = bits & 0x7fffffff;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (size > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x1ff));
    if (size >= 0x477ff000) /* 65520, half way to what would be 65536 */
        return sign | 0x7c00;
    if (size >= 0x38800000) /* 2^-14, the least normal one */
        return (uint16_t)(sign | round_shift(size - 0x38000000, 13));
    if (size < 0x33000000) /* 2^-25, half of the least one */
        return sign;
    uint32_t fraction = (size & 0x7fffff) | 0x800000;
    return (uint16_t)(sign | round_shift(fraction, 126 - (size >> 23)));
}

float by_bf16_to_f32_one(uint16_t bf16)
{
    return from_bits((uint32_t)bf16 << 16);
}

uint16_t by_f32_to_bf16_one(float value)
{
    uint32_t bits = to_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void by_f16_to_f32_ref(float *out, const uint16_t *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = by_f16_to_f32_one(in[i]);
}

void by_f32_to_f16_ref(uint16_t *out, const float *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = by_f32_to_f16_one(in[i]);
}

void by_bf16_to_f32_ref(float *out, const uint16_t *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = by_bf16_to_f32_one(in[i]);
}

void by_f32_to_bf16_ref(uint16_t *out, const float *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = by_f32_to_bf16_one(in[i]);
}

int16_t by_half_key(uint16_t half)
{
    return (int16_t)(half & 0x8000 ? half ^ 0x7fff : half);
}

void by_half_extremes_more(const uint16_t *in, size_t count, int16_t *least, int16_t *most)
{
    for (size_t i = 0; i < count; i++) {
        const int16_t key = by_half_key(in[i]);
        *least = key < *least ? key : *least;
        *most = key > *most ? key : *most;
    }
}

void by_half_extremes_join(const int16_t *leasts, const int16_t *mosts, size_t lanes,
                           int16_t *least, int16_t *most)
{
    *least = leasts[0];
    *most = mosts[0];
    for (size_t i = 1; i < lanes; i++) {
        *least = leasts[i] < *least ? leasts[i] : *least;
        *most = mosts[i] > *most ? mosts[i] : *most;
    }
}

void by_half_extremes_ref(const uint16_t *in, size_t count, int16_t *least, int16_t *most)
{
    *least = *most = by_half_key(in[0]);
    by_half_extremes_more(in + 1, count - 1, least, most);
}

static bool half_plain_supported(void)
{
    return true;
}

static const struct by_half_path plain = {"plain",
                                          half_plain_supported,
                                          by_f16_to_f32_ref,
                                          by_f32_to_f16_ref,
                                          by_bf16_to_f32_ref,
                                          by_f32_to_bf16_ref,
                                          by_half_extremes_ref};

const struct by_half_path *const *by_half_paths(size_t *count)
{
    static const struct by_half_path *const paths[] = {
#if defined(__x86_64__)
        &by_half_avx512,
        &by_half_avx2,
#elif defined(__aarch64__)
        &by_half_neon,
#endif
        &plain,
    };
    *count = sizeof paths / sizeof *paths;
    return paths;
}

static const struct by_half_path *chosen(void)
{
    static const struct by_half_path *_Atomic choice;
    const struct by_half_path *path = atomic_load_explicit(&choice, memory_order_relaxed);
    if (path)
        return path;
    size_t count, i = 0;
    const struct by_half_path *const *paths = by_half_paths(&count);
    /* The last one runs everywhere. */
    while (i + 1 < count && !paths[i]->supported())
        i++;
    atomic_store_explicit(&choice, paths[i], memory_order_relaxed);
    return paths[i];
}

const char *by_half_path(void)
{
    return chosen()->name;
}

void by_f16_to_f32(float *out, const uint16_t *in, size_t count)
{
    chosen()->f16_to_f32(out, in, count);
}

void by_f32_to_f16(uint16_t *out, const float *in, size_t count)
{
    chosen()->f32_to_f16(out, in, count);
}

void by_bf16_to_f32(float *out, const uint16_t *in, size_t count)
{
    chosen()->bf16_to_f32(out, in, count);
}

void by_f32_to_bf16(uint16_t *out, const float *in, size_t count)
{
    chosen()->f32_to_bf16(out, in, count);
}

void by_half_extremes(const uint16_t *in, size_t count, int16_t *least, int16_t *most)
{
    chosen()->extremes(in, count, least, most);
}
