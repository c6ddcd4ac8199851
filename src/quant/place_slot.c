/* What a node's operator says about each of its inputs and outputs. */
#include "pass/dpu.h"
#include "quant/place_internal.h"

#include <math.h>
#include <string.h>

static bool is_set(const struct by_placing *placing, const struct baryon_node *node, unsigned flag)
{
    return placing->ops[node->index]->flags & flag;
}

/* --- Moves --- */

/* The padding is in the input anyway, or zero, which every zero point stands for. */
static bool pads_with_known(const struct baryon_node *node)
{
    const struct baryon_attribute *mode = by_node_attr(node, "mode");
    if (mode && mode->s.size && !(mode->s.size == 8 && memcmp(mode->s.data, "constant", 8) == 0))
        return true;
    const struct baryon_value *value = by_node_in(node, 2);
    if (!value)
        return by_node_float(node, "value", 0) == 0;
    struct by_span bytes;
    struct by_arena arena;
    float with = NAN;
    by_arena_init(&arena, 0);
    if (value->initializer && by_tensor_bytes(value->initializer, &arena, &bytes, NULL) == 0)
        by_elem_to_floats(value->initializer->data_type, bytes.data, 0, bytes.size > 0, &with,
                          NULL);
    by_arena_release(&arena);
    return with == 0;
}

static bool interpolates_beyond(const struct baryon_node *node)
{
    const struct baryon_attribute *mode = by_node_attr(node, "mode");
    return mode && mode->s.size == 5 && memcmp(mode->s.data, "cubic", 5) == 0;
}

bool by_place_moves(const struct by_placing *placing, const struct baryon_node *node)
{
    const struct by_place_op *op = placing->ops[node->index];
    const bool compat = placing->recipe->compat;
    if (compat && (op->flags & BY_PLACE_PEER_PLAIN))
        return false;
    if (op->flags & BY_PLACE_PEER_MOVES)
        return compat && placing->recipe->operators == BY_OPERATORS_CNN;
    if (op->flags & BY_PLACE_PAD_MOVES)
        return !compat && pads_with_known(node);
    if ((op->flags & BY_PLACE_LINEAR_MOVES) && !compat && interpolates_beyond(node))
        return false;
    return op->rule == BY_PLACE_MOVE;
}

/* --- Inputs --- */

/* An operator that moves or activates reads data at its first input alone. */
static bool reads_first_alone(const struct by_placing *placing, const struct baryon_node *node)
{
    const struct by_place_op *op = placing->ops[node->index];
    return op->rule == BY_PLACE_ACTIVATION || by_place_moves(placing, node) ||
           (op->rule == BY_PLACE_MOVE && !(op->flags & BY_PLACE_PEER_PLAIN));
}

static bool is_data_slot(const struct by_placing *placing, const struct baryon_node *node,
                         const struct by_opinfo *info, size_t slot)
{
    if (reads_first_alone(placing, node))
        return slot == 0;
    if (!info || placing->recipe->compat || is_set(placing, node, BY_PLACE_ALL_INPUTS))
        return true;
    return (slot < 32 && (info->data_inputs >> slot & 1)) ||
           (!is_set(placing, node, BY_PLACE_DATA_ONLY) &&
            (slot == (size_t)info->weight || slot == (size_t)info->bias));
}

/* Vectors of biases and peepholes have few values, of which integers only cost accuracy. */
static enum by_slot_role role_in_recurrent(const struct by_placing *placing, size_t slot)
{
    const struct by_recipe *recipe = placing->recipe;
    const bool vector = slot == 3 || slot == 7;
    if (slot == 1 || slot == 2)
        return BY_SLOT_WEIGHT;
    return vector && !recipe->compat && recipe->bias_kind != BY_BIAS_OWN ? BY_SLOT_FLOAT
                                                                         : BY_SLOT_CONSTANT;
}

static enum by_slot_role role_of_constant(const struct by_placing *placing,
                                          const struct baryon_node *node,
                                          const struct by_opinfo *info, size_t slot)
{
    if (is_set(placing, node, BY_PLACE_TABLE))
        return BY_SLOT_TABLE;
    if (is_set(placing, node, BY_PLACE_RECURRENT))
        return role_in_recurrent(placing, slot);
    if (reads_first_alone(placing, node))
        return BY_SLOT_FLOAT;
    if (info && info->weight != BY_SLOT_NONE && slot == (size_t)info->weight)
        return BY_SLOT_WEIGHT;
    if (info && info->bias != BY_SLOT_NONE && slot == (size_t)info->bias)
        return is_set(placing, node, BY_PLACE_BIAS_WEIGHT) ||
                       is_set(placing, node, BY_PLACE_DATA_ONLY)
                   ? BY_SLOT_CONSTANT
                   : BY_SLOT_BIAS;
    return BY_SLOT_CONSTANT;
}

