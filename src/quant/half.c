/* Rounds the scales of float16 tensors to float16. */
#include "quant/half.h"

#include "ir/tensor.h"
#include "quant/weights_search.h"

static bool has_half_scale(const struct by_quant_row *row)
{
    return row->value->elem == BY_ELEM_FLOAT16 && by_spec_is_integer(&row->spec);
}

void by_half_specs(struct by_quant_plan *plan)
{
    for (size_t i = 0; i < plan->rows.count; i++) {
        struct by_quant_row *row = &plan->rows.at[i];
        if (has_half_scale(row) && row->spec.scale == BY_SCALE_FLOAT32)
            row->spec.scale = BY_SCALE_FLOAT16;
    }
}

void by_half_scales(struct by_quant_plan *plan)
{
    for (size_t i = 0; i < plan->rows.count; i++) {
        struct by_quant_row *row = &plan->rows.at[i];
        for (size_t k = 0; has_half_scale(row) && k < row->params.count; k++)
            row->params.scales[k] = by_scale_round(BY_SCALE_FLOAT16, (double)row->params.scales[k]);
    }
}
