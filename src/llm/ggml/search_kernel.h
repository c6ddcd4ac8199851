/*
 * The searches of search_plain.c with a group in each lane, in the compiler's own vectors. Whoever
 * includes this says
 *
 *   LANES                     floats of a vector: 4 or 8
 *   TARGET                    attribute of the functions
 *   IMAX(a, b), IMIN(a, b)    of vectors of int32_t
 *   ANY(mask)                 whether a lane of the mask is set
 *   BYTES(x)                  the low bytes of a vector of int32_t
 *
 * and gets affine(), symmetric(), descent(), table(), extremes(), round_levels(), round_away() and
 * passes(). Each lane does the same operations on the
 * same numbers in the same order as the plain path.
 */
#ifndef BY_LLM_GGML_SEARCH_KERNEL_H
#define BY_LLM_GGML_SEARCH_KERNEL_H

#include <string.h>

#define INLINE TARGET static inline __attribute__((always_inline))
#define ROW    BY_GGML_GROUPS

typedef float vfloats __attribute__((vector_size(4 * LANES)));
typedef int32_t vints __attribute__((vector_size(4 * LANES)));
typedef uint8_t vbytes __attribute__((vector_size(LANES)));

INLINE vfloats load(const float *at)
{
    vfloats x;
    memcpy(&x, at, sizeof x);
    return x;
}

INLINE void store(float *at, vfloats x)
{
    memcpy(at, &x, sizeof x);
}

INLINE vfloats fill(float value)
{
    return value - (vfloats){0};
}

INLINE vints fill_int(int32_t value)
{
    return value - (vints){0};
}

/* Lanes of mask are all ones or all zeros. */
INLINE vfloats choose(vints mask, vfloats yes, vfloats no)
{
    return (vfloats)(((vints)yes & mask) | ((vints)no & ~mask));
}

INLINE vfloats magnitude(vfloats x)
{
    return (vfloats)((vints)x & 0x7fffffff);
}

INLINE vints nearest(vfloats value, int low, int high)
{
    const vints level = ((vints)(value + BY_GGML_ROUNDER) & 0x7fffff) - 0x400000;
    return IMIN(IMAX(level, fill_int(low)), fill_int(high));
}

INLINE vfloats level_of(vfloats value, int low, int high)
{
    return __builtin_convertvector(nearest(value, low, high), vfloats);
}

INLINE vfloats peak(const float *x, size_t count)
{
    vfloats most = {0}, size = {0};
    for (size_t i = 0; i < count; i++) {
        const vfloats value = load(x + i * ROW);
        const vints more = magnitude(value) > size;
        size = choose(more, magnitude(value), size);
        most = choose(more, value, most);
    }
    return choose(size < BY_GGML_NOTHING, (vfloats){0}, most);
}

/* --- Scale and minimum --- */

struct lines {
    vfloats scale, min, inverse, base;
};

struct moments {
    vfloats weight, x, level, level2, x_level;
};

INLINE vfloats affine_error(const float *x, const float *weights, size_t count,
                            const struct lines *line, const struct by_ggml_affine *how)
{
    const vints kept = fill_int(how->absolute ? -1 : 0);
    vfloats error = {0};
    for (size_t i = 0; i < count; i++) {
        const vfloats value = load(x + i * ROW);
        const vfloats level = level_of(line->inverse * (value - line->base), 0, how->top);
        const vfloats off = line->scale * level + line->min - value;
        error += load(weights + i * ROW) * choose(kept, magnitude(off), off * off);
    }
    return error;
}

INLINE void add_levels(const float *x, const float *weights, size_t count, const struct lines *line,
                       int top, struct moments *sums)
{
    vfloats level1 = {0}, level2 = {0}, x_level = {0};
    for (size_t i = 0; i < count; i++) {
        const vfloats value = load(x + i * ROW), weight = load(weights + i * ROW);
        const vfloats level = level_of(line->inverse * (value - line->base), 0, top);
        const vfloats product = weight * level;
        level1 += product;
        level2 += product * level;
        x_level += product * value;
    }
    sums->level = level1;
    sums->level2 = level2;
    sums->x_level = x_level;
}

