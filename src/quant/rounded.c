/* Rounds the values of a constant to what its row of the plan stores. */
#include "quant/rounded.h"

#include "ir/tensor.h"

struct by_weight_view by_quant_view(const struct by_quant_row *row, const struct by_params *params,
                                    const float *values)
{
    const struct by_ints *dims = by_quant_dims(row);
    return (struct by_weight_view){.values = values,
                                   .rank = dims->count,
                                   .dims = dims->at,
                                   .axis = params->axis,
                                   .group_axis = params->group_axis,
                                   .name = row->value->name};
}

struct by_block_cast by_quant_cast(const struct by_quant_row *row)
{
    const struct by_ints *dims = &row->value->initializer->dims;
    const struct by_block_spec *block = &row->spec.block;
    return (struct by_block_cast){.dims = dims->at,
                                  .rank = dims->count,
                                  .axis = row->block_axis,
                                  .size = (size_t)block->size,
                                  .ties = block->ties,
                                  .from_bf16 = block->from_bf16};
}

static int round_integers(const struct by_quant_plan *plan, size_t index, const float *values,
                          struct by_pool *pool, float *out, struct baryon_error *err)
{
    const struct by_quant_row *row = &plan->rows.at[index];
    const struct by_params *params = by_quant_params(plan, index);
    const struct by_weight_view view = by_quant_view(row, params, values);
    return by_weight_round(&view, &row->spec, params, pool, out, err);
}

/* Floats, with their scale where they have one. */
static int round_floats(const struct by_quant_plan *plan, size_t index, const float *values,
                        size_t count, struct by_pool *pool, float *out, struct baryon_error *err)
{
    const struct by_quant_row *row = &plan->rows.at[index];
    const struct by_params *params = by_quant_params(plan, index);
    if (!by_spec_is_scaled(&row->spec) || !params->count)
        return by_dtype_round(row->spec.format, values, count, &by_cast_default, pool, out, err);
    for (size_t i = 0; i < count; i++)
        out[i] = values[i] / params->scales[0];
    if (by_dtype_round(row->spec.format, out, count, &by_cast_default, pool, out, err))
        return -1;
    for (size_t i = 0; i < count; i++)
        out[i] *= params->scales[0];
    return 0;
}

int by_quant_round(const struct by_quant_plan *plan, size_t index, const float *values,
                   struct by_pool *pool, float *out, struct baryon_error *err)
{
    const struct by_quant_row *row = &plan->rows.at[index];
    const struct by_block_cast cast = by_quant_cast(row);
    size_t count;
    if (by_spec_is_integer(&row->spec))
        return round_integers(plan, index, values, pool, out, err);
    if (by_spec_is_block(&row->spec))
        return by_block_round(row->spec.format, values, &cast, pool, out, err);
    return by_tensor_count(row->value->initializer, &count, err)
               ? -1
               : round_floats(plan, index, values, count, pool, out, err);
}

static int scaled_steps(const struct by_quant_plan *plan, size_t index, const float *values,
                        size_t count, float *steps, float *held, struct baryon_error *err)
{
    const struct by_params *params = by_quant_params(plan, index);
    const float scale = params->count ? params->scales[0] : 1;
    float *parts = by_alloc(count, sizeof *parts, err);
    for (size_t i = 0; parts && i < count; i++)
        parts[i] = values[i] / scale;
    const int failed =
        parts ? by_dtype_steps(plan->rows.at[index].spec.format, parts, count, steps, held, err)
              : -1;
    for (size_t i = 0; !failed && i < count; i++) {
        steps[i] *= scale;
        held[i] *= scale;
    }
    by_free(parts);
    return failed;
}

int by_quant_steps(const struct by_quant_plan *plan, size_t index, const float *values,
                   struct by_pool *pool, float *steps, float *held, struct baryon_error *err)
{
    const struct by_quant_row *row = &plan->rows.at[index];
    const struct by_block_cast cast = by_quant_cast(row);
    size_t count;
    if (by_spec_is_block(&row->spec))
        return by_block_steps(row->spec.format, values, &cast, pool, steps, held, err);
    if (by_tensor_count(row->value->initializer, &count, err))
        return -1;
    return by_spec_is_scaled(&row->spec)
               ? scaled_steps(plan, index, values, count, steps, held, err)
               : by_dtype_steps(row->spec.format, values, count, steps, held, err);
}
