/* Notices about rules that change nothing, with the reason. */
#include "quant/place_internal.h"

#include "base/log.h"
#include "base/text.h"

#include <string.h>

enum side { SIDE_INPUT, SIDE_WEIGHT, SIDE_BIAS, SIDE_OUTPUT, SIDES };

static const char *const side_names[SIDES] = {"activation", "weight", "bias", "output"};

struct effect {
    const struct by_rule *rule;
    bool done[SIDES];
    size_t ranged; /* a row whose method has no effect; BY_NO_ROW: none */
};

static const struct by_change *change_on(const struct by_rule *rule, enum side side)
{
    const struct by_change *const changes[SIDES] = {&rule->input, &rule->weight, &rule->bias,
                                                    &rule->output};
    return changes[side];
}

/* A method finds a range, which a row with the parameters of another one does not have. */
static bool loses_method(const struct by_quant_plan *plan, size_t row)
{
    const struct by_quant_row *at = &plan->rows.at[row];
    const struct by_quant_row *owner = &plan->rows.at[by_quant_owner(plan, row)];
    if (at->range_of != BY_NO_ROW)
        owner = &plan->rows.at[at->range_of];
    return at->role == BY_ROLE_ACTIVATION && owner != at && owner->spec.method != at->spec.method;
}

static void note_effect(const struct by_placing *placing, struct effect *effect, size_t row,
                        enum side side)
{
    const struct by_change *change = change_on(effect->rule, side);
    if (change->set == BY_CHANGE_METHOD && loses_method(placing->plan, row))
        effect->ranged = row;
    else
        effect->done[side] = true;
}

static enum side side_of(const struct by_placing *placing, const struct by_quant_reader *reader)
{
    switch (by_place_slot(placing, reader->node, reader->slot)) {
    case BY_SLOT_BIAS:
        return SIDE_BIAS;
    case BY_SLOT_WEIGHT:
    case BY_SLOT_CONSTANT:
    case BY_SLOT_TABLE:
        return SIDE_WEIGHT;
    default:
        return SIDE_INPUT;
    }
}

static void look_at_row(const struct by_placing *placing, struct effect *effect, size_t index,
                        size_t row)
{
    const struct by_quant_row *at = &placing->plan->rows.at[row];
    const struct baryon_node *layer = by_place_fused_layer(placing, at->value);
    if (by_place_rule_picks(placing, index, at->value->producer) ||
        by_place_rule_picks(placing, index, layer))
        note_effect(placing, effect, row, SIDE_OUTPUT);
    for (size_t i = 0; i < at->readers.count; i++)
        if (by_place_rule_picks(placing, index, at->readers.at[i].node))
            note_effect(placing, effect, row, side_of(placing, &at->readers.at[i]));
}

static int find_effect(const struct by_placing *placing, size_t index, struct effect *effect,
                       struct baryon_error *err)
{
    for (size_t row = 0; row < placing->plan->rows.count; row++) {
        bool picks = false;
        if (effect->rule->kind != BY_RULE_TENSOR)
            look_at_row(placing, effect, index, row);
        else if (by_pattern_picks(&effect->rule->pattern, placing->plan->rows.at[row].value->name,
                                  &picks, err))
            return -1;
        if (picks)
            note_effect(placing, effect, row, SIDE_INPUT);
    }
    return 0;
}

/* --- Reasons --- */

static const struct baryon_node *first_picked(const struct by_placing *placing, size_t index,
                                              bool quantized)
{
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        if (by_place_rule_picks(placing, index, node) && (placing->quantized[i] || !quantized))
            return node;
    }
    return NULL;
}

static void explain_ranged(const struct by_quant_plan *plan, size_t row, struct by_text *text)
{
    const struct by_quant_row *at = &plan->rows.at[row];
    const size_t owner = at->range_of != BY_NO_ROW ? at->range_of : by_quant_owner(plan, row);
    char one[BY_QUOTE_MAX], other[BY_QUOTE_MAX];
    by_text_add(text, "tensor %s has the parameters of %s", by_quote(one, at->value->name),
                by_quote(other, plan->rows.at[owner].value->name));
}

static void explain(const struct by_placing *placing, size_t index, const struct effect *effect,
                    enum side side, struct by_text *text)
{
    static const char *const lacks[SIDES] = {
        "no input of %s is quantized by itself", "%s has no weight that is quantized",
        "%s has no bias with parameters of its own", "the output of %s is not quantized by itself"};
    char label[BY_QUOTE_MAX + 80];
    const struct baryon_node *node = first_picked(placing, index, true);
    const struct baryon_node *any = first_picked(placing, index, false);
    if (effect->ranged != BY_NO_ROW)
        explain_ranged(placing->plan, effect->ranged, text);
    else if (effect->rule->kind == BY_RULE_TENSOR)
        by_text_add(text, "the tensor is not quantized by itself");
    else if (node)
        by_text_add(text, lacks[side], by_node_label(node, label, sizeof label));
    else if (any)
        by_text_add(text, "%s stays float: %s", by_node_label(any, label, sizeof label),
                    placing->stays[any->index] ? placing->stays[any->index] : "");
    else
        by_text_add(text, "the model has no such operator");
}

static void tell_side(const struct by_placing *placing, size_t index, const struct effect *effect,
                      enum side side, const struct by_log *log)
{
    char reason[512], quoted[BY_QUOTE_MAX];
    struct by_text text;
    const struct by_pattern *pattern = &effect->rule->pattern;
    const bool tensor = effect->rule->kind == BY_RULE_TENSOR;
    by_text_init(&text, reason, sizeof reason);
    explain(placing, index, effect, side, &text);
    by_log(log, BY_LOG_NOTICE, "%s %s%s%s has no effect: %s",
           pattern->origin ? pattern->origin : "rule", by_quote(quoted, pattern->text),
           tensor ? "" : ": ", tensor ? "" : side_names[side], reason);
}

static void tell_effect(const struct by_placing *placing, size_t index, const struct effect *effect,
                        const struct by_log *log)
{
    bool any = false;
    for (enum side side = 0; side < SIDES; side++)
        any = any || (change_on(effect->rule, side)->set && effect->done[side]);
    for (enum side side = 0; side < SIDES; side++) {
        /* Rules of operators speak of all sides that some of them may have. */
        const bool general = effect->rule->kind == BY_RULE_OP_TYPE && any;
        if (change_on(effect->rule, side)->set && !effect->done[side] && !general) {
            tell_side(placing, index, effect, side, log);
            if (!any)
                return;
        }
    }
}

int by_place_tell_unused(const struct by_placing *placing, const struct by_log *log,
                         struct baryon_error *err)
{
    for (size_t i = 0; log && i < placing->recipe->rules.count; i++) {
        struct effect effect = {.rule = &placing->recipe->rules.at[i], .ranged = BY_NO_ROW};
        if (effect.rule->keep_float || effect.rule->param_count || effect.rule->has_range)
            continue;
        if (find_effect(placing, i, &effect, err))
            return -1;
        tell_effect(placing, i, &effect, log);
    }
    return 0;
}
