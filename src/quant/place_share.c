/*
 * Who has whose parameters, and ranges that do not come from statistics: given ones, those of
 * operators whose output is known, those of what reads the tensor.
 */
#include "quant/place_internal.h"

#include "base/str.h"

#include <math.h>

/* --- What the user gives --- */

static int bad_given(const struct by_rule *rule, const char *what, struct baryon_error *err)
{
    char quote[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_USAGE, "%s: tensor %s: %s",
                   rule->pattern.origin ? rule->pattern.origin : "rule",
                   by_quote(quote, rule->pattern.text), what);
}

static int check_given(const struct by_rule *rule, const struct by_quant_row *row,
                       struct baryon_error *err)
{
    int64_t low, high;
    if (row->spec.format)
        return bad_given(rule, "its type has no scale that could be given", err);
    by_spec_levels(&row->spec, &low, &high);
    for (size_t i = 0; i < rule->param_count; i++) {
        const double scale = rule->scales[i];
        const int64_t zero = rule->zeros ? rule->zeros[i] : 0;
        if (!(scale > 0) || isinf(scale) || (float)scale == 0)
            return bad_given(rule, "a scale must be a positive number", err);
        if (zero < low || zero > high)
            return bad_given(rule, "a zero point must be a value of its type", err);
        if (row->spec.scale == BY_SCALE_POW2 && log2(scale) != floor(log2(scale)))
            return bad_given(rule, "a scale must be a power of two for this type", err);
    }
    if (rule->param_count > 1 && row->role == BY_ROLE_ACTIVATION)
        return bad_given(rule, "several scales are valid for constants only", err);
    return 0;
}

static int set_given(struct by_placing *placing, const struct by_rule *rule,
                     struct by_quant_row *row, struct baryon_error *err)
{
    struct by_params *params = &row->params;
    if (check_given(rule, row, err))
        return -1;
    params->scales =
        by_arena_alloc(&placing->plan->arena, rule->param_count, sizeof *params->scales, err);
    params->zeros =
        by_arena_alloc(&placing->plan->arena, rule->param_count, sizeof *params->zeros, err);
    if (!params->scales || !params->zeros)
        return -1;
    for (size_t i = 0; i < rule->param_count; i++) {
        params->scales[i] = (float)rule->scales[i];
        params->zeros[i] = rule->zeros ? rule->zeros[i] : 0;
    }
    params->count = rule->param_count;
    params->axis = rule->param_count > 1 ? rule->axis : -1;
    params->group_axis = -1;
    row->spec.granularity = rule->param_count > 1 ? BY_PER_CHANNEL : BY_PER_TENSOR;
    row->has_params = true;
    return 0;
}

static int apply_tensor_rule(struct by_placing *placing, size_t index, struct baryon_error *err)
{
    struct by_quant_row *row = &placing->plan->rows.at[index];
    const struct by_rule *rule;
    if (row->converts != BY_NO_ROW) /* what is given is for the first pair */
        return 0;
    if (by_place_tensor_rule(placing, row->value, &rule, err))
        return -1;
    if (!rule)
        return 0;
    if (rule->param_count) {
        const struct baryon_tensor *tensor = row->value->initializer;
        if (rule->param_count > 1 &&
            (!tensor || rule->axis < 0 || (size_t)rule->axis >= tensor->dims.count ||
             (size_t)tensor->dims.at[rule->axis] != rule->param_count))
            return bad_given(rule, "the number of scales must be the length of the axis", err);
        return set_given(placing, rule, row, err);
    }
    if (rule->has_range) {
        if (row->spec.format && !by_spec_is_scaled(&row->spec))
            return bad_given(rule, "its type has neither scale nor range", err);
        if (!(rule->range[0] <= rule->range[1]) || isinf(rule->range[0]) || isinf(rule->range[1]))
            return bad_given(rule, "its range must be two numbers in ascending order", err);
        row->range =
            (struct by_range){fmin(rule->range[0], 0), fmax(rule->range[1], 0), false, NAN};
        row->has_range = true;
    }
    return 0;
}

/* --- Parameters of what is moved --- */

static bool has_own(const struct by_quant_row *row)
{
    return row->has_params || row->has_range;
}

static bool may_share(const struct by_quant_row *one, const struct by_quant_row *other)
{
    return one->spec.elem == other->spec.elem && one->spec.format == other->spec.format &&
           one->spec.bits == other->spec.bits && one->spec.symmetric == other->spec.symmetric &&
           one->spec.reduce_range == other->spec.reduce_range &&
           one->spec.scale == other->spec.scale && one->spec.scaled == other->spec.scaled &&
           one->params.axis < 0 && other->params.axis < 0;
}

