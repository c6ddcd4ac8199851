/* Finds extremes and rounding errors of weights with AVX2. */
#include "dtype/weights_path.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define LANES     8
#define TARGET    __attribute__((target("avx2")))
#define MIN(a, b) _mm256_min_ps(a, b)
#define MAX(a, b) _mm256_max_ps(a, b)
#define LOW(x)    _mm256_castps256_ps128(x)
#define HIGH(x)   _mm256_extractf128_ps(x, 1)
#include "dtype/weights_kernel.h"

static bool weights_avx2_supported(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct by_weight_path by_weight_avx2 = {
    "avx2", weights_avx2_supported, extremes, error, energy, distance,
    peak, divide, round_all, codes, round_each};

#endif
