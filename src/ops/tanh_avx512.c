/* Computes tanh with AVX-512. */
#include "ops/tanh_path.h"

#if defined(__x86_64__)

#define LANES  16
#define TARGET __attribute__((target("avx512f,avx512dq")))
#include "ops/tanh_kernel.h"

static bool tanh_avx512_supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

const struct by_tanh_path by_tanh_avx512 = {"avx512", tanh_avx512_supported, tanh_all};

#endif
