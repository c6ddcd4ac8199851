/* What a solver chose, back into the plan and the float model. */
#include "quant/floats.h"
#include "quant/params.h"
#include "quant/rounded.h"
#include "rounding/target.h"

#include <math.h>

/* --- Scales --- */

size_t by_rounding_params_of(const struct by_rounding_layer *layer, const struct by_params *params,
                             size_t out)
{
    const size_t groups = params->groups ? params->groups : 1;
    if (params->axis < 0)
        return 0;
    return (params->count == layer->groups * layer->outs * groups ? out : out % layer->outs) *
           groups;
}

void by_rounding_scales(const struct by_quant_plan *plan, const struct by_rounding_layer *layer,
                        const struct by_round_choice *choice, float *scales)
{
    const struct by_params *params = by_quant_params(plan, layer->weight);
    const size_t groups = params->groups ? params->groups : 1;
    for (size_t out = 0; out < layer->groups * layer->outs; out++)
        for (size_t k = 0; k < groups; k++)
            scales[by_rounding_params_of(layer, params, out) + k] =
                choice->scales[out * groups + k];
}

/* --- Biases --- */

bool by_rounding_coarse_biases(const struct by_quant_plan *plan,
                               const struct by_rounding_layer *layer)
{
    const size_t place = layer->bias ? by_quant_find(plan, layer->bias) : BY_NO_ROW;
    return place != BY_NO_ROW && plan->rows.at[place].input_row == BY_NO_ROW;
}

static int biases_on_steps(const struct by_quant_plan *plan, size_t row, struct by_pool *pool,
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

/* Scales of their own are found anew, those that follow from others stay. */
static int quantize_biases(const struct by_quant_plan *plan, size_t place, bool coarse,
                           struct by_pool *pool, float *biases, struct baryon_error *err)
{
    const struct by_quant_row *row = &plan->rows.at[place];
    struct by_params params = *by_quant_params(plan, place);
    const struct by_weight_view view = by_quant_view(row, &params, biases);
    struct by_arena arena;
    double error;
    by_arena_init(&arena, 0);
    int status = 0;
    if (coarse)
        status = by_weight_params(&view, &row->spec, pool, &arena, &params, &error, err);
    if (status == 0 && params.count)
        status = by_weight_round(&view, &row->spec, &params, pool, biases, err);
    by_arena_release(&arena);
    return status;
}

int by_rounding_biases(const struct by_quant_plan *plan, const struct by_rounding_layer *layer,
                       struct by_pool *pool, float *biases, struct baryon_error *err)
{
    const size_t place = layer->bias ? by_quant_find(plan, layer->bias) : BY_NO_ROW;
    if (place == BY_NO_ROW)
        return 0;
    const struct by_quant_row *row = &plan->rows.at[place];
    if (row->spec.format)
        return biases_on_steps(plan, place, pool, biases, layer->groups * layer->outs, err);
    return row->keep_float ? 0
                           : quantize_biases(plan, place, by_rounding_coarse_biases(plan, layer),
                                             pool, biases, err);
}

/* --- All of it --- */

static int take_bias(struct by_quant_plan *plan, const struct by_rounding_layer *layer,
                     const float *biases, struct by_pool *pool, struct baryon_error *err)
{
    const size_t row = by_quant_find(plan, layer->bias);
    if (by_floats_write(plan->model, layer->bias->initializer, biases, layer->groups * layer->outs,
                        err) < 0)
        return -1;
    return row == BY_NO_ROW ? 0 : by_quant_find_constant(plan, row, pool, err);
}

static int take_integers(struct by_quant_plan *plan, const struct by_rounding_layer *layer,
                         const int32_t *from, struct baryon_error *err)
{
    const size_t count = layer->groups * layer->outs * layer->columns;
    int32_t *rounded = by_arena_alloc(&plan->arena, count, sizeof *rounded, err);
    if (!rounded)
        return -1;
    for (size_t g = 0; g < layer->groups; g++)
        for (size_t o = 0; o < layer->outs; o++)
            for (size_t c = 0; c < layer->columns; c++)
                rounded[by_rounding_element(layer, g, o, c)] = *from++;
    plan->rows.at[layer->weight].rounded = rounded;
    return 0;
}

static int take_values(struct by_quant_plan *plan, const struct by_rounding_layer *layer,
                       const float *weights, struct baryon_error *err)
{
    float *solved =
        by_arena_alloc(&plan->arena, by_rounding_weight_count(layer), sizeof *solved, err);
    if (!solved)
        return -1;
    by_rounding_scatter(layer, weights, solved);
    plan->rows.at[layer->weight].solved = solved;
    return 0;
}

int by_rounding_take(struct by_quant_plan *plan, const struct by_rounding_layer *layer,
                     const struct by_round_choice *choice, struct by_pool *pool,
                     struct baryon_error *err)
{
    const int status = by_rounding_has_steps(plan, layer)
                           ? take_values(plan, layer, choice->weights, err)
                           : take_integers(plan, layer, choice->integers, err);
    if (status < 0)
        return -1;
    return layer->bias ? take_bias(plan, layer, choice->biases, pool, err) : 0;
}
