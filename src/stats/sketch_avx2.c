/* Counts values into a histogram with AVX2. */
#include "stats/sketch_path.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,fma")))

#include "stats/sketch_count.h"

static bool sketch_avx2_supported(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

INLINE __m256i magnitude(__m256 x)
{
    return _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff));
}

INLINE __m256 finite_lanes(__m256i size)
{
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(BY_SKETCH_INF), size));
}

/* --- Surveying --- */

/* As whole numbers, floats of one sign are in order; NaN and infinity are beyond all others. */
struct extremes {
    __m256i most, least; /* with their sign: the greatest of those >= 0, the least of one sign */
    __m256i farthest;    /* without: the most negative, if any is */
};

INLINE void add_extremes(struct extremes *of, __m256i x)
{
    of->most = _mm256_max_epi32(of->most, x);
    of->least = _mm256_min_epi32(of->least, x);
    of->farthest = _mm256_max_epu32(of->farthest, x);
}

static float to_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE bool tell_range(const struct extremes *of, struct by_sketch_range *range)
{
    int32_t most[8], least[8];
    uint32_t farthest[8];
    _mm256_storeu_si256((void *)most, of->most);
    _mm256_storeu_si256((void *)least, of->least);
    _mm256_storeu_si256((void *)farthest, of->farthest);
    for (size_t i = 1; i < 8; i++) {
        most[0] = most[i] > most[0] ? most[i] : most[0];
        least[0] = least[i] < least[0] ? least[i] : least[0];
        farthest[0] = farthest[i] > farthest[0] ? farthest[i] : farthest[0];
    }
    const bool some_negative = farthest[0] >> 31, all_negative = most[0] < 0;
    range->max = to_float((uint32_t)(all_negative ? least[0] : most[0]));
    range->min = to_float(some_negative ? farthest[0] : (uint32_t)least[0]);
    return (all_negative || (uint32_t)most[0] < BY_SKETCH_INF) &&
           (!some_negative || (farthest[0] & 0x7fffffff) < BY_SKETCH_INF);
}

TARGET static bool survey(const float *values, size_t count, struct by_sketch_range *range)
{
    struct extremes of[2];
    of[0].most = of[1].most = _mm256_set1_epi32(INT32_MIN);
    of[0].least = of[1].least = _mm256_set1_epi32(INT32_MAX);
    of[0].farthest = of[1].farthest = _mm256_setzero_si256();
    for (size_t i = 0; i < count; i += 16) {
        add_extremes(&of[0], _mm256_loadu_si256((const void *)(values + i)));
        add_extremes(&of[1], _mm256_loadu_si256((const void *)(values + i + 8)));
    }
    add_extremes(&of[0], of[1].most);
    of[0].least = _mm256_min_epi32(of[0].least, of[1].least);
    of[0].farthest = _mm256_max_epu32(of[0].farthest, of[1].farthest);
    return tell_range(&of[0], range);
}

/* --- Finding bins --- */

struct steps {
    __m256 least_even, scale;
    __m256i least_log, log_offset, even_offset, strays;
};

INLINE struct steps load_steps(const struct by_sketch_steps *from)
{
    return (struct steps){
        .least_even = _mm256_castsi256_ps(_mm256_set1_epi32((int)from->least_even)),
        .scale = _mm256_set1_ps(from->scale),
        .least_log = _mm256_set1_epi16((short)(from->least_even >> 16)),
        .log_offset = _mm256_set1_epi16(from->log_offset),
        .even_offset = _mm256_set1_epi16(from->even_offset),
        .strays = _mm256_add_epi16(
            _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
            _mm256_set1_epi16(BY_SKETCH_BINS)),
    };
}

INLINE __m256i even_steps(const struct steps *steps, __m256 size)
{
    const __m256 even = _mm256_max_ps(size, steps->least_even);
    return _mm256_cvttps_epi32(_mm256_mul_ps(even, steps->scale));
}

