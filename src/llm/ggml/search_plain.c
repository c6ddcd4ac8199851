/* Searches for scales of groups, one group after the other: the definition of the result. */
#include "llm/ggml/search.h"

#include <math.h>

/* Values of a group, `stride` apart, with their weights; weights NULL: squares of the values. */
struct span {
    const float *x, *weights;
    size_t count, stride;
};

static float value_at(const struct span *span, size_t i)
{
    return span->x[i * span->stride];
}

static float weight_at(const struct span *span, size_t i)
{
    float x = value_at(span, i);
    return span->weights ? span->weights[i * span->stride] : x * x;
}

static struct span span_of(const struct by_ggml_set *set, size_t group)
{
    return (struct span){set->x + group, set->weights + group, set->count, BY_GGML_GROUPS};
}

/* The value of greatest magnitude, the first of several; 0 when nothing is there. */
static float peak(const struct span *span)
{
    float most = 0, size = 0;
    for (size_t i = 0; i < span->count; i++) {
        float x = value_at(span, i);
        if (fabsf(x) > size) {
            size = fabsf(x);
            most = x;
        }
    }
    return size < BY_GGML_NOTHING ? 0 : most;
}

/* --- Scale and minimum --- */

struct line {
    float scale, min, inverse, base;
};

struct moments {
    float weight, x, level, level2, x_level;
};

static int affine_level(const struct span *span, size_t i, const struct line *line, int top)
{
    return by_ggml_cut(by_ggml_nearest(line->inverse * (value_at(span, i) - line->base)), 0, top);
}

/* Error of the levels by inverse and base with scale and min. */
static float affine_error(const struct span *span, const struct line *line,
                          const struct by_ggml_affine *how)
{
    float error = 0;
    for (size_t i = 0; i < span->count; i++) {
        float level = (float)affine_level(span, i, line, how->top);
        float off = line->scale * level + line->min - value_at(span, i);
        error += weight_at(span, i) * (how->absolute ? fabsf(off) : off * off);
    }
    return error;
}

static void add_levels(const struct span *span, const struct line *line, int top,
                       struct moments *sums)
{
    sums->level = sums->level2 = sums->x_level = 0;
    for (size_t i = 0; i < span->count; i++) {
        float level = (float)affine_level(span, i, line, top), weight = weight_at(span, i);
        sums->level += weight * level;
        sums->level2 += weight * level * level;
        sums->x_level += weight * level * value_at(span, i);
    }
}

/* Least squares of scale and min for the levels; false when they are all the same. */
static bool solve_line(const struct moments *sums, struct line *line)
{
    float det = sums->weight * sums->level2 - sums->level * sums->level;
    if (!(det > 0))
        return false;
    line->scale = (sums->weight * sums->x_level - sums->x * sums->level) / det;
    line->min = (sums->level2 * sums->x - sums->level * sums->x_level) / det;
    if (line->min > 0) {
        line->min = 0;
        line->scale = sums->x_level / sums->level2;
    }
    return true;
}

static void extremes_and_sums(const struct span *span, float *min, float *max, struct moments *sums)
{
    *min = *max = value_at(span, 0);
    sums->weight = weight_at(span, 0);
    sums->x = sums->weight * value_at(span, 0);
    for (size_t i = 1; i < span->count; i++) {
        float x = value_at(span, i), weight = weight_at(span, i);
        *min = x < *min ? x : *min;
        *max = x > *max ? x : *max;
        sums->weight += weight;
        sums->x += weight * x;
    }
    *min = *min > 0 ? 0 : *min;
}

