/* Rounds and encodes number formats with AVX2. */
#include "dtype/path.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

typedef uint8_t eight_bytes __attribute__((vector_size(8)));
typedef int32_t eight_ints __attribute__((vector_size(32)));

__attribute__((target("avx2"))) static inline eight_ints widen(eight_bytes bytes)
{
    int64_t all;
    memcpy(&all, &bytes, sizeof all);
    return (eight_ints)_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(all));
}

__attribute__((target("avx2"))) static inline eight_bytes narrow(eight_ints x)
{
    const __m256i first = _mm256_set1_epi32(0x0c080400);
    const __m256i halves = _mm256_shuffle_epi8((__m256i)x, first); /* 4 bytes in each half */
    const __m128i all =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
    const int64_t low = _mm_cvtsi128_si64(all);
    eight_bytes bytes;
    memcpy(&bytes, &low, sizeof bytes);
    return bytes;
}

#define LANES             8
#define TARGET            __attribute__((target("avx2")))
#define IMAX(a, b)        ((vints)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define IMIN(a, b)        ((vints)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define ANY(mask)         (_mm256_movemask_epi8((__m256i)(mask)) != 0)
#define LOW(x)            ((vhalf)_mm256_castps256_ps128((__m256)(x)))
#define HIGH(x)           ((vhalf)_mm256_extractf128_ps((__m256)(x), 1))
#define WIDE_BYTES(bytes) widen(bytes)
#define BYTES(x)          narrow(x)
#include "dtype/block_kernel.h"
#include "dtype/code_kernel.h"
#include "dtype/linear_kernel.h"

static bool dtype_avx2_supported(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct by_dtype_path by_dtype_avx2 = {"avx2",
                                            LANES,
                                            dtype_avx2_supported,
                                            floats,
                                            codes8,
                                            codes16,
                                            powers,
                                            ints,
                                            blocks,
                                            encode_block_codes,
                                            decode_block_codes,
                                            quantize_linear,
                                            dequantize};

#endif
