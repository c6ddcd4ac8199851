/* Counts values into a histogram with the compiler's vectors (NEON, SSE2 and others). */
#include "stats/sketch_path.h"

#include <math.h>
#include <string.h>

#define LANES 4
#define SETS  (BY_SKETCH_LANES / LANES)

typedef float floats __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));

static bool sketch_vector_supported(void)
{
    return true;
}

static inline floats load_four(const float *at)
{
    floats x;
    memcpy(&x, at, sizeof x);
    return x;
}

static inline ints fill_four(int32_t value)
{
    return (ints){value, value, value, value};
}

/* Lanes of mask are all ones or all zeros. */
static inline ints choose_four(ints mask, ints yes, ints no)
{
    return (yes & mask) | (no & ~mask);
}

static inline floats lower_four(floats a, floats b)
{
    return (floats)choose_four(a < b, (ints)a, (ints)b);
}

static inline floats higher(floats a, floats b)
{
    return (floats)choose_four(a > b, (ints)a, (ints)b);
}

static inline ints least_of(ints a, ints b)
{
    return choose_four(a < b, a, b);
}

static inline ints greatest_of(ints a, ints b)
{
    return choose_four(a > b, a, b);
}

static inline ints magnitude_four(floats x)
{
    return (ints)x & fill_four(0x7fffffff);
}

static inline floats or_else(ints mask, floats x, float other)
{
    floats others = {other, other, other, other};
    return (floats)choose_four(mask, (ints)x, (ints)others);
}

/* --- Surveying --- */

static bool survey(const float *values, size_t count, struct by_sketch_range *range)
{
    floats min = load_four(values), max = min;
    ints greatest = magnitude_four(min);
    bool finite = true;
    for (size_t i = LANES; i < count; i += LANES) {
        const floats x = load_four(values + i);
        min = lower_four(x, min);
        max = higher(x, max);
        greatest = greatest_of(magnitude_four(x), greatest);
    }
    *range = (struct by_sketch_range){min[0], max[0]};
    for (size_t i = 0; i < LANES; i++) {
        range->min = min[i] < range->min ? min[i] : range->min;
        range->max = max[i] > range->max ? max[i] : range->max;
        finite &= (uint32_t)greatest[i] < BY_SKETCH_INF;
    }
    return finite;
}

/* --- Finding bins --- */

static inline ints bins_of(const struct by_sketch_steps *steps, floats x, ints strays, ints *lowest)
{
    const ints size = magnitude_four(x), least_even = fill_four((int32_t)steps->least_even);
    const ints log = least_of(size >> 16, least_even >> 16);
    const ints far = greatest_of(log + fill_four(steps->log_offset), log >> 3);
    const floats even = (floats)greatest_of(size, least_even);
    const ints near =
        __builtin_convertvector(even * steps->scale, ints) - fill_four(steps->even_offset);
    const ints bin = choose_four(size == fill_four(0), strays, far + near);
    *lowest = least_of(bin, *lowest);
    return bin + (((ints)x >> 31) & fill_four((int32_t)BY_SKETCH_SIDE));
}

/* --- Counting and summing --- */

struct run {
    floats sum[SETS], squares[SETS];
};

static inline void tally_sixteen(const struct by_sketch_steps *steps, const float *values,
                                 struct by_sketch_tables *tables, struct run *run, ints *lowest)
{
    const ints strays = (ints){0, 1, 2, 3} + fill_four((int32_t)BY_SKETCH_BINS);
    for (size_t set = 0; set < SETS; set++) {
        const floats x = load_four(values + LANES * set), square = x * x;
        const ints bin = bins_of(steps, x, strays + fill_four((int32_t)(LANES * set)), lowest);
        run->sum[set] += x;
        run->squares[set] += square;
        for (size_t lane = 0; lane < LANES; lane++)
            tables->at[lane % BY_SKETCH_TABLES][bin[lane]]++;
    }
}

static void tally_run(const struct by_sketch_steps *steps, const float *values, size_t count,
                      struct by_sketch_tables *tables, ints *lowest, struct by_sketch_lanes *lanes)
{
    struct run run;
    memset(&run, 0, sizeof run);
    for (size_t i = 0; i < count; i += BY_SKETCH_LANES)
        tally_sixteen(steps, values + i, tables, &run, lowest);
    memcpy(lanes->run_sum, run.sum, sizeof lanes->run_sum);
    memcpy(lanes->run_squares, run.squares, sizeof lanes->run_squares);
}

static void tally(const struct by_sketch_plan *plan, const float *values, size_t count,
                  struct by_sketch_tables *tables, struct by_sketch_lanes *lanes)
{
    ints lowest = fill_four((int32_t)tables->lowest);
    size_t i = 0;
    for (; i + BY_SKETCH_RUN <= count; i += BY_SKETCH_RUN) {
        tally_run(&plan->steps, values + i, BY_SKETCH_RUN, tables, &lowest, lanes);
        by_sketch_run_end(lanes);
    }
    if (i < count)
        tally_run(&plan->steps, values + i, count - i, tables, &lowest, lanes);
    for (size_t lane = 0; lane < LANES; lane++)
        tables->lowest =
            (unsigned)lowest[lane] < tables->lowest ? (unsigned)lowest[lane] : tables->lowest;
}

/* --- Adding to rows --- */

static void flush_pair_vector(uint32_t *even, uint32_t *odd, size_t count, uint32_t *row)
{
    for (size_t i = 0; i < count; i++)
        row[i] += even[i] + odd[i];
    memset(even, 0, count * sizeof *even);
    memset(odd, 0, count * sizeof *odd);
}

/* --- Ranges --- */

static inline void widen_four(floats *min, floats *max, floats x)
{
    ints finite = magnitude_four(x) < fill_four((int32_t)BY_SKETCH_INF);
    *min = lower_four(or_else(finite, x, INFINITY), *min);
    *max = higher(or_else(finite, x, -INFINITY), *max);
}

static void range(const float *values, size_t count, float *min, float *max)
{
    floats low = {*min, *min, *min, *min}, high = {*max, *max, *max, *max};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        widen_four(&low, &high, load_four(values + i));
    for (size_t lane = 0; lane < LANES; lane++) {
        *min = low[lane] < *min ? low[lane] : *min;
        *max = high[lane] > *max ? high[lane] : *max;
    }
    by_sketch_range_plain(values + i, count - i, min, max);
}

static void ranges(const float *values, size_t count, float *min, float *max)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        floats low = load_four(min + i), high = load_four(max + i);
        widen_four(&low, &high, load_four(values + i));
        memcpy(min + i, &low, sizeof low);
        memcpy(max + i, &high, sizeof high);
    }
    by_sketch_ranges_plain(values + i, count - i, min + i, max + i);
}

const struct by_sketch_path by_sketch_vector = {
#if defined(__aarch64__)
    .name = "neon",
#else
    .name = "vector",
#endif
    .supported = sketch_vector_supported,
    .survey = survey,
    .tally = tally,
    .flush = flush_pair_vector,
    .range = range,
    .ranges = ranges};
