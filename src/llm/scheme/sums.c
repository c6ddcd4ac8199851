/* Loops over runs of values that the compiler turns into vectors. */
#include "llm/scheme/group.h"

#include "dtype/weights_path.h"

#include <string.h>

#define LANES BY_WEIGHT_LANES

double by_llm_energy(const float *values, size_t count)
{
    double lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] += (double)values[i + k] * (double)values[i + k];
    for (size_t k = 0; i + k < count; k++)
        lanes[k] += (double)values[i + k] * (double)values[i + k];
    return by_weight_join(lanes);
}

double by_llm_distance(const float *a, const float *b, size_t count, float scale)
{
    double lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const double off = (double)((a[i + k] - b[i + k]) * scale);
            lanes[k] += off * off;
        }
    for (size_t k = 0; i + k < count; k++) {
        const double off = (double)((a[i + k] - b[i + k]) * scale);
        lanes[k] += off * off;
    }
    return by_weight_join(lanes);
}

/* Magnitudes compare like their bits. */
float by_llm_peak(const float *values, size_t count)
{
    int32_t most = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits &= 0x7fffffff;
        most = bits > most ? bits : most;
    }
    float peak;
    memcpy(&peak, &most, sizeof peak);
    return peak;
}

void by_llm_divide(const float *values, size_t count, float scale, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = values[i] / scale;
}