/* The lanes that have a solution. */
INLINE vints solve_lines(const struct moments *sums, struct lines *line)
{
    const vfloats det = sums->weight * sums->level2 - sums->level * sums->level;
    line->scale = (sums->weight * sums->x_level - sums->x * sums->level) / det;
    line->min = (sums->level2 * sums->x - sums->level * sums->x_level) / det;
    const vints above = line->min > 0;
    line->min = choose(above, (vfloats){0}, line->min);
    line->scale = choose(above, sums->x_level / sums->level2, line->scale);
    return det > 0;
}

INLINE void extremes_and_sums(const float *x, const float *weights, size_t count, vfloats *min,
                              vfloats *max, struct moments *sums)
{
    *min = *max = load(x);
    sums->weight = load(weights);
    sums->x = sums->weight * *min;
    for (size_t i = 1; i < count; i++) {
        const vfloats value = load(x + i * ROW), weight = load(weights + i * ROW);
        *min = choose(value < *min, value, *min);
        *max = choose(value > *max, value, *max);
        sums->weight += weight;
        sums->x += weight * value;
    }
    *min = choose(*min > 0, (vfloats){0}, *min);
}

INLINE void take_lines(vints better, const struct lines *line, struct lines *best)
{
    best->scale = choose(better, line->scale, best->scale);
    best->min = choose(better, line->min, best->min);
    best->inverse = choose(better, line->inverse, best->inverse);
    best->base = choose(better, line->base, best->base);
}

INLINE struct lines fit_lines(const float *x, const float *weights, size_t count,
                              const struct by_ggml_affine *how)
{
    struct moments sums;
    vfloats min, max;
    extremes_and_sums(x, weights, count, &min, &max, &sums);
    const vints flat = max == min;
    const vfloats inverse = (float)how->top / (max - min);
    struct lines best = {1 / inverse, min, inverse, min};
    vfloats least = affine_error(x, weights, count, &best, how);
    for (int i = 0; i <= how->tries; i++) {
        const float levels = how->start + how->step * (float)i + (float)how->top;
        struct lines line = {.inverse = levels / (max - best.min), .base = best.min};
        add_levels(x, weights, count, &line, how->top, &sums);
        const vints solved = solve_lines(&sums, &line);
        const vfloats error = affine_error(x, weights, count, &line, how);
        const vints better = solved & (error < least);
        least = choose(better, error, least);
        take_lines(better, &line, &best);
    }
    const struct lines none = {(vfloats){0}, min, (vfloats){0}, min};
    take_lines(flat, &none, &best);
    return best;
}

TARGET static void affine(const struct by_ggml_set *set, const struct by_ggml_affine *how,
                          struct by_ggml_fit *fit)
{
    const struct by_ggml_affine own = *how;
    for (size_t g = 0; g < ROW; g += LANES) {
        const struct lines line = fit_lines(set->x + g, set->weights + g, set->count, &own);
        store(fit->scale + g, line.scale);
        store(fit->min + g, line.min);
        store(fit->inverse + g, line.inverse);
        store(fit->base + g, line.base);
    }
}

/* --- Scale alone --- */

struct products {
    vfloats x_level, level2;
};

INLINE struct products sum_levels(const float *x, const float *weights, size_t count,
                                  vfloats inverse, int half)
{
    vfloats x_level = {0}, level2 = {0};
    for (size_t i = 0; i < count; i++) {
        const vfloats value = load(x + i * ROW), weight = load(weights + i * ROW);
        const vfloats level = level_of(inverse * value, -half, half - 1);
        x_level += weight * value * level;
        level2 += weight * level * level;
    }
    return (struct products){x_level, level2};
}

INLINE vints is_better(const struct products *sums, vfloats best)
{
    return (sums->level2 > 0) & (sums->x_level * sums->x_level > best * sums->level2);
}

