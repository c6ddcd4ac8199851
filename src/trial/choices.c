/* Lists the choices that samples make between values of the config. */
#include "trial/choices.h"

#include "base/decibels.h"
#include "quant/floats.h"
#include "quant/place.h"
#include "trial/equalize.h"

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

static bool has_front_end(const struct by_quant_plan *plan)
{
    return plan->recipe->logarithms == BY_LOGARITHMS_AUTO &&
           by_spec_is_integer(&plan->recipe->activation) && by_place_has_front_end(plan);
}

/* --- Joins of different ranges --- */

static bool has_joins(const struct by_quant_plan *plan)
{
    return plan->recipe->joins == BY_JOINS_AUTO && plan->recipe->float_joins.count &&
           !plan->recipe->float_joins.on;
}

/* --- Clipping of weights --- */

#define GOOD 20.0 /* dB that weights have by themselves, where clipping them gains little */

/* The noise of rounding is that of a uniform distribution over a step. */
static double predicted_sqnr(const struct by_quant_plan *plan, size_t index,
                             const struct by_floats_view *floats)
{
    const struct by_params *params = by_quant_params(plan, index);
    double signal = 0, noise = 0;
    for (size_t i = 0; i < floats->count; i++)
        signal += (double)floats->values[i] * (double)floats->values[i];
    for (size_t i = 0; i < params->count; i++)
        noise += (double)params->scales[i] * (double)params->scales[i] / 12;
    return by_decibels(signal / (double)floats->count, noise / (double)params->count);
}

static bool is_coarse(const struct by_quant_plan *plan, size_t index)
{
    const struct by_quant_row *row = &plan->rows.at[index];
    struct by_floats_view floats;
    if (row->role != BY_ROLE_WEIGHT || !by_spec_is_integer(&row->spec) ||
        row->spec.method != plan->recipe->weight.method || !row->value->initializer ||
        !by_quant_params(plan, index)->count ||
        by_floats_open(&floats, row->value->initializer, NULL))
        return false;
    const bool coarse = floats.count && predicted_sqnr(plan, index, &floats) < GOOD;
    by_floats_close(&floats);
    return coarse;
}

/* Solving finds scales itself. */
static bool has_coarse_weights(const struct by_quant_plan *plan)
{
    const struct by_recipe *recipe = plan->recipe;
    if (!recipe->other_weight_method || recipe->rounding != BY_ROUNDING_NEAREST ||
        recipe->weight.method != by_calibrator_find("minmax"))
        return false;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (is_coarse(plan, i))
            return true;
    return false;
}

/* --- Method of activations --- */

/* What cuts off a few values gains where they do not matter, and loses most where they do, which
 * no error of the tensor itself tells. */
static bool has_other_method(const struct by_quant_plan *plan, enum by_other_method other)
{
    const struct by_calibrator *method = by_calibrator_find(by_other_method_name(other));
    if (!plan->recipe->activation_method_auto || plan->recipe->activation.method == method)
        return false;
    for (size_t i = 0; i < plan->rows.count; i++) {
        int64_t qmin, qmax;
        const struct by_quant_row *row = &plan->rows.at[i];
        if (row->role != BY_ROLE_ACTIVATION || !by_spec_is_integer(&row->spec) ||
            row->spec.scale != BY_SCALE_FLOAT32 || row->spec.method == method)
            continue;
        by_spec_levels(&row->spec, &qmin, &qmax);
        if (qmax - qmin <= UINT8_MAX)
            return true;
    }
    return false;
}

static bool has_other_than_minmse(const struct by_quant_plan *plan)
{
    return has_other_method(plan, BY_OTHER_MINMSE);
}

static bool has_other_than_minmax(const struct by_quant_plan *plan)
{
    return has_other_method(plan, BY_OTHER_MINMAX);
}

/* --- Pairs that no layer reads --- */

/* Only where equalization opens a trial anyway: networks without pairs of layers, transformers
 * most of all, would pay a third of the whole time for what never decided otherwise. */
static bool has_spared_pairs(const struct by_quant_plan *plan)
{
    return plan->recipe->auto_exclude == BY_EXCLUDE_AUTO && plan->recipe->spares_pairs &&
           by_place_spared(plan) && by_equalize_is_tried(plan);
}

/* --- All --- */

static const struct by_choice_row rows[] = {
    {has_logarithms, BY_EDIT_LOGARITHMS, BY_LOGARITHMS_QUANTIZED, BY_VERDICT_LOGARITHMS,
     "--logarithm-inputs float keeps them float", false, false},
    {has_front_end, BY_EDIT_LOGARITHMS, BY_LOGARITHMS_FRONT_END, BY_VERDICT_FRONT_END,
     "--logarithm-inputs quantized quantizes them", false, true},
    {has_headroom, BY_EDIT_HEADROOM, BY_HEADROOM_UNIT, BY_VERDICT_HEADROOM,
     "--activation-headroom-auto=false keeps it", false, false},
    {has_spared_pairs, BY_EDIT_PAIRS, 1, BY_VERDICT_PAIRS, "--auto-exclude always leaves them out",
     false, false},
    {has_joins, BY_EDIT_JOINS, 1, BY_VERDICT_JOINS, "--joins quantized keeps them in integers",
     true, true},
    {has_coarse_weights, BY_EDIT_WEIGHT_METHOD, 1, BY_VERDICT_WEIGHT_METHOD,
     "--weight-method minmax does not clip them", true, false},
    {has_other_than_minmse, BY_EDIT_ACTIVATION_METHOD, BY_OTHER_MINMSE,
     BY_VERDICT_ACTIVATION_METHOD, "--activation-method-auto=false keeps the other", true, false},
    {has_other_than_minmax, BY_EDIT_ACTIVATION_METHOD, BY_OTHER_MINMAX,
     BY_VERDICT_ACTIVATION_METHOD, "--activation-method-auto=false keeps the other", true, false},
};

const struct by_choice_row *by_choices(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}
