#include "solve/round_internal.h"

#include "quant/floats.h"
#include "quant/params.h"
#include "quant/rounded.h"

void by_round_choice_release(struct by_round_choice *choice)
{
    by_free(choice->integers);
    by_free(choice->scales);
    by_free(choice->weights);
    by_free(choice->biases);
    *choice = (struct by_round_choice){0};
}

/* --- Scales --- */

/* The axis of the weight that its outputs lie along. */
static int out_axis(const struct by_round_layer *layer)
{
    switch (layer->rows.kind) {
    case BY_LAYER_CONV:
        return 0;
    case BY_LAYER_CONV_TRANSPOSE:
        return 1;
    default:
        return by_node_int(layer->node, "transB", 0) ? 0 : 1;
    }
}

/* Groups of the columns with a scale each. */
static bool has_group_axis(const struct by_round_layer *layer, const struct by_params *params)
{
    return layer->rows.kind == BY_LAYER_MATMUL && params->group_axis == 1 - out_axis(layer);
}

bool by_round_can(const struct by_quant_plan *plan, const struct by_round_layer *layer)
{
    if (by_round_has_grid(plan, layer))
        return by_round_grid_can(plan);
    const struct by_params *params = by_quant_params(plan, layer->weight);
    const size_t outs = layer->groups * layer->outs;
    if (!params->count || !params->scales)
        return false;
    if (params->groups > 1 && !has_group_axis(layer, params))
        return false;
    if (params->axis < 0)
        return params->groups <= 1 ? params->count == 1 : params->count == params->groups;
    return params->axis == out_axis(layer) && (params->count == outs * params->groups ||
                                               params->count == layer->outs * params->groups);
}

/* Which of the parameters an output's first group has. */
static size_t params_of(const struct by_round_layer *layer, const struct by_params *params,
                        size_t out)
{
    const size_t groups = params->groups ? params->groups : 1;
    if (params->axis < 0)
        return 0;
    return (params->count == layer->groups * layer->outs * groups ? out : out % layer->outs) *
           groups;
}

/* --- The problem of a layer, all groups --- */

void by_round_problem_close(struct by_round_problem *problem)
{
    by_free(problem->weights);
    by_free(problem->held);
    by_free(problem->scales);
    by_free(problem->zeros);
}

void by_round_gather(const struct by_round_layer *layer, const float *from, float *to)
{
    for (size_t g = 0; g < layer->groups; g++)
        for (size_t o = 0; o < layer->outs; o++)
            for (size_t c = 0; c < layer->columns; c++)
                *to++ = from[by_round_element(layer, g, o, c)];
}

static void set_scales(struct by_round_problem *problem, const struct by_round_layer *layer,
                       const struct by_params *params)
{
    const size_t groups = problem->first.groups;
    for (size_t out = 0; out < layer->groups * layer->outs; out++)
        for (size_t k = 0; k < groups; k++) {
            const size_t from = params_of(layer, params, out) + k;
            problem->scales[out * groups + k] = params->scales[from];
            problem->zeros[out * groups + k] = params->zeros ? (int32_t)params->zeros[from] : 0;
        }
}

static void set_levels(struct by_round_problem *problem, const struct by_round_layer *layer,
                       const struct by_quant_row *row, const struct by_params *params)
{
    int64_t low, high;
    by_spec_levels(&row->spec, &low, &high);
    problem->first.group =
        problem->first.groups > 1 ? (size_t)row->spec.group : problem->first.columns;
    problem->first.low = (int32_t)low;
    problem->first.high = (int32_t)high;
    set_scales(problem, layer, params);
}

/* Room, and the weights in it. */
static int open_problem(struct by_round_problem *problem, const struct by_round_layer *layer,
                        size_t groups, const float *weights, struct baryon_error *err)
{
    const size_t outs = layer->groups * layer->outs;
    problem->weights = by_alloc(outs * layer->columns, sizeof *problem->weights, err);
    problem->scales = by_alloc(outs * groups, sizeof *problem->scales, err);
    problem->zeros = by_alloc_zero(outs * groups, sizeof *problem->zeros, err);
    if (!problem->weights || !problem->scales || !problem->zeros)
        return -1;
    by_round_gather(layer, weights, problem->weights);
    problem->first = (struct by_descent){
        .columns = layer->columns,
        .outs = layer->outs,
        .weights = problem->weights,
        .scales = problem->scales,
        .zeros = problem->zeros,
        .groups = groups,
    };
    return 0;
}

