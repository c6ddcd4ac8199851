/* In which types the nodes of a model compute, and how many multiply-adds they have. */
#include "compare/profile.h"

#include "ir/opinfo.h"
#include "quant/place.h"

#include <string.h>

/* --- Operands --- */

/* Nodes that only move a value: what they give has the type of what they take. */
static const struct baryon_value *behind_moves(const struct by_profile *profile,
                                               const struct baryon_value *value)
{
    static const char *const moves[] = {"Transpose", "Reshape",  "Unsqueeze", "Squeeze",
                                        "Flatten",   "Identity", NULL};
    for (int steps = 0; value && value->producer && steps < 16; steps++) {
        if (by_profile_holds(profile, value) != BY_NO_ROW ||
            !by_node_is_one_of(value->producer, moves))
            break;
        value = by_node_in(value->producer, 0);
    }
    return value;
}

static struct by_profile_operand operand_of(const struct by_profile *profile,
                                            const struct baryon_value *value)
{
    const struct baryon_value *from = behind_moves(profile, value);
    struct by_profile_operand operand = {.tensor = by_profile_holds(profile, from)};
    if (operand.tensor != BY_NO_ROW) {
        const struct by_profile_tensor *tensor = &profile->tensors.at[operand.tensor];
        operand.type = tensor->type;
        operand.name = tensor->role == BY_ROLE_ACTIVATION ? NULL : tensor->name;
        return operand;
    }
    operand.stored = by_value_constant(from);
    operand.name = operand.stored ? from->name : NULL;
    operand.type = by_profile_elem(operand.stored         ? operand.stored->data_type
                                   : value && value->elem ? value->elem
                                                          : BY_ELEM_FLOAT);
    return operand;
}

static bool is_float_type(int64_t elem)
{
    const struct by_elem_info *info = by_elem_info(elem);
    return !elem || (info && info->class == BY_CLASS_FLOAT);
}

/* A float, or what stands for one. */
static bool stands_for_float(const struct by_profile *profile, const struct baryon_value *value)
{
    return value && (by_profile_holds(profile, value) != BY_NO_ROW || is_float_type(value->elem));
}

/* --- Layers --- */

static void set_weight(struct by_profile_layer *layer, struct by_profile_operand weight)
{
    layer->weight = weight;
    layer->has_weight = true;
}

/* Slots of data, of the weight or second factor, and of the bias; BY_NO_SLOT: none. */
struct slots {
    size_t data, weight, bias;
};

static struct slots slots_of_row(const struct by_profile_operator_row *row)
{
    const struct by_profile_slots *parts[] = {&row->data, &row->weight, &row->bias};
    size_t at[3];
    for (size_t i = 0; i < 3; i++)
        at[i] = parts[i]->value < 0 ? BY_NO_SLOT : (size_t)parts[i]->value;
    return (struct slots){at[0], at[1], at[2]};
}

static struct slots slots_of_info(const struct baryon_node *node, const struct by_opinfo *info)
{
    struct slots slots = {BY_NO_SLOT, BY_NO_SLOT, BY_NO_SLOT};
    if (info->weight != BY_SLOT_NONE)
        slots.weight = (size_t)info->weight;
    if (info->bias != BY_SLOT_NONE)
        slots.bias = (size_t)info->bias;
    for (size_t i = 0; i < node->input.count && i < 32; i++) {
        if (!(info->data_inputs >> i & 1) || i == slots.weight || !by_node_in(node, i))
            continue;
        if (slots.data == BY_NO_SLOT)
            slots.data = i;
        else if (slots.weight == BY_NO_SLOT)
            slots.weight = i;
    }
    return slots;
}

static bool find_slots(const struct baryon_node *node, struct slots *slots)
{
    const struct by_profile_operator_row *row = by_profile_operator_row(node);
    const struct by_opinfo *info = by_node_opinfo(node);
    if (row)
        *slots = slots_of_row(row);
    else if (info && (info->data_inputs || info->weight != BY_SLOT_NONE))
        *slots = slots_of_info(node, info);
    else
        return false;
    return slots->data != BY_NO_SLOT || slots->weight != BY_NO_SLOT;
}

static void fill_operands(const struct by_profile *profile, const struct baryon_node *node,
                          const struct slots *slots, struct by_profile_layer *layer)
{
    const struct baryon_value *data = by_node_in(node, slots->data),
                              *weight = by_node_in(node, slots->weight),
                              *bias = by_node_in(node, slots->bias);
    if (data)
        layer->data = operand_of(profile, data);
    if (weight)
        set_weight(layer, operand_of(profile, weight));
    if (!data)
        layer->data = layer->weight;
    if (bias)
        layer->bias = operand_of(profile, bias);
    layer->has_bias = bias != NULL;
    layer->bits = layer->data.type.bits;
    if (weight && layer->weight.type.bits > layer->bits)
        layer->bits = layer->weight.type.bits;
}

/* The runtime quantizes what these take. */
static void set_dynamic(const struct baryon_node *node, struct by_profile_layer *layer)
{
    static const char dynamic[] = "DynamicQuantize";
    if (strncmp(node->op_type, dynamic, sizeof dynamic - 1) != 0)
        return;
    layer->data.type = by_profile_elem(BY_ELEM_UINT8);
    layer->bits = layer->weight.type.bits > 8 ? layer->weight.type.bits : 8;
}

/* Sums of products are cast and multiplied with the scales before they are the float layer's. */
static const struct baryon_value *output_of(const struct baryon_node *node)
{
    static const char *const sums[] = {"ConvInteger", "MatMulInteger", NULL};
    static const char *const scaling[] = {"Cast", "Mul", NULL};
    const struct baryon_value *out = by_node_out(node, 0);
    for (size_t i = 0; out && by_node_is_one_of(node, sums) && scaling[i]; i++) {
        const struct baryon_node *reader = out->use_count == 1 ? out->uses[0].node : NULL;
        if (!reader || !by_node_is(reader, scaling[i]) || !by_node_out(reader, 0))
            break;
        out = by_node_out(reader, 0);
    }
    return out;
}

int by_profile_add_layer(struct by_profile *profile, struct baryon_node *node,
                         struct baryon_error *err)
{
    struct slots slots;
    struct by_profile_layer layer = {.op_type = node->op_type};
    const struct baryon_value *out = output_of(node);
    if (!out || by_profile_is_form(node) || by_node_is(node, "Cast") || !find_slots(node, &slots))
        return 0;
    if (!stands_for_float(profile, by_node_in(node, slots.data)) &&
        !stands_for_float(profile, by_node_in(node, slots.weight)))
        return 0;
    fill_operands(profile, node, &slots, &layer);
    set_dynamic(node, &layer);
    layer.macs = by_place_macs(node, &layer.open);
    layer.name = by_profile_name(&profile->arena, node->name ? node->name : "", err);
    layer.output = by_profile_name(&profile->arena, out->name, err);
    if (!layer.name || !layer.output ||
        by_list_reserve(&profile->arena, &profile->layers, 1, sizeof layer, err) < 0)
        return -1;
    profile->layers.at[profile->layers.count++] = layer;
    profile->macs += layer.macs;
    profile->open |= layer.macs > 0 && layer.open;
    return 0;
}