static struct line fit_line(const struct span *span, const struct by_ggml_affine *how)
{
    struct moments sums;
    float min, max;
    extremes_and_sums(span, &min, &max, &sums);
    if (max == min)
        return (struct line){.min = min, .base = min};
    float inverse = (float)how->top / (max - min);
    struct line best = {1 / inverse, min, inverse, min};
    float least = affine_error(span, &best, how);
    for (int i = 0; i <= how->tries; i++) {
        float levels = how->start + how->step * (float)i + (float)how->top;
        struct line line = {.inverse = levels / (max - best.min), .base = best.min};
        add_levels(span, &line, how->top, &sums);
        if (!solve_line(&sums, &line))
            continue;
        float error = affine_error(span, &line, how);
        if (error < least) {
            least = error;
            best = line;
        }
    }
    return best;
}

static void affine(const struct by_ggml_set *set, const struct by_ggml_affine *how,
                   struct by_ggml_fit *fit)
{
    for (size_t g = 0; g < BY_GGML_GROUPS; g++) {
        struct span span = span_of(set, g);
        struct line line = fit_line(&span, how);
        fit->scale[g] = line.scale;
        fit->min[g] = line.min;
        fit->inverse[g] = line.inverse;
        fit->base[g] = line.base;
    }
}

/* --- Scale alone --- */

static int symmetric_level(float x, float inverse, int half)
{
    return by_ggml_cut(by_ggml_nearest(inverse * x), -half, half - 1);
}

struct products {
    float x_level, level2;
};

static struct products sum_levels(const struct span *span, float inverse, int half)
{
    struct products sums = {0, 0};
    for (size_t i = 0; i < span->count; i++) {
        float x = value_at(span, i), weight = weight_at(span, i);
        float level = (float)symmetric_level(x, inverse, half);
        sums.x_level += weight * x * level;
        sums.level2 += weight * level * level;
    }
    return sums;
}

/* The scale, and the inverse that the levels are rounded by (0: all values are 0). */
static float fit_scale(const struct span *span, int half, float *inverse)
{
    const float most = peak(span);
    *inverse = 0;
    if (most == 0)
        return 0;
    *inverse = -(float)half / most;
    struct products sums = sum_levels(span, *inverse, half);
    float scale = sums.level2 != 0 ? sums.x_level / sums.level2 : 0;
    float best = scale * sums.x_level;
    for (int i = -9; i <= 9; i++) {
        if (i == 0)
            continue;
        float tried = -((float)half + 0.1f * (float)i) / most;
        sums = sum_levels(span, tried, half);
        if (sums.level2 > 0 && sums.x_level * sums.x_level > best * sums.level2) {
            *inverse = tried;
            scale = sums.x_level / sums.level2;
            best = scale * sums.x_level;
        }
    }
    return scale;
}

static void symmetric(const struct by_ggml_set *set, int half, struct by_ggml_fit *fit)
{
    for (size_t g = 0; g < BY_GGML_GROUPS; g++) {
        struct span span = span_of(set, g);
        fit->scale[g] = fit_scale(&span, half, &fit->inverse[g]);
        fit->min[g] = fit->base[g] = 0;
    }
}

float by_ggml_symmetric(const float *x, const float *weights, size_t count, int half,
                        uint8_t *levels)
{
    const struct span span = {x, weights, count, 1};
    float inverse, scale = fit_scale(&span, half, &inverse);
    for (size_t i = 0; i < count; i++)
        levels[i] = inverse != 0 ? (uint8_t)(symmetric_level(x[i], inverse, half) + half) : 0;
    return scale;
}

/* --- Scale by descent: a level moves when that lowers the error --- */

static bool descend_levels(const struct span *span, int half, struct products *sums, int8_t *levels)
{
    bool moved = false;
    for (size_t i = 0; i < span->count; i++) {
        float x = value_at(span, i), weight = x * x;
        float level = (float)levels[i * span->stride];
        struct products rest = {sums->x_level - weight * x * level,
                                sums->level2 - weight * level * level};
        if (!(rest.x_level > 0))
            continue;
        int next = by_ggml_nearest(x * rest.level2 / rest.x_level);
        next = by_ggml_cut(next, -half, half - 1);
        if (next == levels[i * span->stride])
            continue;
        rest.x_level += weight * x * (float)next;
        rest.level2 += weight * (float)next * (float)next;
        if (rest.level2 > 0 && rest.x_level * rest.x_level * sums->level2 >
                                   sums->x_level * sums->x_level * rest.level2) {
            levels[i * span->stride] = (int8_t)next;
            *sums = rest;
            moved = true;
        }
    }
    return moved;
}

