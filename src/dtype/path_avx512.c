/* Rounds and encodes number formats with AVX-512. */
#include "dtype/path.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define LANES             16
#define TARGET            __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define IMAX(a, b)        ((vints)_mm512_max_epi32((__m512i)(a), (__m512i)(b)))
#define IMIN(a, b)        ((vints)_mm512_min_epi32((__m512i)(a), (__m512i)(b)))
#define ANY(mask)         (_mm512_test_epi32_mask((__m512i)(mask), (__m512i)(mask)) != 0)
#define LOW(x)            ((vhalf)_mm512_castps512_ps256((__m512)(x)))
#define HIGH(x)           ((vhalf)_mm512_extractf32x8_ps((__m512)(x), 1))
#define WIDE_BYTES(bytes) ((vints)_mm512_cvtepu8_epi32((__m128i)(bytes)))
#define BYTES(x)          ((vbytes)_mm512_cvtepi32_epi8((__m512i)(x)))
#include "dtype/block_kernel.h"
#include "dtype/code_kernel.h"
#include "dtype/linear_kernel.h"

static bool dtype_avx512_supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

const struct by_dtype_path by_dtype_avx512 = {"avx512",
                                              LANES,
                                              dtype_avx512_supported,
                                              floats,
                                              codes8,
                                              codes16,
                                              powers,
                                              ints,
                                              blocks,
                                              encode_block_codes,
                                              decode_block_codes,
                                              quantize_linear,
                                              dequantize};

#endif
