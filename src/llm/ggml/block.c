/* Gathers groups of values for a search and rounds them by what it found. */
#include "llm/ggml/block.h"

#include <math.h>

static void gather(float *out, size_t count, size_t groups, const float *in)
{
    for (size_t g = 0; g < BY_GGML_GROUPS; g++)
        for (size_t i = 0; i < count; i++)
            out[i * BY_GGML_GROUPS + g] = g < groups ? in[g * count + i] : 0;
}

void by_ggml_gather(struct by_ggml_set *set, size_t count, size_t groups, const float *x,
                    const float *weights)
{
    set->count = count;
    gather(set->x, count, groups, x);
    gather(set->weights, count, groups, weights);
}

void by_ggml_weigh(const float *x, const float *importance, size_t count, float power, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = importance[i] * sqrtf(power + x[i] * x[i]);
}

float by_ggml_power(const float *x, size_t count)
{
    float sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sum;
}

void by_ggml_sums(const float *x, size_t count, size_t groups, float *sums)
{
    for (size_t g = 0; g < groups; g++) {
        sums[g] = 0;
        for (size_t i = 0; i < count; i++)
            sums[g] += x[g * count + i];
    }
}

float by_ggml_greatest(const float *x, size_t count)
{
    float most = 0, size = 0;
    for (size_t i = 0; i < count; i++)
        if (fabsf(x[i]) > size) {
            size = fabsf(x[i]);
            most = x[i];
        }
    return most;
}

void by_ggml_affine_levels(const float *x, size_t count, float inverse, float base, int top,
                           uint8_t *levels)
{
    for (size_t i = 0; i < count; i++)
        levels[i] = (uint8_t)by_ggml_cut(by_ggml_nearest(inverse * (x[i] - base)), 0, top);
}

void by_ggml_symmetric_levels(const float *x, size_t count, float inverse, int half,
                              uint8_t *levels)
{
    const int none = inverse == 0 ? 0 : half;
    for (size_t i = 0; i < count; i++)
        levels[i] = (uint8_t)(by_ggml_cut(by_ggml_nearest(inverse * x[i]), -half, half - 1) + none);
}