static int share_outputs(struct by_placing *placing, const struct baryon_node *node,
                         struct baryon_error *err)
{
    struct by_quant_plan *plan = placing->plan;
    char label[BY_QUOTE_MAX + 80];
    const size_t from = by_quant_read(plan, node, 0);
    if (from == BY_NO_ROW || !by_place_moves(placing, node))
        return 0;
    for (size_t i = 0; i < node->output.count; i++) {
        const size_t to = by_quant_find(plan, by_node_out(node, i));
        if (to == BY_NO_ROW || has_own(&plan->rows.at[to]) ||
            !may_share(&plan->rows.at[from], &plan->rows.at[to]))
            continue;
        plan->rows.at[to].shares = from;
        if (by_quant_remark(plan, to, "share", err, "%s only moves elements of '%s'",
                            by_node_label(node, label, sizeof label),
                            plan->rows.at[from].value->name))
            return -1;
    }
    return 0;
}

/* --- Ranges that are known --- */

static int set_unit_range(struct by_placing *placing, const struct baryon_node *node,
                          struct baryon_error *err)
{
    struct by_quant_plan *plan = placing->plan;
    const size_t row = by_quant_find(plan, by_node_out(node, 0));
    if (row == BY_NO_ROW || has_own(&plan->rows.at[row]) ||
        !(placing->ops[node->index]->flags & BY_PLACE_UNIT))
        return 0;
    for (size_t at = row; at != BY_NO_ROW; at = plan->rows.at[at].second) {
        plan->rows.at[at].range = (struct by_range){0, 1, false, NAN};
        plan->rows.at[at].has_range = true;
    }
    return by_quant_remark(plan, row, "softmax-range", err, "the output of %s is in [0, 1]",
                           node->op_type);
}

/* What an activation cuts off needs no levels before it. */
static int set_activation_range(struct by_placing *placing, const struct baryon_node *node,
                                struct baryon_error *err)
{
    struct by_quant_plan *plan = placing->plan;
    const size_t from = by_quant_find(plan, by_node_out(node, 0));
    const size_t row = by_quant_read(plan, node, 0);
    if (placing->ops[node->index]->rule != BY_PLACE_ACTIVATION || row == BY_NO_ROW ||
        from == BY_NO_ROW || has_own(&plan->rows.at[row]) ||
        plan->rows.at[row].shares != BY_NO_ROW || plan->rows.at[row].value->use_count != 1)
        return 0;
    plan->rows.at[row].range_of = from;
    return by_quant_remark(plan, row, "activation-range", err, "%s clips it to the range of '%s'",
                           node->op_type, plan->rows.at[from].value->name);
}

/* The user says that what an operator gives is as great as what it reads. */
static int set_passed_range(struct by_placing *placing, const struct baryon_node *node,
                            struct baryon_error *err)
{
    struct by_quant_plan *plan = placing->plan;
    bool passes;
    if (by_place_any_picks(&placing->recipe->passthrough, node->op_type, &passes, err))
        return -1;
    const size_t row = by_quant_find(plan, by_node_out(node, 0));
    const size_t from = by_quant_read(plan, node, 0);
    if (!passes || row == BY_NO_ROW || from == BY_NO_ROW || has_own(&plan->rows.at[row]) ||
        plan->rows.at[row].shares != BY_NO_ROW || by_quant_owner(plan, from) == row ||
        plan->rows.at[from].range_of == row)
        return 0;
    plan->rows.at[row].range_of = from;
    return by_quant_remark(plan, row, "passthrough", err, "%s passes the range of '%s' on",
                           node->op_type, plan->rows.at[from].value->name);
}

int by_place_share(struct by_placing *placing, struct baryon_error *err)
{
    for (size_t i = 0; i < placing->plan->rows.count; i++)
        if (apply_tensor_rule(placing, i, err))
            return -1;
    int (*const steps[])(struct by_placing *, const struct baryon_node *, struct baryon_error *) = {
        share_outputs, set_unit_range, set_activation_range, set_passed_range};
    for (size_t step = 0; step < sizeof steps / sizeof *steps; step++)
        for (size_t i = 0; i < placing->node_count; i++)
            if ((placing->quantized[i] || placing->stays[i] == by_place_masked) &&
                steps[step](placing, placing->graph->node.at[i], err))
                return -1;
    return 0;
}
