/*
 * The user's rules for operators, nodes and tensors. Of those about one tensor the strongest
 * counts: tensor, reader's node, producer's node, operator; among equals the later one.
 */
#include "base/str.h"
#include "quant/own_sqnr.h"
#include "quant/place_internal.h"

bool by_place_rule_picks(const struct by_placing *placing, size_t rule,
                         const struct baryon_node *node)
{
    return node && node->graph == placing->graph &&
           placing->picks[rule * placing->node_count + node->index];
}

/* --- Which nodes each rule is about --- */

/* The place of a rule among those that have a span. */
static unsigned span_bit(const struct by_placing *placing, const struct by_rule *rule)
{
    unsigned bit = 0;
    for (const struct by_rule *at = placing->recipe->rules.at; at < rule; at++)
        bit += at->span != NULL;
    return bit;
}

/* Users speak of their own nodes: a node is meant when one that it came from is. */
int by_place_picks(const struct by_placing *placing, const struct by_pattern *pattern,
                   const struct baryon_node *node, bool *picks, struct baryon_error *err)
{
    size_t count = 0, users = 0;
    if (!placing->origins)
        return by_pattern_picks(pattern, node->name ? node->name : "", picks, err);
    const struct by_user_node *user =
        by_origins_user((struct by_origins *)placing->origins, &users);
    const size_t *at = by_origins_of(placing->origins, node, &count);
    *picks = false;
    for (size_t i = 0; i < count && !*picks; i++) {
        const struct by_user_node *from = &user[at[i]];
        if (by_pattern_picks(pattern, from->name[0] ? from->name : from->output, picks, err))
            return -1;
    }
    return 0;
}

static int picks_node(const struct by_placing *placing, const struct by_rule *rule,
                      const struct baryon_node *node, bool *picks, struct baryon_error *err)
{
    if (!rule->span)
        return by_place_picks(placing, &rule->pattern, node, picks, err);
    *picks = placing->origins &&
             (by_origins_spans(placing->origins, node) >> span_bit(placing, rule) & 1);
    return 0;
}

static int nothing_picked(const struct by_placing *placing, const struct by_rule *rule,
                          struct baryon_error *err)
{
    char quote[BY_QUOTE_MAX];
    const char *what = rule->kind == BY_RULE_TENSOR ? "tensor" : "node";
    by_fail(err, BARYON_ERR_USAGE, "%s: %s matches no %s of the model",
            rule->pattern.origin ? rule->pattern.origin : "rule",
            by_quote(quote, rule->pattern.text), what);
    const char *near = NULL;
    unsigned best = 4;
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        const char *name = rule->kind == BY_RULE_TENSOR
                               ? (node->output.count ? node->output.at[0] : NULL)
                               : node->name;
        const unsigned far = name ? by_edit_distance(name, rule->pattern.text) : best;
        if (far < best) {
            best = far;
            near = name;
        }
    }
    return near ? by_err_hint(err, "did you mean %s?", by_quote(quote, near)) : -1;
}

static int open_node_rule(struct by_placing *placing, size_t index, struct baryon_error *err)
{
    const struct by_rule *rule = &placing->recipe->rules.at[index];
    size_t found = 0;
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        bool picks = false;
        const int failed = rule->kind == BY_RULE_OP_TYPE
                               ? by_pattern_picks(&rule->pattern, node->op_type, &picks, err)
                               : picks_node(placing, rule, node, &picks, err);
        if (failed)
            return -1;
        placing->picks[index * placing->node_count + i] = picks;
        found += picks;
    }
    return found || rule->kind == BY_RULE_OP_TYPE ? 0 : nothing_picked(placing, rule, err);
}

static int check_tensor_rule(struct by_placing *placing, size_t index, struct baryon_error *err)
{
    const struct by_rule *rule = &placing->recipe->rules.at[index];
    for (size_t i = 0; i < placing->graph->all_values.count; i++) {
        const struct baryon_value *value = placing->graph->all_values.at[i];
        bool picks = false;
        if (value && by_pattern_picks(&rule->pattern, value->name, &picks, err))
            return -1;
        if (picks)
            return 0;
    }
    return placing->recipe->compat ? 0 : nothing_picked(placing, rule, err);
}