enum by_slot_role by_place_slot(const struct by_placing *placing, const struct baryon_node *node,
                                size_t slot)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    const struct baryon_value *value = by_node_in(node, slot);
    if (!by_place_takes(placing, value) || value->sparse ||
        !is_data_slot(placing, node, info, slot))
        return BY_SLOT_FLOAT;
    if (by_place_in(placing, value) && placing->computed[value->index])
        return BY_SLOT_FLOAT;
    if (by_place_is_constant(value)) {
        if (by_value_is_inside_dpu(value))
            return BY_SLOT_FLOAT;
        const enum by_slot_role role = role_of_constant(placing, node, info, slot);
        if (placing->recipe->approach == BY_APPROACH_NBITS)
            return (role == BY_SLOT_WEIGHT || role == BY_SLOT_TABLE) &&
                           value->initializer->dims.count == 2
                       ? role
                       : BY_SLOT_FLOAT;
        const bool of_layer = role == BY_SLOT_WEIGHT || role == BY_SLOT_TABLE;
        return of_layer || placing->recipe->approach == BY_APPROACH_STATIC ? role : BY_SLOT_FLOAT;
    }
    if (info && info->bias != BY_SLOT_NONE && slot == (size_t)info->bias)
        return BY_SLOT_FLOAT;
    return placing->recipe->approach == BY_APPROACH_STATIC ? BY_SLOT_DATA : BY_SLOT_FLOAT;
}

/* --- Outputs --- */

bool by_place_gives(const struct by_placing *placing, const struct baryon_node *node, size_t slot)
{
    return placing->recipe->approach == BY_APPROACH_STATIC && !placing->mute[node->index] &&
           by_place_takes(placing, by_node_out(node, slot));
}

/* --- Axes --- */

/* The axis that is summed over: what a group of weights shares a scale along. */
static int summed_axis(const struct by_placing *placing, const struct baryon_node *node, int rank,
                       int channel)
{
    if (by_node_is(node, "Conv") || by_node_is(node, "ConvTranspose"))
        return channel == 0 ? 1 : 0;
    if (by_node_is(node, "Gather") || is_set(placing, node, BY_PLACE_RECURRENT))
        return rank - 1;
    return rank == 2 ? 1 - channel : rank - 2;
}

/* ONNX Runtime fuses these to QLinearMatMul, which takes one scale for each column of a matrix, not
 * of a stack of matrices. */
static bool has_no_channels(const struct by_placing *placing, const struct baryon_node *node,
                            int rank)
{
    return rank > 2 && by_node_is(node, "MatMul") &&
           placing->recipe->approach == BY_APPROACH_STATIC &&
           by_spec_is_integer(&placing->recipe->activation);
}

void by_place_axes(const struct by_placing *placing, const struct baryon_node *node, size_t slot,
                   const struct by_tensor_spec *spec, int *axis, int *group_axis)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    const struct baryon_value *value = by_node_in(node, slot);
    const int rank = (int)value->initializer->dims.count;
    *axis = *group_axis = -1;
    if (spec->granularity == BY_PER_TENSOR || rank < 1 || !info)
        return;
    if (spec->granularity == BY_PER_CHANNEL && has_no_channels(placing, node, rank))
        return;
    if (by_node_is(node, "Gather") && slot == 0)
        *axis = placing->recipe->approach == BY_APPROACH_STATIC ? -1 : 0;
    else if (is_set(placing, node, BY_PLACE_RECURRENT))
        *axis = rank == 3 && (slot == 1 || slot == 2) ? 1 : -1;
    else if (slot == (size_t)info->weight)
        *axis = by_node_is(node, "PRelu") ? 0 : by_node_channel_axis(node);
    if (spec->granularity == BY_PER_GROUP && *axis >= 0 && rank >= 2)
        *group_axis = summed_axis(placing, node, rank, *axis);
}

bool by_place_runs_quantized(const struct by_placing *placing, const struct baryon_value *value)
{
    const struct baryon_node *node = value->producer;
    return node && node->graph == placing->graph && placing->quantized[node->index] &&
           by_place_gives(placing, node, value->slot);
}
