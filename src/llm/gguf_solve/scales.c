/*
 * Steps through what scales and minima of a row are stored as: codes of a group, and the two
 * numbers of a block that these are multiples of. Each pair is set to the best of a few stored
 * forms next to where the pair's quadratic form is least, until no pair gains.
 */
#include "base/half.h"
#include "llm/gguf_solve/piece.h"

#include <math.h>

#define PASSES 8
/* How much a number of a block may change at once: beyond it levels are of another grid. */
#define FACTOR 3
/* A step has to gain this share of what it costs by itself: less is noise. */
#define MARGIN 0x1p-16

/* Along two directions: slopes, and what steps cost. */
struct pair {
    double slopes[2], own[2], both;
};

static double change_of(const struct pair *pair, double a, double b)
{
    return 2 * (pair->slopes[0] * a + pair->slopes[1] * b) + pair->own[0] * a * a +
           2 * pair->both * a * b + pair->own[1] * b * b;
}

static double cost_of(const struct pair *pair, double a, double b)
{
    return pair->own[0] * a * a + pair->own[1] * b * b;
}

/* The second step that is best with the first. */
static double second_step(const struct pair *pair, double a)
{
    return pair->own[1] > 0 ? -(pair->slopes[1] + pair->both * a) / pair->own[1] : 0;
}

/* The first of the best two steps. */
static double first_step(const struct pair *pair)
{
    const double own = pair->own[0];
    double slope = pair->slopes[0], left = own;
    if (pair->own[1] > 0) {
        left -= pair->both * pair->both / pair->own[1];
        slope -= pair->both * pair->slopes[1] / pair->own[1];
    }
    if (!(left > own * 1e-6)) {
        left = own;
        slope = pair->slopes[0];
    }
    return left > 0 ? -slope / left : 0;
}

/* --- Slopes --- */

static void move_scale(struct by_gguf_normal *n, size_t g, double by)
{
    for (size_t h = 0; by != 0 && h < n->groups; h++)
        n->slopes_s[h] += by * (double)n->ss[g * n->groups + h];
    for (size_t h = 0; by != 0 && n->sm && h < n->groups; h++)
        n->slopes_m[h] -= by * (double)n->sm[g * n->groups + h];
}

static void move_min(struct by_gguf_normal *n, size_t g, double by)
{
    for (size_t h = 0; by != 0 && h < n->groups; h++) {
        n->slopes_s[h] -= by * (double)n->sm[h * n->groups + g];
        n->slopes_m[h] += by * (double)n->mm[g * n->groups + h];
    }
}

/* --- Codes of a group --- */

static int clamp_code(double code, int low, int high)
{
    return !(code > low) ? low : code < high ? (int)nearbyint(code) : high;
}

/* The ends are odd. */
static int clamp_odd(double code, int low, int high)
{
    return 2 * clamp_code((code - 1) / 2, (low - 1) / 2, (high - 1) / 2) + 1;
}

/* The codes that a scale may go to: none changes its sign or becomes 0. */
static void code_range(const struct by_ggml_form *form, int code, int *low, int *high)
{
    *low = code > 0 ? 1 : code < 0 ? form->scale_low : 0;
    *high = code > 0 ? form->scale_high : code < 0 ? -1 : 0;
}

struct codes {
    int scale, min;
    double change;
};

static void try_codes(const struct by_gguf_normal *n, const struct pair *pair, size_t g, int scale,
                      struct codes *best)
{
    const float *halves = n->halves + 2 * (g / n->block_groups);
    const double one = (double)halves[0], other = (double)halves[1];
    const double a = one * (scale - n->codes[g]);
    int min = n->mins[g];
    if (n->sm && other != 0)
        min = clamp_code(min + second_step(pair, a) / other, 0, n->form->min_high);
    const double b = n->sm ? other * (min - n->mins[g]) : 0;
    const double change = change_of(pair, a, b) + MARGIN * cost_of(pair, a, b);
    if (change < best->change)
        *best = (struct codes){scale, min, change};
}

