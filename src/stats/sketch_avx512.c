#include "stats/sketch_path.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <math.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define INLINE TARGET static inline __attribute__((always_inline))

static bool supported(void)
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

/* --- Measuring a piece --- */

struct sums {
    __m512d sum[2], squares[2]; /* 16 lanes */
    __m512 min, max;
    __m512i greatest, least; /* least less one, so that zero is the greatest */
    uint32_t zeros, infinities, nans;
};

/* The square of a float is exact in double: fused or not, the sum is the same. */
INLINE void add_doubles(struct sums *s, size_t at, __m256 x)
{
    __m512d wide = _mm512_cvtps_pd(x);
    s->sum[at] = _mm512_add_pd(s->sum[at], wide);
    s->squares[at] = _mm512_fmadd_pd(wide, wide, s->squares[at]);
}

INLINE uint32_t count_of(__mmask16 mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

INLINE void add_sixteen(struct sums *s, __m512 x, bool strange)
{
    __m512i size = magnitude(x);
    __mmask16 finite = 0xffff;
    if (strange) {
        __m512i infinity = _mm512_set1_epi32(BY_SKETCH_INF);
        finite = finite_lanes(size);
        s->infinities += count_of(_mm512_cmpeq_epi32_mask(size, infinity));
        s->nans += count_of(_mm512_cmpgt_epi32_mask(size, infinity));
        x = _mm512_maskz_mov_ps(finite, x);
    }
    s->zeros += count_of(_mm512_cmpeq_epi32_mask(size, _mm512_setzero_si512()));
    s->min = _mm512_mask_min_ps(s->min, finite, x, s->min);
    s->max = _mm512_mask_max_ps(s->max, finite, x, s->max);
    s->greatest = _mm512_mask_max_epu32(s->greatest, finite, s->greatest, size);
    s->least = _mm512_mask_min_epu32(s->least, finite, s->least,
                                     _mm512_add_epi32(size, _mm512_set1_epi32(-1)));
    add_doubles(s, 0, _mm512_castps512_ps256(x));
    add_doubles(s, 1, _mm512_extractf32x8_ps(x, 1));
}

/* strange: there may be NaN and infinity. */
INLINE void measure_with(const float *values, size_t count, struct by_sketch_piece *piece,
                         double *sum, double *squares, bool strange)
{
    struct sums s = {.min = _mm512_set1_ps(INFINITY), .max = _mm512_set1_ps(-INFINITY)};
    s.sum[0] = s.sum[1] = s.squares[0] = s.squares[1] = _mm512_setzero_pd();
    s.greatest = _mm512_setzero_si512();
    s.least = _mm512_set1_epi32(-1);
    for (size_t i = 0; i < count; i += 16)
        add_sixteen(&s, _mm512_loadu_ps(values + i), strange);
    for (size_t i = 0; i < 2; i++) {
        _mm512_storeu_pd(sum + 8 * i, s.sum[i]);
        _mm512_storeu_pd(squares + 8 * i, s.squares[i]);
    }
    uint32_t least = _mm512_reduce_min_epu32(s.least);
    *piece = (struct by_sketch_piece){.zeros = s.zeros,
                                      .nans = s.nans,
                                      .infinities = s.infinities,
                                      .greatest = _mm512_reduce_max_epu32(s.greatest),
                                      .least = least + (least != UINT32_MAX),
                                      .min = _mm512_reduce_min_ps(s.min),
                                      .max = _mm512_reduce_max_ps(s.max)};
}

TARGET static void measure_any(const float *values, size_t count, struct by_sketch_piece *piece,
                               double *sum, double *squares)
{
    measure_with(values, count, piece, sum, squares, true);
}

TARGET static void measure(const float *values, size_t count, struct by_sketch_piece *piece)
{
    double sum[BY_SKETCH_LANES], squares[BY_SKETCH_LANES];
    size_t whole = count / BY_SKETCH_LANES * BY_SKETCH_LANES;
    measure_with(values, whole, piece, sum, squares, false);
    if (piece->greatest >= BY_SKETCH_INF)
        measure_any(values, whole, piece, sum, squares);
    by_sketch_measure_rest(values + whole, count - whole, sum, squares, piece);
}

/* --- Finding bins --- */

struct steps {
    __m512i near, log_offset, even_offset, strays;
    __m512 scale;
};

INLINE __m256i bins_of(const struct steps *steps, __m512 x)
{
    __m512i size = magnitude(x);
    __mmask16 is_near = _mm512_cmpgt_epi32_mask(size, steps->near);
    __mmask16 counts = finite_lanes(size) & _mm512_test_epi32_mask(size, size);
    /* The others would do no harm here but make slow subnormals. */
    __m512 big = _mm512_maskz_mov_ps(is_near, _mm512_castsi512_ps(size));
    __m512i even = _mm512_cvttps_epi32(_mm512_mul_ps(big, steps->scale));
    __m512i log = _mm512_add_epi32(_mm512_srli_epi32(size, 16), steps->log_offset);
    __m512i bin = _mm512_max_epi32(log, _mm512_srli_epi32(size, 19));
    bin = _mm512_mask_add_epi32(bin, is_near, even, steps->even_offset);
    bin = _mm512_mask_add_epi32(bin, _mm512_movepi32_mask(_mm512_castps_si512(x)), bin,
                                _mm512_set1_epi32(BY_SKETCH_BINS));
    return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(steps->strays, counts, bin));
}

TARGET static void place(const struct by_sketch_plan *plan, const float *values, size_t count,
                         uint16_t *bins)
{
    struct by_sketch_steps numbers;
    if (!by_sketch_steps(plan, &numbers)) {
        by_sketch_place_plain(plan, values, count, bins);
        return;
    }
    struct steps steps = {
        .near = _mm512_set1_epi32(numbers.near),
        .log_offset = _mm512_set1_epi32(numbers.log_offset),
        .even_offset = _mm512_set1_epi32(numbers.even_offset),
        .strays = _mm512_add_epi32(
            _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
            _mm512_set1_epi32(2 * BY_SKETCH_BINS)),
        .scale = _mm512_set1_ps(numbers.scale),
    };
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm256_storeu_si256((void *)(bins + i), bins_of(&steps, _mm512_loadu_ps(values + i)));
    by_sketch_place_plain(plan, values + i, count - i, bins + i);
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

const struct by_sketch_path by_sketch_avx512 = {"avx512", supported, measure, place, range, ranges};

#endif
