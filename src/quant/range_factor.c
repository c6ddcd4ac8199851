/* Multiplies ranges of activations by what samples chose. */
#include "quant/range_factor.h"

#include <stdlib.h>
#include <string.h>

static int by_tensor(const void *one, const void *other)
{
    const struct by_range_factor *a = one, *b = other;
    return strcmp(a->tensor, b->tensor);
}

void by_range_factors_sort(struct by_range_factor *list, size_t count)
{
    qsort(list, count, sizeof *list, by_tensor);
}

bool by_range_factor_fits(const struct by_quant_row *row)
{
    int64_t qmin, qmax;
    if (row->role != BY_ROLE_ACTIVATION || row->shares != BY_NO_ROW || row->converts != BY_NO_ROW ||
        row->has_params || row->has_range || row->value->initializer ||
        !by_spec_is_integer(&row->spec) || !row->spec.method || !row->spec.method->by_outputs ||
        (row->spec.scale != BY_SCALE_FLOAT32 && row->spec.scale != BY_SCALE_POW2))
        return false;
    by_spec_levels(&row->spec, &qmin, &qmax);
    return qmax - qmin <= UINT8_MAX;
}

double by_range_factor_of(const struct by_recipe *recipe, const struct by_quant_row *row)
{
    const struct by_range_factor key = {row->value->name, 1}, *found = NULL;
    if (recipe->factors.on && recipe->factors.count && by_range_factor_fits(row))
        found = bsearch(&key, recipe->factors.at, recipe->factors.count, sizeof key, by_tensor);
    return found ? found->factor : 1;
}

int by_range_factor_apply(struct by_quant_plan *plan, size_t row, struct baryon_error *err)
{
    struct by_quant_row *at = &plan->rows.at[row];
    const double factor = by_range_factor_of(plan->recipe, at);
    if (factor == 1)
        return 0;
    at->range.low *= factor;
    at->range.high *= factor;
    return by_quant_remark(plan, row, "output", err,
                           "range times %.3g, for better outputs of the model", factor);
}
