/* Searches for scales of groups with AVX2. */
#include "llm/ggml/search.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define LANES      8
#define TARGET     __attribute__((target("avx2")))
#define IMAX(a, b) ((vints)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define IMIN(a, b) ((vints)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define ANY(mask)  (_mm256_movemask_epi8((__m256i)(mask)) != 0)
#include "llm/ggml/search_kernel.h"

static bool avx2_supported(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct by_ggml_search by_ggml_search_avx2 = {"avx2",    avx2_supported, affine,
                                                   symmetric, descent,        table};

#endif
