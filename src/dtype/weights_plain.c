/* Chooses the vector path for weights and implements the plain one. */
#include "dtype/weights_path.h"

#include <math.h>
#include <stdatomic.h>

double by_weight_join(const double lanes[BY_WEIGHT_LANES])
{
    double sums[BY_WEIGHT_LANES / 2];
    for (size_t i = 0; i < BY_WEIGHT_LANES / 2; i++)
        sums[i] = lanes[i] + lanes[i + BY_WEIGHT_LANES / 2];
    for (size_t width = BY_WEIGHT_LANES / 4; width; width /= 2)
        for (size_t i = 0; i < width; i++)
            sums[i] += sums[i + width];
    return sums[0];
}

static bool extremes(const float *values, size_t count, float *min, float *max)
{
    bool finite = true;
    *min = *max = values[0];
    for (size_t i = 0; i < count; i++) {
        finite = finite && isfinite(values[i]);
        *min = values[i] < *min ? values[i] : *min;
        *max = values[i] > *max ? values[i] : *max;
    }
    return finite;
}

/* The limits are integers: cutting first is the same as cutting last. */
static float nearest(float value, float scale, float low, float high)
{
    float level = value / scale;
    level = level < low ? low : level;
    level = level > high ? high : level;
    return nearbyintf(level);
}

static double error(const float *values, size_t count, const struct by_weight_grid *grid,
                    double limit)
{
    double lanes[BY_WEIGHT_LANES] = {0};
    for (size_t i = 0; i < count; i++) {
        if (i && i % BY_WEIGHT_STRETCH == 0 && limit < INFINITY && by_weight_join(lanes) >= limit)
            return limit;
        float level = nearest(values[i], grid->scale, grid->low, grid->high);
        double off = (double)(level * grid->scale - values[i]);
        lanes[i % BY_WEIGHT_LANES] += off * off;
    }
    return by_weight_join(lanes);
}

static double energy(const float *values, size_t count)
{
    double lanes[BY_WEIGHT_LANES] = {0};
    for (size_t i = 0; i < count; i++)
        lanes[i % BY_WEIGHT_LANES] += (double)values[i] * (double)values[i];
    return by_weight_join(lanes);
}

static double distance(const float *a, const float *b, size_t count, float scale)
{
    double lanes[BY_WEIGHT_LANES] = {0};
    for (size_t i = 0; i < count; i++) {
        const double off = (double)((a[i] - b[i]) * scale);
        lanes[i % BY_WEIGHT_LANES] += off * off;
    }
    return by_weight_join(lanes);
}

static float peak(const float *values, size_t count)
{
    float greatest = 0;
    for (size_t i = 0; i < count; i++)
        greatest = fabsf(values[i]) > greatest ? fabsf(values[i]) : greatest;
    return greatest;
}

static void divide(const float *values, size_t count, float scale, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = values[i] / scale;
}

static void round_all(const float *values, size_t count, const struct by_weight_grid *grid,
                      int32_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (int32_t)nearest(values[i], grid->scale, grid->low, grid->high) + grid->zero;
}

static void codes(const float *values, size_t count, const struct by_weight_grid *grid,
                  uint8_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] =
            (uint8_t)((int32_t)nearest(values[i], grid->scale, grid->low, grid->high) + grid->zero);
}

static void round_each(const float *values, size_t count, const float *scales, const float *zeros,
                       float qmin, float qmax, int32_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] =
            (int32_t)(nearest(values[i], scales[i], qmin - zeros[i], qmax - zeros[i]) + zeros[i]);
}

static bool weights_plain_supported(void)
{
    return true;
}

static const struct by_weight_path plain = {
    "plain", weights_plain_supported, extremes, error, energy, distance,
    peak, divide, round_all, codes, round_each};

const struct by_weight_path *const *by_weight_paths(size_t *count)
{
    static const struct by_weight_path *const paths[] = {
#if defined(__x86_64__)
        &by_weight_avx512,
        &by_weight_avx2,
#endif
        &by_weight_vector,
        &plain,
    };
    *count = sizeof paths / sizeof *paths;
    return paths;
}

const struct by_weight_path *by_weight_path_chosen(void)
{
    static const struct by_weight_path *_Atomic choice;
    const struct by_weight_path *path = atomic_load_explicit(&choice, memory_order_relaxed);
    if (path)
        return path;
    size_t count;
    const struct by_weight_path *const *paths = by_weight_paths(&count);
    while (!(*paths)->supported())
        paths++;
    atomic_store_explicit(&choice, *paths, memory_order_relaxed);
    return *paths;
}
