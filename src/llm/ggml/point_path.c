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

static float joint_cost(unsigned cell, const struct by_point_costs *costs,
                        const struct by_point_ways *ways)
{
    const float *const pairs = ways->pairs;
    float own[BY_POINT_VALUES], way[BY_POINT_VALUES];
    for (size_t k = 0; k < BY_POINT_VALUES; k++) {
        own[k] = costs->of[k][by_point_step_at(cell, k)];
        way[k] = ways->of[k][by_point_step_at(cell, k)];
    }
    const float first = way[0] * ((pairs[0] * way[1] + pairs[1] * way[2]) + pairs[2] * way[3]);
    const float second = way[1] * (pairs[3] * way[2] + pairs[4] * way[3]);
    const float third = way[2] * (pairs[5] * way[3]);
    return ((own[0] + own[1]) + (own[2] + own[3])) + (first + (second + third));
}

static unsigned least_joint(const uint16_t *cells, size_t count, const struct by_point_costs *costs,
                            const struct by_point_ways *ways, float *cost)
{
    size_t best = 0;
    *cost = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const float sum = joint_cost(cells[i], costs, ways);
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

const struct by_point_path by_point_plain = {"plain", point_plain_supported, least_point,
                                             least_joint};

const struct by_point_path *by_point_path(void)
{
#if defined(__x86_64__)
    if (by_point_avx2.supported())
        return &by_point_avx2;
#elif defined(__aarch64__)
    return &by_point_neon;
#endif
    return &by_point_plain;
}
