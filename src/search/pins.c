/* Writes what held-out samples chose in a quantization as options of a config. */
#include "search/auto_internal.h"

#include "trial/candidate.h"

#include <string.h>

static void pin_equalization(const struct by_quantization *q, bool keeps_names, struct by_str *rest)
{
    const enum by_cle_mode mode = q->report.equalized;
    const bool adds = mode == BY_CLE_EXACT || mode == BY_CLE_REPLACE;
    by_str_printf(rest, "cle: %s\n", by_cle_mode_name(adds && keeps_names ? BY_CLE_KEEP : mode));
    if (mode != BY_CLE_OFF && q->report.equalized_range != 1)
        by_str_printf(rest, "cle-range: %.17g\n", q->report.equalized_range);
}

static void pin_methods(const struct by_quantization *q, const struct by_recipe *asked,
                        struct by_str *rest)
{
    if (asked->activation_method_auto)
        by_str_printf(rest, "activation-method: %s\n", q->recipe.activation.method->name);
    if (asked->other_weight_method)
        by_str_printf(rest, "weight-method: %s\n", q->recipe.weight.method->name);
    if (asked->headroom_auto)
        by_str_printf(rest, "activation-headroom: %.17g\n", q->recipe.activation.calib.headroom);
}

static bool is_chosen(const struct by_quantization *q, enum by_edit_kind kind)
{
    for (size_t i = 0; i < q->report.choice_count; i++)
        if (!strcmp(q->report.choices[i].choice, by_edit(kind)->name))
            return true;
    return false;
}

/* The factors, and the channels, are found again. */
static void pin_channels(const struct by_quantization *q, const struct by_recipe *asked,
                         struct by_str *rest)
{
    if (asked->smooth == BY_SMOOTH_AUTO)
        by_str_printf(rest, "smooth: %s\n", is_chosen(q, BY_EDIT_SMOOTHING) ? "on" : "off");
    if (asked->split == BY_SPLIT_AUTO)
        by_str_printf(rest, "split-outliers: %s\n", is_chosen(q, BY_EDIT_SPLITTING) ? "on" : "off");
    if (asked->weight_rows_auto && !is_chosen(q, BY_EDIT_WEIGHT_ROWS))
        by_str_puts(rest, "weight-rows-auto: false\n");
}

static const char *name_of_logarithms(enum by_logarithms chosen)
{
    switch (chosen) {
    case BY_LOGARITHMS_QUANTIZED:
        return "quantized";
    case BY_LOGARITHMS_FRONT_END:
        return "front-end";
    case BY_LOGARITHMS_AUTO:
    case BY_LOGARITHMS_FLOAT:
        break;
    }
    return "float";
}

void by_auto_pin(const struct by_quantization *q, const struct by_recipe *asked, bool keeps_names,
                 struct by_str *rest)
{
    if (asked->cle == BY_CLE_AUTO)
        pin_equalization(q, keeps_names, rest);
    if (asked->bias_correction == BY_BIASES_AUTO && asked->rounding == BY_ROUNDING_NEAREST)
        by_str_printf(rest, "bias-correction: %s\n", q->corrects ? "true" : "false");
    pin_methods(q, asked, rest);
    pin_channels(q, asked, rest);
    if (asked->logarithms == BY_LOGARITHMS_AUTO)
        by_str_printf(rest, "logarithm-inputs: %s\n", name_of_logarithms(q->recipe.logarithms));
    if (asked->joins == BY_JOINS_AUTO)
        by_str_printf(rest, "joins: %s\n", q->recipe.float_joins.on ? "float" : "quantized");
    if (asked->auto_exclude == BY_EXCLUDE_AUTO)
        by_str_printf(rest, "auto-exclude: %s\n", q->recipe.spares_pairs ? "always" : "off");
    if (asked->wide_auto)
        by_str_printf(rest, "wide-auto: false\nwide-below: %.17g\n", q->recipe.wide_below);
}
