/* With the compiler's own vectors of 16 bytes: NEON, SSE2 and whatever else it knows. */
#include "solve/descent_path.h"

#define LANES 4
#define TARGET
#define BITS(mask) bits_of(mask)
#define LOW(x)     __builtin_shufflevector(x, x, 0, 1)
#define HIGH(x)    __builtin_shufflevector(x, x, 2, 3)

typedef int32_t four_ints __attribute__((vector_size(16)));

static inline unsigned bits_of(four_ints mask)
{
    const four_ints bits = mask & (four_ints){1, 2, 4, 8};
    return (unsigned)(bits[0] | bits[1] | bits[2] | bits[3]);
}

#include "solve/descent_kernel.h"

static bool on_any_processor(void)
{
    return true;
}

const struct by_descent_path by_descent_vector = {"vector", on_any_processor, sweep, add_weighted,
                                                  dot,      project,          push};
