/* Computes the scales of biases and keeps rounded integers when scales change. */
#include "quant/bias.h"

#include "ir/tensor.h"
#include "quant/half.h"
#include "quant/rounded.h"

/* --- Products --- */

static int product(struct by_quant_plan *plan, struct by_quant_row *row, struct baryon_error *err)
{
    const struct by_params *input = by_quant_params(plan, row->input_row);
    const struct by_params *weight = by_quant_params(plan, row->weight_row);
    struct by_params *params = &row->params;
    if (!input->count || !weight->count || weight->groups > 1)
        return by_fail(err, BARYON_ERR_INTERNAL, "bias '%s' has no product of scales",
                       row->value->name);
    if (params->count != weight->count) {
        params->scales = by_arena_alloc(&plan->arena, weight->count, sizeof(float), err);
        params->zeros = by_arena_alloc(&plan->arena, weight->count, sizeof(int64_t), err);
        if (!params->scales || !params->zeros)
            return -1;
    }
    params->count = weight->count;
    params->axis = weight->axis < 0 ? -1 : params->axis < 0 ? 0 : params->axis;
    params->group_axis = -1;
    params->groups = 1;
    for (size_t i = 0; i < params->count; i++) {
        params->scales[i] =
            (float)((double)input->scales[0] * (double)weight->scales[i] * row->beta);
        params->zeros[i] = 0;
    }
    return 0;
}

int by_bias_scales(struct by_quant_plan *plan, struct baryon_error *err)
{
    by_half_scales(plan);
    for (size_t i = 0; i < plan->rows.count; i++) {
        struct by_quant_row *row = &plan->rows.at[i];
        if (row->role == BY_ROLE_BIAS && row->input_row != BY_NO_ROW && !row->has_params &&
            product(plan, row, err) < 0)
            return -1;
    }
    by_half_scales(plan);
    return 0;
}

/* --- Integers that stay --- */

static int widen_rounded_bias(const struct by_quant_row *row, const uint8_t *bytes, size_t count,
                              struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        if (by_elem_to_ints(row->spec.elem, bytes, i, 1, &value, err) < 0)
            return -1;
        row->rounded[i] = (int32_t)value;
    }
    return 0;
}

static int freeze_values(struct by_quant_plan *plan, struct by_quant_row *row, const float *values,
                         size_t count, struct baryon_error *err)
{
    const struct by_weight_view view = by_quant_view(row, &row->params, values);
    size_t size;
    if (by_elem_bytes(row->spec.elem, count, &size, err) < 0)
        return -1;
    uint8_t *bytes = by_alloc(size, 1, err);
    row->rounded = by_arena_alloc(&plan->arena, count, sizeof *row->rounded, err);
    int status = bytes && row->rounded ? 0 : -1;
    if (status == 0)
        status = by_weight_quantize(&view, &row->spec, &row->params, NULL, bytes, size, err);
    if (status == 0)
        status = widen_rounded_bias(row, bytes, count, err);
    by_free(bytes);
    return status;
}

int by_row_freeze(struct by_quant_plan *plan, size_t at, struct baryon_error *err)
{
    struct by_quant_row *row = &plan->rows.at[at];
    const struct baryon_tensor *tensor = row->value->initializer;
    struct by_span bytes;
    size_t count;
    if (row->rounded || !tensor)
        return 0;
    if (by_tensor_count(tensor, &count, err) < 0 ||
        by_tensor_bytes(tensor, &plan->arena, &bytes, err) < 0)
        return -1;
    float *values = by_alloc(count, sizeof *values, err);
    int status = values ? 0 : -1;
    if (status == 0)
        status = by_elem_to_floats(tensor->data_type, bytes.data, 0, count, values, err);
    if (status == 0)
        status = freeze_values(plan, row, values, count, err);
    by_free(values);
    return status;
}
