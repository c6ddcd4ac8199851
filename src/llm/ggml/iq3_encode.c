/*
 * Encodes IQ3_XXS and IQ3_S. For a scale the points of four values at once are those of least
 * weighted error, all of them tried; so a search goes through scales. These are not the blocks of
 * ggml's quantizers, which look at points next to rounded values only: errors are less.
 */
#include "llm/ggml/block.h"
#include "llm/ggml/points.h"

#include <math.h>
#include <string.h>

#define SUPER  BY_GGML_SUPER
#define GROUP  32
#define GROUPS (SUPER / GROUP)
#define EIGHT  8
#define FOUR   BY_POINT_VALUES
/* Weights below this share of the greatest one count as it. */
#define LEAST 0x1p-20f
/* Squares of greater values are not searched: no scale in float16 is for them. */
#define BEYOND 1e10f
#define ODD    31 /* the greatest code of a scale: all are odd */

/* Scales to begin with: what number the greatest value becomes. */
#define TRIED 5
#define FIRST 8.0f
#define NEXT  2.5f
#define AGAIN 2 /* times that points are chosen anew by the scale that suits them best */

/* A group of values. */
struct values {
    const struct by_ggml_points *points;
    const float *x, *weights;
};

struct rounded {
    uint8_t levels[GROUP];
    float xq, qq; /* weighted sums of values and numbers, and of their squares */
    float scale;  /* that suits the levels best */
};

/* --- Points for a scale --- */

enum search { AMONG_NEAR, AMONG_ALL };

/* Four values, negative (zeros too) where they are stored with the other sign. */
struct four {
    float sizes[FOUR], cost;
    unsigned cell;
};

/* The cell that four values are rounded to, were all of them points. */
static unsigned cell_of(const struct four *four, float scale)
{
    const float half = 0.5f / scale;
    unsigned steps[FOUR];
    for (size_t k = 0; k < FOUR; k++)
        steps[k] = by_point_step_of(four->sizes[k] * half);
    return by_point_cell(steps);
}

static void choose_point(const struct values *v, size_t at, float scale, enum search search,
                         struct four *four)
{
    struct by_point_costs costs;
    for (size_t k = 0; k < FOUR; k++)
        for (size_t i = 0; i < BY_POINT_STEPS; i++) {
            const float off = four->sizes[k] - scale * v->points->sizes[i];
            costs.of[k][i] = v->weights[at + k] * (off * off);
        }
    const bool all = search == AMONG_ALL;
    const uint16_t *cells = all ? v->points->cells : v->points->near[cell_of(four, scale)];
    four->cell =
        by_point_path()->least(cells, all ? v->points->count : BY_POINTS_NEAR, &costs, &four->cost);
}

static struct four with_other_sign(const struct values *v, size_t at, float scale,
                                   const struct four *four, size_t k, enum search search)
{
    struct four other = *four;
    other.sizes[k] = -other.sizes[k];
    choose_point(v, at, scale, search, &other);
    return other;
}

