/* QuantizeLinear and DequantizeLinear for a row, and its readers. */
#include "quant/lower_internal.h"

#include <stdio.h>
#include <string.h>

/* --- Nodes --- */

static int set_axes(struct baryon_node *node, const struct by_params *params,
                    const struct by_tensor_spec *spec, struct baryon_error *err)
{
    if (params->groups > 1 && params->group_axis >= 0)
        return by_node_set_int(node, "axis", params->group_axis, err) ||
                       by_node_set_int(node, "block_size", spec->group, err)
                   ? -1
                   : 0;
    return params->axis >= 0 ? by_node_set_int(node, "axis", params->axis, err) : 0;
}

/* number 0: none in the names. */
static struct baryon_value *add_node(struct by_lowering *lowering, size_t row, const char *op_type,
                                     struct baryon_value *input, const char *stem, size_t number,
                                     struct baryon_error *err)
{
    char suffix[64];
    struct baryon_value *scale, *zero;
    if (by_lower_params(lowering, row, &scale, &zero, err))
        return NULL;
    snprintf(suffix, sizeof suffix, "%s_Output", op_type);
    const char *name = by_lower_name(lowering, stem, op_type, number, err);
    const char *output = name ? by_lower_name(lowering, stem, suffix, number, err) : NULL;
    struct baryon_value *const inputs[] = {input, scale, zero};
    if (!output)
        return NULL;
    struct baryon_node *node =
        by_graph_add_node(lowering->graph, op_type, lowering->domain[0] ? lowering->domain : NULL,
                          name, inputs, 3, &output, 1, err);
    if (!node || set_axes(node, by_quant_params(lowering->plan, row),
                          &lowering->plan->rows.at[row].spec, err))
        return NULL;
    struct baryon_value *made = by_node_out(node, 0);
    made->elem = strcmp(op_type, "QuantizeLinear") == 0 ? lowering->plan->rows.at[row].spec.elem
                                                        : lowering->plan->rows.at[row].value->elem;
    made->shape = lowering->plan->rows.at[row].value->shape;
    return made;
}

/* --- Readers --- */

/* A graph output keeps its name: what it is now has it, what it was gets another. */
static int give_output(struct by_lowering *lowering, struct baryon_value *was,
                       struct baryon_value *now, const struct baryon_value *quantized,
                       const char *stem, struct baryon_error *err)
{
    if (by_value_replace_uses(was, now, quantized ? quantized->producer : NULL, err))
        return -1;
    const char *name = by_lower_name(lowering, stem, "QuantizeLinear_Input", 0, err);
    return name ? by_value_rename(was, name, err) : -1;
}

static int rewire(struct by_lowering *lowering, const struct by_quant_row *row,
                  const struct by_quant_reader *reader, struct baryon_value *now,
                  const struct baryon_value *quantized, const char *stem, struct baryon_error *err)
{
    if (reader->node)
        return by_node_set_input(reader->node, reader->slot, now, err);
    if (by_graph_out(lowering->graph, reader->slot) != row->value)
        return 0; /* given with another output of the same value */
    return give_output(lowering, row->value, now, quantized, stem, err);
}

/* --- Activations, and constants that stay float --- */

struct pairs {
    const char *stem;
    bool each_pair, each_dequantize;
    struct baryon_value *quantized, *value;
};

static int add_pair(struct by_lowering *lowering, size_t index, size_t reader, struct pairs *pairs,
                    struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    if (!pairs->quantized || pairs->each_pair)
        pairs->quantized = add_node(lowering, index, "QuantizeLinear", row->value, pairs->stem,
                                    pairs->each_pair ? reader + 1 : 0, err);
    if (pairs->quantized && (!pairs->value || pairs->each_dequantize))
        pairs->value = add_node(lowering, index, "DequantizeLinear", pairs->quantized, pairs->stem,
                                pairs->each_dequantize ? reader + 1 : 0, err);
    return pairs->quantized && pairs->value
               ? rewire(lowering, row, &row->readers.at[reader], pairs->value, pairs->quantized,
                        pairs->stem, err)
               : -1;
}

/* An output takes all that read the value with it, so it goes first where each has its own. */
static int add_pairs(struct by_lowering *lowering, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    const bool each = row->dedicated || (lowering->recipe->dedicated_dq && row->readers.count > 1);
    struct pairs pairs = {row->value->name, row->dedicated, each, NULL, NULL};
    for (size_t i = 0; each && i < row->readers.count; i++)
        if (!row->readers.at[i].node && add_pair(lowering, index, i, &pairs, err))
            return -1;
    for (size_t i = 0; i < row->readers.count; i++)
        if ((!each || row->readers.at[i].node) && add_pair(lowering, index, i, &pairs, err))
            return -1;
    return 0;
}

/* --- Constants --- */

/* What the integers of a sum's bias mean takes the float one's name. */
static int take_name(struct by_lowering *lowering, struct baryon_value *was,
                     struct baryon_value *now, struct baryon_error *err)
{
    const char *stem = was->name;
    if (was->use_count || was->pinned || by_value_is_output(was))
        return 0;
    (void)lowering;
    return by_graph_remove_initializer(was, err) ? -1 : by_value_rename(now, stem, err);
}

static int drop_unused(struct baryon_value *value, struct baryon_error *err)
{
    if (value->graph && !value->use_count && !value->pinned && !by_value_is_output(value))
        return by_graph_remove_initializer(value, err);
    return 0;
}

static int add_constant(struct by_lowering *lowering, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    const bool each = lowering->recipe->dedicated_dq && row->readers.count > 1;
    struct baryon_value *value = NULL;
    for (size_t i = 0; i < row->readers.count; i++) {
        if (!value || each)
            value = add_node(lowering, index, "DequantizeLinear", lowering->at[index].integers,
                             row->value->name, each ? i + 1 : 0, err);
        if (!value ||
            rewire(lowering, row, &row->readers.at[i], value, NULL, row->value->name, err))
            return -1;
    }
    if (row->role == BY_ROLE_BIAS && row->input_row != BY_NO_ROW && value && !each)
        return take_name(lowering, row->value, value, err);
    return drop_unused(row->value, err);
}

int by_lower_pairs(struct by_lowering *lowering, size_t row, struct baryon_error *err)
{
    return lowering->at[row].integers ? add_constant(lowering, row, err)
                                      : add_pairs(lowering, row, err);
}
