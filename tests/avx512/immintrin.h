/*
 * AVX-512 in plain C, for processors that lack it: SIMDe's intrinsics, and here those that SIMDe
 * 0.7 has not; they stay where a newer one has them, since 0.8.2 stores lanes that a mask leaves
 * out. The files under test are compiled with this in place of the compiler's header.
 */
#ifndef BY_TEST_IMMINTRIN_H
#define BY_TEST_IMMINTRIN_H
#pragma GCC system_header

#define SIMDE_NO_NATIVE
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#include <stdint.h>
#include <string.h>

typedef uint16_t __mmask16;

#undef _mm512_maskz_loadu_ps
#undef _mm512_mask_storeu_ps
#undef _mm512_maskz_loadu_epi32
#undef _mm512_mask_storeu_epi32
#undef _mm256_maskz_loadu_epi16
#undef _mm256_mask_storeu_epi16
#undef _mm512_cvtepu8_epi32
#undef _mm512_cvtepi32_epi8
#undef _mm512_cvtepu16_epi32
#undef _mm512_cvtepi32_epi16
#undef _mm512_cvtepu32_epi64
#undef _mm512_cvttps_epi32
#undef _mm512_cvtph_ps
#undef _mm512_cvtps_ph
#undef _mm512_reduce_min_ps
#undef _mm512_reduce_max_ps
#undef _mm512_reduce_min_epu32
#undef _mm512_reduce_max_epu32
#undef _mm512_extractf32x8_ps
#undef _mm512_cmplt_epi32_mask

/* Lanes that the mask leaves out are not touched in memory. */
#define MASKED(load, store, vector, lane)                                                          \
    static inline vector load(__mmask16 mask, const void *from)                                    \
    {                                                                                              \
        lane x[16] = {0};                                                                          \
        vector out;                                                                                \
        for (int i = 0; i < 16; i++)                                                               \
            if (mask >> i & 1)                                                                     \
                memcpy(x + i, (const lane *)from + i, sizeof *x);                                  \
        memcpy(&out, x, sizeof out);                                                               \
        return out;                                                                                \
    }                                                                                              \
    static inline void store(void *to, __mmask16 mask, vector value)                               \
    {                                                                                              \
        lane x[16];                                                                                \
        memcpy(x, &value, sizeof x);                                                               \
        for (int i = 0; i < 16; i++)                                                               \
            if (mask >> i & 1)                                                                     \
                memcpy((lane *)to + i, x + i, sizeof *x);                                          \
    }

MASKED(_mm512_maskz_loadu_ps, _mm512_mask_storeu_ps, __m512, float)
MASKED(_mm512_maskz_loadu_epi32, _mm512_mask_storeu_epi32, __m512i, int32_t)
MASKED(_mm256_maskz_loadu_epi16, _mm256_mask_storeu_epi16, __m256i, int16_t)

#define CONVERT(name, from, from_lane, to, to_lane, lanes, result)                                 \
    static inline to name(from value)                                                              \
    {                                                                                              \
        from_lane in[lanes];                                                                       \
        to_lane x[lanes];                                                                          \
        to out;                                                                                    \
        memcpy(in, &value, sizeof in);                                                             \
        for (int i = 0; i < lanes; i++) {                                                          \
            const from_lane each = in[i];                                                          \
            x[i] = result;                                                                         \
        }                                                                                          \
        memcpy(&out, x, sizeof out);                                                               \
        return out;                                                                                \
    }

CONVERT(_mm512_cvtepu8_epi32, __m128i, uint8_t, __m512i, uint32_t, 16, each)
CONVERT(_mm512_cvtepi32_epi8, __m512i, uint32_t, __m128i, uint8_t, 16, (uint8_t)each)
CONVERT(_mm512_cvtepu16_epi32, __m256i, uint16_t, __m512i, uint32_t, 16, each)
CONVERT(_mm512_cvtepi32_epi16, __m512i, uint32_t, __m256i, uint16_t, 16, (uint16_t)each)
CONVERT(_mm512_cvtepu32_epi64, __m256i, uint32_t, __m512i, uint64_t, 8, each)
CONVERT(_mm512_cvttps_epi32, __m512, float, __m512i, int32_t, 16,
        each >= -0x1p31f && each < 0x1p31f ? (int32_t)each : INT32_MIN)
/* The compiler's own halves, which are no code of ours. */
CONVERT(_mm512_cvtph_ps, __m256i, _Float16, __m512, float, 16, (float)each)
CONVERT(to_nearest_halves, __m512, float, __m256i, _Float16, 16, (_Float16)each)
#define _mm512_cvtps_ph(value, rounding) to_nearest_halves(value)

#define REDUCE(name, vector, lane, better)                                                         \
    static inline lane name(vector value)                                                          \
    {                                                                                              \
        lane x[16];                                                                                \
        memcpy(x, &value, sizeof x);                                                               \
        for (int half = 8; half > 0; half /= 2)                                                    \
            for (int i = 0; i < half; i++)                                                         \
                x[i] = x[i] better x[i + half] ? x[i] : x[i + half];                               \
        return x[0];                                                                               \
    }

REDUCE(_mm512_reduce_min_ps, __m512, float, <)
REDUCE(_mm512_reduce_max_ps, __m512, float, >)
REDUCE(_mm512_reduce_min_epu32, __m512i, uint32_t, <)
REDUCE(_mm512_reduce_max_epu32, __m512i, uint32_t, >)

static inline __m256 _mm512_extractf32x8_ps(__m512 value, int half)
{
    __m256 out;
    memcpy(&out, (const char *)&value + (size_t)half * sizeof out, sizeof out);
    return out;
}

#define _mm512_cmplt_epi32_mask(a, b) _mm512_cmpgt_epi32_mask(b, a)

/* Functions for such a processor are for any, and it is this one. */
#define target(features)
#define __builtin_cpu_supports(feature) 1

#endif