INLINE vfloats fit_scales(const float *x, const float *weights, size_t count, int half,
                          vfloats *inverse)
{
    const vfloats most = peak(x, count);
    vfloats kept = -(float)half / most;
    struct products sums = sum_levels(x, weights, count, kept, half);
    vfloats scale = choose(sums.level2 != 0, sums.x_level / sums.level2, (vfloats){0});
    vfloats best = scale * sums.x_level;
    for (int i = -9; i <= 9; i++) {
        if (i == 0)
            continue;
        const vfloats tried = -((float)half + 0.1f * (float)i) / most;
        sums = sum_levels(x, weights, count, tried, half);
        const vints better = is_better(&sums, best);
        kept = choose(better, tried, kept);
        scale = choose(better, sums.x_level / sums.level2, scale);
        best = choose(better, scale * sums.x_level, best);
    }
    *inverse = choose(most == 0, (vfloats){0}, kept);
    return choose(most == 0, (vfloats){0}, scale);
}

TARGET static void symmetric(const struct by_ggml_set *set, int half, struct by_ggml_fit *fit)
{
    for (size_t g = 0; g < ROW; g += LANES) {
        vfloats inverse;
        store(fit->scale + g, fit_scales(set->x + g, set->weights + g, set->count, half, &inverse));
        store(fit->inverse + g, inverse);
        store(fit->min + g, (vfloats){0});
        store(fit->base + g, (vfloats){0});
    }
}

/* --- Scale by descent --- */

INLINE vints descend_levels(const float *x, size_t count, int half, struct products *sums,
                            vfloats *levels)
{
    vints moved = {0};
    for (size_t i = 0; i < count; i++) {
        const vfloats value = load(x + i * ROW), weight = value * value, level = levels[i];
        vfloats rest1 = sums->x_level - weight * value * level;
        vfloats rest2 = sums->level2 - weight * level * level;
        vints better = rest1 > 0;
        const vfloats next = level_of(value * rest2 / rest1, -half, half - 1);
        better &= next != level;
        rest1 += weight * value * next;
        rest2 += weight * next * next;
        better &=
            (rest2 > 0) & (rest1 * rest1 * sums->level2 > sums->x_level * sums->x_level * rest2);
        levels[i] = choose(better, next, level);
        sums->x_level = choose(better, rest1, sums->x_level);
        sums->level2 = choose(better, rest2, sums->level2);
        moved |= better;
    }
    return moved;
}

#define DESCENTS 5

INLINE vfloats fit_descent(const float *x, size_t count, int half, vfloats *levels)
{
    const vfloats most = peak(x, count);
    const vints none = most == 0;
    const vfloats inverse = choose(none, (vfloats){0}, -(float)half / most);
    struct products sums = {{0}, {0}};
    for (size_t i = 0; i < count; i++) {
        const vfloats value = load(x + i * ROW), weight = value * value;
        levels[i] = level_of(inverse * value, -half, half - 1);
        sums.x_level += weight * value * levels[i];
        sums.level2 += weight * levels[i] * levels[i];
    }
    for (int i = 0; i < DESCENTS; i++)
        if (!ANY(descend_levels(x, count, half, &sums, levels)))
            break;
    for (size_t i = 0; i < count; i++)
        levels[i] = choose(none, (vfloats){0}, levels[i] + (float)half);
    return choose((sums.level2 > 0) & ~none, sums.x_level / sums.level2, (vfloats){0});
}

TARGET static void descent(const struct by_ggml_set *set, int half, float *scales, int8_t *levels)
{
    for (size_t g = 0; g < ROW; g += LANES) {
        vfloats found[BY_GGML_ELEMENTS];
        store(scales + g, fit_descent(set->x + g, set->count, half, found));
        for (size_t i = 0; i < set->count; i++)
            for (size_t k = 0; k < LANES; k++)
                levels[i * ROW + g + k] = (int8_t)found[i][k];
    }
}

/* --- Scale of levels in a table --- */

INLINE vfloats table_level(vfloats value)
{
    vfloats level = fill((float)by_ggml_iq4[0]);
    for (size_t i = 0; i < 15; i++) {
        const float step = (float)(by_ggml_iq4[i + 1] - by_ggml_iq4[i]);
        level += choose(value < by_ggml_iq4_middle[i], (vfloats){0}, fill(step));
    }
    return level;
}

INLINE struct products sum_table(const float *x, const float *weights, size_t count,
                                 vfloats inverse)
{
    vfloats x_level = {0}, level2 = {0};
    for (size_t i = 0; i < count; i++) {
        const vfloats value = load(x + i * ROW);
        const vfloats level = table_level(inverse * value);
        const vfloats product = load(weights + i * ROW) * level;
        x_level += product * value;
        level2 += product * level;
    }
    return (struct products){x_level, level2};
}

