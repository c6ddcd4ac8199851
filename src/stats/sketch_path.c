/* Which way to look at pieces, and the plain one. */
#include "stats/sketch_path.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

static uint32_t magnitude(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x7fffffff;
}

bool by_sketch_steps(const struct by_sketch_plan *plan, struct by_sketch_steps *steps)
{
    int top = plan->top;
    if (top < 16 || top > 200)
        return false;
    int below = 16 * (top - 15); /* bins of rows of 16 */
    *steps = (struct by_sketch_steps){.near = ((top - 3) << 23) - 1,
                                      .log_offset = below - ((top - 15) << 7),
                                      .even_offset = below + 11 * 128 - 128,
                                      .scale = ldexpf(1, 11 - (top - 127))};
    return true;
}

void by_sketch_place_plain(const struct by_sketch_plan *plan, const float *values, size_t count,
                           uint16_t *bins)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t size = magnitude(values[i]), exponent = size >> 23;
        if (!size || size >= BY_SKETCH_INF) {
            bins[i] = (uint16_t)(2 * BY_SKETCH_BINS + i % BY_SKETCH_STRAYS);
            continue;
        }
        uint32_t bin = plan->base[exponent] + ((size & 0x7fffff) >> plan->shift[exponent]);
        bins[i] = (uint16_t)(bin + (values[i] < 0 ? BY_SKETCH_BINS : 0));
    }
}

void by_sketch_range_plain(const float *values, size_t count, float *min, float *max)
{
    for (size_t i = 0; i < count; i++)
        by_sketch_ranges_plain(values + i, 1, min, max);
}

void by_sketch_ranges_plain(const float *values, size_t count, float *min, float *max)
{
    for (size_t i = 0; i < count; i++) {
        if (magnitude(values[i]) >= BY_SKETCH_INF)
            continue;
        min[i] = values[i] < min[i] ? values[i] : min[i];
        max[i] = values[i] > max[i] ? values[i] : max[i];
    }
}

static bool always(void)
{
    return true;
}

static const struct by_sketch_path plain = {"plain",
                                            always,
                                            by_sketch_measure_ref,
                                            by_sketch_place_plain,
                                            by_sketch_range_plain,
                                            by_sketch_ranges_plain};

const struct by_sketch_path *const *by_sketch_paths(size_t *count)
{
    static const struct by_sketch_path *const paths[] = {
#if defined(__x86_64__)
        &by_sketch_avx512,
        &by_sketch_avx2,
#endif
        &by_sketch_vector,
        &plain,
    };
    *count = sizeof paths / sizeof *paths;
    return paths;
}

const struct by_sketch_path *by_sketch_path_chosen(void)
{
    static const struct by_sketch_path *_Atomic choice;
    const struct by_sketch_path *path = atomic_load_explicit(&choice, memory_order_relaxed);
    if (path)
        return path;
    size_t count;
    const struct by_sketch_path *const *paths = by_sketch_paths(&count);
    while (!(*paths)->supported())
        paths++;
    atomic_store_explicit(&choice, *paths, memory_order_relaxed);
    return *paths;
}

const char *by_sketch_path(void)
{
    return by_sketch_path_chosen()->name;
}
