/* Which way to look at pieces, and the plain one. */
#include "stats/sketch_path.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

static uint32_t magnitude_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x7fffffff;
}

void by_sketch_steps(struct by_sketch_plan *plan)
{
    const int top = plan->top, below = 16 * (top - 15); /* bins of rows of 16 */
    plan->steps.possible = top >= 16 && top <= 200;
    if (!plan->steps.possible)
        return;
    plan->steps.least_even = (uint32_t)(top - 3) << 23;
    plan->steps.log_offset = (int16_t)(below - ((top - 15) << 7));
    plan->steps.scale = ldexpf(1, 11 - (top - 127));
    plan->steps.even_offset = 1 << 8;
}

/* --- A piece with any path --- */

bool by_sketch_survey(const struct by_sketch_path *path, const float *values, size_t count,
                      struct by_sketch_range *range)
{
    const size_t whole = count / BY_SKETCH_LANES * BY_SKETCH_LANES;
    struct by_sketch_range rest;
    *range = (struct by_sketch_range){INFINITY, -INFINITY};
    if ((whole && !path->survey(values, whole, range)) ||
        !by_sketch_survey_plain(values + whole, count - whole, &rest))
        return false;
    range->min = rest.min < range->min ? rest.min : range->min;
    range->max = rest.max > range->max ? rest.max : range->max;
    return true;
}

void by_sketch_tally(const struct by_sketch_path *path, const struct by_sketch_plan *plan, int top,
                     const float *values, size_t count, struct by_sketch_tables *tables,
                     struct by_sketch_sums *sums)
{
    struct by_sketch_lanes lanes = {0};
    const size_t whole = count / BY_SKETCH_LANES * BY_SKETCH_LANES;
    if (!plan->steps.possible || !by_sketch_in_singles(top)) {
        by_sketch_count_plain(plan, values, count, tables);
        by_sketch_sums_ref(values, count, top, sums);
        return;
    }
    if (whole)
        path->tally(plan, values, whole, tables, &lanes);
    by_sketch_count_plain(plan, values + whole, count - whole, tables);
    by_sketch_sums_end(&lanes, values + whole, count - whole, sums);
}

/* What a lane of so many values comes to. */
static void sum_lane(float value, size_t count, bool singles, double *sum, double *squares)
{
    const size_t each = singles ? BY_SKETCH_RUN / BY_SKETCH_LANES : 1;
    const float square = value * value;
    *sum = *squares = 0;
    for (size_t at = 0; at < count; at += each) {
        float run_sum = 0, run_squares = 0;
        for (size_t i = at; singles && i < count && i < at + each; i++) {
            run_sum += value;
            run_squares += square;
        }
        *sum += singles ? (double)run_sum : (double)value;
        *squares += singles ? (double)run_squares : (double)value * (double)value;
    }
}

void by_sketch_sums_equal(float value, size_t count, int top, struct by_sketch_sums *sums)
{
    struct by_sketch_lanes lanes = {0};
    const bool singles = by_sketch_in_singles(top);
    const size_t each = count / BY_SKETCH_LANES, more = count % BY_SKETCH_LANES;
    double sum[2], squares[2];
    sum_lane(value, each, singles, &sum[0], &squares[0]);
    sum_lane(value, each + 1, singles, &sum[1], &squares[1]);
    for (size_t i = 0; i < BY_SKETCH_LANES; i++) {
        lanes.sum[i] = sum[i < more];
        lanes.squares[i] = squares[i < more];
    }
    by_sketch_sums_end(&lanes, NULL, 0, sums);
}

/* --- The plain path --- */

bool by_sketch_survey_plain(const float *values, size_t count, struct by_sketch_range *range)
{
    bool finite = true;
    *range = (struct by_sketch_range){INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++)
        finite &= magnitude_bits(values[i]) < BY_SKETCH_INF;
    by_sketch_range_plain(values, count, &range->min, &range->max);
    return finite;
}

void by_sketch_count_plain(const struct by_sketch_plan *plan, const float *values, size_t count,
                           struct by_sketch_tables *tables)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t size = magnitude_bits(values[i]), exponent = size >> 23;
        uint32_t bin = BY_SKETCH_BINS;
        if (size)
            bin = plan->base[exponent] + ((size & 0x7fffff) >> plan->shift[exponent]);
        tables->lowest = bin < tables->lowest ? bin : tables->lowest;
        tables->at[0][bin + (values[i] < 0 ? BY_SKETCH_SIDE : 0)]++;
    }
}

static void tally_plain(const struct by_sketch_plan *plan, const float *values, size_t count,
                        struct by_sketch_tables *tables, struct by_sketch_lanes *lanes)
{
    by_sketch_count_plain(plan, values, count, tables);
    for (size_t i = 0; i < count; i++)
        by_sketch_lanes_add(lanes, i, values[i]);
}

static void flush_plain(uint32_t *even, uint32_t *odd, size_t count, uint32_t *row)
{
    for (size_t i = 0; i < count; i++) {
        row[i] += even[i] + odd[i];
        even[i] = odd[i] = 0;
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
        if (magnitude_bits(values[i]) >= BY_SKETCH_INF)
            continue;
        min[i] = values[i] < min[i] ? values[i] : min[i];
        max[i] = values[i] > max[i] ? values[i] : max[i];
    }
}

static bool sketch_plain_supported(void)
{
    return true;
}

static const struct by_sketch_path plain = {.name = "plain",
                                            .supported = sketch_plain_supported,
                                            .survey = by_sketch_survey_plain,
                                            .tally = tally_plain,
                                            .flush = flush_plain,
                                            .range = by_sketch_range_plain,
                                            .ranges = by_sketch_ranges_plain};

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
