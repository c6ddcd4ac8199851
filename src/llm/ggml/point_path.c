/* The cell that costs least, by trying one after the other: the plain way. */
#include "llm/ggml/points.h"

#include <math.h>

#define PAIRS (BY_POINT_STEPS * BY_POINT_STEPS)

static void add_pairs(const float *first, const float *second, float *sums)
{
    for (size_t i = 0; i < PAIRS; i++)
        sums[i] = first[i % BY_POINT_STEPS] + second[i / BY_POINT_STEPS];
}

static unsigned least_point(const uint16_t *cells, size_t count, const struct by_point_costs *costs,
                            float *cost)
{
    float low[PAIRS], high[PAIRS];
    size_t best = 0;
    *cost = INFINITY;
    add_pairs(costs->of[0], costs->of[1], low);
    add_pairs(costs->of[2], costs->of[3], high);
    for (size_t i = 0; i < count; i++) {
        const float sum = low[cells[i] % PAIRS] + high[cells[i] / PAIRS];
        if (sum < *cost) {
            *cost = sum;
            best = i;
        }
    }
    return cells[best];
}

static bool point_plain_supported(void)
{
    return true;
}

const struct by_point_path by_point_plain = {"plain", point_plain_supported, least_point};

const struct by_point_path *by_point_path(void)
{
#if defined(__x86_64__)
    if (by_point_avx2.supported())
        return &by_point_avx2;
#endif
    return &by_point_plain;
}