#define DESCENTS 5

static float fit_descent(const struct span *span, int half, int8_t *levels)
{
    const float most = peak(span), inverse = most != 0 ? -(float)half / most : 0;
    struct products sums = {0, 0};
    for (size_t i = 0; i < span->count; i++) {
        float x = value_at(span, i), weight = x * x;
        int level = symmetric_level(x, inverse, half);
        levels[i * span->stride] = most != 0 ? (int8_t)level : (int8_t)-half;
        sums.x_level += weight * x * (float)level;
        sums.level2 += weight * (float)level * (float)level;
    }
    for (int i = 0; most != 0 && i < DESCENTS; i++)
        if (!descend_levels(span, half, &sums, levels))
            break;
    for (size_t i = 0; i < span->count; i++)
        levels[i * span->stride] = (int8_t)(levels[i * span->stride] + half);
    return most != 0 && sums.level2 > 0 ? sums.x_level / sums.level2 : 0;
}

static void descent(const struct by_ggml_set *set, int half, float *scales, int8_t *levels)
{
    for (size_t g = 0; g < BY_GGML_GROUPS; g++) {
        struct span span = span_of(set, g);
        scales[g] = fit_descent(&span, half, levels + g);
    }
}

/* --- Scales of values that are not negative --- */

static int positive_level(float x, float inverse, int top)
{
    int level = by_ggml_nearest(inverse * x);
    return level > top ? top : level;
}

static float positive_error(const struct span *span, float inverse, int top)
{
    const float scale = 1 / inverse;
    float error = 0;
    for (size_t i = 0; i < span->count; i++) {
        float x = value_at(span, i);
        float off = x - scale * (float)positive_level(x, inverse, top);
        error += weight_at(span, i) * off * off;
    }
    return error;
}

static float best_inverse(const struct span *span, float max, int top)
{
    float best = (float)top / max;
    float least = positive_error(span, best, top);
    for (int i = -4; i <= 4; i++) {
        if (i == 0)
            continue;
        float inverse = (0.1f * (float)i + (float)top) / max;
        float error = positive_error(span, inverse, top);
        if (error < least) {
            least = error;
            best = inverse;
        }
    }
    return best;
}

static bool descend_positive(const struct span *span, int top, struct products *sums,
                             uint8_t *levels)
{
    bool moved = false;
    for (size_t i = 0; i < span->count; i++) {
        float x = value_at(span, i), weight = weight_at(span, i), level = (float)levels[i];
        struct products rest = {sums->x_level - weight * x * level,
                                sums->level2 - weight * level * level};
        if (!(rest.x_level > 0 && rest.level2 > 0))
            continue;
        int next = by_ggml_nearest(x * rest.level2 / rest.x_level);
        next = next > top ? top : next;
        if (next == levels[i])
            continue;
        rest.x_level += weight * x * (float)next;
        rest.level2 += weight * (float)next * (float)next;
        if (rest.x_level * rest.x_level * sums->level2 >
            sums->x_level * sums->x_level * rest.level2) {
            levels[i] = (uint8_t)next;
            *sums = rest;
            moved = true;
        }
    }
    return moved;
}

