/*
 * Searches for the scale (and minimum) of small groups of values: what the block types' encoders
 * spend their time on.
 *
 * Eight groups are searched at once, each by itself: element i of group g is at [i * 8 + g], so
 * that a vector path has a group in each lane and adds in the order of the plain path. Nothing is
 * contracted to fused multiply-adds (-ffp-contract=off): the bits are those of ggml's reference
 * quantizers in plain C.
 */
#ifndef BY_LLM_GGML_SEARCH_H
#define BY_LLM_GGML_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BY_GGML_GROUPS   8
#define BY_GGML_ELEMENTS 32 /* of a group, at most */

struct by_ggml_set {
    size_t count; /* elements of a group */
    float x[BY_GGML_ELEMENTS * BY_GGML_GROUPS];
    float weights[BY_GGML_ELEMENTS * BY_GGML_GROUPS];
};

/* Levels 0 to top: value = scale * level + min, min <= 0. */
struct by_ggml_affine {
    int top;
    float start, step; /* levels more than top that the range is stretched to, try by try */
    int tries;
    bool absolute; /* weighted sum of absolute errors, not of squares */
};

/* What was found for each group. A level is nearest(inverse * (x - base)), cut to the type's. */
struct by_ggml_fit {
    float scale[BY_GGML_GROUPS], min[BY_GGML_GROUPS];
    float inverse[BY_GGML_GROUPS], base[BY_GGML_GROUPS];
};

struct by_ggml_rounding {
    float min, inverse, add;
    int top;
};

struct by_ggml_search {
    const char *name;
    bool (*supported)(void);
    void (*affine)(const struct by_ggml_set *set, const struct by_ggml_affine *how,
                   struct by_ggml_fit *fit);
    /* Levels -half to half - 1: value = scale * level. inverse is 0 where all values are 0. */
    void (*symmetric)(const struct by_ggml_set *set, int half, struct by_ggml_fit *fit);
    /* The same by descent from the first levels, which it gives (plus half; all 0 where all values
     * are 0); weights are squares of the values. */
    void (*descent)(const struct by_ggml_set *set, int half, float *scales, int8_t *levels);
    /* Levels of the table of IQ4; scales alone. */
    void (*table)(const struct by_ggml_set *set, float *scales);

    /* The same of 32 values that stand together, where nothing is searched. */
    void (*extremes)(const float *x, float *low, float *high);
    /* whole(x * inverse + add) after min is taken off, in eight bits, at most top. */
    void (*round)(const float *x, const struct by_ggml_rounding *how, uint8_t *levels);
    /* Nearest whole numbers of x * inverse, ties away from zero, as int8. */
    void (*round_away)(const float *x, float inverse, uint8_t *levels);
    /* How many of seven ascending bounds the magnitude passes, and 8 where that is of a value below
     * 0. */
    void (*passes)(const float *x, const float bounds[7], uint8_t *codes);
};

extern const struct by_ggml_search by_ggml_search_plain;
#if defined(__x86_64__)
extern const struct by_ggml_search by_ggml_search_avx2;
#elif defined(__aarch64__)
extern const struct by_ggml_search by_ggml_search_neon;
#endif

/* The fastest that this processor has. */
const struct by_ggml_search *by_ggml_search(void);

/* A few values at the given places, plain: `symmetric` of one group. */
float by_ggml_symmetric(const float *x, const float *weights, size_t count, int half,
                        uint8_t *levels);
/* Levels 0 to top of values >= 0: value = scale * level. */
float by_ggml_positive(const float *x, const float *weights, size_t count, int top,
                       uint8_t *levels);

/* Steps of the table of IQ4: by_ggml_iq4[i] from by_ggml_iq4_middle[i - 1] on. */
extern const int8_t by_ggml_iq4[16];
extern const float by_ggml_iq4_middle[15];

/* Groups whose greatest magnitude is below this count as zeros. */
#define BY_GGML_NOTHING 1e-15f

#define BY_GGML_ROUNDER 12582912.0f /* 1.5 * 2^23 */

/* The nearest whole number, ties to even, of |value| < 2^22; a number for any other value. */
static inline int by_ggml_nearest(float value)
{
    union {
        float number;
        int32_t bits;
    } sum = {value + BY_GGML_ROUNDER};
    return (sum.bits & 0x7fffff) - 0x400000;
}

/* The level of the table that is nearest, the upper one of two; the last one for NaN. */
static inline size_t by_ggml_iq4_index(float value)
{
    size_t index = 0;
    for (size_t i = 0; i < 15; i++)
        index += !(value < by_ggml_iq4_middle[i]);
    return index;
}

/* Towards zero, in eight bits as x86 converts: what does not fit into an int is 0. */
static inline int8_t by_ggml_whole(float value)
{
    return value > -0x1p31f && value < 0x1p31f ? (int8_t)(int)value : 0;
}

static inline int by_ggml_cut(int level, int low, int high)
{
    return level < low ? low : level > high ? high : level;
}

#endif
