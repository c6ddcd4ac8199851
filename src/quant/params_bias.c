/*
 * Biases that are counted in the units of a layer's sums. One that does not fit its type can make
 * the units greater: the weight's scale grows until it does.
 */
#include "quant/bias.h"
#include "quant/floats.h"
#include "quant/params_internal.h"
#include "quant/weights_search.h"

#include <math.h>

static double most_of(const struct by_recipe *recipe)
{
    return recipe->bias_int16 ? 32767 : 2147483647;
}

static bool is_product(const struct by_quant_row *row)
{
    return row->role == BY_ROLE_BIAS && row->input_row != BY_NO_ROW && !row->has_params;
}

/* The greatest magnitude among the elements that one scale is for. */
static double reach(const struct by_floats_view *floats, size_t scales, size_t index)
{
    double most = 0;
    for (size_t i = scales > 1 ? index : 0; i<floats->count; i += scales> 1 ? scales : 1)
        most = fmax(most, fabs((double)floats->values[i]));
    return most;
}

static float grown(const struct by_quant_row *weight, double least)
{
    if (weight->spec.scale == BY_SCALE_POW2)
        return (float)exp2(ceil(log2(least)));
    const float scale = by_scale_round(weight->spec.scale, least);
    return (double)scale < least ? by_scale_round(weight->spec.scale, least * (1 + 0x1p-10))
                                 : scale;
}

static int widen_weight_scales(struct by_quant_plan *plan, const struct by_quant_row *bias,
                               size_t *widened, struct baryon_error *err)
{
    struct by_quant_row *weight = &plan->rows.at[by_quant_owner(plan, bias->weight_row)];
    const double unit = (double)by_quant_params(plan, bias->input_row)->scales[0] * bias->beta *
                        most_of(plan->recipe);
    struct by_floats_view floats;
    *widened = 0;
    if (weight->has_params || weight->role == BY_ROLE_ACTIVATION)
        return 0;
    if (by_floats_open(&floats, bias->value->initializer, err))
        return -1;
    for (size_t i = 0; i < weight->params.count; i++) {
        const double least = reach(&floats, weight->params.count, i) / unit;
        if (least > (double)weight->params.scales[i]) {
            weight->params.scales[i] = grown(weight, least);
            ++*widened;
        }
    }
    by_floats_close(&floats);
    return 0;
}

static int adjust(struct by_quant_plan *plan, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &plan->rows.at[index];
    size_t widened;
    if (widen_weight_scales(plan, row, &widened, err))
        return -1;
    return widened ? by_quant_remark(plan, by_quant_owner(plan, row->weight_row), "bias-room", err,
                                     "%zu scales enlarged beyond the range of the weight, so that "
                                     "the bias '%s' fits %s",
                                     widened, row->value->name,
                                     plan->recipe->bias_int16 ? "16 bits" : "32 bits")
                   : 0;
}

int by_params_biases(struct by_quant_plan *plan, struct baryon_error *err)
{
    const struct by_recipe *recipe = plan->recipe;
    const bool asked = recipe->adjust_weight_for_bias || (recipe->bias_int16 && !recipe->compat);
    for (size_t i = 0; asked && i < plan->rows.count; i++)
        if (is_product(&plan->rows.at[i]) && adjust(plan, i, err))
            return -1;
    return by_bias_scales(plan, err);
}
