/* Computes tanh with the compiler's vectors (NEON, SSE2 and others). */
#include "ops/tanh_path.h"

#define LANES 4
#define TARGET
#include "ops/tanh_kernel.h"

static bool tanh_vector_supported(void)
{
    return true;
}

const struct by_tanh_path by_tanh_vector = {"vector", tanh_vector_supported, tanh_all};
