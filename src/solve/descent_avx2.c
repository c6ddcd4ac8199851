/* The loops of descent with AVX2. */
#include "solve/descent_path.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define LANES      8
#define TARGET     __attribute__((target("avx2")))
#define BITS(mask) (unsigned)_mm256_movemask_ps((__m256)(mask))
#define LOW(x)     _mm256_castps256_ps128(x)
#define HIGH(x)    _mm256_extractf128_ps(x, 1)
#include "solve/descent_kernel.h"

static bool processor_has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct by_descent_path by_descent_avx2 = {
    "avx2", processor_has_avx2, sweep, add_weighted, dot, project, push};

#endif
