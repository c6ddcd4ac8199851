/* The copy where activations stay float: weights as floats that mean what their integers do. */
#include "quant/floats.h"
#include "quant/nbits.h"
#include "quant/rounded.h"
#include "rounding/rounding_internal.h"

bool by_rounding_floats_stay(const struct by_rounding_run *run)
{
    return run->recipe.approach != BY_APPROACH_STATIC;
}

static int through_blocks(const struct by_rounding_run *run, const struct by_quant_row *row,
                          const float *values, float *out, struct baryon_error *err)
{
    struct by_nbits made;
    const struct by_weight_view view = by_quant_view(row, &row->params, values);
    const struct by_nbits_spec spec = by_nbits_spec_of(&run->recipe, row, false);
    if (by_nbits_open(&made, &view, &spec, run->q->pool, err) < 0)
        return -1;
    by_nbits_values(&made, &view, &spec, out);
    by_nbits_close(&made);
    return 0;
}

static int find_values(const struct by_rounding_run *run, size_t index, float *values,
                       struct baryon_error *err)
{
    const struct by_quant_plan *plan = run->copy.plan;
    const struct by_quant_row *row = &plan->rows.at[index];
    struct by_floats_view floats;
    if (by_floats_open(&floats, row->value->initializer, err) < 0)
        return -1;
    const int status = run->recipe.approach == BY_APPROACH_NBITS
                           ? through_blocks(run, row, floats.values, values, err)
                           : by_quant_round(plan, index, floats.values, run->q->pool, values, err);
    by_floats_close(&floats);
    return status;
}

static int patch_row(struct by_rounding_run *run, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &run->copy.plan->rows.at[index];
    const struct baryon_tensor *tensor = row->value->initializer;
    size_t count;
    if (tensor->data_type != BY_ELEM_FLOAT || by_tensor_count(tensor, &count, err) < 0)
        return tensor->data_type != BY_ELEM_FLOAT ? 0 : -1;
    float *values = by_alloc(count, sizeof *values, err);
    int status = values ? find_values(run, index, values, err) : -1;
    for (size_t i = 0; status == 0 && i < row->readers.count; i++)
        if (row->readers.at[i].node)
            status = by_rounding_patch(run, row->readers.at[i].node, row->readers.at[i].slot,
                                       tensor, BY_ELEM_FLOAT, values, err);
    by_free(values);
    return status;
}

int by_rounding_nearest_floats(struct by_rounding_run *run, struct baryon_error *err)
{
    for (size_t i = 0; i < run->copy.plan->rows.count; i++)
        if (patch_row(run, i, err) < 0)
            return -1;
    return by_model_settle(run->copy.model, err);
}