/* Of 16 values, in the order that packing gives; all steps but the first are in 16 bits. */
INLINE __m256i bins_of(const struct steps *steps, __m256 x, __m256 y, __m256i *lowest)
{
    const __m256 mask = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    const __m256 x_size = _mm256_and_ps(x, mask), y_size = _mm256_and_ps(y, mask);
    const __m256i x_bits = _mm256_castps_si256(x_size), y_bits = _mm256_castps_si256(y_size);
    const __m256i even = _mm256_packus_epi32(even_steps(steps, x_size), even_steps(steps, y_size));
    __m256i bin = _mm256_packus_epi32(_mm256_srli_epi32(x_bits, 16), _mm256_srli_epi32(y_bits, 16));
    bin = _mm256_min_epi16(bin, steps->least_log);
    bin = _mm256_max_epi16(_mm256_add_epi16(bin, steps->log_offset), _mm256_srli_epi16(bin, 3));
    bin = _mm256_add_epi16(bin, _mm256_sub_epi16(even, steps->even_offset));
    /* Packing stops at the ends of the range, which keeps signs and what is zero. */
    const __m256i zero =
        _mm256_cmpeq_epi16(_mm256_packs_epi32(x_bits, y_bits), _mm256_setzero_si256());
    const __m256i sign =
        _mm256_srai_epi16(_mm256_packs_epi32(_mm256_castps_si256(x), _mm256_castps_si256(y)), 15);
    bin = _mm256_blendv_epi8(bin, steps->strays, zero);
    *lowest = _mm256_min_epu16(*lowest, bin);
    return _mm256_add_epi16(bin, _mm256_and_si256(sign, _mm256_set1_epi16((short)BY_SKETCH_SIDE)));
}

/* --- Counting and summing --- */

struct run {
    __m256 sum[2], squares[2];
};

INLINE void add_eight(struct run *run, size_t half, __m256 x)
{
    run->sum[half] = _mm256_add_ps(run->sum[half], x);
    run->squares[half] = _mm256_add_ps(run->squares[half], _mm256_mul_ps(x, x));
}

INLINE void add_doubles(double *to, __m256 run)
{
    const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(run));
    const __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(run, 1));
    _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), low));
    _mm256_storeu_pd(to + 4, _mm256_add_pd(_mm256_loadu_pd(to + 4), high));
}

INLINE void end_run(const struct run *run, struct by_sketch_lanes *lanes)
{
    for (size_t half = 0; half < 2; half++) {
        add_doubles(lanes->sum + 8 * half, run->sum[half]);
        add_doubles(lanes->squares + 8 * half, run->squares[half]);
    }
}

INLINE void store_run(const struct run *run, struct by_sketch_lanes *lanes)
{
    for (size_t half = 0; half < 2; half++) {
        _mm256_storeu_ps(lanes->run_sum + 8 * half, run->sum[half]);
        _mm256_storeu_ps(lanes->run_squares + 8 * half, run->squares[half]);
    }
}

INLINE void tally_run(const struct steps *steps, const float *values, size_t count,
                      const struct by_sketch_tables *tables, struct waiting *waiting,
                      __m256i *lowest, struct by_sketch_lanes *lanes)
{
    struct run run;
    uint32_t *even = tables->at[0], *odd = tables->at[1];
    run.sum[0] = run.sum[1] = run.squares[0] = run.squares[1] = _mm256_setzero_ps();
    for (size_t i = 0; i < count; i += 16) {
        if (i < waiting->count)
            count_sixteen(even, odd, waiting->bins + i);
        const __m256 x = _mm256_loadu_ps(values + i), y = _mm256_loadu_ps(values + i + 8);
        add_eight(&run, 0, x);
        add_eight(&run, 1, y);
        _mm256_store_si256((void *)(waiting->bins + i), bins_of(steps, x, y, lowest));
    }
    count_waiting(even, odd, waiting, count);
    waiting->count = count;
    if (count == BY_SKETCH_RUN)
        end_run(&run, lanes);
    else
        store_run(&run, lanes);
}

