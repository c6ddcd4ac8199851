/* Computes tanh with AVX2. */
#include "ops/tanh_path.h"

#if defined(__x86_64__)

#define LANES  8
#define TARGET __attribute__((target("avx2")))
#include "ops/tanh_kernel.h"

static bool tanh_avx2_supported(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct by_tanh_path by_tanh_avx2 = {"avx2", tanh_avx2_supported, tanh_all};

#endif
