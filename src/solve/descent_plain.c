/* Which way to go through columns, and the plain one. */
#include "solve/descent_path.h"

#include <math.h>
#include <stdatomic.h>

static void step_column(struct by_descent_line *line, size_t column, float scale)
{
    const float delta = by_descent_step(line, column, scale);
    const float *row = line->gram + column * line->stride;
    for (size_t i = 0; i < line->count; i++)
        line->residual[i] += delta * row[i];
}

static void sweep(struct by_descent_line *line, size_t begin, size_t end, float scale)
{
    for (size_t i = begin; i < end; i++) {
        const float residual = line->residual[i];
        const float room = residual > 0 ? line->down[i] : line->up[i];
        const float length = line->table ? room : 1;
        if (room > 0 && fabsf(residual) > scale * line->reach[i] * length)
            step_column(line, i, scale);
    }
}

static void add_weighted(float *to, size_t count, const float *rows, size_t stride,
                         const uint32_t *which, size_t which_count, const float *factors)
{
    for (size_t k = 0; k < which_count; k++) {
        const float *row = rows + which[k] * stride, factor = factors[which[k]];
        for (size_t i = 0; i < count; i++)
            to[i] += factor * row[i];
    }
}

static double dot(const float *row, const double *with, size_t count)
{
    double lanes[BY_DESCENT_LANES] = {0};
    for (size_t i = 0; i < count; i++)
        lanes[i % BY_DESCENT_LANES] += (double)row[i] * with[i];
    return by_descent_join(lanes);
}

static void project(const float *column, const float *lines, size_t count,
                    float sums[BY_DESCENT_SIDE])
{
    for (size_t k = 0; k < BY_DESCENT_SIDE; k++) {
        float lanes[4] = {0};
        for (size_t i = 0; i < count; i++)
            lanes[i % 4] += column[i] * lines[i * BY_DESCENT_SIDE + k];
        sums[k] = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
    }
}

static void push(float *lines, const float *column, size_t count,
                 const float factors[BY_DESCENT_SIDE])
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < BY_DESCENT_SIDE; k++)
            lines[i * BY_DESCENT_SIDE + k] += column[i] * factors[k];
}

static bool on_any_processor(void)
{
    return true;
}

static const struct by_descent_path plain = {"plain", on_any_processor, sweep, add_weighted,
                                             dot,     project,          push};

const struct by_descent_path *const *by_descent_paths(size_t *count)
{
    static const struct by_descent_path *const paths[] = {
#if defined(__x86_64__)
        &by_descent_avx512,
        &by_descent_avx2,
#endif
        &by_descent_vector,
        &plain,
    };
    *count = sizeof paths / sizeof *paths;
    return paths;
}

const struct by_descent_path *by_descent_path_chosen(void)
{
    static const struct by_descent_path *_Atomic choice;
    const struct by_descent_path *path = atomic_load_explicit(&choice, memory_order_relaxed);
    if (path)
        return path;
    size_t count;
    const struct by_descent_path *const *paths = by_descent_paths(&count);
    while (!(*paths)->supported())
        paths++;
    atomic_store_explicit(&choice, *paths, memory_order_relaxed);
    return *paths;
}
