/* The cell that costs least with AVX2: eight at once, whose costs come out of registers. */
#include "llm/ggml/points.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <math.h>

#define LANES  8
#define TARGET __attribute__((target("avx2")))

/* A permutation looks at the three lowest bits. */
TARGET static __m256 costs_of(const uint16_t *cells, const __m256 *costs)
{
    const __m256i all = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)cells));
    const __m256 a = _mm256_permutevar8x32_ps(costs[0], all);
    const __m256 b = _mm256_permutevar8x32_ps(costs[1], _mm256_srli_epi32(all, 3));
    const __m256 c = _mm256_permutevar8x32_ps(costs[2], _mm256_srli_epi32(all, 6));
    const __m256 d = _mm256_permutevar8x32_ps(costs[3], _mm256_srli_epi32(all, 9));
    return _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d));
}

/* Each lane has the first of its least ones; of these, the first. */
TARGET static size_t join_lanes(__m256 least, __m256i best, float *cost)
{
    float values[LANES];
    int32_t numbers[LANES];
    size_t found = 0;
    _mm256_storeu_ps(values, least);
    _mm256_storeu_si256((__m256i *)numbers, best);
    for (size_t i = 1; i < LANES; i++)
        if (values[i] < values[found] ||
            (values[i] == values[found] && numbers[i] < numbers[found]))
            found = i;
    *cost = values[found];
    return values[found] < INFINITY ? (size_t)numbers[found] : 0;
}

TARGET static unsigned avx2_least(const uint16_t *cells, size_t count,
                                  const struct by_point_costs *costs, float *cost)
{
    __m256 tables[BY_POINT_VALUES], least = _mm256_set1_ps(INFINITY);
    __m256i best = _mm256_setzero_si256(), at = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (size_t k = 0; k < BY_POINT_VALUES; k++)
        tables[k] = _mm256_loadu_ps(costs->of[k]);
    for (size_t i = 0; i < count; i += LANES) {
        const __m256 sums = costs_of(cells + i, tables);
        const __m256 less = _mm256_cmp_ps(sums, least, _CMP_LT_OQ);
        least = _mm256_blendv_ps(least, sums, less);
        best = _mm256_blendv_epi8(best, at, _mm256_castps_si256(less));
        at = _mm256_add_epi32(at, _mm256_set1_epi32(LANES));
    }
    return cells[join_lanes(least, best, cost)];
}

static bool point_avx2_supported(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct by_point_path by_point_avx2 = {"avx2", point_avx2_supported, avx2_least};

#endif
