/* Lists the choices that samples make between values of the config. */
#include "trial/choices.h"

#include "quant/place.h"

/* --- Headroom of activations --- */

static bool has_headroom(const struct by_quant_plan *plan)
{
    if (!plan->recipe->headroom_auto || plan->recipe->activation.calib.headroom == 1)
        return false;
    for (size_t i = 0; i < plan->rows.count; i++) {
        int64_t qmin, qmax;
        const struct by_quant_row *row = &plan->rows.at[i];
        if (row->role != BY_ROLE_ACTIVATION || !by_spec_is_integer(&row->spec))
            continue;
        by_spec_levels(&row->spec, &qmin, &qmax);
        if (qmax - qmin > UINT8_MAX)
            return true;
    }
    return false;
}

/* --- Logarithms --- */

/* Blocks and floats have no zero point to round to: infinity follows. */
static bool has_logarithms(const struct by_quant_plan *plan)
{
    return plan->recipe->logarithms == BY_LOGARITHMS_AUTO &&
           by_spec_is_integer(&plan->recipe->activation) && by_place_kept_logarithms(plan);
}

/* --- All --- */

static const struct by_choice_row rows[] = {
    {has_logarithms, BY_EDIT_LOGARITHMS, BY_LOGARITHMS_QUANTIZED, BY_VERDICT_LOGARITHMS},
    {has_headroom, BY_EDIT_HEADROOM, BY_HEADROOM_UNIT, BY_VERDICT_HEADROOM},
};

const struct by_choice_row *by_choices(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}
