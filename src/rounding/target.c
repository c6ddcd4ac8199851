/* Fills the arrays that solvers take from a plan and a layer. */
#include "rounding/target.h"

#include "quant/floats.h"
#include "quant/rounded.h"

#define MOST_LEVELS (1 << 16) /* of any format, either way */

void by_rounding_gather(const struct by_rounding_layer *layer, const float *from, float *to)
{
    for (size_t g = 0; g < layer->groups; g++)
        for (size_t o = 0; o < layer->outs; o++)
            for (size_t c = 0; c < layer->columns; c++)
                *to++ = from[by_rounding_element(layer, g, o, c)];
}

void by_rounding_scatter(const struct by_rounding_layer *layer, const float *from, float *to)
{
    for (size_t g = 0; g < layer->groups; g++)
        for (size_t o = 0; o < layer->outs; o++)
            for (size_t c = 0; c < layer->columns; c++)
                to[by_rounding_element(layer, g, o, c)] = *from++;
}

/* --- Integers --- */

static int open_zeros(struct by_rounding_target *target, const struct by_params *params,
                      struct baryon_error *err)
{
    if (!params->zeros)
        return 0;
    target->zeros = by_alloc(by_round_scale_count(&target->target), sizeof *target->zeros, err);
    target->target.grid.zeros = target->zeros;
    return target->zeros ? 0 : -1;
}

static void set_scales(struct by_rounding_target *target, const struct by_params *params)
{
    const size_t spans = target->target.grid.spans;
    for (size_t out = 0; out < target->layer->groups * target->layer->outs; out++) {
        const size_t from = by_rounding_params_of(target->layer, params, out);
        for (size_t k = 0; k < spans; k++) {
            target->scales[out * spans + k] = params->scales[from + k];
            if (target->zeros)
                target->zeros[out * spans + k] = (int32_t)params->zeros[from + k];
        }
    }
}

static int set_integers(struct by_rounding_target *target, const struct by_quant_row *row,
                        const struct by_params *params, struct baryon_error *err)
{
    struct by_round_grid *grid = &target->target.grid;
    int64_t low, high;
    by_spec_levels(&row->spec, &low, &high);
    grid->span = grid->spans > 1 ? (size_t)row->spec.group : target->layer->columns;
    grid->low = (int32_t)low;
    grid->high = (int32_t)high;
    if (open_zeros(target, params, err) < 0)
        return -1;
    set_scales(target, params);
    return 0;
}

/* Outputs with the same parameters. */
static int open_units(struct by_rounding_target *target, const struct by_quant_row *row,
                      const struct by_params *params, struct baryon_error *err)
{
    const struct by_rounding_layer *layer = target->layer;
    const size_t outs = layer->groups * layer->outs, spans = target->target.grid.spans;
    if (!by_rounding_may_scale(target->plan, layer))
        return 0;
    target->units = by_alloc(outs, sizeof *target->units, err);
    if (!target->units)
        return -1;
    for (size_t out = 0; out < outs; out++)
        target->units[out] = by_rounding_params_of(layer, params, out) / spans;
    target->target.grid.units = target->units;
    target->target.grid.pow2 = row->spec.scale == BY_SCALE_POW2;
    return 0;
}

/* --- Floats and blocks --- */

/*
 * What a weight may be is a whole multiple of a step, as integers are of a scale; only that each
 * weight has a step of its own, which its magnitude or its block gives. Steps are those that the
 * float weights give: what is chosen does not change them (dtype/block.h).
 */
static int set_steps(struct by_rounding_target *target, const float *values, float *room,
                     struct baryon_error *err)
{
    struct by_round_grid *grid = &target->target.grid;
    const size_t row = target->layer->weight, count = by_rounding_weight_count(target->layer);
    float *steps = room, *held = room + count;
    if (by_quant_steps(target->plan, row, values, target->pool, steps, held, err) < 0)
        return -1;
    by_rounding_gather(target->layer, steps, target->scales);
    by_rounding_gather(target->layer, held, target->held);
    if (by_quant_round(target->plan, row, values, target->pool, room, err) < 0)
        return -1;
    by_rounding_gather(target->layer, room, target->nearest);
    grid->held = target->held;
    grid->nearest = target->nearest;
    grid->span = 1;
    grid->low = -MOST_LEVELS;
    grid->high = MOST_LEVELS;
    return 0;
}

static int open_steps(struct by_rounding_target *target, const float *values,
                      struct baryon_error *err)
{
    const size_t count = by_rounding_weight_count(target->layer);
    float *room = by_alloc(2 * count, sizeof *room, err);
    target->held = by_alloc(count, sizeof *target->held, err);
    target->nearest = by_alloc(count, sizeof *target->nearest, err);
    const int status =
        room && target->held && target->nearest ? set_steps(target, values, room, err) : -1;
    by_free(room);
    return status;
}

/* --- All of it --- */

static int round_biases(void *context, float *biases, struct baryon_error *err)
{
    const struct by_rounding_target *target = context;
    return by_rounding_biases(target->plan, target->layer, target->pool, biases, err);
}

static int open_biases(struct by_rounding_target *target, struct baryon_error *err)
{
    if (!target->layer->bias)
        return 0;
    target->biases = by_floats_copy(target->layer->bias->initializer, NULL, err);
    target->target.biases = target->biases;
    target->target.round_biases = round_biases;
    target->target.context = target;
    target->target.coarse_biases = by_rounding_coarse_biases(target->plan, target->layer);
    return target->biases ? 0 : -1;
}

static int open_weights(struct by_rounding_target *target, const float *values,
                        struct baryon_error *err)
{
    const struct by_quant_row *row = &target->plan->rows.at[target->layer->weight];
    const struct by_params *params = by_quant_params(target->plan, target->layer->weight);
    struct by_round_grid *grid = &target->target.grid;
    const bool has_steps = by_rounding_has_steps(target->plan, target->layer);
    grid->spans = has_steps ? target->layer->columns : params->groups ? params->groups : 1;
    target->weights =
        by_alloc(by_rounding_weight_count(target->layer), sizeof *target->weights, err);
    target->scales = by_alloc(by_round_scale_count(&target->target), sizeof *target->scales, err);
    if (!target->weights || !target->scales)
        return -1;
    by_rounding_gather(target->layer, values, target->weights);
    target->target.weights = target->weights;
    grid->scales = target->scales;
    if (has_steps)
        return open_steps(target, values, err);
    return set_integers(target, row, params, err) < 0 ? -1 : open_units(target, row, params, err);
}

int by_rounding_target_open(struct by_rounding_target *target, const struct by_quant_plan *plan,
                            const struct by_rounding_layer *layer, struct by_pool *pool,
                            struct baryon_error *err)
{
    struct by_floats_view floats;
    *target = (struct by_rounding_target){
        .plan = plan,
        .layer = layer,
        .pool = pool,
        .target = {.rows = layer->rows,
                   .groups = layer->groups,
                   .outs = layer->outs,
                   .columns = layer->columns,
                   .low = layer->low,
                   .high = layer->high},
    };
    if (by_floats_open(&floats, plan->rows.at[layer->weight].value->initializer, err) < 0)
        return -1;
    const int status = open_weights(target, floats.values, err);
    by_floats_close(&floats);
    return status < 0 ? -1 : open_biases(target, err);
}

void by_rounding_target_close(struct by_rounding_target *target)
{
    by_free(target->weights);
    by_free(target->biases);
    by_free(target->scales);
    by_free(target->held);
    by_free(target->nearest);
    by_free(target->zeros);
    by_free(target->units);
}
