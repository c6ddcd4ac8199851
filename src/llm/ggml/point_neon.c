/* The cell that costs least with NEON: four at once, whose costs come out of two registers. */
#include "llm/ggml/points.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <math.h>

#define LANES 4

/* Where the four bytes of a step's float are in a table: tables are looked up byte by byte. */
static inline uint8x16_t bytes_of(uint32x4_t cells, int shift)
{
    const uint32x4_t step = vandq_u32(vshlq_u32(cells, vdupq_n_s32(-shift)), vdupq_n_u32(7));
    return vreinterpretq_u8_u32(vmlaq_n_u32(vdupq_n_u32(0x03020100), step, 0x04040404));
}

static inline float32x4_t table_at(const float of[BY_POINT_STEPS], uint8x16_t bytes)
{
    const uint8x16x2_t table = {{vreinterpretq_u8_f32(vld1q_f32(of)),
                                 vreinterpretq_u8_f32(vld1q_f32(of + BY_POINT_STEPS / 2))}};
    return vreinterpretq_f32_u8(vqtbl2q_u8(table, bytes));
}

/* What a table says of steps of four cells. */
static inline void look_up(uint32x4_t cells, const float of[BY_POINT_VALUES][BY_POINT_STEPS],
                           float32x4_t *found)
{
    found[0] = table_at(of[0], bytes_of(cells, 0));
    found[1] = table_at(of[1], bytes_of(cells, 3));
    found[2] = table_at(of[2], bytes_of(cells, 6));
    found[3] = table_at(of[3], bytes_of(cells, 9));
}

static inline uint32x4_t load_cells(const uint16_t *cells)
{
    return vmovl_u16(vld1_u16(cells));
}

static inline float32x4_t own_costs(uint32x4_t cells, const struct by_point_costs *costs)
{
    float32x4_t own[BY_POINT_VALUES];
    look_up(cells, costs->of, own);
    return vaddq_f32(vaddq_f32(own[0], own[1]), vaddq_f32(own[2], own[3]));
}

static inline float32x4_t times(float factor, float32x4_t by)
{
    return vmulq_n_f32(by, factor);
}

static inline float32x4_t pair_costs(uint32x4_t cells, const struct by_point_ways *ways)
{
    float32x4_t way[BY_POINT_VALUES];
    const float *const pairs = ways->pairs;
    look_up(cells, ways->of, way);
    const float32x4_t two = vaddq_f32(times(pairs[0], way[1]), times(pairs[1], way[2]));
    const float32x4_t three = vaddq_f32(two, times(pairs[2], way[3]));
    const float32x4_t later = vaddq_f32(times(pairs[3], way[2]), times(pairs[4], way[3]));
    const float32x4_t first = vmulq_f32(way[0], three), second = vmulq_f32(way[1], later);
    const float32x4_t third = vmulq_f32(way[2], times(pairs[5], way[3]));
    return vaddq_f32(first, vaddq_f32(second, third));
}

/* Each lane keeps the first of its least ones. */
struct found {
    float32x4_t least;
    uint32x4_t best, at;
};

static inline struct found nothing_found(void)
{
    const uint32_t lanes[LANES] = {0, 1, 2, 3};
    return (struct found){vdupq_n_f32(INFINITY), vdupq_n_u32(0), vld1q_u32(lanes)};
}

static inline void keep_less(struct found *found, float32x4_t sums)
{
    const uint32x4_t less = vcltq_f32(sums, found->least);
    found->least = vbslq_f32(less, sums, found->least);
    found->best = vbslq_u32(less, found->at, found->best);
    found->at = vaddq_u32(found->at, vdupq_n_u32(LANES));
}

/* Of the lanes' least ones the first. */
static size_t join_lanes(const struct found *found, float *cost)
{
    float values[LANES];
    uint32_t numbers[LANES];
    size_t best = 0;
    vst1q_f32(values, found->least);
    vst1q_u32(numbers, found->best);
    for (size_t i = 1; i < LANES; i++)
        if (values[i] < values[best] || (values[i] == values[best] && numbers[i] < numbers[best]))
            best = i;
    *cost = values[best];
    return values[best] < INFINITY ? numbers[best] : 0;
}

static unsigned neon_least(const uint16_t *cells, size_t count, const struct by_point_costs *costs,
                           float *cost)
{
    struct found found = nothing_found();
    for (size_t i = 0; i < count; i += LANES)
        keep_less(&found, own_costs(load_cells(cells + i), costs));
    return cells[join_lanes(&found, cost)];
}

static unsigned neon_least_joint(const uint16_t *cells, size_t count,
                                 const struct by_point_costs *costs,
                                 const struct by_point_ways *ways, float *cost)
{
    struct found found = nothing_found();
    for (size_t i = 0; i < count; i += LANES) {
        const uint32x4_t some = load_cells(cells + i);
        keep_less(&found, vaddq_f32(own_costs(some, costs), pair_costs(some, ways)));
    }
    return cells[join_lanes(&found, cost)];
}

static bool point_neon_supported(void)
{
    return true;
}

const struct by_point_path by_point_neon = {"neon", point_neon_supported, neon_least,
                                            neon_least_joint};

#endif