/* The value that loses least by the other sign, with its magnitude at the first step. */
static size_t cheap_sign(const struct values *v, size_t at, float scale, const struct four *fours)
{
    size_t best = 0;
    float least = INFINITY;
    for (size_t i = 0; i < EIGHT; i++) {
        const struct four *four = &fours[i / FOUR];
        const unsigned step = by_point_step_at(four->cell, i % FOUR);
        const float size = four->sizes[i % FOUR], now = size - scale * v->points->sizes[step];
        const float then = size + scale * v->points->sizes[0];
        const float cost = v->weights[at + i] * (then * then - now * now);
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

/* Changes the sign of one of eight values: that which costs least. */
static void change_sign(const struct values *v, size_t at, float scale, enum search search,
                        struct four *fours)
{
    const size_t cheap = cheap_sign(v, at, scale, fours), half = cheap / FOUR;
    struct four best =
        with_other_sign(v, at + half * FOUR, scale, &fours[half], cheap % FOUR, search);
    size_t where = half;
    for (size_t i = 0; search == AMONG_ALL && i < EIGHT; i++) {
        const size_t which = i / FOUR;
        if (i == cheap)
            continue;
        const struct four other =
            with_other_sign(v, at + which * FOUR, scale, &fours[which], i % FOUR, search);
        if (other.cost - fours[which].cost < best.cost - fours[where].cost) {
            best = other;
            where = which;
        }
    }
    fours[where] = best;
}

static void keep_eight(const struct values *v, size_t at, const struct four *fours,
                       struct rounded *out)
{
    for (size_t i = 0; i < EIGHT; i++) {
        const struct four *four = &fours[i / FOUR];
        const bool negative = (v->x[at + i] < 0) != (signbit(four->sizes[i % FOUR]) != 0);
        const uint8_t level = by_point_level(by_point_step_at(four->cell, i % FOUR), negative);
        const float number = v->points->levels[level], weight = v->weights[at + i];
        out->levels[at + i] = level;
        out->xq += weight * v->x[at + i] * number;
        out->qq += weight * number * number;
    }
}

/* Levels for a scale above 0; gives their weighted error. */
static float round_group(const struct values *v, float scale, enum search search,
                         struct rounded *out)
{
    float error = 0;
    out->xq = out->qq = 0;
    for (size_t at = 0; at < GROUP; at += EIGHT) {
        struct four fours[2];
        bool odd = false;
        for (size_t i = 0; i < EIGHT; i++) {
            fours[i / FOUR].sizes[i % FOUR] = fabsf(v->x[at + i]);
            odd ^= v->x[at + i] < 0;
        }
        for (size_t k = 0; k < 2; k++)
            choose_point(v, at + k * FOUR, scale, search, &fours[k]);
        if (odd && v->points->even)
            change_sign(v, at, scale, search, fours);
        error += fours[0].cost + fours[1].cost;
        keep_eight(v, at, fours, out);
    }
    out->scale = out->xq > 0 ? out->xq / out->qq : 0;
    return error;
}

/* --- The scale of a group --- */

/* By how much a group rounded with the scale that suits it best is better than zeros. */
static float gain_of(const struct rounded *rounded)
{
    return rounded->xq > 0 ? rounded->xq * (rounded->xq / rounded->qq) : 0;
}

static void search_scale(const struct values *v, float most, struct rounded *best)
{
    struct rounded tried;
    memset(best, 0, sizeof *best);
    for (int i = 0; i < TRIED; i++) {
        round_group(v, most / (FIRST + NEXT * (float)i), AMONG_NEAR, &tried);
        if (gain_of(&tried) > gain_of(best))
            *best = tried;
    }
    for (int i = 0; i < AGAIN && best->scale > 0; i++) {
        round_group(v, best->scale, AMONG_NEAR, &tried);
        if (!(gain_of(&tried) > gain_of(best)))
            break;
        *best = tried;
    }
}

/* --- The scale of a block --- */

#define SCALES_TRIED 12
#define SCALES_FIRST 0.85f /* of what makes the greatest scale the last code */
#define SCALES_NEXT  0.05f

static int odd_code(float multiple)
{
    const float half = (multiple - 1) / 2;
    return 2 * (half > 0 ? half < ODD / 2 ? (int)nearbyintf(half) : ODD / 2 : 0) + 1;
}

/* The error that groups have with multiples of a scale, less that of zeros. */
static double error_with(const struct rounded *groups, float scale, double *xq, double *qq)
{
    *xq = *qq = 0;
    for (size_t g = 0; g < GROUPS; g++) {
        const double code = odd_code(groups[g].scale / scale);
        *xq += code * (double)groups[g].xq;
        *qq += code * code * (double)groups[g].qq;
    }
    return (double)scale * ((double)scale * *qq - 2 * *xq);
}

static float share_scale(const struct rounded *groups)
{
    float most = 0, best = 0;
    double least = 0, xq, qq;
    for (size_t g = 0; g < GROUPS; g++)
        most = fmaxf(most, groups[g].scale);
    for (int i = 0; most > 0 && i < SCALES_TRIED; i++) {
        float scale = most / ODD * (SCALES_FIRST + SCALES_NEXT * (float)i);
        error_with(groups, scale, &xq, &qq);
        scale = xq > 0 ? (float)(xq / qq) : scale;
        const double error = error_with(groups, scale, &xq, &qq);
        if (error < least) {
            least = error;
            best = scale;
        }
    }
    return best;
}

/* The code next to the group's scale, or one next to that, by its points for it. */
static void choose_code(const struct values *v, float wanted, float scale, int16_t *code,
                        uint8_t *levels)
{
    const int middle = odd_code(wanted / scale);
    struct rounded rounded;
    float least = INFINITY;
    for (int next = middle - 2; next <= middle + 2; next += 2) {
        if (next < 1 || next > ODD)
            continue;
        const float error = round_group(v, scale * (float)next, AMONG_NEAR, &rounded);
        if (error < least) {
            least = error;
            *code = (int16_t)next;
        }
    }
    round_group(v, scale * (float)*code, AMONG_ALL, &rounded);
    memcpy(levels, rounded.levels, sizeof rounded.levels);
}

/* --- Blocks --- */

/* As ggml's, in shares of the greatest one; without importance, that of all columns is 1. */
static void weigh_block(const float *x, const float *importance, float *weights)
{
    const float power = 2 * by_ggml_power(x, SUPER) / SUPER;
    float most = 0;
    for (size_t i = 0; i < SUPER; i++) {
        weights[i] = (importance ? importance[i] : 1) * sqrtf(power + x[i] * x[i]);
        most = fmaxf(most, weights[i]);
    }
    for (size_t i = 0; i < SUPER; i++)
        weights[i] = most > 0 && most < INFINITY ? fmaxf(weights[i] / most, LEAST) : 1;
}

/* Levels of zeros: positive, of the first point. */
static void clear_parts(struct by_ggml_parts *parts)
{
    parts->halves[0] = 0;
    memset(parts->levels, by_point_level(0, false), sizeof parts->levels);
    for (size_t g = 0; g < GROUPS; g++)
        parts->scales[g] = 1;
}

static void encode_parts(const struct by_ggml_points *points, const float *x,
                         const float *importance, struct by_ggml_parts *parts)
{
    float weights[SUPER], most = 0;
    struct rounded groups[GROUPS];
    weigh_block(x, importance, weights);
    for (size_t g = 0; g < GROUPS; g++) {
        const struct values v = {points, x + g * GROUP, weights + g * GROUP};
        const float greatest = fabsf(by_ggml_greatest(v.x, GROUP));
        search_scale(&v, greatest, &groups[g]);
        most = fmaxf(most, greatest);
    }
    clear_parts(parts);
    parts->halves[0] = by_f16_to_f32_one(by_f32_to_f16_one(share_scale(groups)));
    if (most > BEYOND)
        parts->halves[0] = INFINITY;
    for (size_t g = 0; parts->halves[0] > 0 && parts->halves[0] < INFINITY && g < GROUPS; g++) {
        const struct values v = {points, x + g * GROUP, weights + g * GROUP};
        choose_code(&v, groups[g].scale, parts->halves[0], &parts->scales[g],
                    parts->levels + g * GROUP);
    }
}

void by_encode_iq3_xxs(const float *in, size_t count, const float *importance, uint8_t *out)
{
    struct by_ggml_parts parts;
    for (size_t i = 0; i < count; i += SUPER, out += 98) {
        encode_parts(by_ggml_points_xxs(), in + i, importance ? importance + i : NULL, &parts);
        by_together_iq3_xxs(&parts, out);
    }
}

void by_encode_iq3_s(const float *in, size_t count, const float *importance, uint8_t *out)
{
    struct by_ggml_parts parts;
    for (size_t i = 0; i < count; i += SUPER, out += 110) {
        encode_parts(by_ggml_points_s(), in + i, importance ? importance + i : NULL, &parts);
        by_together_iq3_s(&parts, out);
    }
}
