/*
 * Weights that become floats of fewer bits or blocks. What a weight may be is a whole multiple of a
 * step, as integers are of a scale; only that each weight has a step of its own, which its
 * magnitude or its block gives. So descent has a group for each column. Steps are those that the
 * float weights give: what is chosen does not change them (dtype/block.h).
 */
#include "quant/floats.h"
#include "quant/rounded.h"
#include "solve/round_internal.h"

#include <math.h>

#define MOST_LEVELS (1 << 16) /* of any format, either way */

bool by_round_has_grid(const struct by_quant_plan *plan, const struct by_round_layer *layer)
{
    return plan->rows.at[layer->weight].spec.format != NULL;
}

/* Far from a weight steps are others. */
bool by_round_grid_can(const struct by_quant_plan *plan)
{
    return plan->recipe->rounding != BY_ROUNDING_GPTQ && !plan->recipe->rounding_free;
}

/* NaN and infinity have no neighbours. */
int by_round_is_finite(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                       bool *finite, struct baryon_error *err)
{
    struct by_floats_view floats;
    *finite = true;
    if (!by_round_has_grid(plan, layer))
        return 0;
    if (by_floats_open(&floats, plan->rows.at[layer->weight].value->initializer, err) < 0)
        return -1;
    for (size_t i = 0; *finite && i < floats.count; i++)
        *finite = isfinite(floats.values[i]);
    by_floats_close(&floats);
    return 0;
}

int by_round_grid_set(struct by_round_problem *problem, const struct by_quant_plan *plan,
                      const struct by_round_layer *layer, const float *weights,
                      struct by_pool *pool, struct baryon_error *err)
{
    const size_t count = layer->groups * layer->outs * layer->columns;
    float *steps = by_alloc(2 * count, sizeof *steps, err), *held = steps ? steps + count : NULL;
    problem->held = by_alloc(count, sizeof *problem->held, err);
    const int status = steps && problem->held
                           ? by_quant_steps(plan, layer->weight, weights, pool, steps, held, err)
                           : -1;
    if (status == 0) {
        by_round_gather(layer, steps, problem->scales);
        by_round_gather(layer, held, problem->held);
        problem->first.weights = problem->held;
        problem->first.group = 1;
        problem->first.low = -MOST_LEVELS;
        problem->first.high = MOST_LEVELS;
    }
    by_free(steps);
    return status;
}

int by_round_grid_nearest(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                          struct by_pool *pool, float *weights, struct baryon_error *err)
{
    struct by_floats_view floats;
    if (by_floats_open(&floats, plan->rows.at[layer->weight].value->initializer, err) < 0)
        return -1;
    float *rounded = by_alloc(floats.count, sizeof *rounded, err);
    const int status =
        rounded ? by_quant_round(plan, layer->weight, floats.values, pool, rounded, err) : -1;
    if (status == 0)
        by_round_gather(layer, rounded, weights);
    by_free(rounded);
    by_floats_close(&floats);
    return status;
}

int by_round_grid_biases(const struct by_quant_plan *plan, size_t row, struct by_pool *pool,
                         float *biases, size_t count, struct baryon_error *err)
{
    float *steps = by_alloc(2 * count, sizeof *steps, err), *held = steps ? steps + count : NULL;
    const int status = steps ? by_quant_steps(plan, row, biases, pool, steps, held, err) : -1;
    for (size_t i = 0; status == 0 && i < count; i++)
        if (isfinite(biases[i]))
            biases[i] = nearbyintf(held[i] / steps[i]) * steps[i];
    by_free(steps);
    return status;
}

int by_round_grid_take(struct by_quant_plan *plan, const struct by_round_layer *layer,
                       const float *weights, struct baryon_error *err)
{
    const size_t count = layer->groups * layer->outs * layer->columns;
    float *solved = by_arena_alloc(&plan->arena, count, sizeof *solved, err);
    if (!solved)
        return -1;
    for (size_t g = 0; g < layer->groups; g++)
        for (size_t o = 0; o < layer->outs; o++)
            for (size_t c = 0; c < layer->columns; c++)
                solved[by_round_element(layer, g, o, c)] = *weights++;
    plan->rows.at[layer->weight].solved = solved;
    return 0;
}
