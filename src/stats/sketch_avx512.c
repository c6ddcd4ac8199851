/* Counts values into a histogram with AVX-512. */
#include "stats/sketch_path.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <math.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

#include "stats/sketch_count.h"

static bool sketch_avx512_supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

INLINE __m512i magnitude(__m512 x)
{
    return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
}

INLINE __mmask16 finite_lanes(__m512i size)
{
    return _mm512_cmplt_epi32_mask(size, _mm512_set1_epi32(BY_SKETCH_INF));
}

/* --- Surveying --- */

TARGET static bool survey(const float *values, size_t count, struct by_sketch_range *range)
{
    __m512 min = _mm512_set1_ps(INFINITY), max = _mm512_set1_ps(-INFINITY);
    __m512i greatest = _mm512_setzero_si512();
    for (size_t i = 0; i < count; i += 16) {
        const __m512 x = _mm512_loadu_ps(values + i);
        min = _mm512_min_ps(x, min);
        max = _mm512_max_ps(x, max);
        greatest = _mm512_max_epu32(greatest, magnitude(x));
    }
    *range = (struct by_sketch_range){_mm512_reduce_min_ps(min), _mm512_reduce_max_ps(max)};
    return _mm512_reduce_max_epu32(greatest) < BY_SKETCH_INF;
}

/* --- Finding bins --- */

struct steps {
    __m512 least_even, scale;
    __m512i least_log, log_offset, strays;
};

INLINE struct steps load_steps(const struct by_sketch_steps *from)
{
    return (struct steps){
        .least_even = _mm512_castsi512_ps(_mm512_set1_epi32((int)from->least_even)),
        .scale = _mm512_set1_ps(from->scale),
        .least_log = _mm512_set1_epi32((int)(from->least_even >> 16)),
        .log_offset = _mm512_set1_epi32(from->log_offset),
        .strays = _mm512_add_epi32(
            _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
            _mm512_set1_epi32(BY_SKETCH_BINS)),
    };
}

INLINE __m256i bins_of(const struct steps *steps, int even_offset, __m512 x, __m512i *lowest)
{
    const __m512i size = magnitude(x);
    const __m512 even = _mm512_max_ps(_mm512_castsi512_ps(size), steps->least_even);
    const __m512i log = _mm512_min_epi32(_mm512_srli_epi32(size, 16), steps->least_log);
    __m512i bin =
        _mm512_max_epi32(_mm512_add_epi32(log, steps->log_offset), _mm512_srli_epi32(log, 3));
    bin = _mm512_add_epi32(bin, _mm512_cvttps_epi32(_mm512_mul_ps(even, steps->scale)));
    bin = _mm512_sub_epi32(bin, _mm512_set1_epi32(even_offset));
    bin = _mm512_mask_mov_epi32(steps->strays, _mm512_test_epi32_mask(size, size), bin);
    *lowest = _mm512_min_epu32(*lowest, bin);
    bin = _mm512_mask_add_epi32(bin, _mm512_movepi32_mask(_mm512_castps_si512(x)), bin,
                                _mm512_set1_epi32((int)BY_SKETCH_SIDE));
    return _mm512_cvtepi32_epi16(bin);
}

/* --- Counting and summing --- */

INLINE void tally_run(const struct steps *steps, int even_offset, const float *values, size_t count,
                      const struct by_sketch_tables *tables, struct waiting *waiting,
                      __m512i *lowest, struct by_sketch_lanes *lanes)
{
    uint32_t *even = tables->at[0], *odd = tables->at[1];
    __m512 sum = _mm512_setzero_ps(), squares = _mm512_setzero_ps();
    for (size_t i = 0; i < count; i += 16) {
        if (i < waiting->count)
            count_sixteen(even, odd, waiting->bins + i);
        const __m512 x = _mm512_loadu_ps(values + i);
        sum = _mm512_add_ps(sum, x);
        squares = _mm512_add_ps(squares, _mm512_mul_ps(x, x));
        _mm256_store_si256((void *)(waiting->bins + i), bins_of(steps, even_offset, x, lowest));
    }
    count_waiting(even, odd, waiting, count);
    waiting->count = count;
    _mm512_storeu_ps(lanes->run_sum, sum);
    _mm512_storeu_ps(lanes->run_squares, squares);
}

TARGET static void tally(const struct by_sketch_plan *plan, const float *values, size_t count,
                         struct by_sketch_tables *tables, struct by_sketch_lanes *lanes)
{
    const struct steps steps = load_steps(&plan->steps);
    struct waiting waiting;
    waiting.count = 0;
    __m512i lowest = _mm512_set1_epi32((int)tables->lowest);
    size_t i = 0;
    for (; i + BY_SKETCH_RUN <= count; i += BY_SKETCH_RUN) {
        tally_run(&steps, plan->steps.even_offset, values + i, BY_SKETCH_RUN, tables, &waiting,
                  &lowest, lanes);
        by_sketch_run_end(lanes);
    }
    if (i < count)
        tally_run(&steps, plan->steps.even_offset, values + i, count - i, tables, &waiting, &lowest,
                  lanes);
    count_waiting(tables->at[0], tables->at[1], &waiting, 0);
    tables->lowest = _mm512_reduce_min_epu32(lowest);
}

/* --- Adding to rows --- */

TARGET static void flush_pair_avx512(uint32_t *even, uint32_t *odd, size_t count, uint32_t *row)
{
    for (size_t i = 0; i < count; i += 16) {
        const __m512i a = _mm512_loadu_si512(even + i), b = _mm512_loadu_si512(odd + i);
        const __m512i both = _mm512_or_si512(a, b);
        if (!_mm512_test_epi32_mask(both, both))
            continue;
        const __m512i had = _mm512_loadu_si512(row + i);
        _mm512_storeu_si512(row + i, _mm512_add_epi32(had, _mm512_add_epi32(a, b)));
        _mm512_storeu_si512(even + i, _mm512_setzero_si512());
        _mm512_storeu_si512(odd + i, _mm512_setzero_si512());
    }
}

/* --- Ranges --- */

INLINE void widen(__m512 *min, __m512 *max, __m512 x)
{
    __mmask16 finite = finite_lanes(magnitude(x));
    *min = _mm512_mask_min_ps(*min, finite, x, *min);
    *max = _mm512_mask_max_ps(*max, finite, x, *max);
}

TARGET static void range(const float *values, size_t count, float *min, float *max)
{
    __m512 low = _mm512_set1_ps(*min), high = _mm512_set1_ps(*max);
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        widen(&low, &high, _mm512_loadu_ps(values + i));
    *min = _mm512_reduce_min_ps(low);
    *max = _mm512_reduce_max_ps(high);
    by_sketch_range_plain(values + i, count - i, min, max);
}

TARGET static void ranges(const float *values, size_t count, float *min, float *max)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m512 low = _mm512_loadu_ps(min + i), high = _mm512_loadu_ps(max + i);
        widen(&low, &high, _mm512_loadu_ps(values + i));
        _mm512_storeu_ps(min + i, low);
        _mm512_storeu_ps(max + i, high);
    }
    by_sketch_ranges_plain(values + i, count - i, min + i, max + i);
}

const struct by_sketch_path by_sketch_avx512 = {.name = "avx512",
                                                .supported = sketch_avx512_supported,
                                                .survey = survey,
                                                .tally = tally,
                                                .flush = flush_pair_avx512,
                                                .range = range,
                                                .ranges = ranges};

#endif
