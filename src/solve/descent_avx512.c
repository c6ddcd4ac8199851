/* The loops of descent with AVX-512. */
#include "solve/descent_path.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define LANES      16
#define TARGET     __attribute__((target("avx512f,avx512dq")))
#define BITS(mask) (unsigned)_mm512_movepi32_mask((__m512i)(mask))
#define LOW(x)     _mm512_castps512_ps256(x)
#define HIGH(x)    _mm512_extractf32x8_ps(x, 1)
#include "solve/descent_kernel.h"

static bool processor_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

const struct by_descent_path by_descent_avx512 = {
    "avx512", processor_has_avx512, sweep, add_weighted, dot, project, push};

#endif
