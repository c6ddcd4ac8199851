/* Finds extremes and errors of weights with the compiler's vectors (NEON, SSE2 and others). */
#include "dtype/weights_path.h"

#define LANES 4
#define TARGET
#define MIN(a, b) choose_four_floats((a) < (b), a, b)
#define MAX(a, b) choose_four_floats((a) > (b), a, b)
#define LOW(x)    __builtin_shufflevector(x, x, 0, 1)
#define HIGH(x)   __builtin_shufflevector(x, x, 2, 3)

typedef float four_floats __attribute__((vector_size(16)));
typedef int32_t four_ints __attribute__((vector_size(16)));

/* Lanes of mask are all ones or all zeros. */
static inline four_floats choose_four_floats(four_ints mask, four_floats yes, four_floats no)
{
    return (four_floats)(((four_ints)yes & mask) | ((four_ints)no & ~mask));
}

#include "dtype/weights_kernel.h"

static bool weights_vector_supported(void)
{
    return true;
}

const struct by_weight_path by_weight_vector = {
    "vector", weights_vector_supported, extremes, error, energy, distance,
    peak, divide, round_all, codes, round_each};
