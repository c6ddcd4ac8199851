#include "dtype/path.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define LANES      8
#define TARGET     __attribute__((target("avx2")))
#define IMAX(a, b) ((vints)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define IMIN(a, b) ((vints)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define ANY(mask)  (_mm256_movemask_epi8((__m256i)(mask)) != 0)
#define LOW(x)     ((vhalf)_mm256_castps256_ps128((__m256)(x)))
#define HIGH(x)    ((vhalf)_mm256_extractf128_ps((__m256)(x), 1))
#include "dtype/block_kernel.h"
#include "dtype/linear_kernel.h"

static bool supported(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct by_dtype_path by_dtype_avx2 = {"avx2",  LANES, supported, floats,   codes8,
                                            codes16, ints,  blocks,    quantize, dequantize};

#endif
