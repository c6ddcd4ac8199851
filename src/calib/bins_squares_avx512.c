/* Sums squared errors over bins with AVX-512. */
#include "calib/bins_squares_path.h"

#if defined(__x86_64__)

#define LANES  8
#define TARGET __attribute__((target("avx512f,avx512dq")))
#include "calib/bins_squares_kernel.h"

static bool supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

const struct by_squares_path by_squares_avx512 = {"avx512", supported, sum};

#endif