INLINE vfloats fit_tables(const float *x, const float *weights, size_t count)
{
    const vfloats most = peak(x, count);
    const float first = (float)by_ggml_iq4[0];
    struct products sums = sum_table(x, weights, count, 1 / (-most / first));
    vfloats scale = choose(sums.level2 > 0, sums.x_level / sums.level2, (vfloats){0});
    vfloats best = scale * sums.x_level;
    for (int i = -7; i <= 7; i++) {
        sums = sum_table(x, weights, count, ((float)i + first) / most);
        const vints better = is_better(&sums, best);
        scale = choose(better, sums.x_level / sums.level2, scale);
        best = choose(better, scale * sums.x_level, best);
    }
    return choose(most == 0, (vfloats){0}, scale);
}

TARGET static void table(const struct by_ggml_set *set, float *scales)
{
    for (size_t g = 0; g < ROW; g += LANES)
        store(scales + g, fit_tables(set->x + g, set->weights + g, set->count));
}

/* --- Without a search: 32 values in a few vectors --- */

INLINE void store_bytes(uint8_t *at, vints x)
{
    const vbytes low = BYTES(x);
    memcpy(at, &low, sizeof low);
}

/* What does not fit into an int is 0. */
INLINE vints whole(vfloats value)
{
    const vints fits = magnitude(value) < 0x1p31f;
    return __builtin_convertvector(choose(fits, value, (vfloats){0}), vints);
}

typedef float four_floats __attribute__((vector_size(16)));
typedef int32_t four_ints __attribute__((vector_size(16)));

INLINE four_floats lesser(four_floats a, four_floats b)
{
    const four_ints below = a < b;
    return (four_floats)((below & (four_ints)a) | (~below & (four_ints)b));
}

INLINE float least_lane(vfloats x)
{
    four_floats parts[LANES / 4];
    memcpy(parts, &x, sizeof x);
    for (size_t i = 1; i < LANES / 4; i++)
        parts[0] = lesser(parts[i], parts[0]);
    parts[0] = lesser(__builtin_shufflevector(parts[0], parts[0], 2, 3, 0, 1), parts[0]);
    parts[0] = lesser(__builtin_shufflevector(parts[0], parts[0], 1, 0, 3, 2), parts[0]);
    return parts[0][0];
}

TARGET static void extremes(const float *x, float *low, float *high)
{
    vfloats least = load(x), most = least;
    for (size_t i = LANES; i < BY_GGML_ELEMENTS; i += LANES) {
        const vfloats value = load(x + i);
        least = choose(value < least, value, least);
        most = choose(value > most, value, most);
    }
    *low = least_lane(least);
    *high = -least_lane(-most);
}

TARGET static void round_levels(const float *x, const struct by_ggml_rounding *how, uint8_t *levels)
{
    for (size_t i = 0; i < BY_GGML_ELEMENTS; i += LANES) {
        const vfloats value = (load(x + i) - how->min) * how->inverse + how->add;
        const vints level = whole(value) << 24 >> 24;
        store_bytes(levels + i, IMIN(level, fill_int(how->top)));
    }
}

TARGET static void round_away(const float *x, float inverse, uint8_t *levels)
{
    for (size_t i = 0; i < BY_GGML_ELEMENTS; i += LANES) {
        const vfloats value = load(x + i) * inverse, size = magnitude(value);
        const vfloats even = (size + 0x1p23f) - 0x1p23f;
        const vints up = size - even == 0.5f;
        const vints level = whole(even) - up, below = value < 0;
        store_bytes(levels + i, (level ^ below) - below);
    }
}

TARGET static void passes(const float *x, const float bounds[7], uint8_t *codes)
{
    for (size_t i = 0; i < BY_GGML_ELEMENTS; i += LANES) {
        const vfloats value = load(x + i), size = magnitude(value);
        vints code = {0};
        for (size_t k = 0; k < 7; k++)
            code -= size > bounds[k];
        store_bytes(codes + i, code + ((value < 0) & (code != 0) & 8));
    }
}

#endif
