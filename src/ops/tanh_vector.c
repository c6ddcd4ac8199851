/* With the compiler's own vectors of 16 bytes: NEON, SSE2 and whatever else it knows. */
#include "ops/tanh_path.h"

#define LANES 4
#define TARGET
#include "ops/tanh_kernel.h"

static bool tanh_vector_supported(void)
{
    return true;
}

const struct by_tanh_path by_tanh_vector = {"vector", tanh_vector_supported, tanh_all};