float by_ggml_positive(const float *x, const float *weights, size_t count, int top, uint8_t *levels)
{
    const struct span span = {x, weights, count, 1};
    struct products sums = {0, 0};
    float max = 0;
    for (size_t i = 0; i < count; i++) {
        max = max > x[i] ? max : x[i];
        levels[i] = 0;
    }
    if (max < BY_GGML_NOTHING)
        return 0;
    const float inverse = best_inverse(&span, max, top);
    for (size_t i = 0; i < count; i++) {
        int level = positive_level(x[i], inverse, top);
        levels[i] = (uint8_t)level;
        sums.x_level += weights[i] * x[i] * (float)level;
        sums.level2 += weights[i] * (float)level * (float)level;
    }
    for (int i = 0; i < DESCENTS; i++)
        if (!descend_positive(&span, top, &sums, levels))
            break;
    return sums.level2 > 0 ? sums.x_level / sums.level2 : 0;
}

/* --- Scale of levels in a table --- */

const int8_t by_ggml_iq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                1,    13,   25,  38,  53,  69,  89,  113};
const float by_ggml_iq4_middle[15] = {-115.5f, -93.5f, -74,   -57,   -42, -28.5f, -16, -4.5f,
                                      7,       19,     31.5f, 45.5f, 61,  79,     101};

static struct products sum_table(const struct span *span, float inverse)
{
    struct products sums = {0, 0};
    for (size_t i = 0; i < span->count; i++) {
        float x = value_at(span, i), weight = weight_at(span, i);
        float level = (float)by_ggml_iq4[by_ggml_iq4_index(inverse * x)];
        sums.x_level += weight * level * x;
        sums.level2 += weight * level * level;
    }
    return sums;
}

static float fit_table(const struct span *span)
{
    const float most = peak(span), first = (float)by_ggml_iq4[0];
    if (most == 0)
        return 0;
    struct products sums = sum_table(span, 1 / (-most / first));
    float scale = sums.level2 > 0 ? sums.x_level / sums.level2 : 0;
    float best = scale * sums.x_level;
    for (int i = -7; i <= 7; i++) {
        sums = sum_table(span, ((float)i + first) / most);
        if (sums.level2 > 0 && sums.x_level * sums.x_level > best * sums.level2) {
            scale = sums.x_level / sums.level2;
            best = scale * sums.x_level;
        }
    }
    return scale;
}

static void table(const struct by_ggml_set *set, float *scales)
{
    for (size_t g = 0; g < BY_GGML_GROUPS; g++) {
        struct span span = span_of(set, g);
        scales[g] = fit_table(&span);
    }
}

/* --- Without a search --- */

static void extremes(const float *x, float *low, float *high)
{
    *low = *high = x[0];
    for (size_t i = 1; i < BY_GGML_ELEMENTS; i++) {
        *low = x[i] < *low ? x[i] : *low;
        *high = x[i] > *high ? x[i] : *high;
    }
}

static void round_levels(const float *x, const struct by_ggml_rounding *how, uint8_t *levels)
{
    for (size_t i = 0; i < BY_GGML_ELEMENTS; i++) {
        int level = by_ggml_whole((x[i] - how->min) * how->inverse + how->add);
        levels[i] = (uint8_t)(level > how->top ? how->top : level);
    }
}

static void round_away(const float *x, float inverse, uint8_t *levels)
{
    for (size_t i = 0; i < BY_GGML_ELEMENTS; i++) {
        const float value = x[i] * inverse, size = fabsf(value);
        const float even = (size + 0x1p23f) - 0x1p23f;
        const float away = size - even == 0.5f ? even + 1 : even;
        levels[i] = (uint8_t)by_ggml_whole(value < 0 ? -away : away);
    }
}

static void passes(const float *x, const float bounds[7], uint8_t *codes)
{
    for (size_t i = 0; i < BY_GGML_ELEMENTS; i++) {
        unsigned code = 0;
        for (size_t k = 0; k < 7; k++)
            code += fabsf(x[i]) > bounds[k];
        codes[i] = (uint8_t)(code && x[i] < 0 ? code + 8 : code);
    }
}

static bool plain_supported(void)
{
    return true;
}

const struct by_ggml_search by_ggml_search_plain = {
    "plain", plain_supported, affine,       symmetric,  descent,
    table,   extremes,        round_levels, round_away, passes};
