/* The cell that costs least with AVX2: eight at once, whose costs come out of registers. */
#include "llm/ggml/points.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <math.h>

#define LANES  8
#define TARGET __attribute__((target("avx2")))

/* What a table says of steps of eight cells: a permutation looks at the three lowest bits. */
TARGET static inline void look_up(__m256i cells, const float of[BY_POINT_VALUES][BY_POINT_STEPS],
                                  __m256 *found)
{
    const __m256i second = _mm256_srli_epi32(cells, 3), third = _mm256_srli_epi32(cells, 6);
    found[0] = _mm256_permutevar8x32_ps(_mm256_loadu_ps(of[0]), cells);
    found[1] = _mm256_permutevar8x32_ps(_mm256_loadu_ps(of[1]), second);
    found[2] = _mm256_permutevar8x32_ps(_mm256_loadu_ps(of[2]), third);
    found[3] = _mm256_permutevar8x32_ps(_mm256_loadu_ps(of[3]), _mm256_srli_epi32(cells, 9));
}

TARGET static inline __m256i load_cells(const uint16_t *cells)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)cells));
}

TARGET static inline __m256 own_costs(__m256i cells, const struct by_point_costs *costs)
{
    __m256 own[BY_POINT_VALUES];
    look_up(cells, costs->of, own);
    return _mm256_add_ps(_mm256_add_ps(own[0], own[1]), _mm256_add_ps(own[2], own[3]));
}

TARGET static inline __m256 times(float factor, __m256 by)
{
    return _mm256_mul_ps(_mm256_set1_ps(factor), by);
}

TARGET static inline __m256 pair_costs(__m256i cells, const struct by_point_ways *ways)
{
    __m256 way[BY_POINT_VALUES];
    const float *const pairs = ways->pairs;
    look_up(cells, ways->of, way);
    const __m256 two = _mm256_add_ps(times(pairs[0], way[1]), times(pairs[1], way[2]));
    const __m256 three = _mm256_add_ps(two, times(pairs[2], way[3]));
    const __m256 later = _mm256_add_ps(times(pairs[3], way[2]), times(pairs[4], way[3]));
    const __m256 first = _mm256_mul_ps(way[0], three), second = _mm256_mul_ps(way[1], later);
    const __m256 third = _mm256_mul_ps(way[2], times(pairs[5], way[3]));
    return _mm256_add_ps(first, _mm256_add_ps(second, third));
}

/* Each lane keeps the first of its least ones. */
struct found {
    __m256 least;
    __m256i best, at;
};

TARGET static inline struct found nothing_found(void)
{
    return (struct found){_mm256_set1_ps(INFINITY), _mm256_setzero_si256(),
                          _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)};
}

TARGET static inline void keep_less(struct found *found, __m256 sums)
{
    const __m256 less = _mm256_cmp_ps(sums, found->least, _CMP_LT_OQ);
    found->least = _mm256_blendv_ps(found->least, sums, less);
    found->best = _mm256_blendv_epi8(found->best, found->at, _mm256_castps_si256(less));
    found->at = _mm256_add_epi32(found->at, _mm256_set1_epi32(LANES));
}

/* Of the lanes' least ones the first. */
TARGET static size_t join_lanes(const struct found *found, float *cost)
{
    float values[LANES];
    int32_t numbers[LANES];
    size_t best = 0;
    _mm256_storeu_ps(values, found->least);
    _mm256_storeu_si256((__m256i *)numbers, found->best);
    for (size_t i = 1; i < LANES; i++)
        if (values[i] < values[best] || (values[i] == values[best] && numbers[i] < numbers[best]))
            best = i;
    *cost = values[best];
    return values[best] < INFINITY ? (size_t)numbers[best] : 0;
}

TARGET static unsigned avx2_least(const uint16_t *cells, size_t count,
                                  const struct by_point_costs *costs, float *cost)
{
    struct found found = nothing_found();
    for (size_t i = 0; i < count; i += LANES)
        keep_less(&found, own_costs(load_cells(cells + i), costs));
    return cells[join_lanes(&found, cost)];
}

TARGET static unsigned avx2_least_joint(const uint16_t *cells, size_t count,
                                        const struct by_point_costs *costs,
                                        const struct by_point_ways *ways, float *cost)
{
    struct found found = nothing_found();
    for (size_t i = 0; i < count; i += LANES) {
        const __m256i some = load_cells(cells + i);
        keep_less(&found, _mm256_add_ps(own_costs(some, costs), pair_costs(some, ways)));
    }
    return cells[join_lanes(&found, cost)];
}

static bool point_avx2_supported(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct by_point_path by_point_avx2 = {"avx2", point_avx2_supported, avx2_least,
                                            avx2_least_joint};

#endif