static bool step_codes(struct by_gguf_normal *n, size_t g)
{
    const float *halves = n->halves + 2 * (g / n->block_groups);
    const size_t at = g * n->groups + g;
    const struct pair pair = {{n->slopes_s[g], n->sm ? n->slopes_m[g] : 0},
                              {(double)n->ss[at], n->sm ? (double)n->mm[at] : 0},
                              n->sm ? -(double)n->sm[at] : 0};
    struct codes best = {n->codes[g], n->mins[g], 0};
    int low, high;
    code_range(n->form, n->codes[g], &low, &high);
    try_codes(n, &pair, g, n->codes[g], &best);
    if (halves[0] != 0) {
        const double wanted = n->codes[g] + first_step(&pair) / (double)halves[0];
        const int step = n->form->odd ? 2 : 1;
        const int middle =
            n->form->odd ? clamp_odd(wanted, low, high) : clamp_code(wanted, low, high);
        for (int code = middle - step; code <= middle + step; code += step)
            if (code >= low && code <= high)
                try_codes(n, &pair, g, code, &best);
    }
    if (!(best.change < 0))
        return false;
    move_scale(n, g, (double)halves[0] * (best.scale - n->codes[g]));
    if (n->sm)
        move_min(n, g, (double)halves[1] * (best.min - n->mins[g]));
    n->codes[g] = (int16_t)best.scale;
    n->mins[g] = (int16_t)best.min;
    return true;
}

/* --- Numbers of a block --- */

static void measure_block(const struct by_gguf_normal *n, size_t first, struct pair *pair)
{
    *pair = (struct pair){{0}, {0}, 0};
    for (size_t g = first; g < first + n->block_groups; g++) {
        const double scale = n->codes[g], min = n->mins[g];
        pair->slopes[0] += scale * n->slopes_s[g];
        if (n->sm)
            pair->slopes[1] += min * n->slopes_m[g];
        for (size_t h = first; h < first + n->block_groups; h++) {
            const size_t at = g * n->groups + h;
            pair->own[0] += scale * (double)n->ss[at] * n->codes[h];
            if (!n->sm)
                continue;
            pair->own[1] += min * (double)n->mm[at] * n->mins[h];
            pair->both -= scale * (double)n->sm[at] * n->mins[h];
        }
    }
}

/* As it is stored; what it is where a float16 cannot be it. */
static double stored(double now, double wanted)
{
    const double half = (double)by_f16_to_f32_one(by_f32_to_f16_one((float)wanted));
    return isfinite(half) && half != 0 ? half : now;
}

static bool step_halves(struct by_gguf_normal *n, size_t b)
{
    const size_t first = b * n->block_groups;
    const double scale = (double)n->halves[2 * b], min = (double)n->halves[2 * b + 1];
    struct pair pair;
    measure_block(n, first, &pair);
    double best = 0, a = 0, c = 0;
    for (int i = 0; i < 2; i++) {
        const double next = i || scale == 0 ? scale : stored(scale, scale + first_step(&pair));
        if (!(next / scale > 1.0 / FACTOR && next / scale < FACTOR) && next != scale)
            continue;
        const double step = next - scale;
        const double other = n->sm ? stored(min, min + second_step(&pair, step)) - min : 0;
        const double change = change_of(&pair, step, other) + MARGIN * cost_of(&pair, step, other);
        if (change < best) {
            best = change;
            a = step;
            c = other;
        }
    }
    if (!(best < 0))
        return false;
    n->halves[2 * b] = (float)(scale + a);
    n->halves[2 * b + 1] = (float)(min + c);
    for (size_t g = first; g < first + n->block_groups; g++) {
        move_scale(n, g, a * n->codes[g]);
        if (n->sm)
            move_min(n, g, c * n->mins[g]);
    }
    return true;
}

void by_gguf_descend_scales(struct by_gguf_normal *n)
{
    bool any = true;
    for (unsigned pass = 0; any && pass < PASSES; pass++) {
        any = false;
        for (size_t b = 0; b < n->groups / n->block_groups; b++)
            any |= step_halves(n, b);
        for (size_t g = 0; n->form->scale_high && g < n->groups; g++)
            any |= step_codes(n, g);
    }
}