int by_place_open_rules(struct by_placing *placing, struct baryon_error *err)
{
    const size_t count = placing->recipe->rules.count;
    size_t cells;
    if (by_mul_overflow(count, placing->node_count, &cells))
        return by_err_nomem(err, SIZE_MAX);
    placing->picks = by_alloc_zero(cells, 1, err);
    if (!placing->picks)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (placing->recipe->rules.at[i].kind == BY_RULE_TENSOR ? check_tensor_rule(placing, i, err)
                                                                : open_node_rule(placing, i, err))
            return -1;
    return 0;
}

const struct by_rule *by_place_kept(const struct by_placing *placing,
                                    const struct baryon_node *node)
{
    for (size_t i = 0; i < placing->recipe->rules.count; i++)
        if (placing->recipe->rules.at[i].keep_float && by_place_rule_picks(placing, i, node))
            return &placing->recipe->rules.at[i];
    return NULL;
}

int by_place_tensor_rule(const struct by_placing *placing, const struct baryon_value *value,
                         const struct by_rule **rule, struct baryon_error *err)
{
    *rule = NULL;
    for (size_t i = 0; i < placing->recipe->rules.count; i++) {
        const struct by_rule *at = &placing->recipe->rules.at[i];
        bool picks = false;
        if (at->kind == BY_RULE_TENSOR && by_pattern_picks(&at->pattern, value->name, &picks, err))
            return -1;
        if (picks)
            *rule = at;
    }
    return 0;
}

/* --- What they change --- */

static const struct by_change *change_of(const struct by_rule *rule, enum by_slot_role role,
                                         bool output)
{
    if (output)
        return &rule->output;
    switch (role) {
    case BY_SLOT_WEIGHT:
    case BY_SLOT_CONSTANT:
    case BY_SLOT_TABLE:
        return &rule->weight;
    case BY_SLOT_BIAS:
        return &rule->bias;
    default:
        return &rule->input;
    }
}

/* All changes of one kind of rules about one side of a node, one after the other. */
static void apply_rules(const struct by_placing *placing, enum by_rule_kind kind,
                        const struct baryon_node *node, enum by_slot_role role, bool output,
                        struct by_tensor_spec *spec, bool *changed)
{
    for (size_t i = 0; i < placing->recipe->rules.count; i++) {
        const struct by_rule *rule = &placing->recipe->rules.at[i];
        if (rule->kind != kind || !by_place_rule_picks(placing, i, node))
            continue;
        const struct by_change *change = change_of(rule, role, output);
        by_spec_apply(spec, change);
        *changed = *changed || change->set;
    }
}

static int apply_tensor(const struct by_placing *placing, const struct baryon_value *value,
                        struct by_tensor_spec *spec, bool *changed, struct baryon_error *err)
{
    for (size_t i = 0; i < placing->recipe->rules.count; i++) {
        const struct by_rule *rule = &placing->recipe->rules.at[i];
        bool picks = false;
        if (rule->kind != BY_RULE_TENSOR)
            continue;
        if (by_pattern_picks(&rule->pattern, value->name, &picks, err))
            return -1;
        if (!picks)
            continue;
        by_spec_apply(spec, &rule->input);
        *changed = *changed || rule->input.set || rule->keep_float;
        if (rule->keep_float)
            by_spec_set_type(spec, 0);
    }
    return 0;
}

bool by_place_same_spec(const struct by_tensor_spec *one, const struct by_tensor_spec *other)
{
    return one->elem == other->elem && one->format == other->format && one->bits == other->bits &&
           one->symmetric == other->symmetric && one->reduce_range == other->reduce_range &&
           one->scale == other->scale && one->method == other->method;
}

/* --- Activations --- */

