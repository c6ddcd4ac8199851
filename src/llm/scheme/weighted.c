/* Squared errors that do not count the same in all columns. */
#include "llm/scheme/group.h"

#define LANES 8

static double join_lanes(const float lanes[LANES])
{
    double sums[4];
    for (size_t i = 0; i < 4; i++)
        sums[i] = (double)lanes[i] + (double)lanes[i + 4];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

double by_llm_weighted(const float *a, const float *b, const float *importance, size_t count)
{
    float lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const float gap = a[i + k] - b[i + k];
            lanes[k] += importance[i + k] * (gap * gap);
        }
    for (size_t k = 0; i < count; i++, k++)
        lanes[k] += importance[i] * ((a[i] - b[i]) * (a[i] - b[i]));
    return join_lanes(lanes);
}

double by_llm_weighted_levels(const float *a, const int32_t *levels, int64_t zero, float scale,
                              const float *importance, size_t count)
{
    const int32_t none = (int32_t)zero;
    float lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const float gap = a[i + k] - (float)(levels[i + k] - none) * scale;
            lanes[k] += importance[i + k] * (gap * gap);
        }
    for (size_t k = 0; i < count; i++, k++) {
        const float gap = a[i] - (float)(levels[i] - none) * scale;
        lanes[k] += importance[i] * (gap * gap);
    }
    return join_lanes(lanes);
}
