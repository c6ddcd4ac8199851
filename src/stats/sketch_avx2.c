#include "stats/sketch_path.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <math.h>

#define TARGET __attribute__((target("avx2,fma")))
#define INLINE TARGET static inline __attribute__((always_inline))

static bool supported(void)
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

/* --- Measuring a piece --- */

struct sums {
    __m256d sum[4], squares[4]; /* 16 lanes */
    __m256 min[2], max[2];
    __m256i greatest[2], least[2];            /* least less one, so that zero is the greatest */
    __m256i zeros[2], infinities[2], nans[2]; /* negative counts */
};

/* The square of a float is exact in double: fused or not, the sum is the same. */
INLINE void add_doubles(struct sums *s, size_t at, __m128 x)
{
    __m256d wide = _mm256_cvtps_pd(x);
    s->sum[at] = _mm256_add_pd(s->sum[at], wide);
    s->squares[at] = _mm256_fmadd_pd(wide, wide, s->squares[at]);
}

INLINE void add_eight(struct sums *s, size_t half, __m256 x, bool strange)
{
    __m256i size = magnitude(x);
    __m256 low = x, high = x;
    if (strange) {
        __m256 finite = finite_lanes(size);
        __m256i infinity = _mm256_set1_epi32(BY_SKETCH_INF);
        s->infinities[half] =
            _mm256_add_epi32(s->infinities[half], _mm256_cmpeq_epi32(size, infinity));
        s->nans[half] = _mm256_add_epi32(s->nans[half], _mm256_cmpgt_epi32(size, infinity));
        low = _mm256_blendv_ps(_mm256_set1_ps(INFINITY), x, finite);
        high = _mm256_blendv_ps(_mm256_set1_ps(-INFINITY), x, finite);
        x = _mm256_and_ps(x, finite);
        size = _mm256_and_si256(size, _mm256_castps_si256(finite));
        /* What was put to zero here is none: taken off at the end. */
    }
    s->zeros[half] =
        _mm256_add_epi32(s->zeros[half], _mm256_cmpeq_epi32(size, _mm256_setzero_si256()));
    s->min[half] = _mm256_min_ps(low, s->min[half]);
    s->max[half] = _mm256_max_ps(high, s->max[half]);
    s->greatest[half] = _mm256_max_epu32(s->greatest[half], size);
    s->least[half] =
        _mm256_min_epu32(s->least[half], _mm256_add_epi32(size, _mm256_set1_epi32(-1)));
    add_doubles(s, 2 * half, _mm256_castps256_ps128(x));
    add_doubles(s, 2 * half + 1, _mm256_extractf128_ps(x, 1));
}

INLINE uint32_t count_of(const __m256i counts[2])
{
    uint32_t lanes[8], sum = 0;
    _mm256_storeu_si256((void *)lanes, _mm256_add_epi32(counts[0], counts[1]));
    for (size_t i = 0; i < 8; i++)
        sum -= lanes[i];
    return sum;
}

INLINE void finish(const struct sums *s, struct by_sketch_piece *piece, double *sum,
                   double *squares)
{
    float min[8], max[8];
    uint32_t greatest[8], least[8];
    for (size_t i = 0; i < 4; i++) {
        _mm256_storeu_pd(sum + 4 * i, s->sum[i]);
        _mm256_storeu_pd(squares + 4 * i, s->squares[i]);
    }
    _mm256_storeu_ps(min, _mm256_min_ps(s->min[0], s->min[1]));
    _mm256_storeu_ps(max, _mm256_max_ps(s->max[0], s->max[1]));
    _mm256_storeu_si256((void *)greatest, _mm256_max_epu32(s->greatest[0], s->greatest[1]));
    _mm256_storeu_si256((void *)least, _mm256_min_epu32(s->least[0], s->least[1]));
    *piece = (struct by_sketch_piece){.least = UINT32_MAX, .min = INFINITY, .max = -INFINITY};
    for (size_t i = 0; i < 8; i++) {
        piece->min = min[i] < piece->min ? min[i] : piece->min;
        piece->max = max[i] > piece->max ? max[i] : piece->max;
        piece->greatest = greatest[i] > piece->greatest ? greatest[i] : piece->greatest;
        piece->least = least[i] < piece->least ? least[i] : piece->least;
    }
    piece->least += piece->least != UINT32_MAX;
    piece->infinities = count_of(s->infinities);
    piece->nans = count_of(s->nans);
    piece->zeros = count_of(s->zeros) - piece->infinities - piece->nans;
}

