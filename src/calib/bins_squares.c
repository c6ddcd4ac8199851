/* Chooses the vector path that sums squared errors over bins. */
#include "calib/bins_squares.h"

#include "base/mem.h"
#include "calib/bins_squares_path.h"

#include <math.h>
#include <stdatomic.h>

/* --- The reference, and which path is taken --- */

static double level(double x, double least, double most)
{
    const double within = fmin(fmax(x, least), most);
    return (within + BY_SQUARES_ROUNDER) - BY_SQUARES_ROUNDER;
}

/* The formulas of by_bins_error(), without divisions by what differs from bin to bin. */
static double sum(const struct by_squares_block *block, const struct by_squares_grid *grid)
{
    double lanes[BY_SQUARES_LANES] = {0};
    for (size_t i = 0; i < BY_SQUARES_BLOCK; i++) {
        const double low = block->low[i] * grid->per_scale, high = block->high[i] * grid->per_scale;
        const double first = level(low, grid->least, grid->most);
        const double last = level(high, grid->least, grid->most);
        const double a = low - first, b = high - last;
        const double each = first == last ? (a * a + a * b + b * b) / 3
                                          : ((last - first) / 12 + (b * b * b - a * a * a) / 3) *
                                                (block->per_width[i] * grid->scale);
        lanes[i % BY_SQUARES_LANES] += block->count[i] * each;
    }
    return by_squares_join(lanes);
}

double by_squares_join(const double lanes[BY_SQUARES_LANES])
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

static bool always(void)
{
    return true;
}

static const struct by_squares_path plain = {"plain", always, sum};

const struct by_squares_path *const *by_squares_paths(size_t *count)
{
    static const struct by_squares_path *const paths[] = {
#if defined(__x86_64__)
        &by_squares_avx512,
        &by_squares_avx2,
#endif
        &by_squares_vector,
        &plain,
    };
    *count = sizeof paths / sizeof *paths;
    return paths;
}

static const struct by_squares_path *chosen(void)
{
    static const struct by_squares_path *_Atomic choice;
    const struct by_squares_path *path = atomic_load_explicit(&choice, memory_order_relaxed);
    if (path)
        return path;
    size_t count;
    const struct by_squares_path *const *paths = by_squares_paths(&count);
    while (!(*paths)->supported())
        paths++;
    atomic_store_explicit(&choice, *paths, memory_order_relaxed);
    return *paths;
}

/* --- The columns --- */

int by_bins_squares_load(struct by_bins_squares *squares, const struct by_bins *bins,
                         struct baryon_error *err)
{
    const size_t blocks = (bins->count + BY_SQUARES_BLOCK - 1) / BY_SQUARES_BLOCK;
    const size_t rows = blocks * BY_SQUARES_BLOCK;
    double *at = by_alloc_zero(4 * rows + 1, sizeof *at, err);
    if (!at)
        return -1;
    *squares =
        (struct by_bins_squares){at, at + rows, at + 2 * rows, at + 3 * rows, blocks, bins->total};
    for (size_t i = 0; i < bins->count; i++) {
        const struct by_sketch_bin *bin = &bins->at[i];
        const double width = bin->high - bin->low;
        squares->low[i] = bin->low;
        squares->high[i] = bin->high;
        squares->count[i] = (double)bin->count;
        squares->per_width[i] = width > 0 ? 1 / width : 0;
    }
    return 0;
}

int by_bins_squares_of(struct by_bins_squares *squares, const struct by_sketch *sketch,
                       struct baryon_error *err)
{
    struct by_bins bins;
    if (by_bins_load(&bins, sketch, err) < 0)
        return -1;
    const int status = by_bins_squares_load(squares, &bins, err);
    by_bins_release(&bins);
    return status;
}

void by_bins_squares_release(struct by_bins_squares *squares)
{
    by_free(squares->low);
    *squares = (struct by_bins_squares){.blocks = 0};
}

/* From the outermost blocks inwards: what a range cuts off makes the greatest part soonest. */
double by_bins_squares_error(const struct by_bins_squares *squares, const struct by_scale *scale,
                             const struct by_calib_target *target, double enough)
{
    const struct by_squares_path *path = chosen();
    const struct by_squares_grid grid = {scale->scale, 1 / scale->scale,
                                         (double)(target->qmin - scale->zero_point),
                                         (double)(target->qmax - scale->zero_point)};
    const double mean = scale->scale * scale->scale / (double)squares->total;
    double sum = 0;
    for (size_t i = 0; i < squares->blocks; i++) {
        const size_t block = i % 2 ? i / 2 : squares->blocks - 1 - i / 2;
        const size_t at = block * BY_SQUARES_BLOCK;
        sum += path->sum(&(struct by_squares_block){squares->low + at, squares->high + at,
                                                    squares->count + at, squares->per_width + at},
                         &grid);
        if (sum * mean > enough)
            return INFINITY;
    }
    return squares->total ? sum * mean : 0;
}