struct asked {
    const struct baryon_node *by; /* the reader that asked; NULL: none so far */
    struct by_tensor_spec spec;
    const struct baryon_node *other; /* one that asks for something else */
    struct by_tensor_spec other_spec;
};

static bool wants_data(const struct by_placing *placing, const struct by_use *use)
{
    return use->node && use->graph == placing->graph && placing->quantized[use->node->index] &&
           by_place_slot(placing, use->node, use->slot) == BY_SLOT_DATA;
}

/* Uses are in no order: the reader that stands first asks first. */
static void ask_reader(const struct by_placing *placing, const struct baryon_node *node,
                       const struct by_tensor_spec *base, struct asked *asked)
{
    struct by_tensor_spec spec = *base;
    bool changed = false;
    apply_rules(placing, BY_RULE_NODE, node, BY_SLOT_DATA, false, &spec, &changed);
    if (!changed)
        return;
    if (!asked->by || node->index < asked->by->index) {
        if (asked->by && !by_place_same_spec(&asked->spec, &spec)) {
            asked->other = asked->by;
            asked->other_spec = asked->spec;
        }
        asked->by = node;
        asked->spec = spec;
    } else if (!by_place_same_spec(&asked->spec, &spec)) {
        asked->other = node;
        asked->other_spec = spec;
    }
}

static int two_ask(const struct baryon_value *value, const struct asked *asked,
                   struct baryon_error *err)
{
    char name[BY_QUOTE_MAX], one[BY_QUOTE_MAX + 80], two[BY_QUOTE_MAX + 80], spec[160], other[160];
    by_fail(
        err, BARYON_ERR_USAGE, "tensor %s: the rules for %s (%s) and %s (%s) contradict each other",
        by_quote(name, value->name), by_node_label(asked->by, one, sizeof one),
        by_spec_text(&asked->spec, spec, sizeof spec), by_node_label(asked->other, two, sizeof two),
        by_spec_text(&asked->other_spec, other, sizeof other));
    return by_err_hint(err, "add a rule for the tensor itself");
}

static int too_few_bits(const struct baryon_value *value, const struct by_tensor_spec *spec,
                        struct baryon_error *err)
{
    char name[BY_QUOTE_MAX], type[32];
    by_fail(err, BARYON_ERR_USAGE,
            "tensor %s: activations cannot be quantized to %s, only constants can",
            by_quote(name, value->name), by_spec_type(spec, type, sizeof type));
    return by_err_hint(err, "the smallest types of activations are int4 and uint4");
}

/* Before rules: what these ask for is stronger. */
static void begin_spec(const struct by_placing *placing, const struct baryon_value *value,
                       struct by_tensor_spec *spec)
{
    *spec = placing->recipe->activation;
    spec->granularity = BY_PER_TENSOR;
    if (by_quant_is_wide(placing->recipe, value->name))
        by_spec_set_type(spec, by_spec_is_unsigned(spec) ? BY_ELEM_UINT16 : BY_ELEM_INT16);
}

int by_place_data_spec(struct by_placing *placing, const struct baryon_value *value,
                       struct by_tensor_spec *spec, struct baryon_error *err)
{
    bool changed = false, of_tensor = false;
    struct asked asked = {0};
    begin_spec(placing, value, spec);
    if (!placing->recipe->rules.count)
        return 0;
    const struct baryon_node *layer = by_place_fused_layer(placing, value);
    apply_rules(placing, BY_RULE_OP_TYPE, layer, BY_SLOT_DATA, true, spec, &changed);
    apply_rules(placing, BY_RULE_OP_TYPE, value->producer, BY_SLOT_DATA, true, spec, &changed);
    for (size_t i = 0; i < value->use_count; i++)
        if (wants_data(placing, &value->uses[i]))
            apply_rules(placing, BY_RULE_OP_TYPE, value->uses[i].node, BY_SLOT_DATA, false, spec,
                        &changed);
    apply_rules(placing, BY_RULE_NODE, layer, BY_SLOT_DATA, true, spec, &changed);
    apply_rules(placing, BY_RULE_NODE, value->producer, BY_SLOT_DATA, true, spec, &changed);
    const bool own = placing->recipe->dual_pairs && by_place_runs_quantized(placing, value);
    if (own)
        by_place_given_spec(placing, value, spec);
    for (size_t i = 0; !own && i < value->use_count; i++)
        if (wants_data(placing, &value->uses[i]))
            ask_reader(placing, value->uses[i].node, spec, &asked);
    if (asked.by)
        *spec = asked.spec;
    if (apply_tensor(placing, value, spec, &of_tensor, err))
        return -1;
    if (asked.other && !of_tensor && !placing->recipe->dual_pairs)
        return two_ask(value, &asked, err);
    return spec->bits ? too_few_bits(value, spec, err) : 0;
}

