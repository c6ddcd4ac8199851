/* Replaces defaults that contradict what was asked for. */
#include "settings/recipe/yield.h"

#include "settings/methods.h"
#include "settings/notices.h"

#include <string.h>

typedef bool condition(const struct by_recipe_settings *settings);

static bool method_suits(int method, bool power_of_two, bool symmetric)
{
    const struct by_calibrator *calibrator = by_method_of(method);
    const struct by_calib_target target = {
        .qmin = -128, .qmax = 127, .symmetric = symmetric, .power_of_two = power_of_two};
    return !calibrator->suits || calibrator->suits(&target);
}

static bool requires_pow2(int method)
{
    return method_suits(method, true, true) && !method_suits(method, false, true);
}

static bool requires_symmetric(int method)
{
    return method_suits(method, true, true) && !method_suits(method, true, false);
}

static bool is_static(const struct by_recipe_settings *s)
{
    return s->approach == BY_APPROACH_STATIC;
}

static bool requires_fp8(const struct by_recipe_settings *s)
{
    const struct by_calib_target fp8 = {.symmetric = true, .is_float = true, .value_max = 448};
    const struct by_calibrator *calibrator = by_method_of(s->activation_method);
    return is_static(s) && calibrator->suits && calibrator->suits(&fp8) &&
           !method_suits(s->activation_method, true, true);
}

static bool activates_other_than_fp8(const struct by_recipe_settings *s)
{
    return requires_fp8(s) && !by_type_is_fp8(s->activation);
}

static bool has_pow2_activations(const struct by_recipe_settings *s)
{
    return is_static(s) && by_type_is_integer(s->activation) && requires_pow2(s->activation_method);
}

static bool has_symmetric_activations(const struct by_recipe_settings *s)
{
    return is_static(s) && by_type_is_integer(s->activation) &&
           requires_symmetric(s->activation_method);
}

static bool has_pow2_weights(const struct by_recipe_settings *s)
{
    return (is_static(s) || s->approach == BY_APPROACH_WEIGHTS) && by_type_is_integer(s->weight) &&
           requires_pow2(s->weight_method);
}

static bool has_pow2_dynamic(const struct by_recipe_settings *s)
{
    return s->approach == BY_APPROACH_DYNAMIC && requires_pow2(s->weight_method);
}

static bool has_pow2_biases(const struct by_recipe_settings *s)
{
    return s->bias_method != BY_AS_WEIGHT && requires_pow2(s->bias_method);
}

/* Biases of this scale would take the method from weights. */
static bool has_plain_biases(const struct by_recipe_settings *s)
{
    return s->bias_scale != BY_AS_WEIGHT && s->bias_scale != BY_SCALE_POW2 &&
           s->bias_method == BY_AS_WEIGHT && requires_pow2(s->weight_method);
}

static bool is_dynamic(const struct by_recipe_settings *s)
{
    return s->approach == BY_APPROACH_DYNAMIC;
}

static bool is_qoperator(const struct by_recipe_settings *s)
{
    return is_static(s) && s->format == BY_FORMAT_QOPERATOR && by_type_is_integer(s->activation) &&
           by_type_is_integer(s->weight);
}

static bool has_hqq(const struct by_recipe_settings *s)
{
    return s->approach == BY_APPROACH_NBITS && s->nbits_method == BY_NBITS_HQQ;
}

static bool solves_integers(const struct by_recipe_settings *s)
{
    return s->rounding != BY_ROUNDING_NEAREST && by_type_is_integer(s->weight) &&
           (is_static(s) || s->approach == BY_APPROACH_WEIGHTS);
}

static bool has_few_bits(const struct by_recipe_settings *s)
{
    struct by_tensor_spec weight = {0};
    by_spec_set_type(&weight, s->weight);
    return weight.bits > 0;
}

static bool lists_op_types(const struct by_recipe_settings *s)
{
    return s->op_types.count > 0;
}

static bool dedicates_dq(const struct by_recipe_settings *s)
{
    return s->dedicated_dq;
}

static bool dedicates_pairs(const struct by_recipe_settings *s)
{
    return s->dedicated_pairs;
}

static bool equalizes_by_samples(const struct by_recipe_settings *s)
{
    return !is_static(s) && s->cle == BY_CLE_AUTO;
}

static const struct row {
    condition *holds;
    const char *option, *value;
    bool given; /* even what was given gives way */
    const char *why;
} rows[] = {
    {activates_other_than_fp8, "activation", "fp8_e4m3", false,
     "--activation-method requires an 8-bit float"},
    {has_pow2_activations, "activation-scale", "pow2", false, "--activation-method requires it"},
    {has_symmetric_activations, "activation-symmetric", "true", false,
     "--activation-method requires it"},
    {has_pow2_weights, "weight-scale", "pow2", false, "--weight-method requires it"},
    {has_pow2_biases, "bias-scale", "pow2", false, "--bias-method requires it"},
    {has_plain_biases, "bias-method", "minmax", false, "--bias-scale requires it"},
    {has_pow2_dynamic, "weight-method", "minmax", false, "--approach dynamic requires it"},
    {is_dynamic, "weight-scale", "float32", false, "--approach dynamic requires it"},
    {is_qoperator, "bias", "int32", false, "--format qoperator requires it"},
    {has_hqq, "nbits-symmetric", "false", false, "--nbits-method hqq optimizes zero points"},
    {solves_integers, "keep-float-weights", "false", true,
     "rounding reconstruction writes integers, which the model would round again"},
    {has_few_bits, "keep-float-weights", "false", false, "--weight of 2 or 3 bits requires it"},
    {lists_op_types, "all-op-types", "false", false, "--op-types lists the operators"},
    {dedicates_dq, "dedicated-pairs", "false", false, "--dedicated-dq replaces it"},
    {dedicates_pairs, "dedicated-dq", "false", false, "--dedicated-pairs replaces it"},
    {equalizes_by_samples, "cle", "off", true,
     "--cle auto requires samples, which only --approach static has"},
};

static int apply_row(struct by_config *config, struct by_recipe_settings *settings,
                     const struct row *row, bool *changed, struct baryon_error *err)
{
    struct by_str now;
    const struct by_option *option = by_config_find(config, row->option);
    if (!option || !row->holds(settings) || (by_config_given(config, row->option) && !row->given))
        return 0;
    by_str_init(&now);
    by_config_show(config, row->option, &now);
    const bool same = !strcmp(by_str_text(&now), row->value);
    const int status = by_str_error(&now, err);
    by_str_release(&now);
    if (status < 0 || same)
        return status;
    *changed = true;
    if (by_config_reset(config, option, err) < 0 ||
        by_config_set(config, option, row->value, NULL, BY_SOURCE_PRESET, err) < 0)
        return -1;
    return by_settings_note(config, settings, err, "--%s is set to %s: %s", row->option, row->value,
                            row->why);
}

int by_recipe_yield(struct by_config *config, struct by_recipe_settings *settings, bool *changed,
                    struct baryon_error *err)
{
    *changed = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (apply_row(config, settings, &rows[i], changed, err) < 0)
            return -1;
    return 0;
}
