/*
 * The sum over a block with the compiler's vectors, for a file that has said how many LANES it
 * takes at a time and for which TARGET.
 */
#include <stdint.h>
#include <string.h>

typedef double doubles __attribute__((vector_size(LANES * 8)));
typedef int64_t masks __attribute__((vector_size(LANES * 8)));

/* Lanes of mask are all ones or all zeros. */
TARGET static inline doubles choose(masks mask, doubles yes, doubles no)
{
    return (doubles)(((masks)yes & mask) | ((masks)no & ~mask));
}

TARGET static inline doubles level(doubles x, doubles least, doubles most)
{
    const doubles above = choose(x > least, x, least);
    const doubles within = choose(above < most, above, most);
    return (within + BY_SQUARES_ROUNDER) - BY_SQUARES_ROUNDER;
}

TARGET static inline doubles load(const double *from)
{
    doubles to;
    memcpy(&to, from, sizeof to);
    return to;
}

TARGET static double sum(const struct by_squares_block *block, const struct by_squares_grid *grid)
{
    const doubles zero = {0};
    const doubles least = zero + grid->least, most = zero + grid->most;
    doubles lanes[BY_SQUARES_LANES / LANES] = {{0}};
    for (size_t i = 0; i < BY_SQUARES_BLOCK; i += LANES) {
        const doubles low = load(block->low + i) * grid->per_scale;
        const doubles high = load(block->high + i) * grid->per_scale;
        const doubles first = level(low, least, most), last = level(high, least, most);
        const doubles a = low - first, b = high - last;
        const doubles near = (a * a + a * b + b * b) / 3;
        const doubles far = ((last - first) / 12 + (b * b * b - a * a * a) / 3) *
                            (load(block->per_width + i) * grid->scale);
        lanes[i / LANES % (BY_SQUARES_LANES / LANES)] +=
            load(block->count + i) * choose(first == last, near, far);
    }
    double each[BY_SQUARES_LANES];
    memcpy(each, lanes, sizeof each);
    return by_squares_join(each);
}