void by_place_given_spec(const struct by_placing *placing, const struct baryon_value *value,
                         struct by_tensor_spec *spec)
{
    bool changed = false;
    begin_spec(placing, value, spec);
    apply_rules(placing, BY_RULE_OP_TYPE, value->producer, BY_SLOT_DATA, true, spec, &changed);
    apply_rules(placing, BY_RULE_NODE, value->producer, BY_SLOT_DATA, true, spec, &changed);
}

void by_place_wanted_spec(const struct by_placing *placing, const struct baryon_node *reader,
                          struct by_tensor_spec *spec)
{
    bool changed = false;
    *spec = placing->recipe->activation;
    spec->granularity = BY_PER_TENSOR;
    apply_rules(placing, BY_RULE_OP_TYPE, reader, BY_SLOT_DATA, false, spec, &changed);
    apply_rules(placing, BY_RULE_NODE, reader, BY_SLOT_DATA, false, spec, &changed);
}

/* --- Constants --- */

static bool is_elementwise(const struct baryon_node *node)
{
    static const char *const names[] = {"Add", "Div", "Max", "Min", "Mul", "Sub", NULL};
    return by_node_is_one_of(node, names);
}

static const struct by_tensor_spec *
base_spec(const struct by_placing *placing, const struct baryon_node *node, enum by_slot_role role)
{
    const struct by_recipe *recipe = placing->recipe;
    /* A table is moved into an activation, whose parameters it has to have. */
    if (role == BY_SLOT_TABLE && recipe->approach == BY_APPROACH_STATIC)
        return &recipe->activation;
    if (role == BY_SLOT_CONSTANT && recipe->align_elementwise && is_elementwise(node))
        return &recipe->activation;
    return role == BY_SLOT_BIAS ? &recipe->bias : &recipe->weight;
}

int by_place_constant_spec(struct by_placing *placing, const struct baryon_node *node, size_t slot,
                           enum by_slot_role role, struct by_tensor_spec *spec,
                           struct baryon_error *err)
{
    const struct by_recipe *recipe = placing->recipe;
    const struct by_tensor_spec *base = base_spec(placing, node, role);
    bool changed = false;
    *spec = *base;
    if (base == &recipe->activation) { /* the type; its values are searched like any constant's */
        spec->granularity = BY_PER_TENSOR;
        spec->method = recipe->weight.method;
        spec->calib = recipe->weight.calib;
    }
    apply_rules(placing, BY_RULE_OP_TYPE, node, role, false, spec, &changed);
    apply_rules(placing, BY_RULE_NODE, node, role, false, spec, &changed);
    return apply_tensor(placing, by_node_in(node, slot), spec, &changed, err);
}

int by_place_bias_asked(const struct by_placing *placing, const struct baryon_node *node,
                        size_t slot, bool *asked, struct baryon_error *err)
{
    struct by_tensor_spec spec = placing->recipe->bias;
    *asked = false;
    apply_rules(placing, BY_RULE_OP_TYPE, node, BY_SLOT_BIAS, false, &spec, asked);
    apply_rules(placing, BY_RULE_NODE, node, BY_SLOT_BIAS, false, &spec, asked);
    return apply_tensor(placing, by_node_in(node, slot), &spec, asked, err);
}