int by_round_problem_open(struct by_round_problem *problem, const struct by_quant_plan *plan,
                          const struct by_round_layer *layer, struct by_pool *pool,
                          struct baryon_error *err)
{
    const struct by_quant_row *row = &plan->rows.at[layer->weight];
    const struct by_params *params = by_quant_params(plan, layer->weight);
    const bool has_grid = by_round_has_grid(plan, layer);
    const size_t groups = has_grid ? layer->columns : params->groups ? params->groups : 1;
    struct by_floats_view floats;
    *problem = (struct by_round_problem){0};
    if (by_floats_open(&floats, row->value->initializer, err) < 0)
        return -1;
    int status = open_problem(problem, layer, groups, floats.values, err);
    if (status == 0 && has_grid)
        status = by_round_grid_set(problem, plan, layer, floats.values, pool, err);
    else if (status == 0)
        set_levels(problem, layer, row, params);
    by_floats_close(&floats);
    if (status < 0)
        by_round_problem_close(problem);
    return status;
}

struct by_descent by_round_group(const struct by_round_problem *problem, size_t group)
{
    struct by_descent one = problem->first;
    const size_t outs = group * one.outs;
    one.weights += outs * one.columns;
    one.scales += outs * one.groups;
    one.zeros += outs * one.groups;
    return one;
}

/* --- Choices --- */

/* As the float model has them. */
static int open_biases(struct by_round_choice *choice, const struct by_round_layer *layer,
                       struct baryon_error *err)
{
    if (!layer->bias)
        return 0;
    choice->biases = by_floats_copy(layer->bias->initializer, NULL, err);
    return choice->biases ? 0 : -1;
}

static int open_choice(struct by_round_choice *choice, const struct by_round_layer *layer,
                       struct baryon_error *err)
{
    const size_t outs = layer->groups * layer->outs;
    choice->integers = by_alloc(outs * layer->columns, sizeof *choice->integers, err);
    choice->weights = by_alloc(outs * layer->columns, sizeof *choice->weights, err);
    return choice->integers && choice->weights ? open_biases(choice, layer, err) : -1;
}

void by_round_set_weights(const struct by_round_problem *problem, size_t outs,
                          struct by_round_choice *choice)
{
    const struct by_descent *first = &problem->first;
    const float *scales = choice->scales ? choice->scales : problem->scales;
    for (size_t out = 0; out < outs; out++)
        for (size_t c = 0; c < first->columns; c++) {
            const size_t k = out * first->groups + c / first->group;
            choice->weights[out * first->columns + c] =
                (float)(choice->integers[out * first->columns + c] - problem->zeros[k]) * scales[k];
        }
}

