/* Searches for scales of groups with NEON. */
#include "llm/ggml/search.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#define LANES 4
#define TARGET
#define IMAX(a, b) ((vints)vmaxq_s32((int32x4_t)(a), (int32x4_t)(b)))
#define IMIN(a, b) ((vints)vminq_s32((int32x4_t)(a), (int32x4_t)(b)))
#define ANY(mask)  (vmaxvq_u32((uint32x4_t)(mask)) != 0)
#define BYTES(x)   __builtin_convertvector(x, vbytes)
#include "llm/ggml/search_kernel.h"

static bool neon_supported(void)
{
    return true;
}

const struct by_ggml_search by_ggml_search_neon = {
    "neon", neon_supported, affine,       symmetric,  descent,
    table,  extremes,       round_levels, round_away, passes};

#endif