/* strange: there may be NaN and infinity. */
INLINE void measure_with(const float *values, size_t count, struct by_sketch_piece *piece,
                         double *sum, double *squares, bool strange)
{
    struct sums s;
    __m256i none = _mm256_setzero_si256();
    for (size_t i = 0; i < 4; i++)
        s.sum[i] = s.squares[i] = _mm256_setzero_pd();
    for (size_t i = 0; i < 2; i++) {
        s.min[i] = _mm256_set1_ps(INFINITY);
        s.max[i] = _mm256_set1_ps(-INFINITY);
        s.greatest[i] = s.zeros[i] = s.infinities[i] = s.nans[i] = none;
        s.least[i] = _mm256_set1_epi32(-1);
    }
    for (size_t i = 0; i < count; i += 16) {
        add_eight(&s, 0, _mm256_loadu_ps(values + i), strange);
        add_eight(&s, 1, _mm256_loadu_ps(values + i + 8), strange);
    }
    finish(&s, piece, sum, squares);
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
    __m256i near, log_offset, even_offset;
    __m256 scale;
};

INLINE __m256i bins_of(const struct steps *steps, __m256 x, __m256i strays)
{
    __m256i size = magnitude(x);
    __m256i is_near = _mm256_cmpgt_epi32(size, steps->near);
    /* The others would do no harm here but make slow subnormals. */
    __m256 big = _mm256_castsi256_ps(_mm256_and_si256(size, is_near));
    __m256i even = _mm256_cvttps_epi32(_mm256_mul_ps(big, steps->scale));
    even = _mm256_add_epi32(even, steps->even_offset);
    __m256i log = _mm256_add_epi32(_mm256_srli_epi32(size, 16), steps->log_offset);
    log = _mm256_max_epi32(log, _mm256_srli_epi32(size, 19));
    __m256i negative = _mm256_srai_epi32(_mm256_castps_si256(x), 31);
    __m256i side = _mm256_and_si256(negative, _mm256_set1_epi32(BY_SKETCH_BINS));
    __m256i bin = _mm256_add_epi32(_mm256_blendv_epi8(log, even, is_near), side);
    /* Zero less one is the greatest of all. */
    __m256i less = _mm256_add_epi32(size, _mm256_set1_epi32(-1));
    __m256i counts = _mm256_cmpgt_epi32(_mm256_set1_epi32(BY_SKETCH_INF - 1),
                                        _mm256_and_si256(less, _mm256_set1_epi32(0x7fffffff)));
    return _mm256_blendv_epi8(strays, bin, counts);
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
        .near = _mm256_set1_epi32(numbers.near),
        .log_offset = _mm256_set1_epi32(numbers.log_offset),
        .even_offset = _mm256_set1_epi32(numbers.even_offset),
        .scale = _mm256_set1_ps(numbers.scale),
    };
    __m256i low = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                                   _mm256_set1_epi32(2 * BY_SKETCH_BINS));
    __m256i high = _mm256_add_epi32(low, _mm256_set1_epi32(8));
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m256i first = bins_of(&steps, _mm256_loadu_ps(values + i), low);
        __m256i second = bins_of(&steps, _mm256_loadu_ps(values + i + 8), high);
        /* Packing works within each 128-bit half; the permutation puts them in order. */
        __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(first, second), 0xd8);
        _mm256_storeu_si256((void *)(bins + i), packed);
    }
    by_sketch_place_plain(plan, values + i, count - i, bins + i);
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

const struct by_sketch_path by_sketch_avx2 = {"avx2", supported, measure, place, range, ranges};

#endif
