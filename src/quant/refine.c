/* Applies the hardware rules to a plan until no rule changes it. */
#include "quant/refine.h"

#include "quant/bias.h"
#include "quant/refine_around.h"

#include <string.h>

/* --- Which rules --- */

/* Power-of-two rules hold for XINT8 targets; of the others each has to be asked for. */
static bool by_default(const struct by_refine_rule *rule, const struct by_recipe *recipe)
{
    return rule->pow2 && recipe->hardware == BY_HARDWARE_XINT8;
}

static bool has_name(const struct by_refine_rule *rule, const char *name)
{
    return !strcmp(rule->name, name) || !strcmp(rule->alias, name);
}

static bool is_on(const struct by_refine_rule *rule, const struct by_recipe *recipe)
{
    bool on = by_default(rule, recipe);
    if (rule->pow2 != (recipe->hardware == BY_HARDWARE_XINT8))
        return false;
    for (size_t i = 0; i < recipe->refine.count; i++) {
        const char *name = recipe->refine.at[i].text;
        const bool off = *name == '-';
        if (has_name(rule, name + off))
            on = !off;
    }
    return on;
}

static bool is_for(const struct by_refine_rule *rule, const struct baryon_node *node)
{
    return !*by_domain(node->domain) && by_has_word(rule->op_types, node->op_type);
}

/* --- Rounds --- */

static int apply_rule(struct by_quant_plan *plan, const struct by_refine_rule *rule, bool *moved,
                      struct by_str *broken, struct baryon_error *err)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        bool here = false;
        struct by_refining at = {plan, plan->nodes[i].node, rule, &here, broken};
        if (plan->nodes[i].state != BY_NODE_QUANTIZED || !is_for(rule, at.node))
            continue;
        if (rule->apply(&at, err) < 0)
            return -1;
        *moved |= here && !rule->quiet;
    }
    return 0;
}

static int round_of(struct by_quant_plan *plan, bool *moved, struct baryon_error *err)
{
    size_t count;
    const struct by_refine_rule *const *rules = by_refine_rules(&count);
    *moved = false;
    for (size_t i = 0; i < count; i++)
        if (is_on(rules[i], plan->recipe) && apply_rule(plan, rules[i], moved, NULL, err) < 0)
            return -1;
    return 0;
}

int by_refine(struct by_quant_plan *plan, struct baryon_error *err)
{
    bool moved = plan->recipe->hardware != BY_HARDWARE_NONE;
    for (int64_t i = 0; moved && i < plan->recipe->refine_rounds; i++)
        if (round_of(plan, &moved, err) < 0)
            return -1;
    return by_bias_scales(plan, err);
}

static int find_node(struct by_quant_plan *plan, const struct by_refine_rule *rule,
                     struct by_str *broken, const struct baryon_node **node,
                     struct baryon_error *err)
{
    bool moved = false;
    for (size_t i = 0; i < plan->node_count && !*node; i++) {
        struct by_refining at = {plan, plan->nodes[i].node, rule, &moved, broken};
        if (plan->nodes[i].state != BY_NODE_QUANTIZED || !is_for(rule, at.node))
            continue;
        if (rule->apply(&at, err) < 0)
            return -1;
        if (broken->size)
            *node = at.node;
    }
    return 0;
}

int by_refine_find_broken(struct by_quant_plan *plan, const struct baryon_node **node,
                          const struct by_refine_rule **rule, struct baryon_error *err)
{
    size_t count;
    const struct by_refine_rule *const *rules = by_refine_rules(&count);
    struct by_str broken;
    int status = 0;
    *node = NULL;
    by_str_init(&broken);
    for (size_t i = 0; status == 0 && !*node && i < count; i++)
        if (rules[i]->pow2 && is_on(rules[i], plan->recipe))
            status = find_node(plan, *rule = rules[i], &broken, node, err);
    by_str_release(&broken);
    return status;
}

int by_refine_check(struct by_quant_plan *plan, struct by_str *broken, size_t *count,
                    struct baryon_error *err)
{
    size_t rule_count;
    const struct by_refine_rule *const *rules = by_refine_rules(&rule_count);
    bool moved = false;
    for (size_t i = 0; i < rule_count; i++)
        if (rules[i]->pow2 && apply_rule(plan, rules[i], &moved, broken, err) < 0)
            return -1;
    *count = 0;
    for (size_t i = 0; i < broken->size; i++)
        *count += broken->text[i] == '\n';
    return 0;
}
