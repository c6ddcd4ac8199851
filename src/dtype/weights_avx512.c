/* Finds extremes and rounding errors of weights with AVX-512. */
#include "dtype/weights_path.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define LANES     16
#define TARGET    __attribute__((target("avx512f,avx512dq")))
#define MIN(a, b) _mm512_min_ps(a, b)
#define MAX(a, b) _mm512_max_ps(a, b)
#define LOW(x)    _mm512_castps512_ps256(x)
#define HIGH(x)   _mm512_extractf32x8_ps(x, 1)
#include "dtype/weights_kernel.h"

static bool weights_avx512_supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

const struct by_weight_path by_weight_avx512 = {
    "avx512", weights_avx512_supported, extremes, error, energy, distance,
    peak, divide, round_all, codes, round_each};

#endif
