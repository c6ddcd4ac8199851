/* Rounds and encodes number formats with the compiler's vectors (NEON, SSE2 and others). */
#include "dtype/path.h"

#define LANES 4
#define TARGET
#define IMAX(a, b)        greater(a, b)
#define IMIN(a, b)        lesser(a, b)
#define ANY(mask)         any(mask)
#define LOW(x)            __builtin_shufflevector(x, x, 0, 1)
#define HIGH(x)           __builtin_shufflevector(x, x, 2, 3)
#define WIDE_BYTES(bytes) __builtin_convertvector(bytes, vints)
#define BYTES(x)          __builtin_convertvector(x, vbytes)

typedef int32_t four_ints __attribute__((vector_size(16)));

static inline four_ints greater(four_ints a, four_ints b)
{
    const four_ints mask = a > b;
    return (a & mask) | (b & ~mask);
}

static inline four_ints lesser(four_ints a, four_ints b)
{
    const four_ints mask = a < b;
    return (a & mask) | (b & ~mask);
}

static inline bool any(four_ints mask)
{
    return mask[0] | mask[1] | mask[2] | mask[3];
}

#include "dtype/block_kernel.h"
#include "dtype/code_kernel.h"
#include "dtype/linear_kernel.h"

static bool dtype_vector_supported(void)
{
    return true;
}

const struct by_dtype_path by_dtype_vector = {"vector",
                                              LANES,
                                              dtype_vector_supported,
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
