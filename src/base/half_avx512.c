/* Converts 16-bit floats with AVX-512. */
#include "base/half_path.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))

static bool half_avx512_supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}

/* The lanes that are left at the end of an array, at most 16. */
TARGET static __mmask16 lanes(size_t left)
{
    return (__mmask16)(left >= 16 ? 0xffffu : (1u << left) - 1);
}

TARGET static void f16_to_f32(float *out, const uint16_t *in, size_t count)
{
    for (size_t i = 0; i < count; i += 16) {
        __mmask16 mask = lanes(count - i);
        __m256i halves = _mm256_maskz_loadu_epi16(mask, in + i);
        _mm512_mask_storeu_ps(out + i, mask, _mm512_cvtph_ps(halves));
    }
}

TARGET static void f32_to_f16(uint16_t *out, const float *in, size_t count)
{
    for (size_t i = 0; i < count; i += 16) {
        __mmask16 mask = lanes(count - i);
        __m512 wide = _mm512_maskz_loadu_ps(mask, in + i);
        _mm256_mask_storeu_epi16(
            out + i, mask, _mm512_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
}

TARGET static void bf16_to_f32(float *out, const uint16_t *in, size_t count)
{
    for (size_t i = 0; i < count; i += 16) {
        __mmask16 mask = lanes(count - i);
        __m512i wide = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, in + i));
        _mm512_mask_storeu_epi32(out + i, mask, _mm512_slli_epi32(wide, 16));
    }
}

/* Not the processor's own bf16 instruction: that one flushes subnormals. */
TARGET static void f32_to_bf16(uint16_t *out, const float *in, size_t count)
{
    for (size_t i = 0; i < count; i += 16) {
        __mmask16 mask = lanes(count - i);
        __m512i bits = _mm512_maskz_loadu_epi32(mask, in + i);
        __m512i top = _mm512_srli_epi32(bits, 16);
        __m512i even = _mm512_and_si512(top, _mm512_set1_epi32(1));
        __m512i bias = _mm512_add_epi32(even, _mm512_set1_epi32(0x7fff));
        __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, bias), 16);
        __m512i size = _mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff));
        __mmask16 is_nan = _mm512_cmpgt_epi32_mask(size, _mm512_set1_epi32(0x7f800000));
        __m512i quiet = _mm512_mask_or_epi32(rounded, is_nan, top, _mm512_set1_epi32(0x40));
        _mm256_mask_storeu_epi16(out + i, mask, _mm512_cvtepi32_epi16(quiet));
    }
}

TARGET static __m512i keys(__m512i halves)
{
    const __m512i negative = _mm512_srai_epi16(halves, 15);
    return _mm512_xor_si512(halves, _mm512_and_si512(negative, _mm512_set1_epi16(0x7fff)));
}

TARGET static void half_extremes(const uint16_t *in, size_t count, int16_t *least, int16_t *most)
{
    int16_t leasts[32], mosts[32];
    size_t i = 0;
    __m512i low = _mm512_set1_epi16(by_half_key(in[0])), high = low;
    for (; i + 32 <= count; i += 32) {
        const __m512i key = keys(_mm512_loadu_si512(in + i));
        low = _mm512_min_epi16(low, key);
        high = _mm512_max_epi16(high, key);
    }
    _mm512_storeu_si512(leasts, low);
    _mm512_storeu_si512(mosts, high);
    by_half_extremes_join(leasts, mosts, 32, least, most);
    by_half_extremes_more(in + i, count - i, least, most);
}

const struct by_half_path by_half_avx512 = {"avx512",     half_avx512_supported, f16_to_f32,
                                            f32_to_f16,   bf16_to_f32,           f32_to_bf16,
                                            half_extremes};

#endif