INLINE unsigned lowest_of(__m256i lowest)
{
    uint16_t lanes[16], least = UINT16_MAX;
    _mm256_storeu_si256((void *)lanes, lowest);
    for (size_t i = 0; i < 16; i++)
        least = lanes[i] < least ? lanes[i] : least;
    return least;
}

TARGET static void tally(const struct by_sketch_plan *plan, const float *values, size_t count,
                         struct by_sketch_tables *tables, struct by_sketch_lanes *lanes)
{
    const struct steps steps = load_steps(&plan->steps);
    struct waiting waiting;
    waiting.count = 0;
    __m256i lowest = _mm256_set1_epi16(-1);
    size_t i = 0;
    for (; i + BY_SKETCH_RUN <= count; i += BY_SKETCH_RUN)
        tally_run(&steps, values + i, BY_SKETCH_RUN, tables, &waiting, &lowest, lanes);
    if (i < count)
        tally_run(&steps, values + i, count - i, tables, &waiting, &lowest, lanes);
    count_waiting(tables->at[0], tables->at[1], &waiting, 0);
    const unsigned least = lowest_of(lowest);
    tables->lowest = least < tables->lowest ? least : tables->lowest;
}

/* --- Adding to rows --- */

TARGET static void flush_pair_avx2(uint32_t *even, uint32_t *odd, size_t count, uint32_t *row)
{
    const __m256i none = _mm256_setzero_si256();
    for (size_t i = 0; i < count; i += 8) {
        const __m256i a = _mm256_loadu_si256((void *)(even + i));
        const __m256i b = _mm256_loadu_si256((void *)(odd + i));
        const __m256i both = _mm256_or_si256(a, b);
        if (_mm256_testz_si256(both, both))
            continue;
        const __m256i had = _mm256_loadu_si256((void *)(row + i));
        _mm256_storeu_si256((void *)(row + i), _mm256_add_epi32(had, _mm256_add_epi32(a, b)));
        _mm256_storeu_si256((void *)(even + i), none);
        _mm256_storeu_si256((void *)(odd + i), none);
    }
}

/* --- Ranges --- */

INLINE void widen(__m256 *min, __m256 *max, const float *values)
{
    __m256 x = _mm256_loadu_ps(values), finite = finite_lanes(magnitude(x));
    *min = _mm256_min_ps(_mm256_blendv_ps(_mm256_set1_ps(INFINITY), x, finite), *min);
    *max = _mm256_max_ps(_mm256_blendv_ps(_mm256_set1_ps(-INFINITY), x, finite), *max);
}

TARGET static void range(const float *values, size_t count, float *min, float *max)
{
    __m256 low[2], high[2];
    float lows[8], highs[8];
    size_t i = 0;
    low[0] = low[1] = _mm256_set1_ps(INFINITY);
    high[0] = high[1] = _mm256_set1_ps(-INFINITY);
    for (; i + 16 <= count; i += 16)
        for (size_t half = 0; half < 2; half++)
            widen(&low[half], &high[half], values + i + 8 * half);
    _mm256_storeu_ps(lows, _mm256_min_ps(low[0], low[1]));
    _mm256_storeu_ps(highs, _mm256_max_ps(high[0], high[1]));
    for (size_t lane = 0; i && lane < 8; lane++) {
        *min = lows[lane] < *min ? lows[lane] : *min;
        *max = highs[lane] > *max ? highs[lane] : *max;
    }
    by_sketch_range_plain(values + i, count - i, min, max);
}

TARGET static void ranges(const float *values, size_t count, float *min, float *max)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256 low = _mm256_loadu_ps(min + i), high = _mm256_loadu_ps(max + i);
        widen(&low, &high, values + i);
        _mm256_storeu_ps(min + i, low);
        _mm256_storeu_ps(max + i, high);
    }
    by_sketch_ranges_plain(values + i, count - i, min + i, max + i);
}

const struct by_sketch_path by_sketch_avx2 = {.name = "avx2",
                                              .supported = sketch_avx2_supported,
                                              .survey = survey,
                                              .tally = tally,
                                              .flush = flush_pair_avx2,
                                              .range = range,
                                              .ranges = ranges};

#endif
