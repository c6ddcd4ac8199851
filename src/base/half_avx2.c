/* Converts 16-bit floats with AVX2 and F16C. */
#include "base/half_path.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,f16c")))

static bool half_avx2_supported(void)
{
    unsigned a, b, c, d;
    /* Not every compiler can be asked for f16c by name. */
    return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

TARGET static void f16_to_f32(float *out, const uint16_t *in, size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m128i halves = _mm_loadu_si128((const void *)(in + i));
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
    }
    by_f16_to_f32_ref(out + i, in + i, count - i);
}

TARGET static void f32_to_f16(uint16_t *out, const float *in, size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((void *)(out + i), halves);
    }
    by_f32_to_f16_ref(out + i, in + i, count - i);
}

TARGET static void bf16_to_f32(float *out, const uint16_t *in, size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(in + i)));
        _mm256_storeu_si256((void *)(out + i), _mm256_slli_epi32(wide, 16));
    }
    by_bf16_to_f32_ref(out + i, in + i, count - i);
}

/* Eight results, each in the low half of its lane. */
TARGET static __m256i narrow(__m256i bits)
{
    __m256i top = _mm256_srli_epi32(bits, 16);
    __m256i even = _mm256_and_si256(top, _mm256_set1_epi32(1));
    __m256i bias = _mm256_add_epi32(even, _mm256_set1_epi32(0x7fff));
    __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, bias), 16);
    __m256i size = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
    __m256i is_nan = _mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7f800000));
    __m256i quiet = _mm256_or_si256(top, _mm256_set1_epi32(0x40));
    return _mm256_blendv_epi8(rounded, quiet, is_nan);
}

TARGET static void f32_to_bf16(uint16_t *out, const float *in, size_t count)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m256i low = narrow(_mm256_loadu_si256((const void *)(in + i)));
        __m256i high = narrow(_mm256_loadu_si256((const void *)(in + i + 8)));
        /* Packing works within each 128-bit half; the permutation puts them in order. */
        __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
        _mm256_storeu_si256((void *)(out + i), packed);
    }
    by_f32_to_bf16_ref(out + i, in + i, count - i);
}

TARGET static __m256i keys(__m256i halves)
{
    const __m256i negative = _mm256_srai_epi16(halves, 15);
    return _mm256_xor_si256(halves, _mm256_and_si256(negative, _mm256_set1_epi16(0x7fff)));
}

TARGET static void half_extremes(const uint16_t *in, size_t count, int16_t *least, int16_t *most)
{
    int16_t leasts[16], mosts[16];
    size_t i = 0;
    __m256i low = _mm256_set1_epi16(by_half_key(in[0])), high = low;
    for (; i + 16 <= count; i += 16) {
        const __m256i key = keys(_mm256_loadu_si256((const void *)(in + i)));
        low = _mm256_min_epi16(low, key);
        high = _mm256_max_epi16(high, key);
    }
    _mm256_storeu_si256((void *)leasts, low);
    _mm256_storeu_si256((void *)mosts, high);
    by_half_extremes_join(leasts, mosts, 16, least, most);
    by_half_extremes_more(in + i, count - i, least, most);
}

const struct by_half_path by_half_avx2 = {
    "avx2", half_avx2_supported, f16_to_f32, f32_to_f16, bf16_to_f32, f32_to_bf16, half_extremes};

#endif
