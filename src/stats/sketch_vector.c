/* With the compiler's own vectors of 16 bytes: NEON, SSE2 and whatever else it knows. */
#include "stats/sketch_path.h"

#include <math.h>
#include <string.h>

#define LANES 4
#define SETS  (BY_SKETCH_LANES / LANES)

typedef float floats __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));
typedef float pair __attribute__((vector_size(8)));
typedef double doubles __attribute__((vector_size(16)));

static bool always(void)
{
    return true;
}

static inline floats load(const float *at)
{
    floats x;
    memcpy(&x, at, sizeof x);
    return x;
}

static inline ints fill(int32_t value)
{
    return (ints){value, value, value, value};
}

/* Lanes of mask are all ones or all zeros. */
static inline ints choose(ints mask, ints yes, ints no)
{
    return (yes & mask) | (no & ~mask);
}

static inline floats lower(floats a, floats b)
{
    return (floats)choose(a < b, (ints)a, (ints)b);
}

static inline floats higher(floats a, floats b)
{
    return (floats)choose(a > b, (ints)a, (ints)b);
}

static inline ints least_of(ints a, ints b)
{
    return choose(a < b, a, b);
}

static inline ints greatest_of(ints a, ints b)
{
    return choose(a > b, a, b);
}

static inline ints magnitude(floats x)
{
    return (ints)x & fill(0x7fffffff);
}

static inline floats or_else(ints mask, floats x, float other)
{
    floats others = {other, other, other, other};
    return (floats)choose(mask, (ints)x, (ints)others);
}

/* --- Measuring a piece --- */

struct sums {
    doubles sum[2 * SETS], squares[2 * SETS];
    floats min, max;
    ints greatest, least, zeros, infinities, nans; /* counts are negative */
};

static inline void add_pair(struct sums *s, size_t at, float low, float high)
{
    doubles wide = __builtin_convertvector(((pair){low, high}), doubles);
    s->sum[at] += wide;
    s->squares[at] += wide * wide;
}

static inline void add_four(struct sums *s, size_t set, floats x)
{
    ints size = magnitude(x), infinity = fill((int32_t)BY_SKETCH_INF);
    ints finite = size < infinity, some = size != fill(0);
    s->infinities += size == infinity;
    s->nans += size > infinity;
    s->zeros += ~some;
    s->min = lower(or_else(finite, x, INFINITY), s->min);
    s->max = higher(or_else(finite, x, -INFINITY), s->max);
    s->greatest = greatest_of(size & finite, s->greatest);
    s->least = least_of(choose(some & finite, size, fill(INT32_MAX)), s->least);
    x = or_else(finite, x, 0);
    add_pair(s, 2 * set, x[0], x[1]);
    add_pair(s, 2 * set + 1, x[2], x[3]);
}

static uint32_t count_of(ints counts)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < LANES; i++)
        sum -= (uint32_t)counts[i];
    return sum;
}

static void measure(const float *values, size_t count, struct by_sketch_piece *piece)
{
    double sum[BY_SKETCH_LANES], squares[BY_SKETCH_LANES];
    size_t whole = count / BY_SKETCH_LANES * BY_SKETCH_LANES;
    struct sums s;
    memset(&s, 0, sizeof s);
    s.min = or_else(fill(0), s.min, INFINITY);
    s.max = or_else(fill(0), s.max, -INFINITY);
    s.least = fill(INT32_MAX);
    for (size_t i = 0; i < whole; i += BY_SKETCH_LANES)
        for (size_t set = 0; set < SETS; set++)
            add_four(&s, set, load(values + i + LANES * set));
    memcpy(sum, s.sum, sizeof sum);
    memcpy(squares, s.squares, sizeof squares);
    *piece = (struct by_sketch_piece){.zeros = count_of(s.zeros),
                                      .nans = count_of(s.nans),
                                      .infinities = count_of(s.infinities),
                                      .least = UINT32_MAX,
                                      .min = INFINITY,
                                      .max = -INFINITY};
    for (size_t i = 0; i < LANES; i++) {
        uint32_t greatest = (uint32_t)s.greatest[i], least = (uint32_t)s.least[i];
        piece->min = s.min[i] < piece->min ? s.min[i] : piece->min;
        piece->max = s.max[i] > piece->max ? s.max[i] : piece->max;
        piece->greatest = greatest > piece->greatest ? greatest : piece->greatest;
        piece->least = least < INT32_MAX && least < piece->least ? least : piece->least;
    }
    by_sketch_measure_rest(values + whole, count - whole, sum, squares, piece);
}

/* --- Finding bins --- */

static inline ints bins_of(const struct by_sketch_steps *steps, floats x, ints strays)
{
    ints size = magnitude(x), is_near = size > fill(steps->near);
    /* The others would do no harm here but make slow subnormals. */
    floats big = (floats)(size & is_near & (size < fill((int32_t)BY_SKETCH_INF)));
    ints even = __builtin_convertvector(big * steps->scale, ints) + fill(steps->even_offset);
    ints log = greatest_of((size >> 16) + fill(steps->log_offset), size >> 19);
    ints side = ((ints)x >> 31) & fill((int32_t)BY_SKETCH_BINS);
    ints counts = (size != fill(0)) & (size < fill((int32_t)BY_SKETCH_INF));
    return choose(counts, choose(is_near, even, log) + side, strays);
}

static void place(const struct by_sketch_plan *plan, const float *values, size_t count,
                  uint16_t *bins)
{
    struct by_sketch_steps steps;
    if (!by_sketch_steps(plan, &steps)) {
        by_sketch_place_plain(plan, values, count, bins);
        return;
    }
    const ints strays = (ints){0, 1, 2, 3} + fill((int32_t)(2 * BY_SKETCH_BINS));
    size_t i = 0;
    for (; i + BY_SKETCH_LANES <= count; i += BY_SKETCH_LANES)
        for (size_t set = 0; set < SETS; set++) {
            size_t at = i + LANES * set;
            ints bin = bins_of(&steps, load(values + at), strays + fill((int32_t)(LANES * set)));
            for (size_t lane = 0; lane < LANES; lane++)
                bins[at + lane] = (uint16_t)bin[lane];
        }
    by_sketch_place_plain(plan, values + i, count - i, bins + i);
}

/* --- Ranges --- */

static inline void widen(floats *min, floats *max, floats x)
{
    ints finite = magnitude(x) < fill((int32_t)BY_SKETCH_INF);
    *min = lower(or_else(finite, x, INFINITY), *min);
    *max = higher(or_else(finite, x, -INFINITY), *max);
}

static void range(const float *values, size_t count, float *min, float *max)
{
    floats low = {*min, *min, *min, *min}, high = {*max, *max, *max, *max};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        widen(&low, &high, load(values + i));
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
        floats low = load(min + i), high = load(max + i);
        widen(&low, &high, load(values + i));
        memcpy(min + i, &low, sizeof low);
        memcpy(max + i, &high, sizeof high);
    }
    by_sketch_ranges_plain(values + i, count - i, min + i, max + i);
}

const struct by_sketch_path by_sketch_vector = {
#if defined(__aarch64__)
    "neon",
#else
    "vector",
#endif
    always, measure, place, range, ranges};
