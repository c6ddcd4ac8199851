/*
 * The points of least form among those near to where the form alone would have four values, given
 * all others.
 */
#include "llm/gguf_solve/point_choice.h"

#include <math.h>

#define FOUR BY_POINT_VALUES
/* Values up to so many units from zero try both signs. */
#define BOTH_SIGNS 1.0f
/* Signs that are tried where the targets' own do not do. */
#define FLIPS 2

static float chosen_value(const struct by_point_place *place, const struct by_point_choice *choice,
                          size_t k)
{
    const float size = place->scale * place->points->sizes[by_point_step_at(choice->cell, k)];
    return choice->signs >> k & 1 ? -size : size;
}

float by_point_way(const struct by_point_place *place, const struct by_point_choice *choice,
                   size_t k)
{
    return choice->moves ? chosen_value(place, choice, k) - place->values[k] : 0;
}

/* What a choice costs by itself. */
float by_point_own_cost(const struct by_point_place *place, const struct by_point_choice *choice)
{
    float cost = 0;
    for (size_t k = 0; k < FOUR; k++) {
        const float way = by_point_way(place, choice, k);
        cost += place->form->gram[k][k] * way * way;
    }
    return cost;
}

static unsigned signs_of(const struct by_point_place *place)
{
    unsigned signs = 0;
    for (size_t k = 0; k < FOUR; k++)
        signs |= (place->integers[k] < BY_POINT_STEPS ? 1u : 0u) << k;
    return signs;
}

static bool is_odd(unsigned signs)
{
    return (signs ^ signs >> 1 ^ signs >> 2 ^ signs >> 3) & 1;
}

/* Where the form is least, in units of half a step. */
static void find_targets(const struct by_point_place *place, float targets[FOUR])
{
    for (size_t k = 0; k < FOUR; k++) {
        float step = 0;
        for (size_t j = 0; j < FOUR; j++)
            step += place->form->inverse[k][j] * place->slopes[j];
        targets[k] = (place->values[k] - step) / place->scale;
    }
}

static unsigned cell_of(const float targets[FOUR], unsigned signs)
{
    unsigned steps[FOUR];
    for (size_t k = 0; k < FOUR; k++)
        steps[k] = by_point_step_of(0.5f * (signs >> k & 1 ? -targets[k] : targets[k]));
    return by_point_cell(steps);
}

/* Of the points with these signs near the targets. */
static void try_signs(const struct by_point_place *place, const float targets[FOUR], unsigned signs,
                      struct by_point_choice *best)
{
    const float(*gram)[FOUR] = place->form->gram;
    struct by_point_costs costs;
    struct by_point_ways ways = {.pairs = {2 * gram[0][1], 2 * gram[0][2], 2 * gram[0][3],
                                           2 * gram[1][2], 2 * gram[1][3], 2 * gram[2][3]}};
    for (size_t k = 0; k < FOUR; k++) {
        const float scale = signs >> k & 1 ? -place->scale : place->scale;
        for (size_t i = 0; i < BY_POINT_STEPS; i++) {
            const float way = scale * place->points->sizes[i] - place->values[k];
            ways.of[k][i] = way;
            costs.of[k][i] = way * (2 * place->slopes[k] + gram[k][k] * way);
        }
    }
    struct by_point_choice tried = {.moves = true, .signs = signs};
    tried.cell = by_point_path()->least_joint(place->points->near[cell_of(targets, signs)],
                                              BY_POINTS_NEAR, &costs, &ways, &tried.change);
    if (tried.change < best->change)
        *best = tried;
}

static unsigned signs_of_targets(const float targets[FOUR])
{
    unsigned signs = 0;
    for (size_t k = 0; k < FOUR; k++)
        signs |= (targets[k] < 0 ? 1u : 0u) << k;
    return signs;
}

/* Any signs: those of the targets, and others of small ones. */
struct by_point_choice by_point_choose(const struct by_point_place *place)
{
    struct by_point_choice best = {0};
    float targets[FOUR];
    find_targets(place, targets);
    const unsigned signs = signs_of_targets(targets);
    try_signs(place, targets, signs, &best);
    for (size_t k = 0; k < FOUR; k++)
        if (fabsf(targets[k]) < BOTH_SIGNS)
            try_signs(place, targets, signs ^ 1u << k, &best);
    return best;
}

/* The value whose other sign costs least, but for one. */
static size_t cheap_sign(const struct by_point_place *place, const float targets[FOUR], size_t but)
{
    size_t best = FOUR;
    float least = INFINITY;
    for (size_t k = 0; k < FOUR; k++) {
        const float cost = place->form->gram[k][k] * targets[k] * targets[k];
        if (k != but && cost < least) {
            least = cost;
            best = k;
        }
    }
    return best;
}

/* Signs of which an odd or even number is negative; what does not move is a choice too, where it
 * has such. */
struct by_point_choice by_point_choose_signs(const struct by_point_place *place, bool odd)
{
    struct by_point_choice best = {.change = is_odd(signs_of(place)) == odd ? 0 : INFINITY};
    float targets[FOUR];
    if (place->form->is_dead)
        return best;
    find_targets(place, targets);
    const unsigned signs = signs_of_targets(targets);
    if (is_odd(signs) == odd)
        try_signs(place, targets, signs, &best);
    for (size_t i = 0, k = FOUR; is_odd(signs) != odd && i < FLIPS; i++) {
        k = cheap_sign(place, targets, k);
        if (k < FOUR)
            try_signs(place, targets, signs ^ 1u << k, &best);
    }
    return best;
}

bool by_point_is_odd(const struct by_point_place *place)
{
    return is_odd(signs_of(place));
}

void by_point_keep(int32_t *integers, const struct by_point_choice *choice)
{
    for (size_t k = 0; choice->moves && k < FOUR; k++)
        integers[k] = by_point_level(by_point_step_at(choice->cell, k), choice->signs >> k & 1);
}
