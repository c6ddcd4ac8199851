#include "solve/round.h"

#include "ir/tensor.h"
#include "quant/floats.h"
#include "quant/params.h"
#include "quant/weights.h"
#include "solve/descent.h"

#include <math.h>
#include <string.h>

void by_round_choice_release(struct by_round_choice *choice)
{
    by_free(choice->integers);
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

struct problem {
    struct by_descent first; /* of group 0 */
    float *weights, *scales;
    int32_t *zeros;
};

static void release(struct problem *problem)
{
    by_free(problem->weights);
    by_free(problem->scales);
    by_free(problem->zeros);
}

static void gather(const struct by_round_layer *layer, const float *from, float *to)
{
    for (size_t g = 0; g < layer->groups; g++)
        for (size_t o = 0; o < layer->outs; o++)
            for (size_t c = 0; c < layer->columns; c++)
                *to++ = from[by_round_element(layer, g, o, c)];
}

static void set_scales(struct problem *problem, const struct by_round_layer *layer,
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

static int open_problem(struct problem *problem, const struct by_quant_plan *plan,
                        const struct by_round_layer *layer, struct baryon_error *err)
{
    const struct by_quant_row *row = &plan->rows.at[layer->weight];
    const struct by_params *params = by_quant_params(plan, layer->weight);
    const size_t groups = params->groups ? params->groups : 1, outs = layer->groups * layer->outs;
    struct by_floats_view floats;
    int64_t low, high;
    *problem = (struct problem){0};
    if (by_floats_open(&floats, row->value->initializer, err) < 0)
        return -1;
    problem->weights = by_alloc(outs * layer->columns, sizeof *problem->weights, err);
    problem->scales = by_alloc(outs * groups, sizeof *problem->scales, err);
    problem->zeros = by_alloc(outs * groups, sizeof *problem->zeros, err);
    const bool has_room = problem->weights && problem->scales && problem->zeros;
    if (has_room)
        gather(layer, floats.values, problem->weights);
    by_floats_close(&floats);
    if (!has_room) {
        release(problem);
        return -1;
    }
    by_spec_levels(&row->spec, &low, &high);
    problem->first = (struct by_descent){
        .columns = layer->columns,
        .outs = layer->outs,
        .weights = problem->weights,
        .scales = problem->scales,
        .zeros = problem->zeros,
        .groups = groups,
        .group = groups > 1 ? (size_t)row->spec.group : layer->columns,
        .low = (int32_t)low,
        .high = (int32_t)high,
    };
    set_scales(problem, layer, params);
    return 0;
}

static struct by_descent of_group(const struct problem *problem, size_t group)
{
    struct by_descent one = problem->first;
    const size_t outs = group * one.outs;
    one.weights += outs * one.columns;
    one.scales += outs * one.groups;
    one.zeros += outs * one.groups;
    return one;
}

/* --- Choices --- */

static int open_choice(struct by_round_choice *choice, const struct by_round_layer *layer,
                       struct baryon_error *err)
{
    const size_t outs = layer->groups * layer->outs;
    choice->integers = by_alloc(outs * layer->columns, sizeof *choice->integers, err);
    choice->weights = by_alloc(outs * layer->columns, sizeof *choice->weights, err);
    choice->biases = layer->bias ? by_floats_copy(layer->bias->initializer, NULL, err) : NULL;
    return choice->integers && choice->weights && (choice->biases || !layer->bias) ? 0 : -1;
}

static void set_weights(const struct problem *problem, size_t outs, struct by_round_choice *choice)
{
    const struct by_descent *first = &problem->first;
    for (size_t out = 0; out < outs; out++)
        for (size_t c = 0; c < first->columns; c++) {
            const size_t k = out * first->groups + c / first->group;
            choice->weights[out * first->columns + c] =
                (float)(choice->integers[out * first->columns + c] - problem->zeros[k]) *
                problem->scales[k];
        }
}

/* Biases with a scale of their own as they are going to be. */
static int quantize_biases(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                           struct by_pool *pool, float *biases, struct baryon_error *err)
{
    const size_t place = layer->bias ? by_quant_find(plan, layer->bias) : BY_NO_ROW;
    if (place == BY_NO_ROW || plan->recipe->bias_kind != BY_BIAS_OWN)
        return 0;
    const struct by_quant_row *row = &plan->rows.at[place];
    const struct by_params *old = by_quant_params(plan, place);
    const struct by_ints *dims = &layer->bias->initializer->dims;
    const struct by_weight_view view = {.values = biases,
                                        .rank = dims->count,
                                        .dims = dims->at,
                                        .axis = old->axis,
                                        .group_axis = -1,
                                        .name = layer->bias->name};
    const size_t count = layer->groups * layer->outs;
    struct by_arena arena;
    struct by_params params = {0};
    double error;
    size_t size;
    if (by_elem_bytes(row->spec.elem, count, &size, err) < 0)
        return -1;
    by_arena_init(&arena, 0);
    uint8_t *integers = by_arena_alloc(&arena, size, 1, err);
    int status = integers ? 0 : -1;
    if (status == 0)
        status = by_weight_params(&view, &row->spec, pool, &arena, &params, &error, err);
    if (status == 0)
        status = by_weight_quantize(&view, &row->spec, &params, pool, integers, size, err);
    if (status == 0)
        status = by_weight_dequantize(integers, &view, &row->spec, &params, biases, err);
    by_arena_release(&arena);
    return status;
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
        gather(layer, floats.values, choice->weights);
    by_floats_close(&floats);
    if (!choice->weights || !layer->bias)
        return choice->weights ? 0 : -1;
    choice->biases = by_floats_copy(layer->bias->initializer, NULL, err);
    return choice->biases ? 0 : -1;
}

int by_round_nearest(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                     struct by_pool *pool, struct by_round_choice *choice, struct baryon_error *err)
{
    struct problem problem;
    *choice = (struct by_round_choice){0};
    if (open_problem(&problem, plan, layer, err) < 0)
        return -1;
    int status = open_choice(choice, layer, err);
    for (size_t g = 0; status == 0 && g < layer->groups; g++) {
        const struct by_descent one = of_group(&problem, g);
        by_descent_nearest(&one, choice->integers + g * layer->outs * layer->columns);
    }
    if (status == 0) {
        set_weights(&problem, layer->groups * layer->outs, choice);
        status = quantize_biases(plan, layer, pool, choice->biases, err);
    }
    release(&problem);
    return status;
}

/* --- Solving --- */

struct solving {
    const struct problem *problem;
    const struct by_round_layer *layer;
    struct by_round_moments *moments;
    const struct by_round_options *options;
    struct by_round_choice *choice;
    struct by_pool *inner; /* of one group */
};

/* What samples do not tell is left where the float weights are. */
static void damp(const struct solving *solving)
{
    const struct by_round_moments *moments = solving->moments;
    const size_t width = moments->columns;
    for (size_t g = 0; g < moments->groups; g++) {
        float *gram = moments->gram + g * width * width;
        double sum = 0;
        for (size_t i = 0; i < width; i++)
            sum += (double)gram[i * width + i];
        const float more = (float)(solving->options->damping * sum / (double)width);
        for (size_t i = 0; i < width; i++)
            gram[i * width + i] += more;
        for (size_t i = g * moments->outs * width; i < (g + 1) * moments->outs * width; i++)
            moments->cross[i] += more * solving->problem->weights[i];
    }
}

static int solve_groups(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct solving *solving = context;
    const size_t width = solving->layer->columns, outs = solving->layer->outs;
    (void)worker;
    for (size_t g = begin; g < end; g++) {
        struct by_descent one = of_group(solving->problem, g);
        one.gram = solving->moments->gram + g * width * width;
        one.cross = solving->moments->cross + g * outs * width;
        one.sweeps = solving->options->sweeps;
        if (by_descent_run(&one, solving->inner, solving->choice->integers + g * outs * width, NULL,
                           err) < 0)
            return -1;
    }
    return 0;
}

static int descend(struct solving *solving, struct by_pool *pool, struct baryon_error *err)
{
    const bool many = solving->layer->groups > 1;
    solving->inner = many ? NULL : pool;
    if (by_par_for(many ? pool : NULL, solving->layer->groups, 1, solve_groups, solving, err) < 0)
        return -1;
    set_weights(solving->problem, solving->layer->groups * solving->layer->outs, solving->choice);
    return 0;
}

/* They take the mean of what is left. */
static void solve_biases(const struct solving *solving)
{
    const struct by_round_moments *moments = solving->moments;
    const size_t width = moments->columns;
    for (size_t out = 0; out < moments->groups * moments->outs; out++) {
        const double *x = moments->x + out / moments->outs * width;
        const float *weights = solving->choice->weights + out * width;
        double mean = moments->y[out];
        for (size_t i = 0; i < width; i++)
            mean -= (double)weights[i] * x[i];
        if (isfinite((float)mean))
            solving->choice->biases[out] = (float)mean;
    }
}

/* From moments around the means to those of the values, for a bias that stays as it is. */
static void fix_biases(const struct solving *solving)
{
    struct by_round_moments *moments = solving->moments;
    const size_t width = moments->columns;
    for (size_t i = 0; i < moments->groups * width; i++) {
        const double *x = moments->x + i / width * width;
        for (size_t k = 0; k < width; k++)
            moments->gram[i * width + k] += (float)(moments->x[i] * x[k]);
    }
    for (size_t out = 0; out < moments->groups * moments->outs; out++) {
        const double *x = moments->x + out / moments->outs * width;
        const double rest = moments->y[out] - (double)solving->choice->biases[out];
        for (size_t i = 0; i < width; i++)
            moments->cross[out * width + i] += (float)(rest * x[i]);
    }
}

static int solve(struct solving *solving, const struct by_quant_plan *plan, struct by_pool *pool,
                 struct baryon_error *err)
{
    damp(solving);
    if (descend(solving, pool, err) < 0)
        return -1;
    if (!solving->layer->bias)
        return 0;
    solve_biases(solving);
    if (plan->recipe->bias_kind != BY_BIAS_OWN)
        return 0;
    if (quantize_biases(plan, solving->layer, pool, solving->choice->biases, err) < 0)
        return -1;
    fix_biases(solving);
    return descend(solving, pool, err);
}

int by_round_solve(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                   struct by_round_moments *moments, const struct by_round_options *options,
                   struct by_pool *pool, struct by_round_choice *choice, struct baryon_error *err)
{
    struct problem problem;
    if (by_round_nearest(plan, layer, pool, choice, err) < 0 ||
        open_problem(&problem, plan, layer, err) < 0)
        return -1;
    struct solving solving = {.problem = &problem,
                              .layer = layer,
                              .moments = moments,
                              .options = options,
                              .choice = choice};
    const int status = solve(&solving, plan, pool, err);
    release(&problem);
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

int by_round_take(struct by_quant_plan *plan, const struct by_round_layer *layer,
                  const struct by_round_choice *choice, struct by_pool *pool,
                  struct baryon_error *err)
{
    struct by_quant_row *row = &plan->rows.at[layer->weight];
    const size_t count = layer->groups * layer->outs * layer->columns;
    int32_t *rounded = by_arena_alloc(&plan->arena, count, sizeof *rounded, err);
    if (!rounded)
        return -1;
    const int32_t *from = choice->integers;
    for (size_t g = 0; g < layer->groups; g++)
        for (size_t o = 0; o < layer->outs; o++)
            for (size_t c = 0; c < layer->columns; c++)
                rounded[by_round_element(layer, g, o, c)] = *from++;
    row->rounded = rounded;
    return layer->bias ? take_bias(plan, layer, choice->biases, pool, err) : 0;
}
