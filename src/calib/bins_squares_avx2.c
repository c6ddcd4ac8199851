/* Sums squared errors over bins with AVX2. */
#include "calib/bins_squares_path.h"

#if defined(__x86_64__)

#define LANES  4
#define TARGET __attribute__((target("avx2")))
#include "calib/bins_squares_kernel.h"

static bool supported(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct by_squares_path by_squares_avx2 = {"avx2", supported, sum};

#endif