/* It has a scale of its own, not one of fine steps that follows from others. */
bool by_round_bias_is_coarse(const struct by_quant_plan *plan, const struct by_round_layer *layer)
{
    const size_t place = layer->bias ? by_quant_find(plan, layer->bias) : BY_NO_ROW;
    return place != BY_NO_ROW && plan->rows.at[place].input_row == BY_NO_ROW;
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

int by_round_quantize_biases(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                             struct by_pool *pool, float *biases, struct baryon_error *err)
{
    const size_t place = layer->bias ? by_quant_find(plan, layer->bias) : BY_NO_ROW;
    if (place == BY_NO_ROW)
        return 0;
    const struct by_quant_row *row = &plan->rows.at[place];
    if (row->spec.format)
        return by_round_grid_biases(plan, place, pool, biases, layer->groups * layer->outs, err);
    return row->keep_float ? 0
                           : quantize_biases(plan, place, by_round_bias_is_coarse(plan, layer),
                                             pool, biases, err);
}

int by_round_exact(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                   struct by_round_choice *choice, struct baryon_error *err)
{
    struct by_floats_view floats;
    const size_t count = layer->groups * layer->outs * layer->columns;
    *choice = (struct by_round_choice){0};
    if (by_floats_open(&floats, plan->rows.at[layer->weight].value->initializer, err) < 0)
        return -1;
    choice->weights = by_alloc(count, sizeof *choice->weights, err);
    if (choice->weights)
        by_round_gather(layer, floats.values, choice->weights);
    by_floats_close(&floats);
    return choice->weights ? open_biases(choice, layer, err) : -1;
}

int by_round_nearest(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                     struct by_pool *pool, struct by_round_choice *choice, struct baryon_error *err)
{
    struct by_round_problem problem;
    *choice = (struct by_round_choice){0};
    if (by_round_problem_open(&problem, plan, layer, pool, err) < 0)
        return -1;
    int status = open_choice(choice, layer, err);
    for (size_t g = 0; status == 0 && g < layer->groups; g++) {
        const struct by_descent one = by_round_group(&problem, g);
        by_descent_nearest(&one, choice->integers + g * layer->outs * layer->columns);
    }
    if (status == 0) {
        by_round_set_weights(&problem, layer->groups * layer->outs, choice);
        status = by_round_quantize_biases(plan, layer, pool, choice->biases, err);
    }
    if (status == 0 && by_round_has_grid(plan, layer))
        status = by_round_grid_nearest(plan, layer, pool, choice->weights, err);
    by_round_problem_close(&problem);
    return status;
}

/* --- Taking a choice --- */

static int take_bias(struct by_quant_plan *plan, const struct by_round_layer *layer,
                     const float *biases, struct by_pool *pool, struct baryon_error *err)
{
    const size_t row = by_quant_find(plan, layer->bias);
    if (by_floats_write(plan->model, layer->bias->initializer, biases, layer->groups * layer->outs,
                        err) < 0)
        return -1;
    return row == BY_NO_ROW ? 0 : by_quant_find_constant(plan, row, pool, err);
}

size_t by_round_scale_count(const struct by_quant_plan *plan, const struct by_round_layer *layer)
{
    const struct by_params *params = by_quant_params(plan, layer->weight);
    return layer->groups * layer->outs * (params->groups ? params->groups : 1);
}

void by_round_scales(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                     const struct by_round_choice *choice, float *scales)
{
    const struct by_params *params = by_quant_params(plan, layer->weight);
    const size_t groups = params->groups ? params->groups : 1;
    for (size_t out = 0; out < layer->groups * layer->outs; out++)
        for (size_t k = 0; k < groups; k++)
            scales[params_of(layer, params, out) + k] = choice->scales[out * groups + k];
}

void by_round_units(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                    size_t *units)
{
    const struct by_params *params = by_quant_params(plan, layer->weight);
    for (size_t out = 0; out < layer->groups * layer->outs; out++)
        units[out] = params_of(layer, params, out) / (params->groups ? params->groups : 1);
}

static int take_integers(struct by_quant_plan *plan, const struct by_round_layer *layer,
                         const int32_t *from, struct baryon_error *err)
{
    const size_t count = layer->groups * layer->outs * layer->columns;
    int32_t *rounded = by_arena_alloc(&plan->arena, count, sizeof *rounded, err);
    if (!rounded)
        return -1;
    for (size_t g = 0; g < layer->groups; g++)
        for (size_t o = 0; o < layer->outs; o++)
            for (size_t c = 0; c < layer->columns; c++)
                rounded[by_round_element(layer, g, o, c)] = *from++;
    plan->rows.at[layer->weight].rounded = rounded;
    return 0;
}

int by_round_take(struct by_quant_plan *plan, const struct by_round_layer *layer,
                  const struct by_round_choice *choice, struct by_pool *pool,
                  struct baryon_error *err)
{
    const int status = by_round_has_grid(plan, layer)
                           ? by_round_grid_take(plan, layer, choice->weights, err)
                           : take_integers(plan, layer, choice->integers, err);
    if (status < 0)
        return -1;
    return layer->bias ? take_bias(plan, layer, choice->biases, pool, err) : 0;
}
