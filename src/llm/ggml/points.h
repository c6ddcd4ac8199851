/*
 * Points of IQ3_XXS and IQ3_S: four magnitudes at once are one of 256 or 512 that the format
 * lists, and signs are apart. A magnitude is one of eight steps.
 */
#ifndef BY_LLM_GGML_POINTS_H
#define BY_LLM_GGML_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BY_POINT_VALUES 4
#define BY_POINT_STEPS  8
#define BY_POINTS_MOST  512
#define BY_POINT_CELLS  4096 /* of all steps of four values */
#define BY_POINTS_NEAR  24
#define BY_POINT_NONE   UINT16_MAX

struct by_ggml_points {
    size_t count;
    bool even;           /* of the signs of eight values, an even number is negative */
    const float *sizes;  /* of the steps, ascending */
    const float *levels; /* the same with both signs: 16, ascending */
    uint16_t cells[BY_POINTS_MOST];
    uint16_t of_cell[BY_POINT_CELLS]; /* number of the point; BY_POINT_NONE: none */
    /* Points next to a cell, the nearest first. */
    uint16_t near[BY_POINT_CELLS][BY_POINTS_NEAR];
};

extern const float by_ggml_levels_xxs[2 * BY_POINT_STEPS], by_ggml_levels_s[2 * BY_POINT_STEPS];
const struct by_ggml_points *by_ggml_points_xxs(void);
const struct by_ggml_points *by_ggml_points_s(void);

/* Levels are numbers of `levels`. */
static inline unsigned by_point_step(uint8_t level)
{
    return level < BY_POINT_STEPS ? BY_POINT_STEPS - 1u - level : level - (unsigned)BY_POINT_STEPS;
}

static inline uint8_t by_point_level(unsigned step, bool negative)
{
    return (uint8_t)(negative ? BY_POINT_STEPS - 1 - step : BY_POINT_STEPS + step);
}

/* The step of a magnitude in steps, were all of them there. */
static inline unsigned by_point_step_of(float steps)
{
    return !(steps > 0) ? 0 : steps < BY_POINT_STEPS ? (unsigned)steps : BY_POINT_STEPS - 1;
}

/* Steps of four values, three bits each. */
static inline unsigned by_point_cell(const unsigned steps[BY_POINT_VALUES])
{
    return steps[0] | steps[1] << 3 | steps[2] << 6 | steps[3] << 9;
}

static inline unsigned by_point_step_at(unsigned cell, size_t k)
{
    return cell >> 3 * k & 7;
}

/* What a point costs is the sum of what its steps cost. */
struct by_point_costs {
    float of[BY_POINT_VALUES][BY_POINT_STEPS];
};

/* How far the four values go with each step, and what two of them going together cost more. */
struct by_point_ways {
    float of[BY_POINT_VALUES][BY_POINT_STEPS];
    float pairs[6]; /* 01 02 03 12 13 23 */
};

struct by_point_path {
    const char *name;
    bool (*supported)(void);
    /* The cell that costs least, the first of several; count: a multiple of 8. */
    unsigned (*least)(const uint16_t *cells, size_t count, const struct by_point_costs *costs,
                      float *cost);
    unsigned (*least_joint)(const uint16_t *cells, size_t count, const struct by_point_costs *costs,
                            const struct by_point_ways *ways, float *cost);
};

extern const struct by_point_path by_point_plain;
#if defined(__x86_64__)
extern const struct by_point_path by_point_avx2;
#elif defined(__aarch64__)
extern const struct by_point_path by_point_neon;
#endif
const struct by_point_path *by_point_path(void);

#endif
