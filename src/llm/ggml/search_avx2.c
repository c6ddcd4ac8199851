/* Searches for scales of groups with AVX2. */
#include "llm/ggml/search.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define LANES      8
#define TARGET     __attribute__((target("avx2")))
#define IMAX(a, b) ((vints)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define IMIN(a, b) ((vints)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define ANY(mask)  (_mm256_movemask_epi8((__m256i)(mask)) != 0)
#define BYTES(x)   avx2_bytes(x)

typedef int32_t eight_ints __attribute__((vector_size(32)));
typedef uint8_t eight_bytes __attribute__((vector_size(8)));

/* The low byte of each lane to the front of each half, and these together. */
TARGET static inline __attribute__((always_inline)) eight_bytes avx2_bytes(eight_ints x)
{
    const __m256i pick = _mm256_set1_epi32(0x0c080400);
    const __m256i each = _mm256_shuffle_epi8((__m256i)x, pick);
    const __m128i both =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(each), _mm256_extracti128_si256(each, 1));
    const int64_t low = _mm_cvtsi128_si64(both);
    eight_bytes bytes;
    memcpy(&bytes, &low, sizeof bytes);
    return bytes;
}

#include "llm/ggml/search_kernel.h"

static bool avx2_supported(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct by_ggml_search by_ggml_search_avx2 = {
    "avx2", avx2_supported, affine,       symmetric,  descent,
    table,  extremes,       round_levels, round_away, passes};

#endif
